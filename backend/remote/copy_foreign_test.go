package remote

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// foreignCopy is a service of testdata/foreign/services.yaml, which says what the members mean.
type foreignCopy struct {
	start func(testing.TB) *foreigntest.System
	Sheet string
	Rows  struct {
		Path, Row        foreigntest.JQ
		At               string
		Companies, Paged bool
	}
	Key, Owner                       foreigntest.JQ
	Hidden, Forget, Meddled, Renames string
	At, Body, Remove                 foreigntest.JQ
	Method                           string
	Make                             struct{ Path, Row foreigntest.JQ }
	Of                               map[string]shownAs
}

// shownAs is how a resource is shown of a collection.
type shownAs struct {
	Is     string
	Row    foreigntest.JQ
	Fields map[string]foreigntest.JQ
	Draws  map[string]any
}

var foreignStarts = map[string]func(testing.TB) *foreigntest.System{
	"json-server": foreigntest.JSONServer, "pocketbase": foreigntest.PocketBase, "soap": foreigntest.SOAP, "feathers": foreigntest.Feathers,
	"loopback": foreigntest.LoopBack, "couchdb": foreigntest.CouchDB, "odata": foreigntest.OData, "jsonapi": foreigntest.JSONAPI,
}

// foreignCopies reads the services.
func foreignCopies(t *testing.T) (all map[string]foreignCopy) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalWithOptions(must.Have(os.ReadFile("testdata/foreign/services.yaml"))(t), &all, yaml.Strict()))
	require.Len(t, all, len(foreignStarts))
	for name, of := range all {
		of.start = foreignStarts[name]
		all[name] = of
	}
	return all
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

// objects are the rows that the service has of a resource.
func (f *inFront) objects(resource string) (all []foreigntest.Object, err error) {
	of, companies := f.Of[resource], []string{""}
	if f.foreignCopy.Rows.Companies {
		companies = foreigntest.Companies
	}
	for _, company := range companies {
		for from := 0; ; {
			vars := map[string]any{"$of": of.Is, "$company": company, "$from": from}
			rows, err := f.System.Rows(f.foreignCopy.Rows.Path.Text(nil, vars), f.foreignCopy.Rows.At)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				for _, o := range cmp.Or(of.Row, f.foreignCopy.Rows.Row, ".").All(row, nil) {
					o := o.(foreigntest.Object)
					if company != "" {
						o["company"] = company
					}
					all = append(all, o)
				}
			}
			if from += len(rows); !f.foreignCopy.Rows.Paged || len(rows) == 0 {
				break
			}
		}
	}
	return all, nil
}

// saidBy is the member that says a field first.
var saidBy = regexp.MustCompile(`\.(\w+)`)

