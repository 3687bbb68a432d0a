package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

// shelfSheet is that of a shelf. SINCE is what it can say of changes.
const shelfSheet = `format: 2
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
    key: {path: id, id: kept}
    fields:
      number: id
      contact_id: contact
      kind: {constant: sales}
      order_status: {constant: open}
      order_date: {constant: "2026-01-01T00:00:00Z"}
      orderlines: {path: lines}
  orderline:
    key: {path: [_parent.id, line], id: kept}
    client: {through: order_id}
    fields: {order_id: {path: _parent.id, readonly: true}, description: text, quantity: qty}
`

const tellsSince = `since: {query: {since: "{since}"}, settle: 0s}`

// shelf is a service with contacts and orders, which lists by pages. It is filled before it is asked.
type shelf struct {
	of     map[string][]map[string]any
	clock  time.Time
	rename map[string]string // members, in answers
}

func newShelf() *shelf {
	return &shelf{of: map[string][]map[string]any{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (s *shelf) put(of, key string, members map[string]any) {
	s.clock = s.clock.Add(time.Second)
	i := s.find(of, key)
	if i < 0 {
		i = len(s.of[of])
		s.of[of] = append(s.of[of], map[string]any{"id": key})
	}
	rec := maps.Clone(s.of[of][i])
	maps.Copy(rec, members)
	rec["changed"] = s.clock.Format(time.RFC3339)
	s.of[of][i] = rec
}

func (s *shelf) find(of, key string) int {
	return slices.IndexFunc(s.of[of], func(rec map[string]any) bool { return rec["id"] == key })
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	of, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if i := s.find(of, key); key != "" && i >= 0 {
		_ = json.NewEncoder(w).Encode(s.renamed(s.of[of][i]))
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	since, found := r.URL.Query().Get("since"), []map[string]any{}
	for _, rec := range s.of[of] {
		if since == "" || rec["changed"].(string) >= since[:19]+"Z" {
			found = append(found, s.renamed(rec))
		}
	}
	from := min((page-1)*limit, len(found))
	_ = json.NewEncoder(w).Encode(map[string]any{"items": found[from:min(from+limit, len(found))]})
}

func (s *shelf) renamed(rec map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range rec {
		if other := s.rename[name]; other != "" {
			name = other
		}
		out[name] = v
	}
	return out
}

// surveyed is what a walk of a shelf's records shows to its first client, by resource.
func surveyed(t *testing.T, s *shelf, since string) (seen map[string][]string, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	driver, o, problems := inFront(t, shelfSheet, map[string]string{"URL": server.URL}, "SINCE", since)
	require.Empty(t, problems)
	c, whole := &httpCheck{Options: o, service: driver}, censuses{}
	for _, name := range []string{"contact", "order"} {
		all, failure := c.census(t.Context(), o.Sheet.Model.Resource(name), auth.Client{ID: 1, Name: "Noord"})
		if failure != nil {
			err = failure
		}
		maps.Copy(whole, all)
	}
	seen = map[string][]string{}
	for r, s := range whole {
		for _, f := range append(s.found, whole.nowhere(s)...) {
			seen[r.Name] = append(seen[r.Name], says(f.what, f.at, f.records, f.of))
		}
	}
	return seen, err
}

func says(what claim, at string, n, of int) string {
	return fmt.Sprintf("%s %s %d/%d", what, at, n, of)
}

// TestCensus counts what does not fit, of all records.
func TestCensus(t *testing.T) {
	s := newShelf()
	for i := range 25 {
		s.put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1 + i%2, "name": fmt.Sprint("N", i), "note": "", "kind": "P", "days": i})
	}
	line := func(n int) map[string]any { return map[string]any{"line": n, "text": "x", "qty": 1} }
	for i := range 4 {
		s.put("orders", fmt.Sprint("o", i), map[string]any{"org": 1, "contact": "c0", "lines": []any{line(1), line(2)}})
	}
	found, err := surveyed(t, s, tellsSince)
	require.NoError(t, err)
	require.Empty(t, found)

	s.put("contacts", "c1", map[string]any{"kind": "Q", "days": "many"})
	s.put("contacts", "c2", map[string]any{"kind": "R"})
	s.put("contacts", "c3", map[string]any{"name": nil})
	s.put("contacts", "c4", map[string]any{"name": strings.Repeat("n", 300)})
	s.put("contacts", "c5", map[string]any{"org": ""})
	s.put("orders", "o1", map[string]any{"contact": "c99", "lines": []any{line(1), map[string]any{"line": 2, "text": "x", "qty": "?"}}})
	s.put("orders", "o2", map[string]any{"contact": "c1"})
	s.rename = map[string]string{"note": "memo"}
	found, err = surveyed(t, s, tellsSince)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		"contact":   {says(unsaid, "client", 1, 25), says(unlisted, "kind", 2, 25), says(empty, "name", 1, 25), says(tooLong, "name", 1, 25), says(missing, "note", 24, 25), says(unshown, "payment_days", 1, 25)},
		"order":     {says(unshown, "orderlines", 1, 4), says(nowhere, "contact_id", 1, 3)},
		"orderline": {says(unshown, "quantity", 1, 8)},
	}, found)
}

// TestCensusOfWalks: a walk that does not add up fails with its words, and since is tried.
func TestCensusOfWalks(t *testing.T) {
	s := newShelf()
	for i := range 25 {
		s.put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1, "name": "N", "kind": "P", "note": "", "days": 1})
	}
	found, err := surveyed(t, s, `paging: {style: page, size: 10, total: {read: .items | length}}`)
	require.ErrorIs(t, err, backend.ErrChanged)
	require.ErrorContains(t, err, "contact: 10 records came, and there are more behind what the answers say is the end, at .items | length", "%v", found)
	_, err = surveyed(t, s, `paging: {style: page, size: 10, total: all}`)
	require.ErrorContains(t, err, "no number of all records at all of the answer")
	found, err = surveyed(t, s, `since: {query: {after: "{since}"}, settle: 0s}`)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(sinceIgnored, "walk.since", 25, 25)}}, found)
	found, err = surveyed(t, s, `since: {query: {since: "2036-01-01T00:00:00Z", x: "{since}"}, settle: 0s}`)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(sinceMisses, "walk.since", 1, 25)}}, found)
}
