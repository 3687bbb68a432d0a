package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

const insertContact = `INSERT INTO "contact" ("client_id", "row_version", "name") VALUES (1, 1, 'x')`

// endless is a query that has row after row, and ends by being interrupted.
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 0 FROM n) SELECT i FROM n"

func (s *fixture) contacts(t testing.TB) int64 {
	t.Helper()
	return s.list(t, "contact", backend.Query{Limit: 1, Total: true}).Total
}

func TestConcurrentWrites(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		stop := errors.New("stop")
		var kept atomic.Int64
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				for k := range 25 {
					err := s.DB().Write(t.Context(), func(c Conn) error {
						if _, err := c.Insert(t.Context(), insertContact+s.DB().Dialect().ReturnID); err != nil {
							return err
						}
						switch (n + k) % 4 {
						case 0:
							return stop
						case 1:
							panic("in a write")
						case 2:
							_, err := c.Exec(t.Context(), `INSERT INTO "contact" ("id", "client_id", "row_version") SELECT max("id"), 1, 1 FROM "contact"`)
							return err
						}
						return nil
					})
					switch (n + k) % 4 {
					case 0:
						require.ErrorIs(t, err, stop)
					case 1:
						require.ErrorContains(t, err, "write_test.go")
					case 2:
						require.ErrorIs(t, err, backend.ErrStale)
					default:
						require.NoError(t, err)
						kept.Add(1)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, int64(100), kept.Load())
		require.Equal(t, kept.Load(), s.contacts(t))
	})
}

func TestDeadlineInterruptsStatements(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		for name, run := range map[string]func(context.Context, func(Conn) error) error{
			"read": s.DB().Read, "write": s.DB().Write, "snapshot": s.DB().Snapshot,
		} {
			ctx := newLimited(t)
			first := sync.OnceFunc(func() { close(ctx.over) })
			require.ErrorIs(t, run(ctx, func(c Conn) error {
				return c.Query(ctx, endless, oneInt, nil, func([]mapping.Value) error { first(); return nil })
			}), context.DeadlineExceeded, name)
			require.NoError(t, s.DB().Ping(t.Context()))
			s.create(t, alice, "contact", "name", "it works on")
		}
	})
}

// TestInterruptedWriteDoesNotHurtItsBatch has several writes share a
// transaction, which SQLite undoes when one of them is interrupted.
func TestInterruptedWriteDoesNotHurtItsBatch(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	release := held(t, s.DB().Write)
	defer release()
	var wg sync.WaitGroup
	w := s.DB().(*sqliteDB).writer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := 0
	for n := range 3 {
		wg.Go(func() {
			err := s.DB().Write(t.Context(), func(c Conn) error {
				runs++
				_, err := c.Exec(t.Context(), insertContact)
				return err
			})
			require.NoError(t, err, n)
		})
		wg.Go(func() {
			if n != 1 {
				return
			}
			err := s.DB().Write(ctx, func(c Conn) error {
				require.NoError(t, c.(*sqliteConn).conn.CreateFunction("midst", &sqlite.FunctionImpl{
					NArgs: 1, Scalar: func(_ sqlite.Context, row []sqlite.Value) (sqlite.Value, error) { cancel(); return row[0], nil },
				}))
				_, err := c.Exec(ctx, `INSERT INTO "contact" ("client_id", "row_version", "payment_days") `+
					`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1, 1, midst(i) FROM n`) // which never ends
				return err
			})
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	await.True(t, func() bool { return len(w.queue) == 4 })
	release()
	wg.Wait()
	require.GreaterOrEqual(t, runs, 3)
	require.Equal(t, int64(3), s.contacts(t))
}

// TestFullDisk lets a write hit the end of the disk. That is a failure, no
// constraint, and hurts neither its batch nor those that come later.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	full := func(pages int64) { change(t, s.DB(), fmt.Sprintf("PRAGMA max_page_count=%d", pages)) }
	pages := must.Have(strconv.ParseInt(ask(t, s.DB(), "PRAGMA page_count"), 10, 64))(t)
	full(pages + 2)
	release := held(t, s.DB().Write)
	var wg sync.WaitGroup
	w := s.DB().(*sqliteDB).writer
	for n := range 5 {
		wg.Go(func() {
			if n != 2 {
				s.create(t, alice, "contact", "name", "small")
				return
			}
			_, err := s.Create(t.Context(), alice, s.record("contact", "name", "x", "note", strings.Repeat("x", 60000)))
			require.Equal(t, sqlite.ResultFull, sqlite.ErrCode(errors.Unwrap(err)).ToPrimary())
			require.NotErrorIs(t, err, backend.ErrStale)
		})
	}
	await.True(t, func() bool { return len(w.queue) == 5 })
	release()
	wg.Wait()
	require.Equal(t, int64(4), s.contacts(t))
	full(1 << 30)
	s.create(t, alice, "contact", "name", "x", "note", strings.Repeat("x", 60000))
}

func TestWaitingWriteCanBeGivenUp(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	defer held(t, s.DB().Write)()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(Conn) error { t.Error("it must not run"); return nil }
	require.ErrorIs(t, s.DB().Write(cancelled, never), context.Canceled)
	ctx, given := newLimited(t), make(chan error, 1)
	go func() { given <- s.DB().Write(ctx, never) }()
	await.True(t, func() bool { return len(s.DB().(*sqliteDB).writer.queue) > 0 })
	close(ctx.over)
	require.ErrorIs(t, <-given, context.DeadlineExceeded)
}

// TestLockOfAnotherProcess holds SQLite's write lock on a connection that the
// database knows nothing of.
func TestLockOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	db := openSQLiteAt(t, path, Options{LockWait: time.Hour})
	s, brief := newFixture(t, db), openSQLiteAt(t, path, Options{LockWait: 300 * time.Millisecond})
	other := must.Have(sqlite.OpenConn(path, sqlite.OpenReadWrite))(t)
	defer func() { require.NoError(t, other.Close()) }()
	require.NoError(t, sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil))

	never := func(Conn) error { t.Error("it must not run"); return nil }
	ctx, given := newLimited(t), make(chan error, 1)
	go func() { given <- db.Write(ctx, never) }()
	require.ErrorIs(t, brief.Write(t.Context(), never), backend.ErrCollision)
	close(ctx.over)
	require.ErrorIs(t, <-given, context.DeadlineExceeded)
	require.NoError(t, db.Ping(t.Context()), "readers do not wait")

	var wg sync.WaitGroup
	wg.Go(func() { s.create(t, alice, "contact", "name", "patient") })
	require.NoError(t, sqlitex.ExecuteTransient(other, "COMMIT", nil))
	wg.Wait()
	require.Equal(t, int64(1), s.contacts(t))
}

