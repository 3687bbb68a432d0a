package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
)

// manyRows are forty contacts more.
const manyRows = "INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 139) SELECT i, 1, 'n' FROM n"

// begins is a client that begins, and waits no longer than looked does, for a look at his records.
func (x *tables) begins(t *testing.T, of auth.Client, looked func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := x.front.Changes(ctx, beginning(of, x.model.Resources...))
		ended <- err
	}()
	looked()
	cancel()
	require.Error(t, <-ended)
}

// TestFailingLooksGiveWay has as many looks fail as there may be at once, of clients for whom the
// system does not work. Others are told their changes all the same.
func TestFailingLooksGiveWay(t *testing.T) {
	inBubble(t, scanned, func(t *testing.T, x *tables, db sqlrecord.DB) {
		failed := make(chan int64, 1000)
		x.follows(db, func(_ context.Context, a asked) error {
			if a.what != "list" || a.of.ID < 100 {
				return nil
			}
			failed <- a.of.ID
			return backend.ErrUnexpected
		})
		for id := range int64(10) { // of two resources each
			x.begins(t, auth.Client{ID: 100 + id}, func() {
				for <-failed != 100+id {
				}
			})
		}
		for range 16 {
			<-failed
		}
		x.tells(x.cursor(one), "UPDATE f_rel SET naam = 'Dri' WHERE nr = 3", "updated 3")
	})
}

// TestSlowPageKeepsTheLease has a page take longer than the lease of the gateway that reads it.
func TestSlowPageKeepsTheLease(t *testing.T) {
	x, db := onSQLite(t, scanned)
	reached, goOn := make(chan struct{}, 1000), make(chan struct{})
	x.follows(db, func(ctx context.Context, a asked) error {
		if a.what != "list" {
			return nil
		}
		reached <- struct{}{}
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	x.begins(t, one, func() { <-reached })
	until := func() (at int64) {
		require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
			row, err := sqlrecord.One(t.Context(), c, "SELECT until FROM follow_lease", []sqlrecord.Column{sqlrecord.Number})
			at = row[0].Int()
			return err
		}))
		return at
	}
	first := until()
	await.True(t, func() bool { return until() > first+200 }, "longer than it lasts")
	close(goOn)
	require.NotEmpty(t, x.cursor(one))
}

// TestSettledChangesAreReadNoMore has a mass of records that were changed at one moment: they are read again at each
// look as long as another one may show that was changed at that moment, and then no more.
func TestSettledChangesAreReadNoMore(t *testing.T) {
	inBubble(t, "by modified_at", func(t *testing.T, x *tables, db sqlrecord.DB) {
		contact := x.model.Resource("contact")
		var last atomic.Int64 // how many records the last list of client 1 had
		x.follows(db, func(_ context.Context, a asked) error {
			if a.what == "listed" && a.resource == contact && a.of == one {
				last.Store(int64(a.n))
			}
			return nil
		})
		reads := func(n int64) {
			time.Sleep(61 * time.Second) // three looks, and none is under way
			synctest.Wait()
			require.Equal(t, n, last.Load())
		}
		seenSince := func(ago time.Duration) { // the highest modified_at
			_, err := sqlrecord.Change(t.Context(), db, fmt.Sprintf("UPDATE followed SET high_at = %d", time.Now().Add(-ago).UnixMilli()))
			require.NoError(t, err)
			reads(map[bool]int64{true: 4}[ago < 25*time.Hour])
		}
		mass := time.Now().Add(-time.Minute).UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET gew = %d", mass))
		after := x.cursor(one)
		reads(4)
		seenSince(25*time.Hour - time.Minute)
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'Late', gew = %d WHERE nr = 3", mass), "updated 3")
		seenSince(26 * time.Hour)
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", mass+1), "updated 3, updated 2")
		reads(1)
	}, "every: 10ms", "every: 20s", "page: 3", "page: 100")
}

// TestToldTwiceInOneLook has a record change twice while one look at what the system names is
// under way: how it is by the end is told, and counted.
func TestToldTwiceInOneLook(t *testing.T) {
	for _, c := range []struct {
		first, second, want string
		count               int
	}{
		{"UPDATE f_rel SET naam = 'x' WHERE adm = 1", "DELETE FROM f_rel WHERE nr = 1", "updated 2, updated 3, updated 5, deleted 1", 3},
		{"DELETE FROM f_rel WHERE adm = 1", "INSERT INTO f_rel (nr, adm, naam) VALUES (1, 1, 'Weer')", "deleted 2, deleted 3, created 1, deleted 5", 1},
	} {
		t.Run(c.first, func(t *testing.T) {
			x, db := onSQLite(t, noted, "settle: 50ms", "settle: 0s")
			more := false // than the page that was read last
			x.follows(db, func(_ context.Context, a asked) error {
				switch mine := a.of == one && a.resource.Name == "contact"; {
				case mine && a.what == "entries" && more:
					x.exec(c.second)
				case mine && a.what == "more":
					more = a.n == 1
				}
				return nil
			})
			after := x.cursor(one)
			x.tells(after, c.first, c.want)
			require.Equal(t, c.count, x.counted(one, "contact"))
		})
	}
}

