package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/mapping"
)

// peopleSheet is of collections of PocketBase that want more of a sheet than columns do: the
// tenant by name, a list of roles, an object that a PATCH replaces whole, and orders that
// go out with their lines in one batch.
const peopleSheet = `
source:
  http:
    url: ${POCKETBASE_URL}
    secrets: {user: root@example.com, password: "${POCKETBASE_PASSWORD}"}
    log_on:
      request:
        method: POST
        path: /api/collections/_superusers/auth-with-password
        body: '{"identity": "{secret.user}", "password": "{secret.password}"}'
      token: token
      headers: {Authorization: "{token}"}
client: nr
errors:
  - {when: {status: "400", code: validation_not_unique, code_at: data.*.code}, reason: duplicate_value, field_from: data.*}
  - {when: {status: "400", code: validation_not_unique, code_at: data.requests.0.response.data.*.code}, reason: duplicate_value, field_from: data.requests.0.response.data.*}
  - {when: {status: "400", message: "no more than", message_at: data.*.message}, reason: varchar_invalid, field_from: data.*}
resources:
  contact:
    key: {columns: id, id: kept}
    constants: {org: "{client.name}", origin: "frontdesk, client {client.id}"}
    operations:
      get: {path: "/api/collections/people/records/{key}"}
      create: {path: /api/collections/people/records}
      update: {method: PATCH, path: "/api/collections/people/records/{key}", send: siblings}
    fields:
      kind: {constant: person}
      name: name
      first_name: first
      payment_days: credit.days
      note: credit.by.whom
      is_customer: {from: roles, has: customer}
      is_supplier: {from: roles, has: supplier}
  order:
    key: {columns: id, id: kept, generated: uuid}
    operations:
      get: {path: "/api/collections/sales/records/{key}"}
      create:
        path: /api/batch
        result: 0.body
        body: |
          {"requests": [
            {"method": "POST", "url": "/api/collections/sales/records", "body": {fields}},
            {value.orderlines}
          ]}
        each:
          orderlines: |
            {"method": "POST", "url": "/api/collections/saleslines/records",
             "body": {"sale": "{key}", "nr": {client.id}, "text": "{value.description}", "qty": {value.quantity}, "price": {value.price}}}
    fields: {contact_id: person, reference: ref, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {}}
  orderline:
    key: {columns: id, id: kept}
    operations:
      get: {path: "/api/collections/saleslines/records/{key}"}
      list: {path: /api/collections/saleslines/records, query: {sale: "{filter.order_id}"}, result: items}
    fields: {order_id: sale, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}
`

// people makes the collections of peopleSheet.
func people(t *testing.T) *foreigntest.System {
	t.Helper()
	s := foreigntest.PocketBase(t)
	type object = foreigntest.Object
	make := func(name string, indexes []string, fields ...object) any {
		return s.Make(t, "/api/collections", object{"name": name, "type": "base", "fields": fields, "indexes": indexes})["id"]
	}
	field := func(name, kind string) object { return object{"name": name, "type": kind} }
	person := make("people", []string{"CREATE UNIQUE INDEX people_name ON people (nr, name)"}, field("nr", "number"), field("org", "text"), field("origin", "text"),
		field("name", "text"), object{"name": "first", "type": "text", "max": 8}, field("credit", "json"), object{"name": "roles", "type": "select", "maxSelect": 4, "values": []string{"customer", "supplier", "agent", "staff"}})
	sale := make("sales", []string{"CREATE UNIQUE INDEX sales_ref ON sales (ref)"}, object{"name": "id", "type": "text", "system": true, "primaryKey": true, "required": true, "min": 36, "max": 36, "pattern": "^[a-z0-9-]+$"},
		field("nr", "number"), field("ref", "text"), object{"name": "person", "type": "relation", "collectionId": person, "required": true, "maxSelect": 1})
	make("saleslines", nil, field("nr", "number"), field("text", "text"), object{"name": "qty", "type": "number", "max": 99}, field("price", "number"),
		object{"name": "sale", "type": "relation", "collectionId": sale, "required": true, "maxSelect": 1})
	_, err := s.Try(http.MethodPatch, "/api/settings", object{"batch": object{"enabled": true, "maxRequests": 50, "timeout": 5}})
	require.NoError(t, err)
	return s
}

