package rows

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractOrderOfChecks sends requests that are wrong in every way that is
// judged later too: the first check that fails answers.
func contractOrderOfChecks(t *testing.T, p *rig.Practice) {
	orders, slow := p.Login(rig.OrdersKey, "demo"), p.Login(rig.SlowKey, "demo")
	p.Call("GET", "/contact/1", slow, "") // takes all of its rate
	p.Holds(t, []rig.Wire{
		{What: "path", Ask: `PATCH //contact?x&x nonsense`, Token: rig.NoToken, Status: 400, Message: `Invalid endpoint: //contact`},
		{What: "method", Ask: `PATCH /contact?x&x nonsense`, Token: rig.NoToken, Status: 400, Message: `Method: PATCH not supported for endpoint: /contact`},
		{What: "session", Ask: `POST /contact?x&x nonsense`, Token: rig.NoToken, Status: 401, Message: `Not authorized`},
		{What: "allowlist", Ask: `POST /contact?x&x nonsense`, Token: orders, Status: 400, Message: `Invalid endpoint: /contact`},
		{What: "limits", Ask: `POST /contact?x&x nonsense`, Token: slow, Status: 429, Message: `Too many requests`},
		{What: "repeated", Ask: `GET /orderline?y&x&x&page=0`, Status: 400, Message: `Invalid request, query parameter is provided more than once: x`},
		{What: "repeated, each named once", Ask: `GET /orderline?y&x&x&x&z&z&page=0`, Status: 400, Errors: []string{
			`Invalid request, query parameter is provided more than once: x`, `Invalid request, query parameter is provided more than once: z`}},
		{What: "unsupported", Ask: `GET /orderline?x&page=0`, Status: 400, Message: `Invalid request, query parameter is not supported: x`},
		{What: "missing", Ask: `GET /orderline?page=0&page_size=0`, Status: 400, Message: `These parameter(s): order_id are required`},
		{What: "values, in the order of the rows", Ask: `GET /orderline?order_id=x&page_size=0&page=0&fields=a&sort=-b`, Status: 403, Errors: []string{
			`Field: a not found in model`, `Field: b not found in model`,
			`Parameter invalid page value must be greater than 0`, `Parameter invalid page_size value must be from 1 to 1000`,
			`Field: order_id has an invalid value: x for datatype: int4`}},
		{What: "unsupported before empty", Ask: `POST /contact?x`, Status: 400, Message: `Invalid request, query parameter is not supported: x`},
		{What: "ID before empty", Ask: `PUT /contact/0`, Status: 400, Message: `Primary ID is not an valid ID`},
		{What: "ID before not JSON", Ask: `PUT /contact/1?id=2 nonsense`, Status: 400, Message: `Primary ID is not an valid ID`},
		{What: "empty", Ask: `PUT /contact/999999`, Status: 400, Message: `Empty body`},
		{What: "not JSON", Ask: `PUT /contact/999999 {"colour":1`, Status: 400, Message: `Body is not valid JSON`},
		{What: "record alone", Ask: `PUT /contact/999999 {"colour":1}`, Status: 403, Message: `Field: colour not found in model`},
		{What: "record alone, at create", Ask: `POST /order {"contact_id":999999,"kind":"workshop","order_status":"invoiced"}`, Status: 403, Message: `Field: order_date is required and not supplied in request`},
		{What: "exists", Ask: `PUT /contact/999999 {"name":"A"}`, Status: 404, Message: `Field: id value: 999999 not found`},
	})
}

