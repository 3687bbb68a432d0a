package remote

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// foreignCopy is a service that nobody here wrote, and how its records are said there. It is the
// oracle of the copy that lists are answered from.
type foreignCopy struct {
	start  func(testing.TB) *foreigntest.System
	sheet  string
	rows   func(s *foreigntest.System, of string) ([]foreigntest.Object, error) // of a collection
	key    func(foreigntest.Object) string
	owner  func(foreigntest.Object) int64
	hidden string // the member that hides a row
	of     map[string]shownAs
	draw   func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any
	// meddled is the resource whose rows other programs make, change and delete, made what they make,
	// with the path that it is made at.
	meddled string
	made    func(n int) (path string, row foreigntest.Object)
	change  func(s *foreigntest.System, row, members foreigntest.Object) error
	remove  func(s *foreigntest.System, row foreigntest.Object) error
	renames string // the member that they change
	rest    func(row foreigntest.Object, of string) map[string]any
}

// shownAs is how a resource is shown of a collection.
type shownAs struct {
	name   string
	fields map[string]func(foreigntest.Object) any
	says   map[string]string // the member of a field
}

var foreignClients = []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}

// inFront is a foreignCopy that runs, behind its Driver.
type inFront struct {
	*foreignCopy
	*foreigntest.System
	d    *Driver
	ids  *idstore.Store
	made int
}

// Rows implements drivertest.Oracle: what the service says, in the order of the IDs that were given
// to it.
func (f *inFront) Rows(ctx context.Context, resource string) ([]drivertest.Row, error) {
	of, r := f.of[resource], f.d.Sheet.Resource(resource)
	found, err := f.foreignCopy.rows(f.System, of.name)
	if err != nil {
		return nil, err
	}
	rows, refs := make([]drivertest.Row, len(found)), make([]sheet.KeyRef, len(found))
	for i, o := range found {
		row := drivertest.Row{Client: f.owner(o), Hidden: o[f.hidden] == true, Fields: map[string]any{}, Rest: map[string]string{}}
		refs[i] = sheet.KeyRef{Resource: resource, Client: keyed(r, auth.Client{ID: row.Client}), Key: f.key(o)}
		row.Key = f.keyOf(o, f.key(o))
		for name, as := range of.fields {
			row.Fields[name] = as(o)
		}
		for member, v := range f.restOf(o, of.name) {
			name := member
			for field, says := range of.says {
				if says == member {
					name = field
				}
			}
			row.Rest[name] = fmt.Sprint(v)
		}
		rows[i] = row
	}
	given, err := f.ids.Given(ctx, refs)
	if err != nil {
		return nil, err
	}
	order := make(map[drivertest.Key]int, len(rows))
	for i, row := range rows {
		order[row.Key] = math.MaxInt
		if id, known := given[refs[i]]; known {
			order[row.Key] = int(id)
		} else if !r.Key.Kept {
			order[row.Key], _ = strconv.Atoi(refs[i].Key)
		}
	}
	slices.SortStableFunc(rows, func(a, b drivertest.Row) int { return cmp.Compare(order[a.Key], order[b.Key]) })
	return rows, nil
}

// keyOf tells rows apart that have one key in two companies.
func (f *foreignCopy) keyOf(row foreigntest.Object, key string) drivertest.Key {
	if company, is := row["company"]; is {
		return drivertest.Key(fmt.Sprint(company, "/", key))
	}
	return drivertest.Key(key)
}

func (f *foreignCopy) restOf(row foreigntest.Object, of string) map[string]any {
	if f.rest == nil {
		return row
	}
	return f.rest(row, of)
}

// fresh asks for each list as it is in the service now.
type fresh struct {
	*Driver
	t testing.TB
}

func (f fresh) List(ctx context.Context, m *mapping.Resource, q backend.Query) (backend.Page, error) {
	q.Copy = &backend.Copy{Fresh: true}
	page, err := f.Driver.List(ctx, m, q)
	if err == nil && !q.None {
		require.True(f.t, q.Copy.Told && !q.Copy.Stale)
	}
	return page, err
}

