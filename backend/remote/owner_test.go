package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// shop is a service of several tenants behind one log-on: its contacts tell whose
// they are, its orders and lines do not. It notes what it is asked.
type shop struct {
	mu      sync.Mutex
	tables  map[string]map[int]map[string]any
	asked   []string
	without map[string]bool // calls whose answers leave the tenant out: "GET one"
}

type fields = map[string]any

func newShop() *shop {
	return &shop{without: map[string]bool{}, tables: map[string]map[int]map[string]any{
		"contacts": {1: {"name": "Noord", "org": 1}, 2: {"name": "Zuid", "org": 2}, 3: {"name": "Allen", "org": 0}, 4: {"name": "Nobody"}, 5: {"name": "Null", "org": nil}, 6: {"name": "Empty", "org": ""}, 7: {"name": "Own", "org": 1}},
		"orders":   {10: {"contact": 1}, 20: {"contact": 2}, 30: {"contact": 3}, 40: {"contact": 99}, 50: {"contact": nil}, 60: {"contact": 4}},
		"lines":    {1: {"order": 10, "text": "one"}, 2: {"order": 20, "text": "two"}, 3: {"order": 30, "text": "all"}, 4: {"order": 40, "text": "gone"}, 5: {"order": nil, "text": "lost"}, 6: {"order": 60, "text": "nobody"}, 7: {"order": 10, "text": "one more"}, 8: {"text": "absent"}},
	}}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	table := s.tables[parts[0]]
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	shown := func(id int, call string) fields {
		out := fields{"nr": id}
		for k, v := range table[id] {
			if k != "org" || !s.without[call] {
				out[k] = v
			}
		}
		return out
	}
	var body fields
	_ = json.NewDecoder(r.Body).Decode(&body)
	if len(parts) == 1 && r.Method == "GET" {
		var rows []fields
		for id := range 100 {
			if table[id] != nil && (r.FormValue("order") == "" || fmt.Sprint(table[id]["order"]) == r.FormValue("order")) {
				rows = append(rows, shown(id, "GET"))
			}
		}
		total := len(rows)
		from, _ := strconv.Atoi(r.FormValue("offset"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		rows = rows[min(from, total):min(from+limit, total)]
		answer(200, fields{"items": rows, "count": total})
		return
	}
	id := 90
	if r.Method != "POST" {
		id, _ = strconv.Atoi(parts[1])
		if table[id] == nil {
			answer(404, nil)
			return
		}
	}
	switch r.Method {
	case "GET":
		answer(200, shown(id, "GET one"))
		return
	case "DELETE":
		delete(table, id)
		answer(204, nil)
		return
	case "POST":
		table[id] = fields{}
	}
	for k, v := range body {
		table[id][k] = v
	}
	answer(200, shown(id, r.Method))
}

// calls are those of a method, or all, since it was told to forget.
func (s *shop) calls(method string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if method == "" || strings.HasPrefix(a, method) {
			all = append(all, a)
		}
	}
	return all
}

func (s *shop) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = nil
}

const shopSheet = `
resources:
  contact:
    key: {columns: nr}
    client: org
    system_client: "0"
    operations:
      get: {path: "/contacts/{key}"}
      list: {path: /contacts, query: {offset: "{offset}", limit: "{limit}"}, PAGED}
      create: {path: /contacts}
      update: {path: "/contacts/{key}"}
    fields: {kind: {constant: person}, name: name}
  order:
    key: {columns: nr}
    client: {through: contact_id}
    operations:
      get: {path: "/orders/{key}"}
      list: {path: /orders, query: {offset: "{offset}", limit: "{limit}"}, PAGED}
      create: {path: /orders}
      update: {path: "/orders/{key}"}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {readonly: true}}
  orderline:
    key: {columns: nr}
    client: {through: order_id}
    list_requires: []
    operations:
      get: {path: "/lines/{key}"}
      list: {path: /lines, query: {offset: "{offset}", limit: "{limit}", order: "{filter.order_id}"}, PAGED}
      create: {path: /lines}
      update: {path: "/lines/{key}"}
      delete: {path: "/lines/{key}"}
    fields: {order_id: order, description: text, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: {absent: true}}
`