// contractOrderAmongRecords is the same for what is judged in view of other
// records.
func contractOrderAmongRecords(t *testing.T, p *rig.Practice) {
	open, other := p.Order("open"), p.Order("open")
	line := p.Line(open)
	blocked := p.Order("open")
	p.Put(fmt.Sprintf("/order/%d", blocked), `{"is_blocked":1,"is_archived":1}`)
	closed := p.ClosedOrder()
	p.Alter(`UPDATE orderline SET description = NULL WHERE id IN (%d, %d)`, line, closed[1])
	first := p.Vehicle(`,"vin":"WVWZZZ1KZAW000777"`)
	second := p.Vehicle("")
	published := p.Vehicle(`,"tax_kind":"vat"`)
	p.Post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, published)
	p.Put(fmt.Sprintf("/vehicle/publishstart?id=%d", published), "")
	p.Holds(t, []rig.Wire{
		{What: "precondition before system", Ask: `PUT /country/528 {"name":"A"}`, Headers: []string{"If-Match", `"x"`}, Status: 412, Message: `Record has been changed`},
		{What: "blocked and archived before related", Ask: `PUT /order/$3 {"contact_id":999999}`, Status: 409, Errors: []string{
			`This is a blocked record, fields cannot be changed, only update: is_blocked`,
			`This is an archived record, fields cannot be changed, only update: is_archived`}},
		{What: "related, all of them", Ask: `PUT /orderline/$4 {"order_id":$2,"turnover_group_id":999998,"article_id":999999}`, Status: 404, Errors: []string{
			`Field: article_id value: 999999 ID not found`, `Field: turnover_group_id value: 999998 ID not found`}},
		{What: "cannot update before required on the merged record", Ask: `PUT /orderline/$4 {"order_id":$2}`, Status: 409, Message: `Cannot update order_id`},
		{What: "required on the merged record before the status of the order", Ask: `PUT /orderline/$5 {"quantity":2}`, Status: 403, Message: `Field: description is required and not supplied in request`},
		{What: "the endpoint's own row before uniqueness", Ask: `PUT /vehicle/$7 {"license_plate":"ZZ-999-Z","vin":"WVWZZZ1KZAW000777"}`, Status: 409,
			Message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{What: "uniqueness last", Ask: `PUT /vehicle/$7 {"vin":"WVWZZZ1KZAW000777"}`, Status: 409, Message: `Field: vin Value: WVWZZZ1KZAW000777 has a duplicate illegal value`},
		{What: "the endpoint's own row before in use", Ask: `DELETE /vehicle/$8`, Status: 403, Message: `Vehicle with id: $8 has publish status: published delete not allowed`},
		{What: "related before the endpoint's own row", Ask: `POST /order {"contact_id":999999,"kind":"workshop","order_status":"invoiced","order_date":"2026-07-01"}`, Status: 404,
			Message: `Field: contact_id value: 999999 ID not found`},
	}, open, other, blocked, line, closed[1], first, second, published)
}