// meddle changes something beside frontdesk. What a service does not tell of, a deletion, is found by
// a walk.
func (f *inFront) meddle(t *rapid.T) {
	rows, err := f.foreignCopy.rows(f.System, f.of[f.meddled].name)
	require.NoError(t, err)
	what := rapid.SampledFrom([]string{"insert", "hide", "change", "delete"}).Draw(t, "meddling")
	if what == "insert" && len(rows) < 80 || len(rows) < 20 {
		f.made++
		path, row := f.foreignCopy.made(f.made)
		_, err := f.Try(http.MethodPost, path, row)
		require.NoError(t, err)
		return
	}
	row := rapid.SampledFrom(rows).Draw(t, "row")
	switch {
	case what == "delete":
		require.NoError(t, f.remove(f.System, row))
		f.walkAll(t)
	case what == "change":
		require.NoError(t, f.change(f.System, row, foreigntest.Object{f.renames: rapid.SampledFrom(foreignTexts).Draw(t, "text")}))
	case f.hidden != "":
		require.NoError(t, f.change(f.System, row, foreigntest.Object{f.hidden: row[f.hidden] != true}))
	}
}

// walkAll walks what the service does not tell the deletions of.
func (f *inFront) walkAll(t require.TestingT) {
	r := f.d.Sheet.Resource(f.meddled)
	if since := r.Service.Walk.Since; since == nil || since.Deleted != nil {
		return
	}
	for _, p := range f.d.copy.walks() {
		if p.r != r {
			continue
		}
		require.NoError(t, f.d.copy.whole(bg(), p))
		s, err := f.d.copy.state(bg(), p)
		require.NoError(t, err)
		require.NoError(t, f.d.copy.walkedSince(bg(), p, s.now))
	}
}

// patchAt changes and removes rows at addresses of their own.
func patchAt(place func(foreigntest.Object) string) (change func(s *foreigntest.System, row, members foreigntest.Object) error, remove func(*foreigntest.System, foreigntest.Object) error) {
	return func(s *foreigntest.System, row, members foreigntest.Object) error {
			_, err := s.Try(http.MethodPatch, place(row), members)
			return err
		}, func(s *foreigntest.System, row foreigntest.Object) error {
			_, err := s.Try(http.MethodDelete, place(row), nil)
			return err
		}
}

var (
	foreignTexts   = slices.Concat(drivertest.Texts[2:], []string{"Oil filter", "a b"})
	foreignNumbers = rapid.StringMatching(`N[0-9]{3}`)
	foreignPrices  = rapid.Map(rapid.IntRange(0, 400), func(n int) any { return fmt.Sprintf("%.2f", float64(n)/4) })
)

// openForeign opens the Driver before a service.
func (f *foreignCopy) open(t *testing.T, url string) (*Driver, *idstore.Store) {
	sh, db := loadSheet(t, f.sheet, url), keepDB(t, "")
	k, err := idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: sh.KeysWithoutCase()})
	require.NoError(t, err)
	d, err := OpenDriver(bg(), Options{Sheet: sh, IDStore: k, DB: db, Model: wholeModel(t), KeepChanges: time.Hour, Timeout: ample, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, k
}

// TestForeignCopies walks the copy of services that nobody here wrote, while others write there:
// nothing is missing, double, another's or old, and a write changes nothing beside.
func TestForeignCopies(t *testing.T) {
	for name, of := range foreignCopies {
		t.Run(name, func(t *testing.T) {
			s := of.start(t)
			f := &inFront{foreignCopy: &of, System: s}
			f.d, f.ids = of.open(t, s.URL)
			c, err := backend.NewClient(fresh{f.d, t}, f.d.Sheet.Model, backend.Options{Timeout: ample})
			require.NoError(t, err)
			w := drivertest.Walk{
				Client: c, Oracle: f, Clients: foreignClients, Draw: of.draw, Meddle: f.meddle, Steps: 2,
				Refusals: []mapping.Reason{mapping.DuplicateValue, mapping.InUse, mapping.RelatedIDNotFound},
			}
			for resource := range of.of {
				w.Resources = append(w.Resources, resource)
			}
			if slices.Sort(w.Resources); sqltest.Soak() {
				w.Steps, w.Rounds = 6, 10
			}
			w.Run(t)
			drivertest.Injection{Client: c, Clients: foreignClients, Oracle: f}.Run(t)
			require.Empty(t, f.d.LeftOut())
			require.Empty(t, f.d.Closed())
		})
	}
}