type shopDesk struct {
	*shop
	store  *Store
	client *backend.Client
	model  *mapping.Model
}

func openShop(t *testing.T) *shopDesk {
	t.Helper()
	d := &shopDesk{shop: newShop()}
	d.store = served(t, strings.ReplaceAll(shopSheet, "PAGED", "result: items, paging: {style: offset}, total: {result: count}"), d.shop)
	d.client, d.model = front(t, d.store), d.store.Sheet.Model
	return d
}

// served is a service that a handler answers for, behind a sheet.
func served(t *testing.T, text string, by http.Handler) *Store {
	t.Helper()
	server := httptest.NewServer(by)
	t.Cleanup(server.Close)
	return openText(t, text, server.URL)
}

// openText opens the service at url with a sheet.
func openText(t *testing.T, text, url string) *Store {
	t.Helper()
	return open(t, Options{Sheet: loadText(t, text, url), IDStore: openIDStore(t)})
}

// loadText loads a sheet that a test has written for the service at url. What most say alike it
// need not say.
func loadText(t *testing.T, text, url string) *sheet.Sheet {
	t.Helper()
	for _, line := range []string{"format: 1", `source: {http: {url: "${GARAGE_URL}", retries: 0}}`, "keep: keep.db", "rules: backend", "accounts: {users: []}"} {
		if key, _, _ := strings.Cut(line, " "); !strings.Contains("\n"+text, "\n"+key) {
			text = line + "\n" + text
		}
	}
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return loadSheetFile(t, file, url)
}

func (d *shopDesk) list(t *testing.T, who auth.Client, resource string, q backend.Query) (page backend.Page, ids []int32) {
	t.Helper()
	q.Client = who
	if q.Limit == 0 {
		q.Limit = 50
	}
	page, err := d.client.List(bg(), d.model.Resource(resource), q)
	require.NoError(t, err)
	ids = []int32{}
	for _, rec := range page.Records {
		ids = append(ids, rec.ID())
	}
	return page, ids
}

func (d *shopDesk) of(resource, field string, v int64) []backend.Filter {
	return []backend.Filter{{Field: d.model.Resource(resource).Field(field), Value: mapping.IntValue(v)}}
}