func TestCloseAnswersWhatWasAccepted(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			s := newFixture(t, e.open(t))
			var kept, refused atomic.Int64
			var wg sync.WaitGroup
			begun := make(chan struct{}, 100)
			for range 8 {
				wg.Go(func() {
					for {
						_, err := s.Create(context.Background(), alice, s.record("contact", "name", "x"))
						if errors.Is(err, ErrClosed) {
							refused.Add(1)
							return
						}
						require.NoError(t, err)
						kept.Add(1)
						select {
						case begun <- struct{}{}:
						default:
						}
					}
				})
			}
			for range 20 {
				<-begun
			}
			require.NoError(t, s.Close())
			wg.Wait()
			require.Equal(t, int64(8), refused.Load())
			require.ErrorIs(t, s.DB().Read(context.Background(), func(Conn) error { return nil }), ErrClosed)
			require.ErrorIs(t, s.DB().Write(context.Background(), func(Conn) error { return nil }), ErrClosed)
			if db, ok := s.DB().(*sqliteDB); ok {
				require.Equal(t, kept.Load(), newFixture(t, openSQLiteAt(t, db.path, Options{})).contacts(t))
			}
		})
	}
}

func TestReadersWaitForAConnection(t *testing.T) {
	t.Parallel()
	db := openSQLiteAt(t, filepath.Join(t.TempDir(), "records.db"), Options{Readers: 1})
	require.Equal(t, 1, PoolOf(db).Calls)
	reading(t, db, PoolOf(db).Most, func() {
		err := db.Read(overdue(t), func(Conn) error { return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, backend.ErrBusy)
	})
}

// reading runs f while so many connections of a database read.
func reading(t *testing.T, db DB, connections int, f func()) {
	t.Helper()
	if connections == 0 {
		f()
		return
	}
	require.NoError(t, db.Read(t.Context(), func(Conn) error {
		reading(t, db, connections-1, f)
		return nil
	}))
}

func TestReadersDoNotWrite(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	err := s.DB().Read(t.Context(), func(c Conn) error {
		_, err := c.Exec(t.Context(), insertContact)
		return err
	})
	require.Equal(t, sqlite.ResultReadOnly, sqlite.ErrCode(errors.Unwrap(err)).ToPrimary())
}

func TestManyStatementsAreNotKept(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	err := db.Read(t.Context(), func(c Conn) error {
		for n := range 3 * maxStatements {
			if err := c.Query(t.Context(), fmt.Sprintf("SELECT %d", n), oneInt, nil, func([]mapping.Value) error { return nil }); err != nil {
				return err
			}
		}
		require.Equal(t, maxStatements, c.(*sqliteConn).stmts.byText.Len())
		return nil
	})
	require.NoError(t, err)
}

// TestLostUpdates has many writers change one record, each on top of what it
// read.
func TestLostUpdates(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		rec := s.create(t, alice, "contact", "name", "x", "payment_days", 0)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					err := s.inTx(t.Context(), func(tx *Store) error {
						before, err := tx.Get(t.Context(), rec.Resource, backend.Query{Client: alice, ID: rec.ID(), ForUpdate: true})
						if err != nil {
							return err
						}
						_, err = tx.Update(t.Context(), alice, before, s.record("contact", "payment_days", int(before.Get("payment_days").Int())+1))
						return err
					})
					require.NoError(t, err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int64(80), s.get(t, alice, rec).Get("payment_days").Int())
	})
}

// TestEngineVersion keeps out the versions of SQLite whose log can be reset
// while it is read (before 3.51.3), which the driver alone would bring.
func TestEngineVersion(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, sqlite.VersionNumber, 3051003)
}

// TestReadersUsedLastAreUsedFirst: each open one keeps a cache of its own.
func TestReadersUsedLastAreUsedFirst(t *testing.T) {
	t.Parallel()
	db := openSQLiteAt(t, filepath.Join(t.TempDir(), "records.db"), Options{Readers: 4}).(*sqliteDB)
	nothing := func(Conn) error { return nil }
	for range 10 {
		require.NoError(t, db.Read(t.Context(), nothing))
	}
	require.Len(t, db.watcher.conns, 2, "one, and the writer")
	within := func(Conn) error { return db.Read(t.Context(), nothing) }
	for range 10 {
		require.NoError(t, db.Read(t.Context(), within))
	}
	require.Len(t, db.watcher.conns, 3)
	require.Len(t, db.readers.idle, 2)
	last := db.readers.idle[1]
	require.NoError(t, db.Read(t.Context(), func(c Conn) error { require.Same(t, last, c); return nil }))
	require.Zero(t, db.Pool().InUse)
}
