package legacy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// TestChanges has what others change told, however it is found out: made, changed, removed, hidden,
// moved to another client. Nothing is told that has not changed, or that another client has, and no
// cursor is another client's.
func TestChanges(t *testing.T) {
	steps := []struct{ does, told string }{
		{"", ""},
		{"UPDATE f_rel SET naam = 'Dri' WHERE nr = 3", "updated 3"},
		{"UPDATE f_rel SET weg = 1 WHERE nr = 5", "updated 3, deleted 5"},
		{"UPDATE f_rel SET adm = 2 WHERE nr = 2", "updated 3, deleted 5, deleted 2"},
		{"INSERT INTO f_rel (nr, adm, naam) VALUES (9, 1, 'Negen')", "updated 3, deleted 5, deleted 2, created 9"},
		{"DELETE FROM f_rel WHERE nr = 9", "updated 3, deleted 5, deleted 2, deleted 9"},
		{"UPDATE f_rel SET adm = 1 WHERE nr = 2", "updated 3, deleted 5, deleted 9, created 2"},
		{"UPDATE f_rel SET naam = 'Zuider' WHERE nr = 4", "updated 3, deleted 5, deleted 9, created 2"},
	}
	for how, text := range map[string]string{"scan": scannedSheet, "table": toldSheet("nr", "50ms")} {
		t.Run(how, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, engine string) {
				made := followedTables
				if how == "table" {
					made = triggered(engine)
				}
				x := onTables(t, engine, text, made...)
				f := x.follows(ownDatabases(t, engine)(), nil)
				require.Equal(t, backend.TellsAll, f.Tells(x.model.Resource("contact")))
				ones, twos := x.copyOf(one), x.copyOf(two)
				after, theirs := x.cursor(one), x.cursor(two)
				for _, s := range steps {
					x.tells(after, s.does, s.told)
				}
				for i := range 10 { // several pages
					x.exec(fmt.Sprintf("INSERT INTO f_com VALUES ('n%d', 1, 1, 'n')", i))
				}
				x.exec("DELETE FROM f_com WHERE code = 'zz'")
				x.equal(ones, twos)
				require.Empty(t, x.changed(two, x.cursor(two)), "what another client has")
				if how == "table" {
					x.exec("DELETE FROM f_wijz") // which leaves no hole
					x.exec("UPDATE f_rel SET naam = 'Drie' WHERE nr = 3")
					x.equal(ones)
				}
				_, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: one, After: theirs, Resources: x.model.Resources, Limit: 1})
				require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
			})
		})
	}
}

// TestOwnChanges has the gateway's own writes told without a look, in which a look then finds nothing new.
func TestOwnChanges(t *testing.T) {
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db, every := own(), x.sheet.Resource("contact").Changes.Every
		x.seldom()
		f := x.follows(db, nil)
		after := x.cursor(one)
		made := x.create(one, x.record("contact", "name", "Nieuw"))
		x.update(one, 3, x.record("contact", "name", "Dri"))
		require.NoError(t, x.tryDelete(one, "contact", 5))
		told := fmt.Sprint("created ", made.ID(), ", updated 3, deleted 5")
		require.Equal(t, told, x.changed(one, after))
		require.Equal(t, 4, x.counted(one, "contact"))

		require.NoError(t, f.Close())
		x.sheet.Resource("contact").Changes.Every = every
		f = x.follows(db, nil)
		scans := func() int64 {
			all, err := f.Scans(t.Context())
			require.NoError(t, err)
			return all[0].Records
		}
		from := scans() // of 4 records each time: 20 are of looks that began afterwards
		await.True(t, func() bool { return scans() >= from+20 })
		require.Equal(t, told, x.changed(one, after))
	})
}

// TestOwnChangesInDisorder has a record changed and then deleted by the gateway itself, and noted
// the other way round.
func TestOwnChangesInDisorder(t *testing.T) {
	x, db := onSQLite(t, scannedSheet, followedTables)
	x.seldom()
	x.follows(db, nil)
	after, before := x.cursor(one), x.get(one, "contact", 3)
	change := func(tx backend.Tx) error {
		_, err := tx.Update(t.Context(), one, before, x.record("contact", "name", "Dri"))
		return err
	}
	require.NoError(t, x.Telling(t.Context(), change, func(do func(backend.Tx) error) error {
		if err := x.inTx(t.Context(), func(tx *txn) error { return do(tx) }); err != nil {
			return err
		}
		return x.tryDelete(one, "contact", 3)
	}))
	require.Equal(t, "deleted 3", x.changed(one, after))
	require.Equal(t, 3, x.counted(one, "contact"))
}

// TestChangesByVersion has what was modified told by modified_at, also where transactions
// end in another order than they began in; deletions only where all is read, too, or where the
// system marks them.
func TestChangesByVersion(t *testing.T) {
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db, contact, now := own(), x.sheet.Resource("contact"), time.Now().UnixMilli()
		contact.Changes = byVersion()
		f := x.follows(db, nil)
		require.Equal(t, backend.TellsWithoutDeletions, f.Tells(contact.Resource))
		after := x.cursor(one)
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now), "updated 3")
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", now-30_000), "updated 3, updated 2")
		x.tells(after, fmt.Sprintf("INSERT INTO f_rel (nr, adm, naam, gew) VALUES (9, 1, 'Negen', %d)", now), "updated 3, updated 2, created 9")
		x.exec("DELETE FROM f_rel WHERE nr = 9")
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'D', gew = %d WHERE nr = 3", now+1), "updated 2, created 9, updated 3")

		require.NoError(t, f.Close())
		contact.Changes.Deletions = 10 * time.Millisecond
		f = x.follows(db, nil)
		require.Equal(t, backend.TellsAll, f.Tells(contact.Resource))
		x.tells(after, "", "updated 2, updated 3, deleted 9")

		require.NoError(t, f.Close())
		contact.Changes = byVersion()
		contact.Changes.Deleted = "weg IN (1, 2)"
		f = x.follows(db, nil)
		require.Equal(t, backend.TellsAll, f.Tells(contact.Resource))
		after, theirs := x.cursor(one), x.cursor(two)
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now+2), "updated 3")
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET weg = nr %% 2 + 1, gew = %d WHERE nr IN (1, 2, 5)", now+2), "updated 3, deleted 1, deleted 2, deleted 5")
		x.tells(after, fmt.Sprintf("UPDATE f_rel SET weg = 0, gew = %d WHERE nr = 2", now+3), "updated 3, deleted 1, deleted 5, created 2")
		require.Empty(t, x.changed(two, theirs))
	})
}

