package legacy

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// paged is a Store whose journal somebody waits for: further is called before the page that comes
// behind one of several.
type paged struct {
	*Store
	more    *atomic.Bool
	further func()
}

func (p paged) Entries(ctx context.Context, r *mapping.Resource, of auth.Client, after string, most int) (follow.Entries, error) {
	mine := of == one && r.Name == "contact"
	if mine && p.more.Load() {
		p.further()
	}
	page, err := p.Store.Entries(ctx, r, of, after, most)
	if mine {
		p.more.Store(page.More)
	}
	return page, err
}

// TestToldTwiceInOneLook has a record change twice while one look at what the system names is
// under way: how it is by the end is told, and counted.
func TestToldTwiceInOneLook(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		want          []string
		count         int
	}{
		"gone":       {"UPDATE f_rel SET naam = 'x' WHERE adm = 1", "DELETE FROM f_rel WHERE nr = 1", []string{"updated contact 2", "updated contact 3", "updated contact 5", "deleted contact 1"}, 3},
		"made again": {"DELETE FROM f_rel WHERE adm = 1", "INSERT INTO f_rel (nr, adm, naam) VALUES (1, 1, 'Weer')", []string{"deleted contact 2", "deleted contact 3", "created contact 1", "deleted contact 5"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x := onTables(t, "sqlite", strings.ReplaceAll(triggeredSheet(), "settle: 50ms", "settle: 0s"), triggered("sqlite")...)
			reader := paged{x.Store, new(atomic.Bool), func() { x.exec(c.second) }}
			x.follows(t, follow.Options{Reader: reader, DB: ownDatabase(t)})
			after := x.cursor(t, one)
			x.exec(c.first)
			x.eventually(t, c.want, func() []string { return x.changed(t, one, after) })
			require.Equal(t, c.count, x.counted(t, one, "contact"))
		})
	}
}

// follows has a Store tell changes as the options say; those of every test are left out of them.
func (x *tables) follows(t *testing.T, o follow.Options) *follow.Follower {
	t.Helper()
	o.Sheet, o.Lease, o.Log = x.sheet, 200*time.Millisecond, zaptest.NewLogger(t)
	f, err := follow.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	x.TellBy(f)
	return f
}

// slow is a Store that reads only so many records in the time that there is for them.
type slow struct {
	*Store
	most int

	mu   sync.Mutex
	read map[time.Time]int // by when it has to be done
}

func (s *slow) reads(ctx context.Context, records int) error {
	until, bounded := ctx.Deadline()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read[until] += records; bounded && s.read[until] > s.most {
		return context.DeadlineExceeded
	}
	return nil
}

func (s *slow) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := s.reads(ctx, 1); err != nil {
		return mapping.Record{}, err
	}
	return s.Store.Get(ctx, r, q)
}

func (s *slow) Named(ctx context.Context, r *mapping.Resource, of auth.Client, keys [][]string) (records []mapping.Record, others []int32, err error) {
	if err := s.reads(ctx, len(keys)); err != nil {
		return nil, nil, err
	}
	return s.Store.Named(ctx, r, of, keys)
}

func (s *slow) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	page, err := s.Store.List(ctx, r, q)
	if err == nil {
		err = s.reads(ctx, len(page.Records))
	}
	return page, err
}

// TestSlowSystemIsFollowed has a page take longer than there is time for, read record by record
// as the system names them, record by record where they are missing, and as a list.
func TestSlowSystemIsFollowed(t *testing.T) {
	const many = "INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 139) SELECT i, 1, 'n' FROM n"
	for name, text := range map[string]string{
		"by table": strings.NewReplacer("page: 3", "page: 100").Replace(triggeredSheet()),
		"by scan":  strings.Replace(scannedSheet, "page: 3", "page: 100", 1),
	} {
		t.Run(name, func(t *testing.T) {
			x := onTables(t, "sqlite", text, triggered("sqlite")...)
			x.follows(t, follow.Options{Reader: &slow{Store: x.Store, most: 20, read: map[time.Time]int{}}, DB: ownDatabase(t)})
			after := x.cursor(t, one)
			count := func(kind backend.ChangeKind) func() []string {
				return func() []string {
					page, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: one, After: after, Resources: x.model.Resources, Limit: 100})
					require.NoError(t, err)
					n := 0
					for _, c := range page.Changes {
						if c.Kind == kind {
							n++
						}
					}
					return make([]string, n)
				}
			}
			x.exec(many)
			x.eventually(t, make([]string, 40), count(backend.RecordCreated))
			x.exec("DELETE FROM f_rel WHERE nr >= 100")
			x.eventually(t, make([]string, 40), count(backend.RecordDeleted))
		})
	}
}

