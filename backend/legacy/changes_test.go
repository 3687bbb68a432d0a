package legacy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// scannedSheet has all read again and again.
var scannedSheet = strings.Replace(followedSheet, "\nclient: adm\n", "\nclient: adm\nchanges: {by: scan, every: 10ms, pause: 1ms, page: 3}\n", 1)

// ownDatabases opens a database of the gateway's own, of PostgreSQL for PostgreSQL: the same for
// each gateway that calls open.
func ownDatabases(t *testing.T, engine string) (open func() sqlrecord.DB) {
	t.Helper()
	dsn, file := "", filepath.Join(t.TempDir(), "follow.db")
	if engine == "postgres" {
		dsn = sqltest.Postgres(t)
	}
	return func() (db sqlrecord.DB) {
		var err error
		if dsn != "" {
			db, err = sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{})
		} else {
			db, err = sqlrecord.OpenSQLite(file, sqlrecord.Options{})
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
}

func onFollowed(t *testing.T, engines []string, f func(t *testing.T, x *tables, own func() sqlrecord.DB)) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			f(t, onTables(t, engine, scannedSheet, followedTables...), ownDatabases(t, engine))
		})
	}
}

func beginning(of auth.Client, resources ...*mapping.Resource) backend.ChangesQuery {
	return backend.ChangesQuery{Client: of, Begin: true, Resources: resources}
}

// TestChangesByScan has what others change told: made, changed, removed, hidden, moved to
// another client. Nothing is told that has not changed, and no cursor is another client's.
func TestChangesByScan(t *testing.T) {
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db := own()
		x.followed(t, db)
		ones, twos := x.copyOf(t, one), x.copyOf(t, two)
		after, theirs := x.cursor(t, one), x.cursor(t, two)
		require.Empty(t, x.changed(t, one, after), "what was there is no change")
		eventually := func(want ...string) {
			t.Helper()
			x.eventually(t, want, func() []string { return x.changed(t, one, after) })
		}
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		eventually("updated contact 3")
		x.exec("UPDATE f_rel SET weg = 1 WHERE nr = 5")
		eventually("updated contact 3", "deleted contact 5")
		x.exec("UPDATE f_rel SET adm = 2 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2")
		x.exec("INSERT INTO f_rel (nr, adm, naam) VALUES (9, 1, 'Negen')")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2", "created contact 9")
		x.exec("UPDATE f_rel SET adm = 1 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "created contact 9", "created contact 2")
		x.exec("DELETE FROM f_com WHERE code = 'zz'")
		require.NoError(t, ones.Equals(t.Context(), patience))
		require.NoError(t, twos.Equals(t.Context(), patience))
		_, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: one, After: theirs, Resources: x.model.Resources, Limit: 1})
		require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	})
}

// TestOwnChangesAtOnce has the gateway's own writes told without a look.
func TestOwnChangesAtOnce(t *testing.T) {
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db := own()
		for _, r := range x.sheet.Resources {
			r.Changes.Every = time.Hour
		}
		x.followed(t, db)
		after := x.cursor(t, one)
		made := x.create(one, x.record("contact", "name", "Nieuw"))
		x.update(one, 3, x.record("contact", "name", "Dri"))
		require.NoError(t, x.tryDelete(one, "contact", 5))
		require.Equal(t, []string{fmt.Sprint("created contact ", made.ID()), "updated contact 3", "deleted contact 5"}, x.changed(t, one, after))

		digest, err := x.front.Digest(t.Context(), x.model.Resource("contact"), backend.DigestQuery{Client: one, From: 1, Ranges: 1})
		require.NoError(t, err)
		require.Equal(t, 4, digest.Ranges[0].Count)
	})
}

// TestChangesOfOwnAreNoNews: a look finds nothing new in what the gateway has written.
func TestChangesOfOwnAreNoNews(t *testing.T) {
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db := own()
		f := x.followed(t, db)
		after := x.cursor(t, one)
		made := x.create(one, x.record("contact", "name", "Nieuw"))
		x.update(one, 3, x.record("contact", "name", "Dri"))
		scans := func() int64 {
			all, err := f.Scans(t.Context())
			require.NoError(t, err)
			return all[0].Records
		}
		from := scans() // of 5 records at most each time: 20 are of looks that began afterwards
		await.True(t, func() bool { return scans() >= from+20 })
		require.Equal(t, []string{fmt.Sprint("created contact ", made.ID()), "updated contact 3"}, x.changed(t, one, after))
	})
}

// TestChangesByVersion has what was modified told by modified_at, also where transactions
// end in another order than they began in; deletions only where all is read, too.
func TestChangesByVersion(t *testing.T) {
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db := own()
		contact := x.sheet.Resource("contact")
		contact.Changes = sheet.Changes{By: sheet.ByVersion, Every: 10 * time.Millisecond, Settle: time.Minute, Pause: time.Millisecond, Page: 3}
		f := x.followed(t, db)
		require.Equal(t, backend.TellsWithoutDeletions, f.Tells(contact.Resource))
		after := x.cursor(t, one)
		eventually := func(want ...string) {
			t.Helper()
			x.eventually(t, want, func() []string { return x.changed(t, one, after) })
		}
		now := time.Now().UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now))
		eventually("updated contact 3")
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", now-30_000))
		eventually("updated contact 3", "updated contact 2")
		x.exec(fmt.Sprintf("INSERT INTO f_rel (nr, adm, naam, gew) VALUES (9, 1, 'Negen', %d)", now))
		eventually("updated contact 3", "updated contact 2", "created contact 9")
		x.exec("DELETE FROM f_rel WHERE nr = 9")
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'D', gew = %d WHERE nr = 3", now+1))
		eventually("updated contact 2", "created contact 9", "updated contact 3")

		require.NoError(t, f.Close())
		contact.Changes.Deletions = 10 * time.Millisecond
		f = x.followed(t, db)
		require.Equal(t, backend.TellsAll, f.Tells(contact.Resource))
		eventually("updated contact 2", "updated contact 3", "deleted contact 9")
	})
}