// writesOfOthers are what a system does itself: of a contact by its number, a client, and anything.
var writesOfOthers = []string{
	"INSERT INTO f_rel (nr, adm, naam) VALUES (%[1]d, %[2]d, 'x%[3]d')", // what is refused changes nothing
	"DELETE FROM f_rel WHERE nr = %[1]d",
	"UPDATE f_rel SET adm = %[2]d, weg = %[3]d %% 2 WHERE nr = %[1]d",
	"UPDATE f_com SET waarde = 'z%[3]d', adm = %[2]d WHERE code = 'b' AND 0 < %[1]d",
	"UPDATE f_rel SET naam = 'y%[3]d' WHERE nr = %[1]d AND 0 < %[2]d",
}

// writesAnything writes through the gateway and behind it.
func (x *tables) writesAnything(draw *rand.Rand, writes int) {
	for range writes {
		who, id, any := []auth.Client{one, two}[draw.IntN(2)], 1+draw.Int32N(12), draw.IntN(1e6)
		named := x.record("contact", "name", fmt.Sprint(any))
		switch n := draw.IntN(3 + len(writesOfOthers)); n {
		case 0:
			_, _ = x.tryCreate(who, named)
		case 1:
			_, _ = x.tryUpdate(who, id, named)
		case 2:
			_ = x.tryDelete(who, "contact", id)
		default:
			_, _ = sqlrecord.Change(x.t.Context(), x.db, fmt.Sprintf(writesOfOthers[n-3], id, who.ID, any))
		}
	}
}

// TestCopiesBesideWriters keeps copies beside writers through two gateways and behind them,
// while one gateway after the other looks, and ends or dies.
func TestCopiesBesideWriters(t *testing.T) {
	writes := 60
	if sqltest.Soak() {
		writes = 2000
	}
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		x.follows(own(), nil)
		copies := []*drivertest.Copy{x.copyOf(one), x.copyOf(two)}
		var writers sync.WaitGroup
		for w := range uint64(3) {
			writers.Go(func() { x.writesAnything(rand.New(rand.NewPCG(w, 1)), writes) })
		}
		var written atomic.Bool
		var caughtUp atomic.Int64 // how often
		followed := make(chan error, 1)
		go func() { // one gateway after the other, some of which die
			for n, failed := 0, error(nil); ; n++ {
				mine := own()
				f, err := follow.Open(t.Context(), follow.Options{Reader: x.Store, DB: mine, Sheet: x.sheet, Lease: 200 * time.Millisecond})
				if err != nil || failed != nil || written.Load() {
					followed <- errors.Join(failed, err, f.Close())
					return
				}
				until := caughtUp.Load() + rand.Int64N(10)
				await.True(t, func() bool { return caughtUp.Load() >= until || written.Load() })
				if n%2 == 0 {
					_ = mine.Close() // which leaves the lease behind
				}
				failed = errors.Join(f.Close(), mine.Close())
			}
		}()
		go func() {
			writers.Wait()
			written.Store(true)
		}()
		for !written.Load() {
			for _, c := range copies {
				_, err := c.CatchUp(t.Context())
				require.NoError(t, err)
				caughtUp.Add(1)
			}
		}
		require.NoError(t, <-followed)
		x.equal(copies...)
		for _, c := range copies {
			for _, r := range c.Resources {
				await.True(t, func() bool { return x.counted(c.Of, r.Name) == len(x.list(c.Of, r.Name)) }, r.Name)
			}
		}
	})
}

// TestSoakScan reads a million records again and again, and finds what has gone, in bounded
// memory.
func TestSoakScan(t *testing.T) {
	if !sqltest.Soak() {
		t.Skip("a soak test: set FRONTDESK_SOAK=1")
	}
	x, db := onSQLite(t, scannedSheet, followedTables)
	x.exec(`INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1000009) SELECT i, 1, 'Relatie ' || i FROM n`)
	x.sheet.Resource("contact").Changes = sheet.Changes{By: sheet.ByScan, Every: 10 * time.Millisecond, Pause: time.Nanosecond, Page: 500}
	before := drivertest.Resident(t)
	x.follows(db, nil)
	cursor, most := "", before
	await.True(t, func() bool {
		most = max(most, drivertest.Resident(t))
		page, err := x.front.Changes(t.Context(), beginning(one, x.model.Resources...))
		cursor = page.Cursor
		return err == nil
	})
	x.exec("DELETE FROM f_rel WHERE nr = 777777")
	await.True(t, func() bool {
		most = max(most, drivertest.Resident(t))
		return x.changed(one, cursor) != ""
	})
	require.Equal(t, "deleted 777777", x.changed(one, cursor))
	t.Logf("resident: +%d MiB", (most-before)>>20)
	require.Less(t, most-before, int64(64<<20))
}