// counted is how many records a client sees, as far as they have been seen.
func (x *tables) counted(t *testing.T, of auth.Client, resource string) int {
	t.Helper()
	digest, err := x.front.Digest(t.Context(), x.model.Resource(resource), backend.DigestQuery{Client: of, From: 1, Ranges: 1})
	require.NoError(t, err)
	return digest.Ranges[0].Count
}

// prepared runs statements in the database of what is followed, before anybody looks.
func (x *tables) prepared(t *testing.T, statements ...string) sqlrecord.DB {
	t.Helper()
	db := ownDatabase(t)
	f, err := follow.Open(t.Context(), follow.Options{Reader: x.Store, DB: db, Sheet: x.sheet, Log: zaptest.NewLogger(t)})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, statement := range statements {
		require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error {
			_, err := c.Exec(t.Context(), statement)
			return err
		}))
	}
	return db
}

// TestFollowedNoMore has more resources than are looked up at once that were followed, and are
// not any more by the sheet of today: the others are.
func TestFollowedNoMore(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, _ func() sqlrecord.DB) {
		x.followed(t, x.prepared(t, `INSERT INTO followed (client_id, resource, client_name, asked_at) WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
			SELECT i, 'vehicle', '', 1000 * unixepoch() FROM n`))
		after := x.cursor(t, one)
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after) })
	})
}

// TestFollowedAgain has a client begin again while what he followed is forgotten by halves: what
// is left tells nothing of what comes.
func TestFollowedAgain(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, _ func() sqlrecord.DB) {
		x.followed(t, x.prepared(t,
			`INSERT INTO followed (client_id, resource, client_name, asked_at) VALUES (1, 'contact', 'one', 1000 * unixepoch())`,
			`INSERT INTO followed_record (client_id, resource, id, version, gone, pass) VALUES (1, 'contact', 3, 1, 0, 1000), (1, 'contact', 5, 1, 1, 1000), (1, 'contact', 77, 1, 0, 1000), (1, 'contact', 78, 1, 0, 1000)`))
		after := x.cursor(t, one)
		require.Equal(t, 4, x.counted(t, one, "contact"))
		x.exec("DELETE FROM f_rel WHERE nr = 3")
		x.eventually(t, []string{"deleted contact 3"}, func() []string { return x.changed(t, one, after) })
	})
}

// TestOwnChangesInDisorder has a record changed and then deleted by the gateway itself, and noted
// the other way round.
func TestOwnChangesInDisorder(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		for _, r := range x.sheet.Resources {
			r.Changes.Every = time.Hour
		}
		x.followed(t, own())
		after, before := x.cursor(t, one), x.get(one, "contact", 3)
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
		require.Equal(t, []string{"deleted contact 3"}, x.changed(t, one, after))
		require.Equal(t, 3, x.counted(t, one, "contact"))
	})
}

// TestRenamedClient has a client get another name, by which alone the system answers him: he goes
// on asking, and what changes is told.
func TestRenamedClient(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		var name atomic.Value
		name.Store("one")
		failed := make(chan struct{}, 1000)
		x.hinder(t, own(), func(_ context.Context, of auth.Client) error {
			if of.Name != name.Load() {
				failed <- struct{}{}
				return backend.ErrUnexpected
			}
			return nil
		})
		after := x.cursor(t, one)
		name.Store("uno")
		<-failed
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, auth.Client{ID: one.ID, Name: "uno"}, after) })
	})
}

// stuck is a Store one record of which cannot be read while it is.
type stuck struct {
	*Store
	is     *atomic.Bool
	failed chan struct{}
}

func (s stuck) Named(ctx context.Context, r *mapping.Resource, of auth.Client, keys [][]string) ([]mapping.Record, []int32, error) {
	if s.is.Load() {
		s.failed <- struct{}{}
		return nil, nil, backend.ErrUnexpected
	}
	return s.Store.Named(ctx, r, of, keys)
}

