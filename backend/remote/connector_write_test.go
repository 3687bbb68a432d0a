package remote

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// deskSheet is of a service whose tenants are texts, with lines within orders.
const deskSheet = `
time_zone: Europe/Amsterdam
client: org
accounts: {clients: kept, users: [{username: a, email: a@example.com, password_hash: "${FOREIGN_PASSWORD_HASH}", client: {id: north, name: a}}]}
errors:
  - {when: {status: "409", jq: .body.code == "taken"}, reason: duplicate_value, field_from: .body.field}
  - {when: {jq: .body.error.code == "used"}, reason: in_use, at: order, on: [contact.delete]}
  - {when: {status: "409", jq: .body.code == "later"}, reason: record_changed}
resources:
  contact:
    path: /contacts
    key: {path: id, id: kept}
    walk: {result: items, paging: {style: none}}
    version: rev
    update: {method: PATCH, headers: {If-Match: "{version}"}}
    fields:
      kind: {path: type, codes: {P: person, B: company}}
      name: name
      payment_days: {path: terms.days, zero: "0"}
      is_customer: {path: customer, codes: {true: 1, false: 0}}
      note: {path: memo, empty: "null"}
      birth_date: {path: born, type: date}
      company_number: {read: '.nr | values | tostring', write: '{nr: (if . == null then . else tonumber end)}'}
      modified_at: {path: changed, readonly: true}
  order:
    path: /orders
    key: {path: id, id: kept}
    walk: {result: items, paging: {style: none}}
    update: {method: PUT}
    fields:
      contact_id: who
      kind: {constant: parts}
      order_status: {path: state, default: open}
      order_date: {path: placed, type: epoch}
      reference: ref
      orderlines: {path: lines}
  orderline:
    key: {path: [_parent.id, nr], id: kept}
    client: {through: order_id}
    operations: {only: [get, list]}
    get: {path: "/orders/{key.0}/lines/{key.1}"}
    fields:
      order_id: _parent.id
      sort_order: nr
      description: text
      quantity: qty
      price: {path: price, read: ".price / 100", write: ". * 100"}
      turnover_group_id: {absent: true}
`

// deskOf is a connector to a desk, and the client north of it.
func deskOf(t testing.TB, s *desk) (*connector, auth.Client) {
	t.Helper()
	c := speaking(t, deskSheet, s)
	numbers, err := c.clientNumbers(bg(), []string{"north"})
	require.NoError(t, err)
	return c, auth.Client{ID: numbers["north"], Name: "North"}
}

// record is a record of what a client sends.
func (c *connector) record(t testing.TB, resource, text string) mapping.Record {
	t.Helper()
	return patch(t, c.of(resource).Resource, text).Record
}

// keyOf is the key of a record, as the id store has it.
func (c *connector) keyOf(t taken) string {
	parts, _ := partsOf(bg(), c.Sheet.Resources[t.rec.Resource], t.raw)
	return sheet.KeyText(parts...)
}

// read gets and takes one record.
func (c *connector) one(t testing.TB, resource string, client auth.Client, key string) taken {
	t.Helper()
	row, err := c.get(bg(), c.of(resource), client, key)
	require.NoError(t, err)
	all, err := c.take(bg(), c.of(resource), client, []sheet.JSON{row})
	require.NoError(t, err)
	require.NoError(t, all[0].err)
	return all[0]
}

func TestCreate(t *testing.T) {
	s := &desk{of: map[string][]object{}}
	c, who := deskOf(t, s)
	made, err := c.create(bg(), nil, c.of("contact"), who, c.record(t, "contact", `{"kind":"person","name":"Anna","payment_days":30,"is_customer":1,"note":null,"birth_date":"2026-07-01T00:00:00+02:00"}`))
	require.NoError(t, err)
	require.Equal(t, []string{`POST /contacts {"born":"2026-07-01","customer":true,"memo":"","name":"Anna","org":"north","terms":{"days":30},"type":"P"}`}, s.take())
	require.Equal(t, "1", c.keyOf(made))
	require.Equal(t, who.ID, made.client)
	require.Equal(t, "Anna", made.rec.Get("name").Text())
	require.Equal(t, mapping.KindNull, made.rec.Get("note").Kind())

	order, err := c.create(bg(), nil, c.of("order"), who, withLines(c.record(t, "order", `{"contact_id":`+made.rec.Values[0].String()+`,"order_date":"2026-07-01T10:00:00Z"}`),
		c.record(t, "orderline", `{"sort_order":1,"description":"Oil","quantity":2,"price":4.35}`), c.record(t, "orderline", `{"sort_order":2,"description":"Air","quantity":0.5,"price":0}`)))
	require.NoError(t, err)
	require.Equal(t, []string{`POST /orders {"lines":[{"nr":1,"price":435,"qty":2,"text":"Oil"},{"nr":2,"price":0,"qty":0.5,"text":"Air"}],"org":"north","placed":1782900000,"state":"open","who":1}`}, s.take())
	at := order.rec.Resource.Field("orderlines").Index
	lines := order.rec.Children[at]
	require.Len(t, lines, 2)
	require.Equal(t, order.rec.ID(), int32(lines[0].Get("order_id").Int()))
	require.Equal(t, "4.35", lines[0].Get("price").String())
	require.NotEqual(t, lines[0].ID(), lines[1].ID())
	require.Equal(t, made.rec.ID(), int32(order.rec.Get("contact_id").Int()))

	_, err = c.create(bg(), nil, c.of("order"), who, c.record(t, "order", `{"contact_id":999}`))
	require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
	require.Empty(t, s.take(), "nothing is sent")
}