// Rows implements drivertest.Oracle: what the service says, in the order of the IDs that were given
// to it.
func (f *inFront) Rows(ctx context.Context, resource string) ([]drivertest.Row, error) {
	r := f.d.Sheet.Resource(resource)
	found, err := f.objects(resource)
	if err != nil {
		return nil, err
	}
	rows, refs := make([]drivertest.Row, len(found)), make([]sheet.KeyRef, len(found))
	for i, o := range found {
		rows[i] = f.row(r, o)
		refs[i] = sheet.KeyRef{Resource: resource, Client: keyed(r, auth.Client{ID: rows[i].Client}), Key: f.Key.Text(o, nil)}
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

// row is an object as the oracle tells it.
func (f *inFront) row(r *sheet.Resource, o foreigntest.Object) drivertest.Row {
	row := drivertest.Row{Client: mapping.OfAll, Key: keyIn(o, f.Key.Text(o, nil)), Hidden: o[f.Hidden] == true, Fields: map[string]any{}, Rest: map[string]string{}}
	if owner := f.Owner.One(o, nil); owner != nil {
		row.Client, _ = strconv.ParseInt(fmt.Sprint(owner), 10, 64)
	}
	says := map[string]string{f.Forget: ""}
	for name, at := range f.Of[r.Name].Fields {
		says[saidBy.FindStringSubmatch(string(at))[1]] = name
		v := at.One(o, nil)
		if r.Field(name).Target() != nil {
			if v != nil && v != "" {
				v = keyIn(o, fmt.Sprint(v))
			} else {
				v = nil
			}
		}
		row.Fields[name] = v
	}
	for member, v := range o {
		if name, known := says[member]; !known || name != "" {
			row.Rest[cmp.Or(name, member)] = fmt.Sprint(v)
		}
	}
	return row
}

// keyIn tells rows apart that have one key in two companies.
func keyIn(row foreigntest.Object, key string) drivertest.Key {
	if company, is := row["company"]; is {
		return drivertest.Key(fmt.Sprint(company, "/", key))
	}
	return drivertest.Key(key)
}

// drawn makes the values of a new record.
func (f *foreignCopy) drawn(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
	all := map[string]any{}
	draws := f.Of[resource].Draws
	for _, field := range slices.Sorted(maps.Keys(draws)) {
		name, optional := strings.CutSuffix(field, "?")
		if optional && !rapid.Bool().Draw(t, "has "+name) {
			continue
		}
		var least, most int
		switch how := draws[field].(type) {
		case []any:
			all[name] = rapid.SampledFrom(how).Draw(t, name)
			if n, is := all[name].(uint64); is {
				all[name] = int(n)
			}
		case string:
			if of, is := strings.CutPrefix(how, "-> "); is {
				all[name] = pick(of)
			} else if how == "texts" {
				all[name] = rapid.SampledFrom(foreignTexts).Draw(t, name)
			} else if how == "prices" {
				all[name] = fmt.Sprintf("%.2f", float64(rapid.IntRange(0, 400).Draw(t, name))/4)
			} else if n, _ := fmt.Sscanf(how, "%d..%d", &least, &most); n == 2 {
				all[name] = rapid.IntRange(least, most).Draw(t, name)
			} else {
				all[name] = rapid.StringMatching(strings.Trim(how, "/")).Draw(t, name)
			}
		}
	}
	return all
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
		require.True(f.t, q.Copy.Used && !q.Copy.Stale)
	}
	return page, err
}

// meddle changes something beside frontdesk. What a service does not tell of, a deletion, is found by
// a walk.
func (f *inFront) meddle(t *rapid.T) {
	rows, err := f.objects(f.Meddled)
	require.NoError(t, err)
	what := rapid.SampledFrom([]string{"insert", "hide", "change", "delete"}).Draw(t, "meddling")
	if what == "insert" && len(rows) < 80 || len(rows) < 20 {
		f.made++
		vars := map[string]any{"$n": f.made, "$name": foreigntest.Name(f.made)}
		_, err := f.Try(http.MethodPost, f.foreignCopy.Make.Path.Text(nil, vars), f.foreignCopy.Make.Row.One(nil, vars))
		require.NoError(t, err)
		return
	}
	row := rapid.SampledFrom(rows).Draw(t, "row")
	switch {
	case what == "delete":
		_, err := f.Try(http.MethodDelete, cmp.Or(f.Remove, f.At).Text(row, nil), nil)
		require.NoError(t, err)
		f.walkAll(t)
	case what == "change":
		f.changes(t, row, foreigntest.Object{f.Renames: rapid.SampledFrom(foreignTexts).Draw(t, "text")})
	case f.Hidden != "":
		f.changes(t, row, foreigntest.Object{f.Hidden: row[f.Hidden] != true})
	}
}

func (f *inFront) changes(t *rapid.T, row, members foreigntest.Object) {
	_, err := f.Try(cmp.Or(f.Method, http.MethodPatch), f.At.Text(row, nil), cmp.Or(f.Body, ".").One(members, map[string]any{"$row": row}))
	require.NoError(t, err)
}

// walkAll walks what the service does not tell the deletions of.
func (f *inFront) walkAll(t require.TestingT) {
	r := f.d.Sheet.Resource(f.Meddled)
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

var foreignTexts = slices.Concat(drivertest.Texts[2:], []string{"Oil filter", "a b"})

// openForeign opens the Driver before a service.
func (f *foreignCopy) open(t *testing.T, url string) (*Driver, *idstore.Store) {
	sh, db := loadSheet(t, f.Sheet, url), keepDB(t, "")
	k := must.Have(idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: sh.KeysWithoutCase()}))(t)
	d, err := OpenDriver(bg(), Options{Sheet: sh, IDStore: k, DB: db, Model: wholeModel(t), KeepChanges: time.Hour, Timeout: ample, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, k
}

// TestForeignCopies walks the copy of services that nobody here wrote, while others write there:
// nothing is missing, double, another's or old, and a write changes nothing beside.
func TestForeignCopies(t *testing.T) {
	for name, of := range foreignCopies(t) {
		t.Run(name, func(t *testing.T) {
			s := of.start(t)
			f := &inFront{foreignCopy: &of, System: s}
			f.d, f.ids = of.open(t, s.URL)
			c := must.Have(backend.NewClient(fresh{f.d, t}, f.d.Sheet.Model, backend.Options{Timeout: ample}))(t)
			w := drivertest.Walk{
				Client: c, Oracle: f, Clients: foreignClients, Draw: of.drawn, Meddle: f.meddle, Steps: 2,
				Refusals: []mapping.Reason{mapping.DuplicateValue, mapping.InUse, mapping.RelatedIDNotFound},
			}
			for resource := range of.Of {
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
