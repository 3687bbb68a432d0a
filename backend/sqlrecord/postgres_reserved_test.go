package sqlrecord

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestPostgresOwnConnections: logins, jobs and health checks have connections, even if all
// connections for records are busy.
func TestPostgresOwnConnections(t *testing.T) {
	t.Parallel()
	db := openPostgresAt(t, sqltest.Postgres(t), Options{Readers: 8})
	require.Equal(t, backend.Pool{Most: 8, Calls: 6}, PoolOf(db))
	require.Equal(t, Reserved(db), Reserved(Reserved(db)))
	require.Equal(t, Jobs(db), Jobs(Jobs(db)))
	reading(t, db, 6, func() {
		require.ErrorIs(t, db.Read(overdue(t), func(Conn) error { return nil }), backend.ErrBusy)
		require.NoError(t, db.Ping(t.Context()))
		reading(t, Jobs(db), 1, func() {
			require.NoError(t, Reserved(db).Read(t.Context(), func(Conn) error { return nil }), "jobs take nothing from logins")
			reading(t, Reserved(db), 1, func() {
				require.Equal(t, 8, PoolOf(db).InUse)
				require.NoError(t, Reserved(db).Ping(t.Context()))
			})
		})
	})
}

// TestPostgresConnectionsAreCounted: the DSN bounds all connections of an instance
// together.
func TestPostgresConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	for said, want := range map[string]backend.Pool{
		"&pool_max_conns=1":                   {Most: 3, Calls: 1},
		"&pool_max_conns=4":                   {Most: 4, Calls: 2},
		"&pool_max_conns=20&pool_min_conns=1": {Most: 20, Calls: 16},
		"&pool_max_conns=40":                  {Most: 40, Calls: 36},
	} {
		db, err := OpenPostgres(t.Context(), dsn+said, Options{})
		require.NoError(t, err)
		pool := PoolOf(db)
		pool.InUse = 0 // one may be on its way back
		require.Equal(t, want, pool, said)
		require.NoError(t, db.Close())
	}
}

// TestPostgresLocks: statements that wait for a lock fail in time; only work that takes
// long anyway, such as a backup, waits on.
func TestPostgresLocks(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	db := openPostgresAt(t, dsn, Options{LockWait: 20 * time.Millisecond})
	s := newFixture(t, db)
	order := s.newOrder(t, alice, 1)

	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		return conn
	}
	look := connect() // a transaction sees the active sessions as of its first look
	locks, err := connect().Begin(t.Context())
	require.NoError(t, err)
	_, err = locks.Exec(t.Context(), `LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)

	_, err = s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: order.ID()})
	require.ErrorIs(t, err, backend.ErrCollision)
	_, err = s.Update(t.Context(), alice, order, s.record("order", "reference", "changed"))
	require.ErrorIs(t, err, backend.ErrCollision)

	read := make(chan error, 1)
	go func() {
		read <- LongSnapshot(t.Context(), db, func(c Conn) error {
			_, err := number(t.Context(), c, `SELECT count(*) FROM "order"`)
			return err
		})
	}()
	await.True(t, func() bool {
		waits := 0
		text := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '100 ms'`
		require.NoError(t, look.QueryRow(t.Context(), text).Scan(&waits))
		return waits == 1
	})
	require.NoError(t, locks.Rollback(t.Context()))
	require.NoError(t, <-read)
	_, err = s.Update(t.Context(), alice, order, s.record("order", "reference", "changed"))
	require.NoError(t, err)
}
