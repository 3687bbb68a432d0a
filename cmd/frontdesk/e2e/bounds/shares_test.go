package bounds

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
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

// hold takes a lock beside a desk that has eight connections.
func hold(t *testing.T, statement string) (h *held, token string) {
	t.Helper()
	dsn := rig.Engines[1].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn + "&pool_max_conns=8", Backend: ", timeout: 4s"})
	token = d.Login(rig.FullKey, "demo")
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		return conn
	}
	h = &held{Desk: d, look: connect()}
	var err error
	h.lock, err = connect().Begin(t.Context())
	require.NoError(t, err)
	_, err = h.lock.Exec(t.Context(), statement)
	require.NoError(t, err)
	return h, token
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
	require.Eventually(h.T, func() bool {
		locked := 0
		text := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
		require.NoError(h.T, h.look.QueryRow(h.T.Context(), text).Scan(&locked))
		return locked >= 3
	}, rig.Patience, rig.Patience/1000)
}

// TestLockOfAClientsRow: a row of one client is locked, which all who create a contact of
// its need. Before, they took every connection, and nobody else was answered: no client, no
// login, not even the balancer that asks whether the gateway is ready.
func TestLockOfAClientsRow(t *testing.T) {
	t.Parallel()
	h, token := hold(t, `UPDATE counter SET value = value WHERE client_id = (SELECT client_id FROM app_user WHERE username = 'demo')`)
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
	h, token := hold(t, `LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`)
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

// TestReadyDoesNotWait: an administration that hangs keeps /readyz no longer than a balancer
// waits, however long a call may take.
func TestReadyDoesNotWait(t *testing.T) {
	t.Parallel()
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
}