// TestChildrenBelongToWhomTheirParentDoes: before, the sheet could say client: ""
// alone, and every client saw and changed all lines.
func TestChildrenBelongToWhomTheirParentDoes(t *testing.T) {
	d := openShop(t)
	for _, c := range []struct {
		who      auth.Client
		resource string
		want     []int32
	}{
		{noord, "contact", []int32{1, 3, 7}}, {zuid, "contact", []int32{2, 3}},
		{noord, "order", []int32{10, 30}}, {zuid, "order", []int32{20, 30}},
		{noord, "orderline", []int32{1, 3, 7}}, {zuid, "orderline", []int32{2, 3}},
	} {
		_, ids := d.list(t, c.who, c.resource, backend.Query{})
		require.Equal(t, c.want, ids, "%s of %s", c.resource, c.who.Name)
	}
	page, ids := d.list(t, noord, "orderline", backend.Query{Limit: 2, Offset: 1, Total: true})
	require.Equal(t, []int32{3, 7}, ids)
	require.EqualValues(t, 3, page.Total, "those of others are not counted")

	// A list of one order reads it once, and of another client's tells nothing.
	d.forget()
	page, ids = d.list(t, noord, "orderline", backend.Query{Total: true, Filters: d.of("orderline", "order_id", 10)})
	require.Equal(t, []int32{1, 7}, ids)
	require.EqualValues(t, 2, page.Total)
	require.Len(t, d.calls("GET /orders/10"), 1)
	require.Len(t, d.calls(""), 3, "the order, its contact, the lines: %v", d.calls(""))
	for _, order := range []int64{20, 40, 50, 60, 99} {
		page, ids = d.list(t, noord, "orderline", backend.Query{Total: true, Filters: d.of("orderline", "order_id", order)})
		require.Empty(t, ids)
		require.Zero(t, page.Total)
	}

	lines := d.model.Resource("orderline")
	for _, id := range []int32{2, 4, 5, 6, 8} {
		_, err := d.client.Get(bg(), lines, backend.Query{Client: noord, ID: id})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%d: %v", id, err)
		d.forget()
		_, err = d.client.Update(bg(), noord, id, patch(t, lines, `{"description":"stolen"}`), backend.Write{})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%d: %v", id, err)
		err = d.client.Delete(bg(), noord, lines, id, backend.Write{})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%d: %v", id, err)
		require.Empty(t, append(d.calls("PUT"), d.calls("DELETE")...))
	}
	for _, order := range []int{20, 30, 40, 50, 60, 99} {
		d.forget()
		_, err := d.client.Create(bg(), noord, body(t, lines, fmt.Sprintf(`{"order_id":%d,"description":"new"}`, order)), backend.Write{})
		require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%d: %v", order, err)
		require.Empty(t, d.calls("POST"))
	}
	orders := d.model.Resource("order")
	for _, contact := range []int{2, 3, 4, 99} {
		_, err := d.client.Update(bg(), noord, 10, patch(t, orders, fmt.Sprintf(`{"contact_id":%d}`, contact)), backend.Write{})
		require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%d: %v", contact, err)
	}
	require.Empty(t, d.calls("PUT"))
	line := create(t, d.client, noord, "orderline", `{"order_id":10,"description":"mine"}`)
	_, err := d.client.Get(bg(), lines, backend.Query{Client: zuid, ID: line.ID()})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	at := orders.Field("orderlines").Index
	got, err := d.client.Get(bg(), orders, backend.Query{Client: noord, ID: 10, Fields: []int{at}})
	require.NoError(t, err)
	require.Len(t, got.Children[at], 3)
	require.NoError(t, d.client.Delete(bg(), noord, lines, line.ID(), backend.Write{}))
}

// TestRecordsWithoutAClientAreNobodys: before, an absent client was taken for the
// caller's own.
func TestRecordsWithoutAClientAreNobodys(t *testing.T) {
	d := openShop(t)
	contacts := d.model.Resource("contact")
	for _, id := range []int32{4, 5, 6} {
		_, err := d.client.Get(bg(), contacts, backend.Query{Client: noord, ID: id})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%d: %v", id, err)
	}
	// What a write is answered with need not say it: the record was judged.
	d.without["PUT"], d.without["POST"] = true, true
	rec, err := d.client.Update(bg(), noord, 1, patch(t, contacts, `{"name":"North"}`), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, "North", rec.Get("name").Text())
	create(t, d.client, noord, "contact", `{"name":"New"}`)

	d.without["GET one"] = true
	_, err = d.client.Get(bg(), contacts, backend.Query{Client: noord, ID: 1})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	d.forget()
	_, err = d.client.Update(bg(), noord, 2, patch(t, contacts, `{"name":"stolen"}`), backend.Write{})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.Empty(t, d.calls("PUT"))
	d.without["GET"] = true
	_, ids := d.list(t, noord, "contact", backend.Query{})
	require.Empty(t, ids)
	probed, err := d.store.Probe(context.Background(), contacts, backend.Query{Client: noord, Limit: 50})
	require.NoError(t, err)
	require.Contains(t, probed.Findings, Finding{Place: "org", What: "answers do not tell whose they are", Records: probed.Records})
}