// withLines is an order with lines.
func withLines(order mapping.Record, lines ...mapping.Record) mapping.Record {
	order.SetElements(order.Resource.Field("orderlines").Index, lines)
	return order
}

func TestUpdate(t *testing.T) {
	s := &desk{of: map[string][]object{
		"contacts": {{"id": 1, "org": "north", "type": "P", "name": "Anna", "terms": object{"days": 0}, "customer": true, "memo": "", "born": nil, "rev": "r1", "changed": "2026-07-01T10:00:00Z"}},
		"orders":   {{"id": "A", "org": "north", "who": 1, "state": "open", "placed": 1782900000, "ref": "x", "secret": object{"deep": []any{1}}, "lines": []any{object{"nr": 1, "text": "Oil", "qty": 1, "price": 5}}}},
	}}
	c, who := deskOf(t, s)
	before := c.one(t, "contact", who, "1")
	s.take()
	same, err := c.update(bg(), nil, c.of("contact"), who, before, c.record(t, "contact", `{"name":"Anna","payment_days":null,"note":null}`))
	require.NoError(t, err)
	require.Equal(t, before, same)
	require.Empty(t, s.take(), "what does not change is not written")
	after, err := c.update(bg(), nil, c.of("contact"), who, before, c.record(t, "contact", `{"name":"Bea","payment_days":14,"is_customer":null,"company_number":"12"}`))
	require.NoError(t, err)
	require.Equal(t, "r1", s.heads[0].Get("If-Match"))
	require.Equal(t, []string{`PATCH /contacts/1 {"customer":null,"name":"Bea","nr":12,"terms":{"days":14}}`}, s.take())
	require.Equal(t, "Bea", after.rec.Get("name").Text())
	require.Equal(t, int64(14), after.rec.Get("payment_days").Int())

	order := c.one(t, "order", who, "A")
	s.take()
	_, err = c.update(bg(), nil, c.of("order"), who, order, c.record(t, "order", `{"reference":null}`))
	require.NoError(t, err)
	require.Equal(t, []string{`PUT /orders/A {"id":"A","lines":[{"nr":1,"price":5,"qty":1,"text":"Oil"}],"org":"north","placed":1782900000,"ref":null,"secret":{"deep":[1]},"state":"open","who":1}`}, s.take())
	require.Equal(t, "x", order.raw.Object()["ref"], "what was read is left alone")
}