// TestSlowSystemIsFollowed has a page take longer than there is time for, read record by record
// as the system names them, record by record where they are missing, and as a list.
func TestSlowSystemIsFollowed(t *testing.T) {
	for _, name := range []string{noted, scanned} {
		inBubble(t, name, func(t *testing.T, x *tables, db sqlrecord.DB) {
			var mu sync.Mutex
			read := map[time.Time]int{} // by when it has to be done
			x.follows(db, func(ctx context.Context, a asked) error {
				until, bounded := ctx.Deadline()
				mu.Lock()
				defer mu.Unlock()
				if a.what == "get" || a.what == "named" || a.what == "listed" {
					read[until] += a.n
				}
				if bounded && read[until] > 20 {
					return context.DeadlineExceeded
				}
				return nil
			})
			after := x.cursor(one)
			x.exec(manyRows)
			await.True(x.t, func() bool { return strings.Count(x.changed(one, after), "created") == 40 })
			x.exec("DELETE FROM f_rel WHERE nr >= 100")
			await.True(x.t, func() bool { return strings.Count(x.changed(one, after), "deleted") == 40 })
		}, "page: 3", "page: 100")
	}
}

// TestRenamedClient has a client get another name, by which alone the system answers him: he goes
// on asking, and what changes is told.
func TestRenamedClient(t *testing.T) {
	inBubble(t, scanned, func(t *testing.T, x *tables, db sqlrecord.DB) {
		var name atomic.Value
		name.Store("one")
		failed := make(chan struct{}, 1000)
		x.follows(db, func(_ context.Context, a asked) error {
			if a.what == "list" && a.of.Name != name.Load() {
				failed <- struct{}{}
				return backend.ErrUnexpected
			}
			return nil
		})
		after := x.cursor(one)
		name.Store("uno")
		<-failed
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		await.True(x.t, func() bool { return x.changed(auth.Client{ID: one.ID, Name: "uno"}, after) == "updated 3" })
	})
}

// TestStuckLongerThanKept has a look fail for longer than the system keeps what it says: all
// records are read then.
func TestStuckLongerThanKept(t *testing.T) {
	inBubble(t, noted, func(t *testing.T, x *tables, db sqlrecord.DB) {
		for _, r := range x.sheet.Resources {
			r.Changes.Keeps = time.Second
		}
		var stuck atomic.Bool
		failed := make(chan struct{}, 100)
		x.follows(db, func(_ context.Context, a asked) error {
			if a.what != "named" || !stuck.Load() {
				return nil
			}
			failed <- struct{}{}
			return backend.ErrUnexpected
		})
		after := x.cursor(one)
		stuck.Store(true)
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		<-failed // and it is tried again in two seconds
		x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2")
		x.exec("DELETE FROM f_wijz")
		stuck.Store(false)
		await.True(x.t, func() bool {
			told := strings.Split(x.changed(one, after), ", ")
			slices.Sort(told)
			return slices.Equal([]string{"updated 2", "updated 3"}, told)
		})
	}, "settle: 50ms", "settle: 0s")
}

// TestMissingAtTheirRate has records that are missing looked for no faster than the sheet allows.
func TestMissingAtTheirRate(t *testing.T) {
	inBubble(t, scanned, func(t *testing.T, x *tables, db sqlrecord.DB) {
		contact := x.sheet.Resource("contact")
		contact.Changes.Rate = 30 // three, and then a pause
		x.exec(manyRows)
		var all []time.Time
		f := x.follows(db, func(_ context.Context, a asked) error {
			if a.what == "get" {
				all = append(all, time.Now())
			}
			return nil
		})
		after := x.cursor(one)
		x.exec("DELETE FROM f_rel WHERE nr >= 110")
		await.True(x.t, func() bool { return strings.Count(x.changed(one, after), "deleted") == 30 })
		require.NoError(t, f.Close())
		for i := 3; i < len(all); i++ { // a slow machine only makes it longer
			require.GreaterOrEqual(t, all[i].Sub(all[i-3]), contact.Changes.Pace(3))
		}
	})
}

// TestOwnChangesOfAllAreNotAwaited has a record that all clients see written, while many follow it
// and the system hangs: the answer does not wait until each of them is told.
func TestOwnChangesOfAllAreNotAwaited(t *testing.T) {
	x, db := onSQLite(t, scanned, "\nclient: adm\n", "\n", "where: weg = 0", "where: weg = 0, constants: {adm: \"1\"}")
	x.seldom()
	x.prepared(db, `INSERT INTO followed (client_id, resource, client_name, asked_at, ready_at, next_at) WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 1060)
			SELECT i, 'contact', '', 1000 * unixepoch(), 1, 1000 * unixepoch() + 1800000 FROM n`,
		`INSERT INTO followed_record (client_id, resource, id, version, gone, pass) SELECT client_id, resource, 3, 1, 0, 0 FROM followed`)
	letGo := make(chan struct{})
	x.follows(db, func(_ context.Context, a asked) error {
		if a.what == "get" && a.of.ID > 1000 {
			<-letGo
		}
		return nil
	})
	after, theirs := x.cursor(one), x.cursor(two)
	x.update(one, 3, x.record("contact", "name", "Dri")) // which returns, although nobody is let go
	close(letGo)
	require.Equal(t, "updated 3", x.changed(one, after))
	await.True(t, func() bool { return x.changed(two, theirs) == "updated 3" })
}