// TestCopiesBesideWriters keeps copies beside writers through two gateways and behind them,
// while one gateway after the other looks, and ends or dies.
func TestCopiesBesideWriters(t *testing.T) {
	writes := 60
	if sqltest.Soak() {
		writes = 2000
	}
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db := own()
		x.followed(t, db)
		copies := []*drivertest.Copy{x.copyOf(t, one), x.copyOf(t, two)}
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				draw := rand.New(rand.NewPCG(uint64(w), 1))
				for i := range writes {
					who := []auth.Client{one, two}[draw.IntN(2)]
					id := 1 + draw.IntN(12)
					switch n := draw.IntN(8); {
					case n == 0:
						_, _ = x.tryCreate(who, x.record("contact", "name", fmt.Sprint(w, " ", i)))
					case n == 1:
						_, _ = x.tryUpdate(who, int32(id), x.record("contact", "name", fmt.Sprint(w, " ", i)))
					case n == 2:
						_ = x.tryDelete(who, "contact", int32(id))
					case n == 3: // what is refused changes nothing
						_, _ = sqlrecord.Change(t.Context(), x.db, fmt.Sprintf("INSERT INTO f_rel (nr, adm, naam) VALUES (%d, %d, 'x%d')", id, who.ID, i))
					case n == 4:
						_, _ = sqlrecord.Change(t.Context(), x.db, fmt.Sprintf("DELETE FROM f_rel WHERE nr = %d", id))
					case n == 5:
						_, _ = sqlrecord.Change(t.Context(), x.db, fmt.Sprintf("UPDATE f_rel SET adm = %d, weg = %d WHERE nr = %d", who.ID, draw.IntN(2), id))
					case n == 6:
						_, _ = sqlrecord.Change(t.Context(), x.db, fmt.Sprintf("UPDATE f_com SET waarde = '%d.%d', adm = %d WHERE code = 'b'", w, i, who.ID))
					default:
						_, _ = sqlrecord.Change(t.Context(), x.db, fmt.Sprintf("UPDATE f_rel SET naam = 'y%d.%d' WHERE nr = %d", w, i, id))
					}
				}
			})
		}
		written, followed := make(chan struct{}), make(chan error, 1)
		go func() {
			writers.Wait()
			close(written)
		}()
		go func() { // one gateway after the other, some of which die
			defer close(followed)
			for n := 0; ; n++ {
				mine := own()
				f, err := follow.Open(t.Context(), follow.Options{Reader: x.Store, DB: mine, Sheet: x.sheet, Lease: 200 * time.Millisecond})
				if err != nil {
					followed <- err
				}
				select {
				case <-written:
				case <-time.After(time.Duration(rand.IntN(30)) * time.Millisecond):
				}
				if n%2 == 0 {
					_ = mine.Close() // which leaves the lease behind
				}
				err = errors.Join(f.Close(), mine.Close())
				select {
				case <-written:
					followed <- err
					return
				default:
				}
			}
		}()
		for done := false; !done; {
			select {
			case <-written:
				done = true
			default:
			}
			for _, c := range copies {
				_, err := c.CatchUp(t.Context())
				require.NoError(t, err)
			}
		}
		require.NoError(t, <-followed)
		for _, c := range copies {
			require.NoError(t, c.Equals(t.Context(), patience))
		}
		for _, c := range copies {
			for _, r := range c.Resources {
				x.eventually(t, []string{fmt.Sprint(len(x.list(c.Of, r.Name)))}, func() []string {
					digest, err := x.front.Digest(t.Context(), r, backend.DigestQuery{Client: c.Of, From: 1, Ranges: 1})
					require.NoError(t, err)
					return []string{fmt.Sprint(digest.Ranges[0].Count)}
				})
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
	x := onTables(t, "sqlite", scannedSheet, followedTables...)
	x.exec(`INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1000009) SELECT i, 1, 'Relatie ' || i FROM n`)
	x.sheet.Resource("contact").Changes = sheet.Changes{By: sheet.ByScan, Every: 10 * time.Millisecond, Pause: time.Nanosecond, Page: 500}
	own := func() sqlrecord.DB { return ownDatabase(t) }
	before := resident(t)
	f := x.followed(t, own())
	began, cursor := time.Now(), ""
	contact := x.model.Resource("contact")
	most := before
	look := func() {
		most = max(most, resident(t))
	}
	await.True(t, func() bool {
		look()
		page, err := x.front.Changes(t.Context(), beginning(one, contact))
		cursor = page.Cursor
		return err == nil
	})
	t.Logf("read for the first time in %s", time.Since(began).Round(time.Second))
	x.exec("DELETE FROM f_rel WHERE nr = 777777")
	began = time.Now()
	await.True(t, func() bool {
		look()
		return len(x.changed(t, one, cursor, contact)) > 0
	})
	require.Equal(t, []string{"deleted contact 777777"}, x.changed(t, one, cursor, contact))
	t.Logf("a deletion was found after %s; resident: +%d MiB", time.Since(began).Round(time.Second), (most-before)>>20)
	require.Less(t, most-before, int64(64<<20))
	require.NoError(t, f.Close())
}

// resident is how much memory the process has.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var size, pages int64
	_, err = fmt.Sscan(strings.TrimSpace(string(text)), &size, &pages)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
