package sqlrecord

import (
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// wire stands between a program and a server, and can be cut.
type wire struct {
	listener net.Listener
	server   string
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
	done     sync.WaitGroup
}

// through is a DSN whose server is reached by a wire.
func through(t *testing.T, dsn string) (string, *wire) {
	t.Helper()
	at := regexp.MustCompile(`[(@](127\.0\.0\.1:\d+)[)/]`).FindStringSubmatch(dsn)
	require.NotNil(t, at, "a server by TCP")
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &wire{listener: l, server: at[1], open: map[net.Conn]bool{}}
	w.done.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.set(true)
		w.done.Wait()
	})
	return strings.Replace(dsn, at[1], l.Addr().String(), 1), w
}

func (w *wire) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", w.server)
		w.mu.Lock()
		if err != nil || w.cut {
			_ = c.Close()
			if up != nil {
				_ = up.Close()
			}
			w.mu.Unlock()
			continue
		}
		w.open[c], w.open[up] = true, true
		w.mu.Unlock()
		w.done.Go(func() { w.pass(c, up) })
		w.done.Go(func() { w.pass(up, c) })
	}
}

func (w *wire) pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

// set cuts the wire, as when the server is killed, or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for c := range w.open {
		_ = c.Close()
	}
	clear(w.open)
}

// onServers runs a test on a database of each server, of which a call has one connection.
func onServers(t *testing.T, f func(t *testing.T, o ForeignOptions)) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			f(t, ForeignOptions{Engine: engine, DSN: foreignDSN(t, engine), Connections: 2, LockWait: time.Second})
		})
	}
}

// count counts the rows of a table.
func count(t *testing.T, c Conn, table string) int64 {
	t.Helper()
	row := must.Have(One(t.Context(), c, "SELECT count(*) FROM "+table, []Column{{Type: mapping.Int4, Foreign: true}}))(t)
	return row[0].Int()
}

// TestCommitWithoutAnswer: nobody knows what became of it, and nobody tries again.
func TestCommitWithoutAnswer(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		var w *wire
		o.DSN, w = through(t, o.DSN)
		db := openForeign(t, o, "CREATE TABLE sent (x INTEGER)")
		tries := 0
		err := db.Write(t.Context(), func(c Conn) error {
			tries++
			_, err := c.Exec(t.Context(), "INSERT INTO sent VALUES (1)")
			w.set(true)
			return err
		})
		require.ErrorIs(t, err, backend.ErrUnsettled)
		require.Equal(t, 1, tries)
		require.Error(t, db.Ping(t.Context()))

		// Before the commit nothing is unclear.
		w.set(false)
		err = db.Write(t.Context(), func(c Conn) error {
			must.Have(c.Exec(t.Context(), "INSERT INTO sent VALUES (2)"))(t)
			w.set(true)
			_, err = c.Exec(t.Context(), "INSERT INTO sent VALUES (3)")
			return err
		})
		require.Error(t, err)
		require.NotErrorIs(t, err, backend.ErrUnsettled)
		_, ok := FaultOf(err)
		require.False(t, ok)
		w.set(false)
		require.NoError(t, db.Ping(t.Context()))
		change(t, db, "INSERT INTO sent VALUES (4)")
		require.Equal(t, "0", ask(t, db, "SELECT count(*) FROM sent WHERE x IN (2, 3)"))
	})
}

// TestConnectionsThatDie: one that died in the pool is replaced before anything is asked of it.
func TestConnectionsThatDie(t *testing.T) {
	dsn, w := through(t, foreignDSN(t, "mariadb"))
	o := ForeignOptions{Engine: "mariadb", DSN: dsn, Connections: 2, LockWait: time.Second}
	db, other := openForeign(t, o, "CREATE TABLE alive (x INTEGER)"), openForeign(t, o)
	write := func() { change(t, db, "INSERT INTO alive VALUES (1)") }
	look := func(c Conn) error {
		count(t, c, "alive")
		return nil
	}
	w.set(true)
	w.set(false)
	require.NoError(t, db.Read(t.Context(), look))
	w.set(true)
	w.set(false)
	require.NoError(t, db.Snapshot(t.Context(), look))
	w.set(true)
	w.set(false)
	write()

	change(t, other, "KILL "+ask(t, db, "SELECT CONNECTION_ID()"))
	write()
	require.NoError(t, db.Read(t.Context(), look))
}

