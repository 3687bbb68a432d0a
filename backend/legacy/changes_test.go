package legacy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// followedTables have relations by number, and their addresses by a text.
var followedTables = []string{
	"CREATE TABLE f_rel (nr integer PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL, weg integer NOT NULL DEFAULT 0, gew bigint NOT NULL DEFAULT 0)",
	"CREATE TABLE f_com (code varchar(10) NOT NULL PRIMARY KEY, adm integer NOT NULL, rel integer NOT NULL, waarde varchar(80) NOT NULL)",
	"INSERT INTO f_rel (nr, adm, naam) VALUES (1, 1, 'Een'), (2, 1, 'Twee'), (3, 1, 'Drie'), (4, 2, 'Zuid'), (5, 1, 'Vijf')",
	"INSERT INTO f_com VALUES ('zz', 1, 1, 'a'), ('b', 1, 2, 'b'), ('A', 2, 4, 'z')",
}

const followedSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
accounts: {users: []}
client: adm
without_rules: [prefered_email]
changes: {by: scan, every: 10ms, pause: 1ms, page: 3}
resources:
  contact:
    table: f_rel
    key: {columns: nr, generated: max+1}
    where: weg = 0
    soft_delete: {weg: 1}
    fields: {name: naam, kind: {constant: person}, modified_at: {from: gew, type: integer, format: epoch_millis, stamp: change}}
  contactcommunication:
    table: f_com
    key: {columns: code, id: kept, generated: uuid}
    operations: {only: [get, list, update, delete]}
    fields: {contact_id: rel, type: {constant: 1}, value: waarde}
