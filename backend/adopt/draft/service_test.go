package draft

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// heard drafts a sheet of a service.
func heard(t *testing.T, o Options) *Draft {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	o.Model = model
	d, err := New(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, problems(t, d.Text), "it always loads:\n%s", d.Text)
	return d
}

const contactsAnswer = `{"page": 1, "perPage": 30, "totalItems": 53, "items": [
  {"id": "a1b2c3", "org": 1, "customerNumber": "K-1", "type": "PRIVATE", "lastName": "Bakker", "person": {"birthDate": "1950-01-01", "firstName": "Zoë"}, "customer": true, "memo": "", "created": "2026-11-22 08:47:21.199Z", "updatedAt": "2026-11-22T08:47:21Z", "paymentTermDays": 14},
  {"id": "d4e5f6", "org": 2, "customerNumber": "K-2", "type": "BUSINESS", "lastName": "Jansen", "person": {"birthDate": null, "firstName": null}, "customer": false, "memo": "x", "created": "2026-11-22 08:47:21.199Z", "updatedAt": "2026-11-22T08:47:21Z", "paymentTermDays": 30}]}`

// TestSamples drafts a sheet of answers: the list in them, keys, paths, types, dates, how
// they are paged and counted.
func TestSamples(t *testing.T) {
	d := heard(t, Options{Samples: []Sample{
		{Path: "/api/collections/contacts/records", Body: []byte(contactsAnswer)},
		{Path: "/orders", Header: http.Header{"X-Total-Count": {"2"}, "Link": {`</orders?page=2>; rel="next"`}}, Body: []byte(`[
		  {"id": 7, "org": 1, "contactId": "a1b2c3", "status": "OPEN", "orderDate": "2026-01-05T08:14:00+01:00", "deliveryDate": 1767600000, "totalExcl": 10.5, "lines": [{"id": 1, "description": "Oil"}]},
		  {"id": 8, "org": 2, "contactId": "d4e5f6", "status": "DRAFT", "orderDate": "2026-01-05T08:14:00+01:00", "deliveryDate": 1767700000, "totalExcl": 12, "lines": []}]`)},
	}})
	for _, line := range []string{
		"client: org # guess: whose record it is: in 2 of 2 tables, its name",
		"key: {columns: id, id: kept} # guess: name, all different in 2 rows",
		`get: {path: "/api/collections/contacts/records/{key}"}`,
		`list: {path: "/api/collections/contacts/records", query: {page: "{page}", perPage: "{limit}"}, result: items, paging: {style: page, size: 30}, total: {result: totalItems}}`,
		"kind: {from: type, codes: {BUSINESS: company, PRIVATE: person}}", "name: lastName #", "first_name: person.firstName #", "birth_date: {from: person.birthDate, type: date}",
		"is_customer: {from: customer, type: boolean}", `created_at: {from: created, format: "yyyy-MM-dd HH:mm:ss.SSSZ", readonly: true}`, "modified_at: {from: updatedAt, readonly: true}",
		"payment_days: paymentTermDays #", `note: {from: memo, empty: "null"`,
		"key: {columns: id} # guess", `list: {path: "/orders", paging: {style: link, next: header}, total: {header: X-Total-Count}}`, "contact_id: contactId #",
		"delivery_date: {from: deliveryDate, type: integer, format: epoch_seconds}", "order_date: orderDate #", "does it take records? create: {path: …}",
	} {
		require.Contains(t, d.Text, line)
	}
	require.NotContains(t, d.Text, "Bakker", "no customer's value")
	require.Equal(t, 2, d.Summary.Resources)
}

