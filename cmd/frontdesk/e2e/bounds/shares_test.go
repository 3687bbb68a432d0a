package bounds

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// held is a desk with callbacks on a PostgreSQL where somebody else has a lock, and clients who
// run into it.
type held struct {
	*rig.Desk
	dsn     string
	hooks   *rig.Hooks
	stuck   sync.WaitGroup
	answers chan rig.Answer // that those who ran into it were given
}

// hold starts a desk that has eight connections and gives calls that long.
func hold(t *testing.T, timeout, more string) (h *held, token string) {
	t.Helper()
	hooks, o := rig.NewHooks(t, nil)
	h = &held{dsn: rig.Engines[1].DSN(t), hooks: hooks, answers: make(chan rig.Answer, 128)}
	o.DSN, o.Backend = h.dsn+"&pool_max_conns=8"+more, ", timeout: "+timeout
	h.Desk = rig.Start(t, o)
	return h, h.Login(rig.HookedKey, "demo")
}

// run asks so often side by side, and returns once that many wait for the lock.
func (h *held) run(times, waiting int, ask func() rig.Answer) {
	h.T.Helper()
	for range times {
		h.stuck.Go(func() { h.answers <- ask() })
	}
	await.True(h.T, func() bool { return rig.Locked(h.T, h.dsn) >= waiting })
}

// backup asks for one, whose receiver is called.
func (h *held) backup(t *testing.T, token string) (promise string) {
	t.Helper()
	promise = h.Call("POST", "/backup/owner", token, h.hooks.Body()).Promise(t)
	require.Equal(t, promise, h.hooks.Next(t))
	return promise
}

// TestLockOfAClientsRow: a row of one client is locked, which all who create a contact of
// its need. Before, they took every connection, and nobody else was answered: no client, no
// login, not even the balancer that asks whether the gateway is ready.
func TestLockOfAClientsRow(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "1m", "")
	release := rig.Lock(t, h.dsn, `UPDATE counter SET value = value WHERE client_id = (SELECT client_id FROM app_user WHERE username = 'demo')`)
	h.run(48, 3, func() rig.Answer { return h.Call("POST", "/contact", token, rig.NewContact) })
	other := h.Login(rig.FullKey, "other")
	for range 10 {
		require.Equal(t, 200, h.Call("GET", "/country", other, "").Status, "another client")
		require.Equal(t, 201, h.Call("POST", "/contact", other, rig.NewContact).Status, "another client does the same")
		require.Equal(t, 200, h.Call("GET", "/order", token, "").Status, "the client elsewhere")
		status, circuit := h.Ready()
		require.Equal(t, 200, status)
		require.Equal(t, "closed", circuit)
	}
	release()
	h.stuck.Wait()
	require.Equal(t, 201, h.Call("POST", "/contact", token, rig.NewContact).Status, "it is over with the lock")
}

// TestLockOfATable: an ALTER, a VACUUM FULL or a REINDEX has a table. Before, who reads it
// took every connection, and then opened its circuit.
func TestLockOfATable(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "10s", "")
	release := rig.Lock(t, h.dsn, `LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`)
	both := []string{token, h.Login(rig.FullKey, "other")}
	for _, who := range both {
		h.run(40, 3, func() rig.Answer { return h.Call("GET", "/order", who, "") })
	}
	for range 10 {
		for _, who := range both {
			require.Equal(t, 200, h.Call("GET", "/country", who, "").Status)
			require.Equal(t, 201, h.Call("POST", "/contact", who, rig.NewContact).Status)
		}
		h.Login(rig.FullKey, "demo")
		require.Equal(t, 200, h.AskOps("/readyz").Status)
	}
	for range 2 * 40 {
		require.Equal(t, 500, (<-h.answers).Status)
	}
	_, circuit := h.Ready()
	require.Equal(t, "closed", circuit, "nothing is known of the administration")
	release()
	require.Equal(t, 200, h.Call("GET", "/order", token, "").Status)
}

