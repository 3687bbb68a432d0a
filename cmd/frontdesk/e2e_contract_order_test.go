package main

import (
	"fmt"
	"strings"
	"testing"
)

// contractOrderOfChecks sends requests that are wrong in every way that is
// judged later too: the first check that fails answers.
func contractOrderOfChecks(t *testing.T, p *practice) {
	orders, slow := p.login(ordersKey, "demo"), p.login(slowKey, "demo")
	p.call("GET", "/contact/1", slow, "") // takes all of its rate
	p.holds(t, []wire{
		{what: "path", ask: `PATCH //contact?x&x nonsense`, token: noToken, status: 400, message: `Invalid endpoint: //contact`},
		{what: "method", ask: `PATCH /contact?x&x nonsense`, token: noToken, status: 400, message: `Method: PATCH not supported for endpoint: /contact`},
		{what: "session", ask: `POST /contact?x&x nonsense`, token: noToken, status: 401, message: `Not authorized`},
		{what: "allowlist", ask: `POST /contact?x&x nonsense`, token: orders, status: 400, message: `Invalid endpoint: /contact`},
		{what: "limits", ask: `POST /contact?x&x nonsense`, token: slow, status: 429, message: `Too many requests`},
		{what: "repeated", ask: `GET /orderline?y&x&x&page=0`, status: 400, message: `Invalid request, query parameter is provided more than once: x`},
		{what: "repeated, each named once", ask: `GET /orderline?y&x&x&x&z&z&page=0`, status: 400, errors: []string{
			`Invalid request, query parameter is provided more than once: x`, `Invalid request, query parameter is provided more than once: z`}},
		{what: "unsupported", ask: `GET /orderline?x&page=0`, status: 400, message: `Invalid request, query parameter is not supported: x`},
		{what: "missing", ask: `GET /orderline?page=0&page_size=0`, status: 400, message: `These parameter(s): order_id are required`},
		{what: "values, in the order of the rows", ask: `GET /orderline?order_id=x&page_size=0&page=0&fields=a&sort=-b`, status: 403, errors: []string{
			`Field: a not found in model`, `Field: b not found in model`,
			`Parameter invalid page value must be greater than 0`, `Parameter invalid page_size value must be from 1 to 1000`,
			`Field: order_id has an invalid value: x for datatype: int4`}},
		{what: "unsupported before empty", ask: `POST /contact?x`, status: 400, message: `Invalid request, query parameter is not supported: x`},
		{what: "ID before empty", ask: `PUT /contact/0`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "ID before not JSON", ask: `PUT /contact/1?id=2 nonsense`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "empty", ask: `PUT /contact/999999`, status: 400, message: `Empty body`},
		{what: "not JSON", ask: `PUT /contact/999999 {"colour":1`, status: 400, message: `Body is not valid JSON`},
		{what: "record alone", ask: `PUT /contact/999999 {"colour":1}`, status: 403, message: `Field: colour not found in model`},
		{what: "record alone, at create", ask: `POST /order {"contact_id":999999,"kind":"workshop","order_status":"invoiced"}`, status: 403, message: `Field: order_date is required and not supplied in request`},
		{what: "exists", ask: `PUT /contact/999999 {"name":"A"}`, status: 404, message: `Field: id value: 999999 not found`},
	})
}

