package bounds

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// held is a lock of somebody else's in a desk's PostgreSQL, with clients who run into it.
type held struct {
	*rig.Desk
	lock  pgx.Tx
	look  *pgx.Conn
	stuck sync.WaitGroup
	codes []int // that those who ran into it were answered
	mu    sync.Mutex
}

// hold takes a lock beside a desk that has eight connections and gives calls that long.
func hold(t *testing.T, timeout, statement string) (h *held, token string) {
	t.Helper()
	dsn := rig.Engines[1].DSN(t)
	h = &held{Desk: rig.Start(t, rig.Options{DSN: dsn + "&pool_max_conns=8", Backend: ", timeout: " + timeout})}
	token = h.Login(rig.FullKey, "demo")
	h.take(dsn, statement)
	return h, token
}

// take takes a lock that is kept until it is rolled back.
func (h *held) take(dsn, statement string) {
	t := h.T
	t.Helper()
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		return conn
	}
	h.look = connect()
	var err error
	h.lock, err = connect().Begin(t.Context())
	require.NoError(t, err)
	_, err = h.lock.Exec(t.Context(), statement)
	require.NoError(t, err)
}

// run sends so many requests into the lock, and returns once some of them wait for it.
func (h *held) run(times int, method, path, token, body string) {
	h.T.Helper()
	for range times {
		h.stuck.Go(func() {
			a := h.Call(method, path, token, body)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.codes = append(h.codes, a.Status)
		})
	}
	h.await(3)
}

// await waits until so many wait for locks.
func (h *held) await(most int) {
	h.T.Helper()
	await.True(h.T, func() bool {
		locked := 0
		text := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
		require.NoError(h.T, h.look.QueryRow(h.T.Context(), text).Scan(&locked))
		return locked >= most
	})
}

// TestLockOfAClientsRow: a row of one client is locked, which all who create a contact of
// its need. Before, they took every connection, and nobody else was answered: no client, no
// login, not even the balancer that asks whether the gateway is ready.
func TestLockOfAClientsRow(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "1m", `UPDATE counter SET value = value WHERE client_id = (SELECT client_id FROM app_user WHERE username = 'demo')`)
	h.run(48, "POST", "/contact", token, rig.NewContact)
	other := h.Login(rig.FullKey, "other")
	for range 10 {
		require.Equal(t, 200, h.Call("GET", "/country", other, "").Status, "another client")
		require.Equal(t, 201, h.Call("POST", "/contact", other, rig.NewContact).Status, "another client does the same")
		require.Equal(t, 200, h.Call("GET", "/order", token, "").Status, "the client elsewhere")
		status, circuit := h.Ready()
		require.Equal(t, 200, status)
		require.Equal(t, "closed", circuit)
	}
	require.NoError(t, h.lock.Rollback(t.Context()))
	h.stuck.Wait()
	require.Equal(t, 201, h.Call("POST", "/contact", token, rig.NewContact).Status, "it is over with the lock")
}

// TestLockOfATable: an ALTER, a VACUUM FULL or a REINDEX has a table. Before, who reads it
// took every connection, and then opened its circuit.
func TestLockOfATable(t *testing.T) {
	t.Parallel()
	h, token := hold(t, "10s", `LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`)
	other := h.Login(rig.FullKey, "other")
	h.run(40, "GET", "/order", token, "")
	h.run(40, "GET", "/order", other, "")
	for range 10 {
		for _, who := range []string{token, other} {
			require.Equal(t, 200, h.Call("GET", "/country", who, "").Status)
			require.Equal(t, 201, h.Call("POST", "/contact", who, rig.NewContact).Status)
		}
		h.Login(rig.FullKey, "demo")
		require.Equal(t, 200, h.AskOps("/readyz").Status)
	}
	h.stuck.Wait()
	for _, code := range h.codes {
		require.Equal(t, 500, code)
	}
	_, circuit := h.Ready()
	require.Equal(t, "closed", circuit, "nothing is known of the administration")
	require.NoError(t, h.lock.Rollback(t.Context()))
	require.Equal(t, 200, h.Call("GET", "/order", token, "").Status)
}