// rowsOf are the rows of a collection.
func rowsOf(t *testing.T, s *foreigntest.System, collection string) []foreigntest.Object {
	t.Helper()
	rows, err := s.Rows("/api/collections/"+collection+"/records?sort=@rowid", "items")
	require.NoError(t, err)
	return rows
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestForeignPocketBaseByItsSheet(t *testing.T) {
	s := people(t)
	store := openText(t, peopleSheet, s.URL)
	c := front(t, store)
	contact, order := store.Sheet.Model.Resource("contact"), store.Sheet.Model.Resource("order")
	row := func(collection string, i int) foreigntest.Object { return rowsOf(t, s, collection)[i] }
	update := func(id int32, text string) mapping.Record {
		t.Helper()
		rec, err := c.Update(bg(), noord, id, patch(t, contact, text), backend.Write{})
		require.NoError(t, err)
		return rec
	}
	tryCreate := func(who auth.Client, r *mapping.Resource, text string) error {
		_, err := c.Create(bg(), who, body(t, r, text), backend.Write{})
		return err
	}

	anna := create(t, c, noord, "contact", `{"name":"Anna","is_customer":1,"payment_days":14}`)
	require.Equal(t, "garage-noord", row("people", 0)["org"], "the client by name")
	require.Equal(t, "frontdesk, client 1", row("people", 0)["origin"])
	require.Equal(t, []any{"customer"}, row("people", 0)["roles"])
	err := tryCreate(auth.Client{ID: 1}, contact, `{"name":"Nobody"}`)
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
	require.Len(t, rowsOf(t, s, "people"), 1, "one of no tenant is not made")

	t.Run("errors by the names of members", func(t *testing.T) {
		require.NoError(t, tryCreate(zuid, contact, `{"name":"Anna"}`))
		err := tryCreate(noord, contact, `{"name":"Anna"}`)
		require.Equal(t, "Field: name value: Anna has a duplicate illegal value", wording(t, err))
		err = tryCreate(noord, contact, `{"name":"Bert","first_name":"much too long"}`)
		require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%v", err)
		require.Contains(t, wording(t, err), "first_name")
	})

	t.Run("a list of roles", func(t *testing.T) {
		id := row("people", 0)["id"].(string)
		_, err := s.Try(http.MethodPatch, "/api/collections/people/records/"+id, foreigntest.Object{"roles": []string{"agent", "customer", "staff"}})
		require.NoError(t, err)
		rec := update(anna.ID(), `{"is_supplier":1}`)
		require.Equal(t, []any{"agent", "customer", "staff", "supplier"}, row("people", 0)["roles"])
		require.EqualValues(t, 1, rec.Get("is_supplier").Int())
		update(anna.ID(), `{"is_customer":0,"is_supplier":0,"name":"Anne"}`)
		require.Equal(t, []any{"agent", "staff"}, row("people", 0)["roles"], "what nobody mapped stays")
		update(anna.ID(), `{"is_customer":1,"is_supplier":0}`)
		require.Equal(t, []any{"agent", "staff", "customer"}, row("people", 0)["roles"])
	})

	t.Run("siblings in an object", func(t *testing.T) {
		id := row("people", 0)["id"].(string)
		_, err := s.Try(http.MethodPatch, "/api/collections/people/records/"+id, foreigntest.Object{"credit": foreigntest.Object{
			"limit": 1000.05, "days": 14, "by": foreigntest.Object{"whom": "Jan", "when": "2026"}, "log": []any{1, foreigntest.Object{"a": nil}}}})
		require.NoError(t, err)
		update(anna.ID(), `{"payment_days":30}`)
		update(anna.ID(), `{"note":"Piet"}`)
		require.JSONEq(t, `{"limit":1000.05,"days":30,"by":{"whom":"Piet","when":"2026"},"log":[1,{"a":null}]}`, asJSON(t, row("people", 0)["credit"]))
		update(anna.ID(), `{"name":"Anna"}`)
		require.JSONEq(t, `{"limit":1000.05,"days":30,"by":{"whom":"Piet","when":"2026"},"log":[1,{"a":null}]}`, asJSON(t, row("people", 0)["credit"]))
		_, err = s.Try(http.MethodPatch, "/api/collections/people/records/"+id, foreigntest.Object{"credit": nil})
		require.NoError(t, err)
		update(anna.ID(), `{"payment_days":7}`)
		require.JSONEq(t, `{"days":7}`, asJSON(t, row("people", 0)["credit"]))
	})

	t.Run("an order with its lines in a batch", func(t *testing.T) {
		line := `{"description":"O\"Neil {key}","quantity":%d,"price":2.5}`
		text := func(ref string, lines ...string) string {
			return fmt.Sprintf(`{"contact_id":%d,"reference":%q,"orderlines":[%s]}`, anna.ID(), ref, strings.Join(lines, ","))
		}
		rec := create(t, c, noord, "order", text("A", fmt.Sprintf(line, 1), fmt.Sprintf(line, 2)))
		sale, lines := row("sales", 0), rowsOf(t, s, "saleslines")
		require.Len(t, lines, 2)
		for i, of := range lines {
			require.Equal(t, []string{sale["id"].(string), `O"Neil {key}`, fmt.Sprint(i + 1)}, []string{of["sale"].(string), of["text"].(string), fmt.Sprint(of["qty"])})
		}
		at := order.Field("orderlines").Index
		got, err := c.Get(bg(), order, backend.Query{Client: noord, ID: rec.ID(), Fields: []int{at}})
		require.NoError(t, err)
		require.Len(t, got.Children[at], 2)
		require.Equal(t, `O"Neil {key}`, got.Children[at][0].Get("description").Text())

		require.NoError(t, tryCreate(noord, order, strings.Replace(text("B"), `,"orderlines":[]`, "", 1)), "without lines")
		err = tryCreate(noord, order, text("C", fmt.Sprintf(line, 1), fmt.Sprintf(line, 100)))
		require.Error(t, err, "which the service refuses")
		err = tryCreate(noord, order, text("A", fmt.Sprintf(line, 1)))
		require.Equal(t, "Field: reference value: A has a duplicate illegal value", wording(t, err))
		require.Len(t, rowsOf(t, s, "sales"), 2)
		require.Len(t, rowsOf(t, s, "saleslines"), 2)
	})
}