// TestStyles tells kinds of services by their answers, and asks them as all of the kind are.
func TestStyles(t *testing.T) {
	const base = `"created": "2026-11-22 08:47:21.199Z", "updated": "2026-11-22 08:47:21.199Z", "collectionId": "x", "collectionName": "y"`
	lists := func(record string) []byte {
		return []byte(`{"page": 1, "perPage": 30, "totalItems": 1, "items": [` + record + `]}`)
	}
	d := heard(t, Options{Samples: []Sample{
		{Path: "/api/collections/groups/records", Body: lists(`{"id": "aaaaaaaaaaaaaaa", "code": "A", "text": "a", ` + base + `}`)},
		{Path: "/api/collections/parts/records", Body: lists(`{"id": "ccccccccccccccc", "org": 1, "nr": "N1", "title": "x", "grp": "aaaaaaaaaaaaaaa", "price": 2.5, "deleted": false, ` + base + `}`)},
		{Path: "/api/collections/contacts/records", Body: lists(`{"id": "bbbbbbbbbbbbbbb", "org": 1, "name": "Jansen", "customer": true, ` + base + `}`)},
		{Path: "/api/collections/users/records", Body: lists(`{"id": "ddddddddddddddd", "org": 1, "email": "a@example.com", "emailVisibility": true, "name": "", ` + base + `}`)},
	}})
	for _, line := range []string{
		"expressions: {quotes: pocketbase}", "headers: {Authorization: \"{token}\"}", `verify: {method: POST, path: "/api/collections/users/auth-with-password", `, "client_id: org",
		"code: validation_not_unique}, reason: duplicate_value, field_from: data.*}", "reason: in_use, at: article, on: [turnovergroup]}",
		`"org = {client.id}",`, `"deleted = false",`, `"title = '{filter.description}'", "title ~ '{filter.description.contains}'",`, `"price = {filter.price}", "price >= {filter.price.gte}"`,
		`"updated >= '{modified_since}'"`, "turnover_group_id: grp # guess: its values are ids of groups", `hidden: row["deleted"]`, `update: {method: PATCH, path: "/api/collections/parts/records/{key}"}`,
	} {
		require.Contains(t, d.Text, line)
	}
	require.NotContains(t, d.Text, "employee:", "who logs in is nobody's record")

	link := http.Header{"Link": {`</parts?_page=2&_limit=1>; rel="next"`}, "X-Total-Count": {"45"}}
	d = heard(t, Options{Samples: []Sample{{Path: "/parts", Header: link, Body: []byte(`[{"id": 1, "nr": "N1", "title": "x", "price": 2}]`)}}})
	require.Contains(t, d.Text, `query: {_sort: "id", _page: "{page}", _limit: "{limit}", nr: "{filter.number}", title: "{filter.description}", price: "{filter.price}", price_gte: "{filter.price.gte}", price_lte: "{filter.price.lte}"}`)
	require.Contains(t, d.Text, "order: [id]")

	d = heard(t, Options{Samples: []Sample{{Path: "/odata/Products", Body: []byte(`{"@odata.context": "x", "@odata.count": 1, "value": [{"ID": 1, "Code": "N1", "Name": "x", "UnitPrice": 2.5, "ModifiedAt": "2026-11-22T08:47:21Z"}], "@odata.nextLink": "y"}`)}}})
	for _, line := range []string{
		`total: {result: "@odata\\.count"}`, `query: {"$count": "true", "$top": "{limit}", "$skip": "{offset}", "$orderby": "{sort}", "$filter": "{filter}"}`, "quotes: doubled",
		`"Name eq '{filter.description}'", "contains(Name,'{filter.description.contains}')",`, `"ModifiedAt ge {modified_since}", `, `id: ["ID asc", "ID desc"]`, `get: {path: "/odata/Products({key})"}`, "result: value",
	} {
		require.Contains(t, d.Text, line)
	}

	d = heard(t, Options{OpenAPI: []byte(strings.Replace(described, "- {name: last_name, in: query, ", "- {name: q, in: query, description: an RSQL expression, ", 1))})
	for _, line := range []string{"quotes: backslash", `q: "{filter}"`, `join: ";"`, `"lastName=='{filter.name}'",`} {
		require.Contains(t, d.Text, line)
	}
}

// TestAlwaysTheSame: of a service whose parts are of different kinds there is one draft.
func TestAlwaysTheSame(t *testing.T) {
	samples := []Sample{
		{Path: "/odata/Products", Body: []byte(`{"@odata.context": "x", "value": [{"ID": 1, "Code": "N1", "Name": "x", "UnitPrice": 2.5}]}`)},
		{Path: "/api/collections/contacts/records", Body: []byte(`{"items": [{"id": "bbbbbbbbbbbbbbb", "name": "Jansen", "customer": true, "collectionId": "x", "collectionName": "y"}]}`)},
	}
	first := heard(t, Options{Samples: samples}).Text
	require.Contains(t, first, "expressions: {quotes: pocketbase}", "that of the first path")
	for range 20 {
		require.Equal(t, first, heard(t, Options{Samples: samples}).Text)
	}
}

// TestSampleShapes finds the list in answers of other shapes, and refuses what has none.
func TestSampleShapes(t *testing.T) {
	const record = `{"id": 1, "name": "x", "code": "NL"}`
	for body, line := range map[string]string{
		`[` + record + `]`:                     `list: {path: "/countries"}`,
		`{"data": {"rows": [` + record + `]}}`: `list: {path: "/countries", result: data.rows}`,
		`{"results": [` + record + `], "next": "https://x.example/c?page=2"}`:        `result: results, paging: {style: link, next: next}}`,
		`{"items": [` + record + `], "nextCursor": "Mg"}`:                            `query: {cursor: "{cursor}"}, result: items, paging: {style: cursor, next: nextCursor}}`,
		`{"meta": {"offset": 0, "limit": 50, "total": 9}, "data": [` + record + `]}`: `query: {offset: "{offset}", limit: "{limit}"}, result: data, paging: {style: offset, size: 50}, total: {result: meta.total}}`,
		record: `one record was seen, and no list: where is it?`,
	} {
		require.Contains(t, heard(t, Options{Samples: []Sample{{Path: "/countries", Body: []byte(body)}}}).Text, line, body)
	}
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, body := range []string{``, `{`, `[]`, `"x"`, `[1, 2]`, `[] []`, strings.Repeat("[", 100_000)} {
		_, err := New(t.Context(), Options{Model: model, Samples: []Sample{{Path: "/x", Body: []byte(body)}}})
		require.ErrorContains(t, err, "read /x: ", body)
	}
}