// TestLockOfTheJobs: somebody has the table of callback jobs, and statements wait for locks
// as long as it takes. Before, who asked for a callback or for a result waited for as long,
// and so did logins, which shared connections with them.
func TestLockOfTheJobs(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "10s", "&lock_timeout=0")
	promise := h.backup(t, token)
	result := h.Collect(token, promise)
	release := rig.Lock(t, h.dsn, `LOCK TABLE callback_job IN ACCESS EXCLUSIVE MODE`)
	for _, ask := range []func() rig.Answer{
		func() rig.Answer { return h.Call("POST", "/backup/owner", token, h.hooks.Body()) },
		func() rig.Answer { return h.Call("GET", "/webhook?id="+promise, token, "") },
		func() rig.Answer { return h.Download(result) },
	} {
		h.run(12, 1, ask)
	}
	for range 5 {
		h.Login(rig.FullKey, "other")
	}
	require.Equal(t, 200, h.AskOps("/readyz").Status)
	h.turnAway(t, 36)
	release()
	require.Equal(t, 200, h.Download(h.Collect(token, promise)).Status)
	h.backup(t, token)
}

// TestLockOfAJob: with a row of that table it is the same for who needs that row, and others
// go on.
func TestLockOfAJob(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "10s", "&lock_timeout=0")
	promise := h.backup(t, token)
	release := rig.Lock(t, h.dsn, `SELECT FROM callback_job FOR UPDATE`)
	h.run(1, 1, func() rig.Answer { return h.Call("GET", "/webhook?id="+promise, token, "") })
	h.Login(rig.FullKey, "other")
	h.turnAway(t, 1)
	require.Equal(t, 200, h.Download(h.Collect(token, h.backup(t, token))).Status)
	release()
	require.Equal(t, 200, h.Download(h.Collect(token, promise)).Status)
}

// turnAway waits for so many answers, which say to come again.
func (h *held) turnAway(t *testing.T, times int) {
	t.Helper()
	for range times {
		a := <-h.answers
		a.Refused(t, 503, "Server is busy", "a callback")
		require.Equal(t, "2", a.Header.Get("Retry-After"))
	}
}

// TestPromiseThatMayHaveBeenMade: the time of a request ends while its job is committed, so
// that nobody knows whether it was. Before, it was told 503, which says that nothing was
// done.
func TestPromiseThatMayHaveBeenMade(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "10s", "&lock_timeout=0")
	require.NoError(t, sqltest.Execute(h.dsn, `CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON callback_job DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`))
	release := rig.Lock(t, h.dsn, `SELECT pg_advisory_xact_lock(1)`)
	h.Call("POST", "/backup/owner", token, h.hooks.Body()).Refused(t, 500, "Internal server error", "a callback")
	release()
}

// TestReadyDoesNotWait: an administration, or a store of sessions, that hangs keeps /readyz no
// longer than a balancer waits, however long a call may take.
func TestReadyDoesNotWait(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		var f rig.Faults
		rig.InBubble(t, rig.Options{Wrap: f.Wrap, Backend: ", timeout: 10m"}, func(t *testing.T, d *rig.Desk) {
			f.Set(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			for range 2 { // once more, with what the first has left
				began := time.Now()
				require.Equal(t, 503, d.AskOps("/readyz").Status)
				require.LessOrEqual(t, time.Since(began), 2*time.Second)
			}
			f.None()
			require.Equal(t, 200, d.AskOps("/readyz").Status)
		})
	})
	for name, start := range map[string]func(t *testing.T) (o rig.Options, part string, freeze func() (thaw func())){
		"PostgreSQL": func(t *testing.T) (rig.Options, string, func() func()) {
			node := sqltest.Primary(t)
			return rig.Options{DSN: node.DSN("postgres") + "&pool_max_conns=8"}, "backend", func() func() { return node.Freeze(t) }
		},
		"Redis": func(t *testing.T) (rig.Options, string, func() func()) {
			server := redistest.Start(t)
			return rig.Options{DSN: rig.Engines[0].DSN(t), Extra: fmt.Sprintf("sessions: {store: %q}\n", server.URL())}, "sessions", server.Freeze
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, part, freeze := start(t)
			o.Backend = ", timeout: 10m"
			d := rig.Start(t, o)
			require.Equal(t, 200, d.AskOps("/readyz").Status)
			thaw := freeze()
			d.AskOps("/readyz")
			a := d.AskOps("/readyz") // once more, with what the first has left
			require.Equal(t, 503, a.Status)
			now := must.JSON[map[string]any](t, a.Body)
			require.Equal(t, "unavailable", now[part])
			thaw()
			await.True(t, func() bool { return d.AskOps("/readyz").Status == 200 })
		})
	}
}