// contractOrderAmongRecords is the same for what is judged in view of other
// records.
func contractOrderAmongRecords(t *testing.T, p *practice) {
	open, other := p.order("open"), p.order("open")
	line := p.line(open)
	blocked := p.order("open")
	p.put(fmt.Sprintf("/order/%d", blocked), `{"is_blocked":1,"is_archived":1}`)
	closed := p.closedOrder()
	p.alter(`UPDATE orderline SET description = NULL WHERE id IN (%d, %d)`, line, closed[1])
	first := p.vehicle(`,"vin":"WVWZZZ1KZAW000777"`)
	second := p.vehicle("")
	published := p.vehicle(`,"tax_kind":"vat"`)
	p.post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, published)
	p.put(fmt.Sprintf("/vehicle/publishstart?id=%d", published), "")
	p.holds(t, []wire{
		{what: "precondition before system", ask: `PUT /country/528 {"name":"A"}`, headers: []string{"If-Match", `"x"`}, status: 412, message: `Record has been changed`},
		{what: "blocked and archived before related", ask: `PUT /order/$3 {"contact_id":999999}`, status: 409, errors: []string{
			`This is a blocked record, fields cannot be changed, only update: is_blocked`,
			`This is an archived record, fields cannot be changed, only update: is_archived`}},
		{what: "related, all of them", ask: `PUT /orderline/$4 {"order_id":$2,"turnover_group_id":999998,"article_id":999999}`, status: 404, errors: []string{
			`Field: article_id value: 999999 ID not found`, `Field: turnover_group_id value: 999998 ID not found`}},
		{what: "cannot update before required on the merged record", ask: `PUT /orderline/$4 {"order_id":$2}`, status: 409, message: `Cannot update order_id`},
		{what: "required on the merged record before the status of the order", ask: `PUT /orderline/$5 {"quantity":2}`, status: 403, message: `Field: description is required and not supplied in request`},
		{what: "the endpoint's own row before uniqueness", ask: `PUT /vehicle/$7 {"license_plate":"ZZ-999-Z","vin":"WVWZZZ1KZAW000777"}`, status: 409,
			message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{what: "uniqueness last", ask: `PUT /vehicle/$7 {"vin":"WVWZZZ1KZAW000777"}`, status: 409, message: `Field: vin Value: WVWZZZ1KZAW000777 has a duplicate illegal value`},
		{what: "the endpoint's own row before in use", ask: `DELETE /vehicle/$8`, status: 403, message: `Vehicle with id: $8 has publish status: published delete not allowed`},
		{what: "related before the endpoint's own row", ask: `POST /order {"contact_id":999999,"kind":"workshop","order_status":"invoiced","order_date":"2026-07-01"}`, status: 404,
			message: `Field: contact_id value: 999999 ID not found`},
	}, open, other, blocked, line, closed[1], first, second, published)
}

// contractAllViolations wants every violation of a stage, sorted by the rows
// of the operation's table, then by field.
func contractAllViolations(t *testing.T, p *practice) {
	p.holds(t, []wire{
		{what: "POST", ask: `POST /order {"orderlines":[],"delivery_date":"2026-01-01","order_date":"x","reference":"` + letters(51) + `","description":"` + letters(65536) +
			`","kind":"robot","vehicle_id":"1","contact_id":"2","id":7,"number":"x","colour":1,"order_status":null,"total_excl":"x","mileage":1.5}`, status: 403, errors: []string{
			`Field: colour not found in model`,
			`Field: number is readonly do not supply in request`,
			`Field: total_excl is readonly do not supply in request`,
			`Field: order_status is required and not supplied in request`,
			`Field: id is primary ID do not supply in request`,
			`Field: orderlines minimum 1 element is required in array`,
			`Field: reference valuelength: 51 too long for datatype: varchar: 50`,
			`Field: description valuelength: 65536 too long for datatype: text: 65535`,
			`Field: order_date has an invalid value: x for datatype: timestamp(ISO 8601)`,
			`Field: contact_id has an invalid value: 2 for datatype: int4`,
			`Field: vehicle_id has an invalid value: 1 for datatype: int4`,
			`Field: mileage has an invalid value: 1.5 for datatype: int4`,
			`Field: kind has an invalid value: robot for validation: workshop|sales|parts|lease`}},
		{what: "PUT", ask: `PUT /order/1 {"orderlines":[],"kind":"robot","order_date":null,"contact_id":true,"reference":7,"colour":1,"total_incl":1,"order_status":"","id":2}`, status: 400, errors: []string{
			`Primary ID is not an valid ID`,
			`Field: colour not found in model`,
			`Field: total_incl is readonly do not supply in request`,
			`Field: order_status is required and cannot be empty`,
			`Field: order_date is required and cannot be empty`,
			`Field: orderlines minimum 1 element is required in array`,
			`Field: contact_id has an invalid value: true for datatype: int4`,
			`Field: reference has an invalid value: 7 for datatype: varchar`,
			`Field: kind has an invalid value: robot for validation: workshop|sales|parts|lease`}},
		{what: "elements", ask: `POST /order {"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01","orderlines":[{"order_id":1,"quantity":"x"},7,{"id":1,"description":"A","quantity":1,"price":1,"turnover_group_id":1,"colour":2}]}`, status: 403, errors: []string{
			`Field: orderlines[2].colour not found in model`,
			`Field: orderlines[0].order_id is readonly do not supply in request`,
			`Field: orderlines[0].description is required and not supplied in request`,
			`Field: orderlines[0].price is required and not supplied in request`,
			`Field: orderlines[0].turnover_group_id is required and not supplied in request`,
			`Field: orderlines[2].id is primary ID do not supply in request`,
			`Field: orderlines[0].quantity has an invalid value: x for datatype: float8`,
			`Field: orderlines[1] has an invalid value: 7 for datatype: varchar`}},
		{what: "no readonly field is judged by its datatype too", ask: `PUT /order/1 {"total_incl":"x"}`, status: 403, message: `Field: total_incl is readonly do not supply in request`},
		{what: "one violation has no list", ask: `PUT /order/1 {"colour":1}`, status: 403, message: `Field: colour not found in model`},
	})
}