// TestWriteErrors: what the sheet translates is a violation, a version that does not hold is judged
// again, and what nobody knows is a failure.
func TestWriteErrors(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		body, kind string
		on         mapping.Scope
		check      func(t *testing.T, err error)
	}{
		"taken":           {409, `{"code":"taken","field":"name"}`, "application/json", mapping.OpUpdate, violates(mapping.DuplicateValue, "name", "Bea")},
		"taken, nowhere":  {409, `{"code":"taken","field":"colour"}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"in use, as 200":  {200, `{"error":{"code":"used"}}`, "application/json", mapping.OpDelete, violates(mapping.InUse, "id", "order")},
		"changed":         {409, `{"code":"later"}`, "application/json", mapping.OpUpdate, fails(backend.ErrStale)},
		"precondition":    {412, `{}`, "application/json", mapping.OpUpdate, fails(backend.ErrStale)},
		"gone":            {404, `{}`, "application/json", mapping.OpUpdate, fails(backend.ErrNotFound)},
		"gone, empty":     {404, ``, "", mapping.OpDelete, fails(backend.ErrNotFound)},
		"nginx's 404":     {404, `<h1>404</h1>`, "text/html", mapping.OpDelete, failsPlainly},
		"unknown":         {400, `{"code":"x"}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"broken":          {500, `{}`, "application/json", mapping.OpUpdate, failsPlainly},
		"too many":        {429, ``, "", mapping.OpUpdate, violates(mapping.BackendUnavailable)},
		"no record":       {200, `{}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"no JSON":         {200, `{"id":1,`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"another":         {200, `{"id":2,"org":"north","type":"P","name":"B"}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"another's":       {200, `{"id":1,"org":"south","type":"P","name":"B"}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"no such code":    {200, `{"id":1,"org":"north","type":"X","name":"B"}`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"a page":          {200, `<!doctype html><p>`, "text/html", mapping.OpUpdate, failsPlainly},
		"a list":          {200, `[{"id":1,"org":"north"},{"id":1,"org":"north"}]`, "application/json", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"nothing":         {204, ``, "", mapping.OpUpdate, fails(backend.ErrUnexpected)},
		"nothing, delete": {204, ``, "", mapping.OpDelete, func(t *testing.T, err error) { require.NoError(t, err) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &desk{of: map[string][]object{"contacts": {{"id": 1, "org": "north", "type": "P", "name": "Anna", "rev": "1"}}}}
			c, who := deskOf(t, s)
			before := c.one(t, "contact", who, "1")
			s.instead = func(w http.ResponseWriter, r *http.Request, _ string) bool {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
				return r.Method != "GET"
			}
			s.take()
			var err error
			if test.on == mapping.OpDelete {
				err = c.delete(bg(), nil, c.of("contact"), who, before)
			} else {
				_, err = c.update(bg(), nil, c.of("contact"), who, before, c.record(t, "contact", `{"name":"Bea"}`))
			}
			test.check(t, err)
			require.Len(t, s.take(), 1, "it is sent once")
		})
	}
}

func violates(reason mapping.Reason, args ...string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		v, ok := mapping.AsViolations(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, reason, v[0].Reason)
		require.Equal(t, args, v[0].Args)
	}
}

func fails(with error) func(*testing.T, error) {
	return func(t *testing.T, err error) { require.ErrorIs(t, err, with) }
}

// failsPlainly is how a service fails that does not work.
func failsPlainly(t *testing.T, err error) {
	require.Error(t, err)
	for _, known := range []error{backend.ErrUnexpected, backend.ErrNotFound, backend.ErrStale, backend.ErrChanged} {
		require.NotErrorIs(t, err, known)
	}
}

// TestAnswersOfWrites: what an answer leaves out is read, and so is a change that the answer does not
// show: it may be the answer to the call before.
func TestAnswersOfWrites(t *testing.T) {
	s := &desk{of: map[string][]object{"contacts": {{"id": 1, "org": "north", "type": "P", "name": "Anna", "memo": "x", "rev": "1"}}}}
	c, who := deskOf(t, s)
	before := c.one(t, "contact", who, "1")
	for name, told := range map[string]func(string, object) any{
		"a part": func(string, object) any { return object{"id": 1} },
		"the answer before": func(method string, rec object) any {
			if method == "PATCH" {
				return object{"id": 1, "org": "north", "type": "P", "name": "Anna", "memo": "x", "rev": "1"}
			}
			return rec
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.told = func(method string, rec object) any {
				if method == "GET" {
					return rec
				}
				return told(method, rec)
			}
			s.take()
			after, err := c.update(bg(), nil, c.of("contact"), who, before, c.record(t, "contact", `{"name":"Bea"}`))
			require.NoError(t, err)
			require.Equal(t, "Bea", after.rec.Get("name").Text())
			require.Equal(t, "x", after.rec.Get("note").Text())
			require.Equal(t, []string{`PATCH /contacts/1 {"name":"Bea"}`, "GET /contacts/1"}, s.take())
		})
	}
}

// TestGetElement: of a key with several parts an answer may leave out those that the path names.
func TestGetElement(t *testing.T) {
	s := &desk{instead: func(w http.ResponseWriter, r *http.Request, _ string) bool {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"nr":2,"text":"Oil","qty":1,"price":100}`))
		return true
	}}
	c, who := deskOf(t, s)
	var owned []int32
	c.owners = func(_ context.Context, _ auth.Client, r *mapping.Resource, ids []int32) (map[int32]int64, error) {
		require.Equal(t, "order", r.Name)
		owned = append(owned, ids...)
		return map[int32]int64{ids[0]: who.ID}, nil
	}
	line := c.one(t, "orderline", who, sheet.KeyText("A/1", 2))
	require.Equal(t, []string{"GET /orders/A%2F1/lines/2"}, s.take())
	require.Equal(t, `["A/1",2]`, c.keyOf(line))
	require.Equal(t, "1", line.rec.Get("price").String())
	require.Equal(t, who.ID, line.client)
	require.Equal(t, []int32{int32(line.rec.Get("order_id").Int())}, owned)
	_, err := c.get(bg(), c.of("orderline"), who, sheet.KeyText("A", 3))
	require.ErrorIs(t, err, errOther)
	_, err = c.get(bg(), c.of("orderline"), who, sheet.KeyText("..", 2))
	require.ErrorIs(t, err, backend.ErrNotFound)
}

