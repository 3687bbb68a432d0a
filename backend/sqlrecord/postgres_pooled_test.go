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
)

// TestForeignPoolerLocks: a pooler refuses the setting that bounds the wait for a lock, or
// forgets it. Earlier versions then waited for as long as the lock was held.
func TestForeignPoolerLocks(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		through func(t *testing.T, direct string) string
		wait    time.Duration
		says    bool // each transaction sets it
	}{
		"which shares transactions": {func(t *testing.T, direct string) string {
			return sqltest.PgBouncer(t, direct) + "&default_query_exec_mode=exec"
		}, 20 * time.Millisecond, true},
		"by what the DSN says": {func(t *testing.T, direct string) string {
			return sqltest.PgBouncer(t, direct) + "&default_query_exec_mode=exec&lock_timeout=20ms"
		}, 0, true},
		"which shares sessions": {func(t *testing.T, direct string) string {
			return sqltest.PgBouncer(t, direct, "pool_mode = session", "default_pool_size = 20")
		}, 20 * time.Millisecond, true},
		"which forgets it": {func(t *testing.T, direct string) string {
			return sqltest.PgBouncer(t, direct, "pool_mode = session", "default_pool_size = 20", "ignore_startup_parameters = lock_timeout")
		}, 20 * time.Millisecond, true},
		"before a server that bounds it": {func(t *testing.T, direct string) string {
			require.NoError(t, sqltest.Execute(direct, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 20', current_database()); END $$`))
			return sqltest.PgBouncer(t, direct) + "&default_query_exec_mode=exec"
		}, time.Minute, false},
		"of which there is none": {func(_ *testing.T, direct string) string { return direct }, 20 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := sqltest.Postgres(t)
			dsn := way.through(t, direct)
			require.NoError(t, sqltest.Execute(direct, `CREATE TABLE thing (n bigint)`, `INSERT INTO thing VALUES (1)`,
				`CREATE TABLE `+untilTable+` (at bigint)`, `INSERT INTO `+untilTable+` VALUES (0)`))
			db := openPostgresAt(t, dsn, Options{LockWait: way.wait, Readers: 8})
			require.Equal(t, way.says, db.(*postgresDB).bound != "")

			release := lockThing(t, direct)
			for _, use := range usesOfThing(t, db.(*postgresDB)) {
				require.ErrorIs(t, use(t.Context()), backend.ErrCollision)
			}
			release()
			for _, use := range usesOfThing(t, db.(*postgresDB)) {
				require.NoError(t, use(t.Context()))
			}
		})
	}
}

// lockThing locks the table for all others.
func lockThing(t *testing.T, dsn string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `LOCK TABLE thing IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	return func() { require.NoError(t, held.Rollback(t.Context())) }
}

// usesOfThing are statements that use the table.
func usesOfThing(t *testing.T, db *postgresDB) (all []func(context.Context) error) {
	dated := func(ctx context.Context, f func(Conn) error) error {
		return db.writeDated(ctx, nil, func(c Conn, _ time.Time) error { return f(c) })
	}
	for _, run := range []func(context.Context, func(Conn) error) error{db.Read, db.Snapshot, db.Write, dated, db.reserved.Read, db.jobs.Read} {
		all = append(all, func(ctx context.Context) error {
			return run(ctx, func(c Conn) error {
				n, err := number(ctx, c, `SELECT n FROM thing`)
				if err == nil {
					require.EqualValues(t, 1, n)
				}
				return err
			})
		})
	}
	return all
}
