package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// rackSheet is that of a rack. SINCE is what it can say of changes.
const rackSheet = `format: 2
source: {http: {url: "${URL}", walk: {query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10}}}}
keep: keep.db
rules: backend
client: org
copy: {max_age: 15m, every: 1h}
accounts: {users: [{username: jan, password_hash: $argon2id$x, client: {id: 1, name: Noord}}]}
resources:
  contact:
    path: /contacts
    key: {path: id, id: kept}
    walk: {SINCE}
    select: .gone != true
    fields: {kind: {path: kind, codes: {P: person, C: company}}, name: name, note: note, payment_days: days, modified_at: {path: changed, readonly: true}}
  order:
    path: /orders
    key: {path: nr, id: kept}
    fields:
      number: nr
      contact_id: contact
      kind: {constant: sales}
      order_status: {constant: open}
      order_date: {constant: "2026-01-01T00:00:00Z"}
      orderlines: {path: lines}
  orderline:
    key: {path: [_parent.nr, line], id: kept}
    client: {through: order_id}
    fields: {order_id: {path: _parent.nr, readonly: true}, description: text, quantity: qty}
`

const tellsSince = `since: {query: {since: "{since}"}, settle: 0s}`

// rack is a service with contacts and orders, which lists by pages.
type rack struct {
	mu      sync.Mutex
	of      map[string][]map[string]any
	clock   time.Time
	calls   []string
	rename  map[string]string // members, in answers
	max     int               // records of a page at most; 0 for what is asked
	away    bool
	wrap    string // the list root; items
	created int
	meddle  func(of, page string) int // what others do before a page is answered, and what is counted too much
}

func (s *rack) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// put adds a record, or changes one that has its key.
func (s *rack) put(of, key string, members map[string]any) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(of, key, members)
}

func keyName(of string) string { return map[string]string{"contacts": "id", "orders": "nr"}[of] }

func (s *rack) set(of, key string, members map[string]any) map[string]any {
	s.clock = s.clock.Add(time.Second)
	i := slices.IndexFunc(s.of[of], func(rec map[string]any) bool { return rec[keyName(of)] == key })
	if i < 0 {
		i = len(s.of[of])
		s.of[of] = append(s.of[of], map[string]any{keyName(of): key})
	}
	rec := maps.Clone(s.of[of][i])
	maps.Copy(rec, members)
	rec["changed"] = s.clock.Format(time.RFC3339)
	s.of[of][i] = rec
	return rec
}

func (s *rack) remove(of, key string) {
	s.do(func() {
		s.of[of] = slices.DeleteFunc(s.of[of], func(rec map[string]any) bool { return rec[keyName(of)] == key })
	})
}

// seen are the calls since it was asked last.
func (s *rack) seen() (calls []string) {
	s.do(func() { calls, s.calls = s.calls, nil })
	return calls
}

func (s *rack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r.Method+" "+r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	if s.away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	of, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	members := map[string]any{}
	if r.Method == "POST" || r.Method == "PATCH" {
		if err := json.NewDecoder(r.Body).Decode(&members); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	i := slices.IndexFunc(s.of[of], func(rec map[string]any) bool { return rec[keyName(of)] == key })
	switch {
	case r.Method == "POST":
		s.created++
		s.answer(w, s.set(of, fmt.Sprintf("new-%d", s.created), members))
	case key == "":
		s.list(w, r, of)
	case i < 0:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "PATCH":
		s.answer(w, s.set(of, key, members))
	case r.Method == "DELETE":
		s.of[of] = slices.Delete(s.of[of], i, i+1)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.answer(w, s.of[of][i])
	}
}

func (s *rack) list(w http.ResponseWriter, r *http.Request, of string) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if s.max > 0 {
		limit = min(limit, s.max)
	}
	since, more := r.URL.Query().Get("since"), 0
	if s.meddle != nil {
		more = s.meddle(of, r.URL.Query().Get("page"))
	}
	found := []map[string]any{}
	for _, rec := range s.of[of] {
		if since == "" || rec["changed"].(string) >= since[:19]+"Z" {
			found = append(found, s.renamed(rec))
		}
	}
	from := min((page-1)*limit, len(found))
	_ = json.NewEncoder(w).Encode(map[string]any{cmp.Or(s.wrap, "items"): found[from:min(from+limit, len(found))], "total": len(found) + more})
}