`

// ownDatabase opens a database of the gateway's own, of PostgreSQL for PostgreSQL: the same
// for each gateway that calls open.
func ownDatabase(t *testing.T, engine string) (open func() sqlrecord.DB) {
	t.Helper()
	dsn, file := "", filepath.Join(t.TempDir(), "follow.db")
	if engine == "postgres" {
		dsn = sqltest.Postgres(t)
	}
	return func() sqlrecord.DB {
		var db sqlrecord.DB
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

// followed has a Store tell changes.
func (x *fixture) followed(t *testing.T, db sqlrecord.DB, sh *sheet.Sheet) *follow.Follower {
	t.Helper()
	f, err := follow.Open(t.Context(), follow.Options{Reader: x.Store, DB: db, Sheet: sh, Lease: 200 * time.Millisecond, Log: zaptest.NewLogger(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	x.TellBy(f)
	return f
}

func onFollowed(t *testing.T, engines []string, f func(t *testing.T, x *fixture, own func() sqlrecord.DB)) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			x, _, _ := onTables(t, engine, fmt.Sprintf(followedSheet, engine), followedTables...)
			f(t, x, ownDatabase(t, engine))
		})
	}
}

// exec changes the database behind the gateway's back.
func (x *fixture) exec(format string, args ...any) {
	x.t.Helper()
	_, err := x.db.ExecContext(x.t.Context(), fmt.Sprintf(format, args...))
	require.NoError(x.t, err)
}

func (x *fixture) copyOf(t *testing.T, of auth.Client) *drivertest.Copy {
	t.Helper()
	c := &drivertest.Copy{Client: x.front, Of: of, Resources: x.model.Resources}
	require.NoError(t, c.Begin(t.Context()))
	return c
}

// changed are the changes after a cursor, as "kind resource id".
func (x *fixture) changed(t *testing.T, of auth.Client, after string, resources ...*mapping.Resource) (told []string) {
	t.Helper()
	if resources == nil {
		resources = x.model.Resources
	}
	page, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: of, After: after, Resources: resources, Limit: 100})
	require.NoError(t, err)
	for _, c := range page.Changes {
		told = append(told, fmt.Sprint(c.Kind, " ", c.Resource.Name, " ", c.ID))
	}
	return told
}

// eventually waits until a function returns what is wanted.
func (x *fixture) eventually(t *testing.T, want []string, f func() []string) {
	t.Helper()
	for began := time.Now(); ; {
		got := f()
		if slices.Equal(want, got) {
			return
		}
		if time.Since(began) > patience {
			require.Equal(t, want, got)
		}
		require.NoError(t, auth.Sleep(t.Context(), 2*time.Millisecond))
	}
}

func (x *fixture) cursor(t *testing.T, of auth.Client) string {
	t.Helper()
	page, err := x.front.Changes(t.Context(), beginning(of, x.model.Resources...))
	require.NoError(t, err)
	return page.Cursor
}

func beginning(of auth.Client, resources ...*mapping.Resource) backend.ChangesQuery {
	return backend.ChangesQuery{Client: of, Begin: true, Resources: resources}
}

// TestChangesByScan has what others change told: made, changed, removed, hidden, moved to
// another client. Nothing is told that has not changed, and no cursor is another client's.
func TestChangesByScan(t *testing.T) {
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		db := own()
		x.followed(t, db, x.sheet)
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
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		db := own()
		for _, r := range x.sheet.Resources {
			r.Changes.Every = time.Hour
		}
		x.followed(t, db, x.sheet)
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
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		db := own()
		f := x.followed(t, db, x.sheet)
		after := x.cursor(t, one)
		made := x.create(one, x.record("contact", "name", "Nieuw"))
		x.update(one, 3, x.record("contact", "name", "Dri"))
		scans := func() int64 {
			all, err := f.Scans(t.Context())
			require.NoError(t, err)
			return all[0].Records
		}
		from := scans() // of 5 records at most each time: 20 are of looks that began afterwards
		require.Eventually(t, func() bool { return scans() >= from+20 }, patience, time.Millisecond)
		require.Equal(t, []string{fmt.Sprint("created contact ", made.ID()), "updated contact 3"}, x.changed(t, one, after))
	})
}

// TestChangesByVersion has what was modified told by modified_at, also where transactions
// end in another order than they began in; deletions only where all is read, too.
func TestChangesByVersion(t *testing.T) {
	onFollowed(t, []string{"postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		db := own()
		contact := x.sheet.Resource("contact")
		contact.Changes = sheet.Changes{By: sheet.ByVersion, Every: 10 * time.Millisecond, Settle: time.Minute, Pause: time.Millisecond, Page: 3}
		f := x.followed(t, db, x.sheet)
		require.Equal(t, backend.TellsWithoutDeletions, f.Tells(contact.Resource))
		after := x.cursor(t, one)
		eventually := func(want ...string) {
			t.Helper()
			x.eventually(t, want, func() []string { return x.changed(t, one, after) })
		}
		now := time.Now().UnixMilli()
		x.exec("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now)
		eventually("updated contact 3")
		x.exec("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", now-30_000)
		eventually("updated contact 3", "updated contact 2")
		x.exec("INSERT INTO f_rel (nr, adm, naam, gew) VALUES (9, 1, 'Negen', %d)", now)
		eventually("updated contact 3", "updated contact 2", "created contact 9")
		x.exec("DELETE FROM f_rel WHERE nr = 9")
		x.exec("UPDATE f_rel SET naam = 'D', gew = %d WHERE nr = 3", now+1)
		eventually("updated contact 2", "created contact 9", "updated contact 3")

		require.NoError(t, f.Close())
		contact.Changes.Deletions = 10 * time.Millisecond
		f = x.followed(t, db, x.sheet)
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
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		db := own()
		x.followed(t, db, x.sheet)
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
						_, _ = x.db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO f_rel (nr, adm, naam) VALUES (%d, %d, 'x%d')", id, who.ID, i))
					case n == 4:
						_, _ = x.db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM f_rel WHERE nr = %d", id))
					case n == 5:
						_, _ = x.db.ExecContext(t.Context(), fmt.Sprintf("UPDATE f_rel SET adm = %d, weg = %d WHERE nr = %d", who.ID, draw.IntN(2), id))
					case n == 6:
						_, _ = x.db.ExecContext(t.Context(), fmt.Sprintf("UPDATE f_com SET waarde = '%d.%d', adm = %d WHERE code = 'b'", w, i, who.ID))
					default:
						_, _ = x.db.ExecContext(t.Context(), fmt.Sprintf("UPDATE f_rel SET naam = 'y%d.%d' WHERE nr = %d", w, i, id))
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
				x.eventually(t, []string{fmt.Sprint(len(x.all(c.Of, r.Name)))}, func() []string {
					digest, err := x.front.Digest(t.Context(), r, backend.DigestQuery{Client: c.Of, From: 1, Ranges: 1})
					require.NoError(t, err)
					return []string{fmt.Sprint(digest.Ranges[0].Count)}
				})
			}
		}
	})
}