// TestLockOfTheJobs: somebody has the table of callback jobs, and statements wait for locks
// as long as it takes. Before, who asked for a callback or for a result waited for as long,
// and so did logins, which shared connections with them.
func TestLockOfTheJobs(t *testing.T) {
	t.Parallel()
	h, hooks, dsn := startHooked(t)
	token := h.Login(rig.HookedKey, "demo")
	promise := h.Call("POST", "/backup/owner", token, hooks.Body()).Promise(t)
	require.Equal(t, promise, hooks.Next(t))
	result := h.Collect(token, promise)
	h.take(dsn, `LOCK TABLE callback_job IN ACCESS EXCLUSIVE MODE`)
	answers := make(chan rig.Answer, 36)
	for range 12 {
		for _, ask := range []func() rig.Answer{
			func() rig.Answer { return h.Call("POST", "/backup/owner", token, hooks.Body()) },
			func() rig.Answer { return h.Call("GET", "/webhook?id="+promise, token, "") },
			func() rig.Answer { return h.Download(result) },
		} {
			h.stuck.Go(func() { answers <- ask() })
		}
	}
	h.await(1)
	for range 5 {
		h.Login(rig.FullKey, "other")
	}
	require.Equal(t, 200, h.AskOps("/readyz").Status)
	for range cap(answers) {
		requireTurnedAway(t, answers)
	}
	require.NoError(t, h.lock.Rollback(t.Context()))
	require.Equal(t, 200, h.Download(h.Collect(token, promise)).Status)
	next := h.Call("POST", "/backup/owner", token, hooks.Body()).Promise(t)
	require.Equal(t, next, hooks.Next(t))
}

// TestLockOfAJob: with a row of that table it is the same for who needs that row, and others
// go on.
func TestLockOfAJob(t *testing.T) {
	t.Parallel()
	h, hooks, dsn := startHooked(t)
	token := h.Login(rig.HookedKey, "demo")
	promise := h.Call("POST", "/backup/owner", token, hooks.Body()).Promise(t)
	require.Equal(t, promise, hooks.Next(t))
	h.take(dsn, `SELECT FROM callback_job FOR UPDATE`)
	answers := make(chan rig.Answer, 1)
	h.stuck.Go(func() { answers <- h.Call("GET", "/webhook?id="+promise, token, "") })
	h.await(1)
	h.Login(rig.FullKey, "other")
	requireTurnedAway(t, answers)
	next := h.Call("POST", "/backup/owner", token, hooks.Body()).Promise(t)
	require.Equal(t, next, hooks.Next(t))
	require.Equal(t, 200, h.Download(h.Collect(token, next)).Status)
	require.NoError(t, h.lock.Rollback(t.Context()))
	require.Equal(t, 200, h.Download(h.Collect(token, promise)).Status)
}

// startHooked starts a desk with callbacks where nothing bounds the wait for a lock but the
// time that a request has.
func startHooked(t *testing.T) (h *held, hooks *rig.Hooks, dsn string) {
	t.Helper()
	dsn = rig.Engines[1].DSN(t)
	hooks, o := rig.NewHooks(t, nil)
	o.DSN, o.Backend = dsn+"&pool_max_conns=8&lock_timeout=0", ", timeout: 10s"
	return &held{Desk: rig.Start(t, o)}, hooks, dsn
}

// requireTurnedAway waits for an answer that says to come again.
func requireTurnedAway(t *testing.T, answers chan rig.Answer) {
	t.Helper()
	a := <-answers
	a.Refused(t, 503, "Server is busy", "a callback")
	require.Equal(t, "2", a.Header.Get("Retry-After"))
}

// TestReadyDoesNotWait: an administration that hangs keeps /readyz no longer than a balancer
// waits, however long a call may take.
func TestReadyDoesNotWait(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		var f rig.Faults
		d := rig.OnSQLite(t, rig.Options{Wrap: f.Wrap, Backend: ", timeout: 1m"})
		asked := make(chan time.Duration, 1)
		f.Set(func(ctx context.Context) error {
			ends, _ := ctx.Deadline()
			asked <- time.Until(ends)
			<-ctx.Done()
			return ctx.Err()
		})
		status, _ := d.Ready()
		require.Equal(t, 503, status)
		require.LessOrEqual(t, <-asked, 2*time.Second)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		node := sqltest.Primary(t)
		d := rig.Start(t, rig.Options{DSN: node.DSN("postgres") + "&pool_max_conns=8", Backend: ", timeout: 10m"})
		requireReadyWhile(t, d, "backend", func() (thaw func()) { return node.Freeze(t) })
	})
	t.Run("Redis", func(t *testing.T) {
		server := redistest.Start(t)
		d := rig.OnSQLite(t, rig.Options{Extra: fmt.Sprintf("sessions: {store: %q}\n", server.URL()), Backend: ", timeout: 10m"})
		requireReadyWhile(t, d, "sessions", server.Freeze)
	})
}

// requireReadyWhile wants /readyz to answer twice while a server that a part is kept in does
// not, and to be well again when that goes on.
func requireReadyWhile(t *testing.T, d *rig.Desk, part string, freeze func() (thaw func())) {
	t.Helper()
	require.Equal(t, 200, d.AskOps("/readyz").Status)
	thaw := freeze()
	answers := make(chan rig.Answer, 1)
	go func() {
		d.AskOps("/readyz")
		answers <- d.AskOps("/readyz")
	}()
	a := <-answers
	require.Equal(t, 503, a.Status)
	var now map[string]any
	require.NoError(t, json.Unmarshal(a.Body, &now))
	require.Equal(t, "unavailable", now[part])
	thaw()
	await.True(t, func() bool { return d.AskOps("/readyz").Status == 200 })
}