// TestStuckLongerThanKept has a look fail for longer than the system keeps what it says: all
// records are read then.
func TestStuckLongerThanKept(t *testing.T) {
	x := onTables(t, "sqlite", triggeredSheet(), triggered("sqlite")...)
	for _, r := range x.sheet.Resources {
		r.Changes.Settle, r.Changes.Keeps = 0, time.Second
	}
	reader := stuck{x.Store, new(atomic.Bool), make(chan struct{}, 100)}
	x.follows(t, follow.Options{Reader: reader, DB: ownDatabase(t)})
	after := x.cursor(t, one)
	reader.is.Store(true)
	x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
	<-reader.failed // and it is tried again in two seconds
	x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2")
	x.exec("DELETE FROM f_wijz")
	reader.is.Store(false)
	x.eventually(t, []string{"updated contact 2", "updated contact 3"}, func() []string {
		told := x.changed(t, one, after)
		slices.Sort(told)
		return told
	})
}

// timed is a Store that notes when records are read by their keys.
type timed struct {
	*Store
	mu  *sync.Mutex
	all *[]time.Time
}

func (s timed) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	s.mu.Lock()
	*s.all = append(*s.all, time.Now())
	s.mu.Unlock()
	return s.Store.Get(ctx, r, q)
}

// TestMissingAtTheirRate has records that are missing looked for no faster than the sheet allows.
func TestMissingAtTheirRate(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		contact := x.sheet.Resource("contact")
		contact.Changes.Rate = 30 // three, and then a pause
		var all []time.Time
		reader := timed{x.Store, new(sync.Mutex), &all}
		x.follows(t, follow.Options{Reader: reader, DB: own()})
		x.exec("INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 109) SELECT i, 1, 'n' FROM n")
		after := x.cursor(t, one)
		x.exec("DELETE FROM f_rel WHERE nr >= 100")
		x.eventually(t, make([]string, 10), func() []string { return make([]string, len(x.changed(t, one, after))) })
		reader.mu.Lock()
		defer reader.mu.Unlock()
		for i := 3; i < len(all); i++ {
			require.GreaterOrEqual(t, all[i].Sub(all[i-3]), contact.Changes.Pace(3))
		}
	})
}

// holding is a Store that shows clients from 1001 on no record before it is let go.
type holding struct {
	*Store
	letGo chan struct{}
}

func (h holding) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if q.Client.ID > 1000 {
		<-h.letGo
	}
	return h.Store.Get(ctx, r, q)
}

// TestOwnChangesOfAllAreNotAwaited has a record that all clients see written, while many follow it
// and the system hangs: the answer does not wait until each of them is told.
func TestOwnChangesOfAllAreNotAwaited(t *testing.T) {
	text := strings.NewReplacer("\nclient: adm\n", "\n", "where: weg = 0", "where: weg = 0, constants: {adm: \"1\"}").Replace(scannedSheet)
	x := onTables(t, "sqlite", text, followedTables...)
	for _, r := range x.sheet.Resources {
		r.Changes.Every = time.Hour
	}
	reader := holding{x.Store, make(chan struct{})}
	x.follows(t, follow.Options{Reader: reader, DB: x.prepared(t,
		`INSERT INTO followed (client_id, resource, client_name, asked_at, ready_at, next_at) WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 1060)
			SELECT i, 'contact', '', 1000 * unixepoch(), 1, 1000 * unixepoch() + 1800000 FROM n`,
		`INSERT INTO followed_record (client_id, resource, id, version, gone, pass) SELECT client_id, resource, 3, 1, 0, 0 FROM followed`)})
	after, theirs := x.cursor(t, one), x.cursor(t, two)
	letGo := sync.OnceFunc(func() { close(reader.letGo) })
	defer letGo()
	waits := time.AfterFunc(patience, letGo)
	x.update(one, 3, x.record("contact", "name", "Dri"))
	require.True(t, waits.Stop(), "others were waited for")
	letGo()
	require.Equal(t, []string{"updated contact 3"}, x.changed(t, one, after))
	x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, two, theirs) })
}
