package sqlrecord

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// TestPostgresBehindAPooler uses the protocol variants that need no prepared
// statements on the server.
func TestPostgresBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			dsn := sqltest.Postgres(t)
			db := openPostgresAt(t, dsn+"&default_query_exec_mode="+mode, Options{})
			model := must.Have(mapping.LoadModel(""))(t)
			require.ErrorIs(t, Migrate(t.Context(), db, model), errPooled)
			direct := must.Have(OpenPostgres(t.Context(), dsn, Options{}))(t)
			newFixture(t, direct)
			require.NoError(t, direct.Close())
			s := newFixture(t, db)
			order := s.newOrder(t, alice, 2)
			got := s.get(t, alice, order)
			order.Values[order.Resource.Field("orderlines").Index] = mapping.Value{}
			require.Equal(t, order.Values, got.Values)
			doc := s.create(t, alice, "document", "name", "x", "content", mapping.BytesValue([]byte{0, 1, 255}), "resource", "order", "resource_id", 1)
			require.Equal(t, doc.Values, s.get(t, alice, doc).Values)
			q := backend.Query{Limit: 5, Offset: 0, Total: true, ModifiedSince: order.Get("modified_at"),
				Filters: []backend.Filter{{Field: order.Resource.Field("total_excl"), Value: order.Get("total_excl")}}}
			require.Len(t, s.list(t, "order", q).Records, 1)
			must.Have(s.Update(t.Context(), alice, got, s.record("order", "reference", "changed")))(t)
			s.create(t, alice, "contact", "id", 77, "name", "x")
		})
	}
}

// TestPostgresRunsAgainAfterADeadlock has two transactions wait for each other.
func TestPostgresRunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	a, b := s.create(t, alice, "contact", "name", "a"), s.create(t, alice, "contact", "name", "b")
	var met, wg sync.WaitGroup
	met.Add(2)
	for _, pair := range [][2]mapping.Record{{a, b}, {b, a}} {
		wg.Go(func() {
			var once sync.Once
			err := s.inTx(t.Context(), func(tx *Store) error {
				for i, rec := range pair {
					q := backend.Query{Client: alice, ID: rec.ID(), ForUpdate: true}
					if _, err := tx.Get(t.Context(), rec.Resource, q); err != nil {
						return err
					}
					if i == 0 {
						once.Do(func() { met.Done(); met.Wait() })
					}
				}
				return nil
			})
			require.NoError(t, err)
		})
	}
	wg.Wait()
}

// TestPostgresReadsForeignTypes reads types of tables that frontdesk did not create.
func TestPostgresReadsForeignTypes(t *testing.T) {
	t.Parallel()
	db, scaled := openPostgres(t), Column{Type: mapping.Float8, Scale: 2}
	walk(t, db, section(t, "values.txt", "tables of ours"), false, "")
	for _, text := range []string{"SELECT 'NaN'::numeric", "SELECT 1e30::numeric", "SELECT 'x'"} {
		err := db.Read(t.Context(), func(c Conn) error {
			return c.Query(t.Context(), text, []Column{scaled}, nil, func([]mapping.Value) error { return errors.New("read") })
		})
		require.ErrorContains(t, err, "read a result: ", text)
	}
}

func TestPostgresThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, err := OpenPostgres(t.Context(), "postgres://nobody:secret@127.0.0.1:1/none?connect_timeout=2", Options{})
	require.ErrorContains(t, err, "open PostgreSQL database: ")
	require.NotContains(t, err.Error(), "secret")
	_, err = OpenPostgres(t.Context(), "postgres://nobody:secret@127.0.0.1:none", Options{})
	require.ErrorContains(t, err, "open PostgreSQL database: ")
	require.NotContains(t, err.Error(), "secret")
}

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
		db := must.Have(OpenPostgres(t.Context(), dsn+said, Options{}))(t)
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
		conn := must.Have(pgx.Connect(t.Context(), dsn))(t)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		return conn
	}
	look := connect() // a transaction sees the active sessions as of its first look
	locks := must.Have(connect().Begin(t.Context()))(t)
	must.Have(locks.Exec(t.Context(), `LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`))(t)

	require.ErrorIs(t, must.Fail(s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: order.ID()})), backend.ErrCollision)
	require.ErrorIs(t, must.Fail(s.Update(t.Context(), alice, order, s.record("order", "reference", "changed"))), backend.ErrCollision)

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
		return waits > 0
	})
	require.NoError(t, locks.Rollback(t.Context()))
	require.NoError(t, <-read)
	must.Have(s.Update(t.Context(), alice, order, s.record("order", "reference", "changed")))(t)
}

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
	conn := must.Have(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
	held := must.Have(conn.Begin(t.Context()))(t)
	must.Have(held.Exec(t.Context(), `LOCK TABLE thing IN ACCESS EXCLUSIVE MODE`))(t)
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

// TestChangesAreReadAhead: records of a group that are changed are read at once, so that what is
// written waits for the end of the group. One that was changed is read again.
func TestChangesAreReadAhead(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	var made, coming []mapping.Record
	for _, name := range []string{"Jansen", "De Vries"} {
		made = append(made, s.create(t, alice, "contact", "name", name))
		coming = append(coming, s.record("contact", "id", made[len(made)-1].ID(), "note", "new"))
	}
	require.NoError(t, s.inTx(t.Context(), func(tx *Store) error {
		prepared := must.Have(tx.Prepare(t.Context(), alice, coming))(t)
		require.True(t, prepared)
		hold := func(i int) mapping.Record {
			return must.Have(tx.Get(t.Context(), made[i].Resource, backend.Query{Client: alice, ID: made[i].ID(), ForUpdate: true}))(t)
		}
		waiting := func() int { return len(tx.conn.(*postgresConn).postponed) }
		for i := range made {
			must.Have(tx.Update(t.Context(), alice, hold(i), s.record("contact", "note", "new")))(t)
			require.Equal(t, i+1, waiting())
		}
		require.Equal(t, "new", hold(0).Get("note").Text())
		require.Zero(t, waiting())
		return nil
	}))
	require.Equal(t, "new", s.get(t, alice, made[1]).Get("note").Text())
}
