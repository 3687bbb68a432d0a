package legacy

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
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
			x, _, _ := onTables(t, "sqlite", strings.ReplaceAll(notedSheet("sqlite"), "settle: 50ms", "settle: 0s"), noted("sqlite")...)
			reader := paged{x.Store, new(atomic.Bool), func() { x.exec("%s", c.second) }}
			x.follows(t, follow.Options{Reader: reader, DB: ownDatabase(t, "sqlite")()})
			after := x.cursor(t, one)
			x.exec("%s", c.first)
			x.eventually(t, c.want, func() []string { return x.changed(t, one, after) })
			digest, err := x.front.Digest(t.Context(), x.model.Resource("contact"), backend.DigestQuery{Client: one, From: 1, Ranges: 1})
			require.NoError(t, err)
			require.Equal(t, c.count, digest.Ranges[0].Count)
		})
	}
}

// follows has a Store tell changes as the options say; those of every test are left out of them.
func (x *fixture) follows(t *testing.T, o follow.Options) *follow.Follower {
	t.Helper()
	o.Sheet, o.Lease, o.Log = x.sheet, 200*time.Millisecond, zaptest.NewLogger(t)
	f, err := follow.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	x.TellBy(f)
	return f
}

// slow is a Store that takes its time for each record that is read by its key.
type slow struct {
	*Store
	each time.Duration
}

func (s slow) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := auth.Sleep(ctx, s.each); err != nil {
		return mapping.Record{}, err
	}
	return s.Store.Get(ctx, r, q)
}

func (s slow) Named(ctx context.Context, r *mapping.Resource, of auth.Client, keys [][]sheet.Raw) (records []mapping.Record, others []int32, err error) {
	if err := auth.Sleep(ctx, time.Duration(len(keys))*s.each); err != nil {
		return nil, nil, err
	}
	return s.Store.Named(ctx, r, of, keys)
}

func (s slow) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	page, err := s.Store.List(ctx, r, q)
	if err == nil {
		err = auth.Sleep(ctx, time.Duration(len(page.Records))*s.each)
	}
	return page, err
}

// TestSlowSystemIsFollowed has a page take longer than there is time for, read record by record
// as the system names them, record by record where they are missing, and as a list.
func TestSlowSystemIsFollowed(t *testing.T) {
	const many = "INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 139) SELECT i, 1, 'n' FROM n"
	for name, text := range map[string]string{
		"by table": strings.NewReplacer("page: 3", "page: 100").Replace(notedSheet("sqlite")),
		"by scan":  strings.NewReplacer("page: 3", "page: 100", "%s", "sqlite").Replace(followedSheet),
	} {
		t.Run(name, func(t *testing.T) {
			x, _, _ := onTables(t, "sqlite", text, noted("sqlite")...)
			x.follows(t, follow.Options{Reader: slow{x.Store, 20 * time.Millisecond}, DB: ownDatabase(t, "sqlite")(), Timeout: 400 * time.Millisecond})
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
