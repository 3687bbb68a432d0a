package several

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/jobstore"
)

// leftBehind looks for what gateways leave, when they start and when they have served, on connections that
// others are given next: locks, and settings of a session.
func leftBehind(t *testing.T, dsn string) {
	t.Helper()
	for range 3 { // as many as the pooler has, each held until all are
		conn := must.Have(pgx.Connect(t.Context(), dsn))(t)
		defer conn.Close(t.Context())
		tx := must.Have(conn.Begin(t.Context()))(t)
		defer tx.Rollback(t.Context())
		var timeouts string
		var locks int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')").Scan(&timeouts))
		require.Equal(t, "0 0", timeouts)
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&locks))
		require.Zero(t, locks)
	}
}

// TestForeignPooler: gateways of one service work behind a PgBouncer that gives a
// connection away after each transaction.
func TestForeignPooler(t *testing.T) {
	t.Parallel()
	direct := rig.Engines[1].DSN(t)
	rig.OnJobs(t, direct, func(*jobstore.Store) {}) // makes its tables, as frontdesk migrate does
	dsn := sqltest.PgBouncer(t, direct) + "&default_query_exec_mode=exec"
	h, options := rig.NewHooks(t, nil)
	options.DSN = dsn + "&pool_max_conns=8"
	options.Extra += fmt.Sprintf("sessions: {store: %q}\n", redistest.Start(t).URL())
	desks := []*rig.Desk{rig.Start(t, options), rig.Start(t, options)}
	leftBehind(t, dsn)
	token := desks[0].Login(rig.HookedKey, "demo")
	var working sync.WaitGroup
	for n := range 8 {
		working.Go(func() {
			for range 20 {
				desks[n%len(desks)].LifeOfAContact(token)
			}
		})
	}
	working.Wait()
	first := desks[0].Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "pooled-1")
	again := desks[1].Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "pooled-1")
	require.Equal(t, string(first.Body), string(again.Body))
	promise := desks[0].Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	require.Equal(t, promise, h.Next(t))
	require.Equal(t, 200, desks[1].Download(desks[1].Collect(token, promise)).Status)
	for _, d := range desks {
		d.Shutdown()
	}
	leftBehind(t, dsn)
}