// FuzzSamples: whatever a service answers, its draft loads, or it is said what is wrong.
func FuzzSamples(f *testing.F) {
	f.Add("/contacts", contactsAnswer)
	f.Add("/a b\n${HOME}", `[{"id": 1, "${HOME}": "x", "a\nb": 1, "#": 2, "name: x": 3, "": 4, ".": 5, "name": null}]`)
	f.Add("/contacts", `[{"ID": "x", "name": {"name": {"name": {"name": {"name": {"name": 1}}}}}, "Naam": " ", "type": "${X}"}]`)
	model, err := mapping.LoadModel("")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, path, body string) {
		d, err := New(t.Context(), Options{Model: model, Samples: []Sample{{Path: path, Body: []byte(body)}}})
		if err == nil {
			require.Empty(t, problems(t, d.Text), d.Text)
		}
	})
}

const described = `openapi: 3.0.3
info: {title: Garage, version: "1"}
paths:
  /customers:
    get:
      parameters:
        - {name: page, in: query, schema: {type: integer}}
        - {name: pageSize, in: query, schema: {type: integer}}
        - {name: updatedSince, in: query, schema: {type: string}}
        - {name: last_name, in: query, schema: {type: string}}
        - {$ref: "#/components/parameters/Type"}
      responses:
        "200":
          content:
            application/json:
              schema:
                type: object
                properties:
                  data: {type: array, items: {$ref: "#/components/schemas/Customer"}}
                  totalCount: {type: integer}
    post: {responses: {"201": {description: made}}}
  /customers/{customerId}:
    get: {responses: {"200": {content: {application/json: {schema: {$ref: "#/components/schemas/Customer"}}}}}}
    patch: {responses: {"200": {description: changed}}}
    delete: {responses: {"204": {description: gone}}}
  /orders:
    get: {responses: {"200": {content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Order"}}}}}}}
  /orders/{orderId}/lines:
    get: {responses: {"200": {content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: integer}, description: {type: string}, quantity: {type: number}, unitPrice: {type: number}}}}}}}}}
    post: {responses: {"201": {description: made}}}
  /orders/{orderId}/lines/{lineId}:
    delete: {responses: {"204": {description: gone}}}
components:
  parameters: {Type: {name: type, in: query, schema: {type: string}}}
  securitySchemes: {key: {type: apiKey, in: header, name: X-API-Key}}
  schemas:
    Base: {type: object, properties: {id: {type: string, format: uuid}, createdAt: {type: string, format: date-time, readOnly: true}}}
    Customer:
      allOf:
        - {$ref: "#/components/schemas/Base"}
        - type: object
          properties:
            type: {type: string, enum: [PRIVATE, BUSINESS]}
            lastName: {type: string, maxLength: 40}
            birthDate: {type: string, format: date, nullable: true}
            parent: {$ref: "#/components/schemas/Customer"}
    Order:
      type: object
      properties: {id: {type: integer}, customerId: {type: string}, status: {type: string, enum: [open, ready]}, orderDate: {type: string, format: date-time}}
`

// TestOpenAPI drafts a sheet of a description: paths, operations, parameters and schemas.
func TestOpenAPI(t *testing.T) {
	d := heard(t, Options{OpenAPI: []byte(described)})
	for _, line := range []string{
		`headers: {X-API-Key: "{secret.token}"}`, "rules: backend # guess", "does it keep them itself?",
		`list: {path: "/customers", query: {page: "{page}", pageSize: "{limit}", updatedSince: "{modified_since}", last_name: "{filter.name}", type: "{filter.kind}"}, result: data, paging: {style: page}, total: {result: totalCount}}`,
		`create: {path: "/customers"}`, `update: {method: PATCH, path: "/customers/{key}"}`, `delete: {path: "/customers/{key}"}`,
		"kind: {from: type, codes: {BUSINESS: company, PRIVATE: person}", "name: {from: lastName, length: 40}", "birth_date: {from: birthDate, type: date}", "created_at: {from: createdAt, readonly: true}",
		"contact_id: customerId #", "key: {columns: [orderId, id], id: kept}", `list: {path: "/orders/{filter.order_id}/lines"}`, "price: unitPrice #",
	} {
		require.Contains(t, d.Text, line)
	}
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, text := range []string{"", "[", "{}", "paths: 3"} {
		_, err := New(t.Context(), Options{Model: model, OpenAPI: []byte(text)})
		require.ErrorContains(t, err, "read the OpenAPI file: expected ", text)
	}
}