// TestWriteElements writes elements of a record by calls of their own: the record that they stand in
// is in the path, and in none of the answers.
func TestWriteElements(t *testing.T) {
	s := &desk{of: map[string][]object{"orders": {{"id": "A", "lines": []any{object{"nr": 1, "text": "Oil", "qty": 1}}}}}}
	s.instead = func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method == "GET" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"nr":` + map[string]string{"POST": "2", "PATCH": "1", "DELETE": "1"}[r.Method] + `,"text":"Air","qty":1}`))
		return true
	}
	c := speaking(t, `
resources:
  order:
    path: /orders
    key: {path: id, id: kept}
    operations: {only: [get, list]}
    walk: {result: items, paging: {style: none}}
    fields: {contact_id: {absent: true}, kind: {constant: parts}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {path: lines}}
  orderline:
    key: {path: [_parent.id, nr], id: kept}
    create: {path: "/orders/{record._parent.id}/lines"}
    update: {path: "/orders/{key.0}/lines/{key.1}"}
    delete: {path: "/orders/{key.0}/lines/{key.1}"}
    fields: {order_id: _parent.id, description: text, quantity: qty, price: {constant: 1}, turnover_group_id: {absent: true}}
`, s)
	order := c.one(t, "order", noord, "A")
	require.Len(t, order.elements, 1)
	require.Equal(t, `["A",1]`, c.keyOf(*order.elements[0]))
	s.take()
	made, err := c.create(bg(), nil, c.of("orderline"), noord, c.record(t, "orderline", `{"order_id":`+order.rec.Values[0].String()+`,"description":"Air","quantity":1}`))
	require.NoError(t, err)
	require.Equal(t, []string{`POST /orders/A/lines {"qty":1,"text":"Air"}`}, s.take())
	require.Equal(t, `["A",2]`, c.keyOf(made))
	require.Equal(t, order.rec.ID(), int32(made.rec.Get("order_id").Int()))
	after, err := c.update(bg(), nil, c.of("orderline"), noord, *order.elements[0], c.record(t, "orderline", `{"description":"Air"}`))
	require.NoError(t, err)
	require.Equal(t, order.elements[0].rec.ID(), after.rec.ID())
	require.NoError(t, c.delete(bg(), nil, c.of("orderline"), noord, after))
	require.Equal(t, []string{`PATCH /orders/A/lines/1 {"text":"Air"}`, `DELETE /orders/A/lines/1`}, s.take())
}

// TestTypeOfBodies: a sheet may say another type of bodies, which calls without one do not have.
func TestTypeOfBodies(t *testing.T) {
	s := &desk{of: map[string][]object{}}
	c := speaking(t, `
source: {http: {url: "${SERVICE_URL}", headers: {Content-Type: application/vnd.api+json}}}
resources:
  contact: {path: /contacts, key: id, walk: {result: items}, fields: {kind: kind, name: name}}
`, s)
	_, err := c.create(bg(), nil, c.of("contact"), auth.Client{ID: 1}, c.record(t, "contact", `{"kind": "person", "name": "A"}`))
	require.NoError(t, err)
	_, err = c.walked(bg(), "contact", auth.Client{ID: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"application/vnd.api+json"}, s.heads[0].Values("Content-Type"))
	require.Empty(t, s.heads[1].Values("Content-Type"))
}

// TestConstantObjects sends nothing of one record with another: jq gives the same object for a
// constant each time, and another field is put within it.
func TestConstantObjects(t *testing.T) {
	s := &desk{of: map[string][]object{}}
	c := speaking(t, `resources:
  contact:
    path: /contacts
    key: id
    walk: {result: items, paging: {style: none}}
    fields:
      kind: {read: "if .about.type == \"B\" then \"company\" else \"person\" end", write: "if . == \"company\" then {about: {type: \"B\"}} else {about: {type: \"P\"}} end"}
      name: name
      note: about.memo
`, s)
	for _, sent := range []string{`{"kind":"company","name":"Anna","note":"hers alone"}`, `{"kind":"company","name":"Ben"}`} {
		_, err := c.create(bg(), nil, c.of("contact"), north, c.record(t, "contact", sent))
		require.NoError(t, err)
	}
	require.Equal(t, []string{`POST /contacts {"about":{"memo":"hers alone","type":"B"},"name":"Anna"}`, `POST /contacts {"about":{"type":"B"},"name":"Ben"}`}, s.take())
}