// TestForeignIsBusy: calls use up their connection, but not that of logins.
func TestForeignIsBusy(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		db := openForeign(t, o, "CREATE TABLE busy (x INTEGER)")
		require.NoError(t, db.Read(t.Context(), func(Conn) error {
			require.ErrorIs(t, db.Read(overdue(t), func(Conn) error { return nil }), backend.ErrBusy)
			require.NoError(t, Reserved(db).Read(t.Context(), func(c Conn) error { count(t, c, "busy"); return nil }))
			require.NoError(t, db.Ping(t.Context()))
			require.Equal(t, backend.Pool{InUse: 1, Most: 2, Calls: 1}, PoolOf(db))
			return LongSnapshot(t.Context(), db, func(c Conn) error { count(t, c, "busy"); return nil })
		}))
	})
}

// TestForeignIsInterrupted: a statement ends with its context, and the next one has a connection.
func TestForeignIsInterrupted(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		db, other, ctx := openForeign(t, o), openForeign(t, o), newLimited(t)
		long := map[string]string{"postgres": "SELECT pg_sleep(600)::text", "mariadb": "SELECT SLEEP(600)"}[o.Engine]
		under := map[string]string{"postgres": "pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%'", "mariadb": "information_schema.processlist WHERE info LIKE 'SELECT SLEEP(600)%'"}[o.Engine]
		go func() {
			defer close(ctx.over)
			await.True(t, func() (is bool) {
				assert.NoError(t, other.Read(t.Context(), func(c Conn) error {
					is = count(t, c, under) > 0
					return nil
				}))
				return is
			}, "the statement to be under way")
		}()
		err := db.Write(ctx, func(c Conn) error {
			_, err := One(ctx, c, long, []Column{{Type: mapping.Text, Foreign: true}})
			return err
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, backend.ErrUnsettled)
		change(t, db, "CREATE TABLE after_it (x INTEGER)")
	})
}

// TestForeignSnapshot: what is committed meanwhile is not seen, by Snapshot and by LongSnapshot.
func TestForeignSnapshot(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		db, other := openForeign(t, o, "CREATE TABLE seen (x INTEGER)"), openForeign(t, o)
		look := func(c Conn) error {
			before := count(t, c, "seen")
			change(t, other, "INSERT INTO seen VALUES (1)")
			require.Equal(t, before, count(t, c, "seen"))
			return nil
		}
		require.NoError(t, db.Snapshot(t.Context(), look))
		require.NoError(t, LongSnapshot(t.Context(), db, look))
		require.Error(t, db.Snapshot(t.Context(), func(c Conn) error {
			_, err := c.Exec(t.Context(), "DELETE FROM seen")
			return err
		}))
		require.NoError(t, db.Read(t.Context(), func(c Conn) error {
			before := count(t, c, "seen")
			change(t, other, "INSERT INTO seen VALUES (1)")
			require.Equal(t, before+1, count(t, c, "seen"))
			return nil
		}))
	})
}

// TestAWriteThatFails: nothing of it remains, and no statement follows the one that failed.
func TestAWriteThatFails(t *testing.T) {
	onForeigners(t, []string{"CREATE TABLE undone (x INTEGER PRIMARY KEY)"}, func(t *testing.T, _ ForeignOptions, db DB) {
		for _, f := range []func(c Conn) error{
			func(Conn) error { return errUndo },
			func(Conn) error { panic("in the middle") },
			func(c Conn) error {
				for _, text := range []string{"INSERT INTO undone VALUES (1)", "INSERT INTO undone VALUES (2)"} {
					_, err := c.Exec(t.Context(), text)
					f, _ := FaultOf(err)
					assert.Equal(t, FaultUnique, f.Class, "%v", err)
				}
				return c.Query(t.Context(), "SELECT 1", []Column{Number}, nil, func([]mapping.Value) error { return nil })
			},
			func(c Conn) error { // which forgets the error
				_, _ = c.Exec(t.Context(), "INSERT INTO undone VALUES (1)")
				return nil
			},
		} {
			require.Error(t, db.Write(t.Context(), func(c Conn) error {
				_, err := c.Exec(t.Context(), "INSERT INTO undone VALUES (1)")
				assert.NoError(t, err) // f may run on another goroutine
				return f(c)
			}))
			require.Equal(t, "0", ask(t, db, "SELECT count(*) FROM undone"))
		}
		require.NoError(t, db.Close())
		require.ErrorIs(t, db.Read(t.Context(), func(Conn) error { return nil }), ErrClosed)
		require.ErrorIs(t, db.Write(t.Context(), func(Conn) error { return nil }), ErrClosed)
	})
}

