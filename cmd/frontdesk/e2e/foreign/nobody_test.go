package foreign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// nobodySheet is for two clients, noord and zuid, of a service whose lines do not say whose they are.
const nobodySheet = `format: 2
source: {http: {url: "URL", walk: {result: items, paging: {style: none, total: total}}}}
keep: keep.db
rules: backend
accounts:
  users:
    - {username: noord, password_hash: "NOORD", email: n@example.nl, client: {id: 1, name: noord}}
    - {username: zuid, password_hash: "ZUID", email: z@example.nl, client: {id: 2, name: zuid}}
resources:
  contact: {path: /contacts, key: id, client: adm, fields: {kind: {constant: person}, name: name}}
  order:
    path: /orders
    key: id
    client: {through: contact_id}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  orderline:
    path: /lines
    key: id
    client: {through: order_id}
    fields: {order_id: ord, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}
`

// TestRecordsOfNobody: what belongs to another client, or to none, is not there, by whichever number it
// is asked for; who may be told apart by more is what e2e/secrets tries.
func TestRecordsOfNobody(t *testing.T) {
	t.Parallel()
	s := new(rig.Shelf)
	for i, name := range []string{"noord", "zuid", "nobody"} {
		n := i + 1
		s.Put("contacts", rig.Row{"id": n, "adm": []any{1, 2, nil}[i], "name": name})
		s.Put("orders", rig.Row{"id": 10 * n, "contact": n})
		s.Put("lines", rig.Row{"id": 100 * n, "ord": 10 * n, "text": name, "qty": 1, "price": 1})
	}
	s.Serve(t)
	o, _ := rig.BySheet(t, "remote", nobodySheet, "URL", s.URL, "NOORD", rig.PasswordHash("noord"), "ZUID", rig.PasswordHash("zuid"))
	d := rig.Start(t, o)
	zuid := d.Login(rig.FullKey, "zuid")
	lines := s.Rows("lines")
	for _, ask := range []string{
		"GET /contact/1", "GET /contact/3", "GET /order/10", "GET /order/30", "GET /orderline/100", "GET /orderline/300",
		`PUT /orderline/100 {"description":"stolen"}`, `PUT /orderline/300 {"description":"stolen"}`, "DELETE /orderline/100", "DELETE /orderline/300",
		`PUT /order/10 {"contact_id":2}`, `PUT /order/20 {"contact_id":1}`, `POST /orderline {"order_id":10,"description":"planted","quantity":1,"price":1}`,
	} {
		method, rest, _ := strings.Cut(ask, " ")
		path, body, _ := strings.Cut(rest, " ")
		a := d.Call(method, path, zuid, body)
		require.Contains(t, []int{403, 404}, a.Status, "%s: %s", ask, a.Body)
		require.NotEqual(t, "internal_error", a.Failure(t).Reason, ask)
	}
	require.Equal(t, lines, s.Rows("lines"), "nothing has changed")
	require.Len(t, d.List(zuid, "/order"), 1)
	require.Empty(t, d.List(zuid, "/orderline?order_id=10"))
	require.Len(t, d.List(zuid, "/orderline?order_id=20"), 1)
	id := d.Create(zuid, "orderline", `{"order_id":20,"description":"own","quantity":1,"price":1}`)
	require.Equal(t, 404, d.Call("GET", fmt.Sprintf("/orderline/%d", id), d.Login(rig.FullKey, "noord"), "").Status)
}