// contractAllViolations wants every violation of a stage, sorted by the rows
// of the operation's table, then by field.
func contractAllViolations(t *testing.T, p *rig.Practice) {
	p.Holds(t, []rig.Wire{
		{What: "POST", Ask: `POST /order {"orderlines":[],"delivery_date":"2026-01-01","order_date":"x","reference":"` + letters(51) + `","description":"` + letters(65536) +
			`","kind":"robot","vehicle_id":"1","contact_id":"2","id":7,"number":"x","colour":1,"order_status":null,"total_excl":"x","mileage":1.5}`, Status: 403, Errors: []string{
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
		{What: "PUT", Ask: `PUT /order/1 {"orderlines":[],"kind":"robot","order_date":null,"contact_id":true,"reference":7,"colour":1,"total_incl":1,"order_status":"","id":2}`, Status: 400, Errors: []string{
			`Primary ID is not an valid ID`,
			`Field: colour not found in model`,
			`Field: total_incl is readonly do not supply in request`,
			`Field: order_status is required and cannot be empty`,
			`Field: order_date is required and cannot be empty`,
			`Field: orderlines minimum 1 element is required in array`,
			`Field: contact_id has an invalid value: true for datatype: int4`,
			`Field: reference has an invalid value: 7 for datatype: varchar`,
			`Field: kind has an invalid value: robot for validation: workshop|sales|parts|lease`}},
		{What: "elements", Ask: `POST /order {"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01","orderlines":[{"order_id":1,"quantity":"x"},7,{"id":1,"description":"A","quantity":1,"price":1,"turnover_group_id":1,"colour":2}]}`, Status: 403, Errors: []string{
			`Field: orderlines[2].colour not found in model`,
			`Field: orderlines[0].order_id is readonly do not supply in request`,
			`Field: orderlines[0].description is required and not supplied in request`,
			`Field: orderlines[0].price is required and not supplied in request`,
			`Field: orderlines[0].turnover_group_id is required and not supplied in request`,
			`Field: orderlines[2].id is primary ID do not supply in request`,
			`Field: orderlines[0].quantity has an invalid value: x for datatype: float8`,
			`Field: orderlines[1] has an invalid value: 7 for datatype: varchar`}},
		{What: "no readonly field is judged by its datatype too", Ask: `PUT /order/1 {"total_incl":"x"}`, Status: 403, Message: `Field: total_incl is readonly do not supply in request`},
		{What: "one violation has no list", Ask: `PUT /order/1 {"colour":1}`, Status: 403, Message: `Field: colour not found in model`},
	})
}

// contractNotJSON is what counts as no JSON, and what does not.
func contractNotJSON(t *testing.T, p *rig.Practice) {
	nested := func(depth int) string {
		return `{"name":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	const no = `Body is not valid JSON`
	for _, body := range []string{
		`[]`, `[{"name":"A"}]`, `"text"`, `1`, `null`, `name=A`, `{'name':'A'}`, `{/* x */}`, `{1:1}`, "{}\ufeff", "{}\x00", `{}]`, `{"name":"A"} {}`, `{"name":"A"}x`,
		`{"name":"A"`, `{"na`, `{"name":}`, `{"name":"A",}`, `{"name":"A" "note":"B"}`, `{"orderlines":[{"quantity":1`, `{"orderlines":[{},]}`,
		`{"name":"A","name":"A"}`, `{"name":"A","n\u0061me":"A"}`, `{"a":1,"a":1}`, `{"colour":{"a":1,"a":1}}`, `{"orderlines":[{"quantity":1,"quantity":1}]}`,
		`{"name":NaN}`, `{"name":01}`, `{"name":+1}`, "{\"name\":\"a\nb\"}", `{"name":"\x41"}`,
		"{\"name\":\"\xff\"}", "{\"\xc3\":1}", "{\"name\":\"\xc0\x80\"}", "{\"name\":\"\xed\xa0\x80\"}", // no UTF-8
		`{"name":"\ud83d"}`, `{"name":"\ude97"}`, `{"name":"\ude97\ud83d"}`, `{"\ud83d":1}`, // surrogates alone
		nested(33), strings.Replace(nested(33), "name", "colour", 1), strings.Repeat(`{"x":`, 33) + "1" + strings.Repeat("}", 33), nested(100_000),
		`{"orderlines":[{"x":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}]}`,
	} {
		p.Answers(rig.Wire{Ask: `POST /contact ` + body, Status: 400, Message: no})
		p.Answers(rig.Wire{Ask: `POST /order ` + body, Status: 400, Message: no})
	}
	p.Holds(t, []rig.Wire{
		{What: "blanks alone", Ask: "POST /order \r\n\t ", Status: 400, Message: `Empty body`},
		{What: "other case", Ask: `PUT /contact/1 {"name":"A","Name":"A"}`, Status: 403, Message: `Field: Name not found in model`},
		{What: "a surrogate pair", Ask: `PUT /contact/1 {"note":"\ud83d\ude97"}`, Status: 200},
		{What: "brackets in text do not nest", Ask: `PUT /contact/1 {"note":"` + strings.Repeat("[", 40) + `\"` + strings.Repeat("{", 40) + `"}`, Status: 200},
		{What: "null for an array", Ask: `PUT /order/1 {"orderlines":null}`, Status: 403, Message: `Field: orderlines minimum 1 element is required in array`},
		{What: "32 deep", Ask: `PUT /contact/1 ` + nested(32), Status: 403, Message: `Field: name has an invalid value: ` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + ` for datatype: varchar`},
		{What: "blanks around", Ask: "PUT /contact/1  \t\r\n{ } \n", Status: 200},
		{What: "empty for the utilities", Ask: `PUT /updatelicenseplate`, Status: 400, Message: `Empty body`},
		{What: "not JSON for the utilities", Ask: `PUT /updatelicenseplate x`, Status: 400, Message: no},
		{What: "body of a GET that takes none", Ask: `GET /contact/1 nonsense`, Status: 200},
	})
	at := p.Call("PUT", "/contact/1", p.Token, "{\"name\": \"é\",\n  \"kind\": }").Failure(t).Position
	require.Equal(t, 2, at.Line)
	require.Equal(t, 11, at.Column)
}