func (s *rack) answer(w http.ResponseWriter, rec map[string]any) {
	_ = json.NewEncoder(w).Encode(s.renamed(rec))
}

func (s *rack) renamed(rec map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range rec {
		out[cmp.Or(s.rename[name], name)] = v
	}
	return out
}

// newRack has 25 contacts of client 1 and 5 of client 2, and an order with two lines.
func newRack() *rack {
	s := &rack{of: map[string][]map[string]any{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 30 {
		s.put("contacts", fmt.Sprintf("c%02d", i), map[string]any{"org": 1 + i/25, "kind": "P", "name": fmt.Sprintf("N%02d", i), "days": i, "note": nil})
	}
	s.put("orders", "o1", map[string]any{"org": 1, "contact": "c01", "lines": []any{
		map[string]any{"line": 1, "text": "first", "qty": 1}, map[string]any{"line": 2, "text": "second", "qty": 2.5},
	}})
	return s
}

// copiedFrom opens a Driver in front of a rack.
func copiedFrom(t testing.TB, s *rack, since string, engine ...string) *Driver {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return openDriver(t, strings.Replace(rackSheet, "SINCE", since, 1), server.URL, strings.Join(engine, ""))
}

// keepDB is a database for a copy.
func keepDB(t testing.TB, engine string) (db sqlrecord.DB) {
	t.Helper()
	var err error
	if engine == "postgres" {
		db, err = sqlrecord.OpenPostgres(bg(), sqltest.Postgres(t), sqlrecord.Options{})
	} else {
		db, err = sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{})
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openDriver(t testing.TB, text, url, engine string, change ...func(*Options)) *Driver {
	t.Helper()
	return openOn(t, text, url, keepDB(t, engine), change...)
}

func openOn(t testing.TB, text, url string, db sqlrecord.DB, change ...func(*Options)) *Driver {
	t.Helper()
	model := wholeModel(t)
	file := t.TempDir() + "/sheet.yaml"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	sh, err := sheet.Load(file, model, sheet.Options{Env: func(string) (string, bool) { return url, true }})
	require.NoError(t, err)
	k, err := idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: sh.KeysWithoutCase()})
	require.NoError(t, err)
	o := Options{Sheet: sh, IDStore: k, DB: db, Model: model, KeepChanges: time.Hour, Timeout: ample, Now: time.Now}
	for _, f := range change {
		f(&o)
	}
	d, err := OpenDriver(bg(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

var north, south = auth.Client{ID: 1, Name: "Noord"}, auth.Client{ID: 2, Name: "Zuid"}

// names lists a field of the contacts that a client sees, and how old the list is.
func listed(t testing.TB, d *Driver, who auth.Client, resource, field string, change ...func(*backend.Query)) ([]string, *backend.Copy) {
	t.Helper()
	r := d.Sheet.Model.Resource(resource)
	q := backend.Query{Client: who, Limit: 1000, Copy: &backend.Copy{}}
	for _, f := range change {
		f(&q)
	}
	page, err := d.List(bg(), r, q)
	require.NoError(t, err)
	all := []string{}
	for _, rec := range page.Records {
		require.NoError(t, backend.Believe(r, rec, who, 0))
		all = append(all, rec.Get(field).String())
	}
	return all, q.Copy
}

func fromService(q *backend.Query) { q.Copy.Fresh = true }

// idOf is the ID of the contact of a name.
func idOf(t testing.TB, d *Driver, who auth.Client, name string) int32 {
	t.Helper()
	r := d.Sheet.Model.Resource("contact")
	page, err := d.List(bg(), r, backend.Query{Client: who, Limit: 1000, Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue(name)}}})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)
	return page.Records[0].ID()
}

// walkNow walks, after the walk that may be under way.
func walkNow(d *Driver, p *walked) (err error) {
	for err = errOthers; errors.Is(err, errOthers); {
		err = d.copy.walk(bg(), p)
	}
	return err
}

func writer(t testing.TB, d *Driver) *backend.Client {
	t.Helper()
	c, err := backend.NewClient(d, d.Sheet.Model, backend.Options{Timeout: ample})
	require.NoError(t, err)
	return c
}
