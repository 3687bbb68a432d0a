package remotetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RackSheet is the sheet of a rack. SINCE is how it reports changes.
const RackSheet = `format: 2
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

// WithSince is the part of a sheet for a rack that reports changes.
const WithSince = `since: {query: {since: "{since}"}, settle: 0s}`

// Rack is a service with contacts and orders, whose lists have pages.
type Rack struct {
	mu      sync.Mutex
	clock   time.Time
	calls   []string
	created int

	// The following fields are changed only within Do once the rack is in use.
	Records map[string][]map[string]any // by collection
	Rename  map[string]string           // members, in answers
	Max     int                         // records of a page at most; 0 for no bound
	Away    bool                        // every call is answered with 503
	Wrap    string                      // the member of a list that has its records; "" for items
	// Meddle, if set, changes records before a page is answered; the total that the page shows is
	// too large by its result.
	Meddle func(collection, page string) int
}

// Do runs f while no call is answered.
func (s *Rack) Do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Put adds a record, or changes the one that has the key.
func (s *Rack) Put(collection, key string, members map[string]any) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Set(collection, key, members)
}

func keyName(collection string) string {
	return map[string]string{"contacts": "id", "orders": "nr"}[collection]
}

// Set is Put, within Do.
func (s *Rack) Set(collection, key string, members map[string]any) map[string]any {
	s.clock = s.clock.Add(time.Second)
	i := slices.IndexFunc(s.Records[collection], func(rec map[string]any) bool { return rec[keyName(collection)] == key })
	if i < 0 {
		i = len(s.Records[collection])
		s.Records[collection] = append(s.Records[collection], map[string]any{keyName(collection): key})
	}
	rec := maps.Clone(s.Records[collection][i])
	maps.Copy(rec, members)
	rec["changed"] = s.clock.Format(time.RFC3339)
	s.Records[collection][i] = rec
	return rec
}

// Remove removes a record.
func (s *Rack) Remove(collection, key string) {
	s.Do(func() {
		s.Records[collection] = slices.DeleteFunc(s.Records[collection], func(rec map[string]any) bool { return rec[keyName(collection)] == key })
	})
}

// Seen returns the calls since Seen was last used.
func (s *Rack) Seen() (calls []string) {
	s.Do(func() { calls, s.calls = s.calls, nil })
	return calls
}

func (s *Rack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r.Method+" "+r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	if s.Away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	collection, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	members := map[string]any{}
	if r.Method == "POST" || r.Method == "PATCH" {
		if err := json.NewDecoder(r.Body).Decode(&members); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	i := slices.IndexFunc(s.Records[collection], func(rec map[string]any) bool { return rec[keyName(collection)] == key })
	switch {
	case r.Method == "POST":
		s.created++
		s.answer(w, s.Set(collection, fmt.Sprintf("new-%d", s.created), members))
	case key == "":
		s.list(w, r, collection)
	case i < 0:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "PATCH":
		s.answer(w, s.Set(collection, key, members))
	case r.Method == "DELETE":
		s.Records[collection] = slices.Delete(s.Records[collection], i, i+1)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.answer(w, s.Records[collection][i])
	}
}

func (s *Rack) list(w http.ResponseWriter, r *http.Request, collection string) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if s.Max > 0 {
		limit = min(limit, s.Max)
	}
	since, extra := r.URL.Query().Get("since"), 0
	if s.Meddle != nil {
		extra = s.Meddle(collection, r.URL.Query().Get("page"))
	}
	found := []map[string]any{}
	for _, rec := range s.Records[collection] {
		if since == "" || rec["changed"].(string) >= since[:19]+"Z" {
			found = append(found, s.renamed(rec))
		}
	}
	from := min((page-1)*limit, len(found))
	_ = json.NewEncoder(w).Encode(map[string]any{cmp.Or(s.Wrap, "items"): found[from:min(from+limit, len(found))], "total": len(found) + extra})
}

func (s *Rack) answer(w http.ResponseWriter, rec map[string]any) {
	_ = json.NewEncoder(w).Encode(s.renamed(rec))
}

func (s *Rack) renamed(rec map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range rec {
		out[cmp.Or(s.Rename[name], name)] = v
	}
	return out
}

// NewRack returns a rack with 25 contacts of client 1, 5 of client 2, and an order with two lines.
func NewRack() *Rack {
	s := &Rack{Records: map[string][]map[string]any{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 30 {
		s.Put("contacts", fmt.Sprintf("c%02d", i), map[string]any{"org": 1 + i/25, "kind": "P", "name": fmt.Sprintf("N%02d", i), "days": i, "note": nil})
	}
	s.Put("orders", "o1", map[string]any{"org": 1, "contact": "c01", "lines": []any{
		map[string]any{"line": 1, "text": "first", "qty": 1}, map[string]any{"line": 2, "text": "second", "qty": 2.5},
	}})
	return s
}