// contractNotJSON is what counts as no JSON, and what does not.
func contractNotJSON(t *testing.T, p *practice) {
	nested := func(depth int) string {
		return `{"name":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	const no = `Body is not valid JSON`
	p.holds(t, []wire{
		{ask: `POST /contact []`, status: 400, message: no},
		{ask: `POST /contact [{"name":"A"}]`, status: 400, message: no},
		{ask: `POST /contact "text"`, status: 400, message: no},
		{ask: `POST /contact 1`, status: 400, message: no},
		{ask: `POST /contact null`, status: 400, message: no},
		{ask: `POST /contact {'name':'A'}`, status: 400, message: no},
		{ask: `POST /contact {"name":"A",}`, status: 400, message: no},
		{ask: `POST /contact {"name":"A","name":"A"}`, status: 400, message: no},
		{ask: `POST /contact {"name":"A","n\u0061me":"A"}`, status: 400, message: no},
		{ask: `POST /contact {"colour":{"a":1,"a":1}}`, status: 400, message: no},
		{ask: `POST /contact {"name":"A"} {}`, status: 400, message: no},
		{ask: `POST /contact {"name":"A"}x`, status: 400, message: no},
		{what: "invalid UTF-8 in a value", ask: "POST /contact {\"name\":\"\xff\"}", status: 400, message: no},
		{what: "invalid UTF-8 in a name", ask: "POST /contact {\"\xc3\":1}", status: 400, message: no},
		{what: "byte order mark", ask: "POST /contact \ufeff{}", status: 400, message: no},
		{ask: `POST /contact {"name":NaN}`, status: 400, message: no},
		{ask: `POST /contact {"name":01}`, status: 400, message: no},
		{what: "33 deep", ask: `POST /contact ` + nested(33), status: 400, message: no},
		{what: "33 deep in an unknown field", ask: `POST /contact ` + strings.Replace(nested(33), "name", "colour", 1), status: 400, message: no},
		{what: "32 deep", ask: `PUT /contact/1 ` + nested(32), status: 403, message: `Field: name has an invalid value: ` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + ` for datatype: varchar`},
		{what: "blanks around", ask: "PUT /contact/1  \t\r\n{ } \n", status: 200},
		{what: "empty for the utilities", ask: `PUT /updatelicenseplate`, status: 400, message: `Empty body`},
		{what: "not JSON for the utilities", ask: `PUT /updatelicenseplate x`, status: 400, message: no},
		{what: "body of a GET that takes none", ask: `GET /contact/1 nonsense`, status: 200},
	})
}
