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
	"frontdesk/mapping/sheet"
)

// TestOwnChangesInDisorder has a record changed and then deleted by the gateway itself, and noted
// the other way round.
func TestOwnChangesInDisorder(t *testing.T) {
	x, db := onSQLite(t, scanned)
	x.seldom()
	x.follows(db, nil)
	after, before := x.cursor(one), x.get(one, "contact", 3)
	change := func(tx backend.Tx) error {
		_, err := tx.Update(t.Context(), one, before, x.record("contact", "name", "Dri"))
		return err
	}
	require.NoError(t, x.WriteNoted(t.Context(), change, func(do func(backend.Tx) error) error {
		if err := x.inTx(t.Context(), func(tx *txn) error { return do(tx) }); err != nil {
			return err
		}
		return x.tryDelete(one, "contact", 3)
	}))
	require.Equal(t, "deleted 3", x.changed(one, after))
	require.Equal(t, 3, x.counted(one, "contact"))
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
	eachEngine(t, func(t *testing.T, engine string) {
		x, own := scripted(t, "changes.txt", scanned).open(t, engine), ownDatabases(t, engine)
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
	x, db := onSQLite(t, scanned)
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