// TestIdentities: the statement itself tells that of PostgreSQL.
func TestIdentities(t *testing.T) {
	for engine, kind := range map[string]string{"sqlite": "INTEGER PRIMARY KEY", "mariadb": "INTEGER AUTO_INCREMENT PRIMARY KEY"} {
		t.Run(engine, func(t *testing.T) {
			db := openForeign(t, ForeignOptions{Engine: engine, DSN: foreignDSN(t, engine), LockWait: time.Second}, "CREATE TABLE numbered (id "+kind+", x INTEGER)")
			for want := range int64(3) {
				require.NoError(t, db.Write(t.Context(), func(c Conn) error {
					id, err := c.Insert(t.Context(), "INSERT INTO numbered (x) VALUES ("+db.Dialect().Placeholder(1)+")", mapping.IntValue(7))
					require.Equal(t, want+1, id)
					return err
				}))
			}
		})
	}
}

// TestProcedures: each row of all results that a procedure of MySQL returns is given.
func TestProcedures(t *testing.T) {
	db := openForeign(t, ForeignOptions{Engine: "mariadb", DSN: foreignDSN(t, "mariadb"), LockWait: time.Second},
		"CREATE TABLE made (x INTEGER)", "CREATE PROCEDURE makes(n INTEGER, OUT made INTEGER) BEGIN INSERT INTO made VALUES (n); SELECT n; SELECT n + 1; SET made = n + 2; END")
	for _, call := range []func(c Conn, each func([]mapping.Value) error) error{
		func(c Conn, each func([]mapping.Value) error) error {
			return c.Query(t.Context(), "CALL makes(?, @made)", []Column{{Type: mapping.Int4, Foreign: true}}, []mapping.Value{mapping.IntValue(5)}, each)
		},
		func(c Conn, each func([]mapping.Value) error) error {
			return c.Query(t.Context(), "CALL makes(5, @made)", []Column{{Type: mapping.Int4, Foreign: true}}, nil, each)
		},
	} {
		var got []mapping.Value
		each := func(row []mapping.Value) error {
			got = append(got, row[0])
			return nil
		}
		require.NoError(t, db.Write(t.Context(), func(c Conn) error {
			if err := call(c, each); err != nil {
				return err
			}
			must.Have(c.Exec(t.Context(), "CALL makes(?, @made)", mapping.IntValue(5)))(t)
			return c.Query(t.Context(), "SELECT @made", []Column{{Type: mapping.Int4, Foreign: true}}, nil, each)
		}))
		require.Equal(t, []mapping.Value{mapping.IntValue(5), mapping.IntValue(6), mapping.IntValue(7)}, got)
	}
}

// TestTryLock: a lock is another's until its transaction ends, however that ends, and belongs to
// its database.
func TestTryLock(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		elsewhere := o
		elsewhere.DSN = foreignDSN(t, o.Engine)
		db, other, third := openForeign(t, o), openForeign(t, o), openForeign(t, elsewhere)
		lock := func(db DB) (taken bool) {
			require.NoError(t, db.Write(t.Context(), func(c Conn) (err error) {
				taken, err = TryLock(t.Context(), c, "one")
				return err
			}))
			return taken
		}
		for _, end := range []error{nil, errUndo} {
			require.ErrorIs(t, db.Write(t.Context(), func(c Conn) error {
				taken := must.Have(TryLock(t.Context(), c, "one"))(t)
				require.True(t, taken)
				require.False(t, lock(other))
				require.True(t, lock(third))
				return end
			}), end)
			require.True(t, lock(other))
		}
	})
	db := openForeign(t, ForeignOptions{Engine: "sqlite", DSN: foreignDSN(t, "sqlite"), LockWait: time.Second})
	require.NoError(t, db.Write(t.Context(), func(c Conn) error {
		taken, err := TryLock(t.Context(), c, "one")
		require.True(t, taken)
		return err
	}))
}

// TestForeignThatIsAway: a start waits for a server that cannot be reached, or lets nobody in, and
// no error holds the password.
func TestForeignThatIsAway(t *testing.T) {
	onServers(t, func(t *testing.T, o ForeignOptions) {
		dsn, w := through(t, o.DSN)
		w.set(true)
		denied := regexp.MustCompile(`(^|//)[^@/]*@`).ReplaceAllString(o.DSN, "${1}nobody:geheim@")
		for _, dsn := range []string{dsn, denied} {
			o.DSN = dsn
			_, err := OpenForeign(t.Context(), o)
			require.Error(t, err)
			require.True(t, Away(err), err)
			require.NotContains(t, err.Error(), "geheim")
		}
	})
}