// TestElementsBelongToTheirRecord is of lines within an order: those that say
// nothing are of its client, those that say otherwise are not. The client's number
// in a key counts only where the call named it.
func TestElementsBelongToTheirRecord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nr, _ := strconv.Atoi(path.Base(r.URL.Path))
		order := fields{"nr": nr, "lines": []fields{{"id": 1, "text": "own"}, {"id": 2, "text": "other", "tenant": 2}, {"id": 3, "text": "null", "tenant": nil}, {"id": 4, "text": "said", "tenant": 1}, {"id": 5, "text": "of 8", "order": "8"}}}
		if r.URL.Path != "/adm/1/orders/7" {
			order["tenant"] = map[string]any{"/orders/7": 1, "/orders/8": 2}[r.URL.Path]
		}
		if r.URL.Path == "/hidden/7" {
			delete(order, "tenant")
		}
		_ = json.NewEncoder(w).Encode(order)
	}))
	t.Cleanup(server.Close)
	const text = `
client: tenant
resources:
  order:
    key: {columns: KEY}
    operations: {get: {path: "PATH"}}
    fields: {contact_id: {absent: true}, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {children: lines}}
  orderline:
    key: {columns: id}
    WHOSE
    operations: {get: {path: "/lines/{key}"}}
    fields: {order_id: order, description: text, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: {absent: true}}
`
	for _, c := range []struct {
		key, path, whose string
		want             []string // nil where the order itself is nobody's
	}{
		{"nr", "/orders/{key}", "", []string{"own", "said", "of 8"}},
		{"nr", "/orders/{key}", "client: {through: order_id}", []string{"own", "other", "null", "said"}},
		{"nr", "/hidden/{key}", "", nil},
		{"[tenant, nr]", "/hidden/{key.2}", "client: \"\"\n    shared: true", nil},
		{"[tenant, nr]", "/adm/{key.1}/orders/{key.2}", "", []string{"own", "said", "of 8"}},
	} {
		t.Run(c.path+" "+c.whose, func(t *testing.T) {
			store := openText(t, strings.NewReplacer("KEY", c.key, "PATH", c.path, "WHOSE", c.whose).Replace(text), server.URL)
			id := int32(7)
			if c.key != "nr" {
				given, err := store.IDStore.IDs(bg(), []sheet.KeyRef{{Resource: "order", Client: 1, Key: "1|7"}})
				require.NoError(t, err)
				for _, given := range given {
					id = given
				}
			}
			order := store.Sheet.Model.Resource("order")
			at := order.Field("orderlines").Index
			got, err := front(t, store).Get(bg(), order, backend.Query{Client: noord, ID: id, Fields: []int{at}})
			if c.want == nil {
				require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
				return
			}
			require.NoError(t, err)
			var texts []string
			for _, line := range got.Children[at] {
				texts = append(texts, line.Get("description").Text())
			}
			require.Equal(t, c.want, texts)
		})
	}
}

// TestClientInATextOverHTTP is TestClientInAColumnOfTexts of a service: before, what stood for 1
// as a number was client 1's as well.
func TestClientInATextOverHTTP(t *testing.T) {
	orgs := []string{`"1"`, `1`, `"1 "`, `"01"`, `"+1"`, `" 1"`, `"1.0"`, `"1x"`, `1.0`, `"-1"`, `true`, `null`, `""`}
	var all []string
	for i, org := range orgs {
		all = append(all, fmt.Sprintf(`{"nr":%d,"org":%s,"name":"N"}`, i+1, org))
	}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := "[" + strings.Join(all, ",") + "]"
		if id, err := strconv.Atoi(path.Base(r.URL.Path)); err == nil {
			answer = all[id-1]
		}
		_, _ = fmt.Fprint(w, answer)
	})
	s := served(t, `
resources:
  contact:
    key: {columns: nr}
    client: org
    operations: {get: {path: "/c/{key}"}, list: {path: /c}, update: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name}
`, service)
	c, r := front(t, s), s.Sheet.Model.Resource("contact")
	page, err := c.List(bg(), r, backend.Query{Client: anna, Limit: 50, Total: true})
	require.NoError(t, err)
	require.Len(t, page.Records, 3)
	for i, rec := range page.Records {
		require.EqualValues(t, i+1, rec.ID())
	}
	for id := range orgs {
		_, err := c.Update(bg(), anna, int32(id+1), patch(t, r, `{"name":"M"}`), backend.Write{})
		require.Equal(t, id >= 3, mapping.Is(err, mapping.RecordNotFound), "%s: %v", orgs[id], err)
	}
}
