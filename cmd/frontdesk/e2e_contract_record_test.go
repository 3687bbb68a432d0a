package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractCreate answers the record as it is stored, and where it is.
func contractCreate(t *testing.T, p *practice) {
	a := p.call("POST", "/contact", p.token, `{"name":"A","kind":"person","note":"","infix":null}`, "Content-Type", "text/plain")
	require.Equal(t, 201, a.Status)
	id := a.id(t)
	require.Equal(t, fmt.Sprintf("/webservice_v2/contact/%d", id), a.Header.Get("Location"))
	read := p.call("GET", fmt.Sprintf("/contact/%d", id), p.token, "")
	require.Equal(t, string(read.Body), string(a.Body))
	require.Equal(t, read.Header.Get("ETag"), a.Header.Get("ETag"))
	rec := a.data(t)
	require.Regexp(t, `^C\d+$`, rec["number"])
	require.Equal(t, rec["created_at"], rec["modified_at"])
	for field, want := range map[string]any{"note": "", "infix": nil, "first_name": nil, "is_system": 0.0, "is_blocked": 0.0, "is_archived": 0.0, "is_customer": nil} {
		require.Equal(t, want, rec[field], field)
	}
	names, position := []string{}, 0
	for _, f := range p.model("contact") {
		names = append(names, f["name"].(string))
	}
	for _, name := range names {
		at := strings.Index(string(a.Body), `"`+name+`":`)
		require.Greater(t, at, position, "%s is not in model order", name)
		position = at
	}
	require.Len(t, rec, len(names))

	for _, kind := range []string{"", "multipart/form-data; boundary=x", "multipart/form-data", "application/x-www-form-urlencoded", "application/json; charset=latin1", "nonsense"} {
		require.Equal(t, 201, p.call("POST", "/contact", p.token, `{"name":"A","kind":"person"}`, "Content-Type", kind).Status, "the Content-Type %q is not judged", kind)
	}
	vehicle := p.vehicle("")
	require.Equal(t, "not_published", p.get(fmt.Sprintf("/vehicle/%d", vehicle))["publish_status"])
	p.answers(wire{ask: `DELETE /contact/$1`, status: 200, body: `{"successCode":200}`}, id)
	p.answers(wire{ask: `GET /contact/$1`, status: 404, message: `Field: id value: $1 not found`}, id)
	p.answers(wire{ask: `DELETE /contact/$1`, status: 404, message: `Field: id value: $1 not found`}, id)
}

// model is the fields of a resource as GET /model describes them.
func (p *practice) model(resource string) []map[string]any {
	p.t.Helper()
	var body struct {
		Data struct{ Fields []map[string]any }
	}
	require.NoError(p.t, json.Unmarshal(p.call("GET", "/model/"+resource, p.token, "").Body, &body))
	return body.Data.Fields
}

// contractUpdate merges what is sent into what there is.
func contractUpdate(t *testing.T, p *practice) {
	id := p.post("contact", `{"name":"A","kind":"person","note":"n","infix":"van","payment_days":14,"birth_date":"1980-02-29"}`)
	path := fmt.Sprintf("/contact/%d", id)
	want := p.get(path)
	for _, c := range []struct {
		body   string
		change map[string]any
	}{
		{`{}`, nil},
		{`{"name":"A"}`, nil},
		{`{"name":"B"}`, map[string]any{"name": "B"}},
		{`{"note":null}`, map[string]any{"note": nil}},
		{`{"note":""}`, map[string]any{"note": ""}},
		{`{"infix":"","payment_days":null}`, map[string]any{"infix": "", "payment_days": nil}},
		{`{"is_blocked":null}`, nil},
		{`{"birth_date":"2026-07-01T12:00:00.1239+02:00"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.123Z"}},
		{`{"birth_date":"2026-07-01"}`, map[string]any{"birth_date": "2026-06-30T22:00:00.000Z"}},
		{`{"birth_date":"2026-01-01"}`, map[string]any{"birth_date": "2025-12-31T23:00:00.000Z"}},
		{`{"birth_date":"2026-07-01T10:00Z"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.000Z"}},
		{fmt.Sprintf(`{"id":%d,"name":"𝄞é"}`, id), map[string]any{"name": "𝄞é"}},
	} {
		maps.Copy(want, c.change)
		a := p.call("PUT", path, p.token, c.body)
		require.Equal(t, 200, a.Status, "%s: %s", c.body, a.Body)
		got := a.data(t)
		want["modified_at"] = got["modified_at"]
		require.Equal(t, want, got, c.body)
		require.Equal(t, want, p.get(path), c.body)
	}
	p.holds(t, []wire{
		{what: "the ID in the body alone", ask: `PUT /contact {"id":$1,"name":"C"}`, status: 200},
		{what: "the ID in the query", ask: `PUT /contact?id=$1 {"name":"C"}`, status: 200},
		{what: "the ID everywhere", ask: `PUT /contact/$1?id=$1 {"id":$1}`, status: 200},
		{what: "another in the query", ask: `PUT /contact/$1?id=1 {}`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "another in the body", ask: `PUT /contact/$1 {"id":1}`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "an ill-typed one in the body", ask: `PUT /contact/$1 {"id":"$1"}`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "null in the body", ask: `PUT /contact/$1 {"id":null}`, status: 200},
		{what: "another in the query of GET", ask: `GET /contact/$1?id=1`, status: 403, message: `Primary ID is invalid`},
		{what: "another in the query of DELETE", ask: `DELETE /contact/$1?id=1`, status: 400, message: `Primary ID is not an valid ID`},
		{what: "leading zero", ask: `GET /contact/01`, status: 403, message: `Primary ID is invalid`},
		{what: "readonly with its present value", ask: `PUT /contact/$1 {"number":"$2"}`, status: 403, message: `Field: number is readonly do not supply in request`},
		{what: "length in characters", ask: `PUT /contact/$1 {"name":"` + strings.Repeat("é", 100) + `"}`, status: 200},
		{what: "length in characters, too many", ask: `PUT /contact/$1 {"name":"` + strings.Repeat("𝄞", 101) + `"}`, status: 403, message: `Field: name valuelength: 101 too long for datatype: varchar: 100`},
		{what: "the longest text", ask: `PUT /contact/$1 {"note":"` + strings.Repeat("é", 65535) + `"}`, status: 200},
	}, id, want["number"])
}

// contractDates judges dates on the record as it would be.
func contractDates(t *testing.T, p *practice) {
	order := p.order("open")
	line := p.line(order)
	const before = `Field: delivery_date value: %s date must be after Field: order_date value: %s`
	p.holds(t, []wire{
		{what: "the same moment", ask: `PUT /order/$1 {"delivery_date":"2026-07-01"}`, status: 403, message: fmt.Sprintf(before, "2026-07-01", "2026-06-30T22:00:00.000Z")},
		{ask: `PUT /order/$1 {"delivery_date":"2026-07-02"}`, status: 200},
		{what: "the other one moves", ask: `PUT /order/$1 {"order_date":"2026-07-03"}`, status: 403, message: fmt.Sprintf(before, "2026-07-01T22:00:00.000Z", "2026-07-03")},
		{what: "both move", ask: `PUT /order/$1 {"order_date":"2026-07-03","delivery_date":"2026-07-04"}`, status: 200},
		{what: "none", ask: `PUT /order/$1 {"order_date":"2026-08-03","delivery_date":null}`, status: 200},
		{what: "bytea of PUT", ask: `PUT /document/1 {"content":"=="}`, status: 403, message: `Field: content has an invalid value: == for datatype: bytea`},
		{what: "fixed with its present value", ask: `PUT /orderline/$2 {"order_id":$1,"quantity":2}`, status: 200},
	}, order, line)
}

// contractState is what may be done to blocked, archived and system records.
func contractState(t *testing.T, p *practice) {
	const blocked = `This is a blocked record, fields cannot be changed, only update: is_blocked`
	const archived = `This is an archived record, fields cannot be changed, only update: is_archived`
	id := p.contact()
	p.holds(t, []wire{
		{ask: `PUT /contact/$1 {"is_blocked":1,"name":"B"}`, status: 200},
		{ask: `PUT /contact/$1 {}`, status: 200},
		{ask: `PUT /contact/$1 {"name":"B"}`, status: 409, message: blocked},
		{ask: `PUT /contact/$1 {"is_archived":1}`, status: 409, message: blocked},
		{ask: `PUT /contact/$1 {"is_blocked":0,"is_archived":1}`, status: 409, message: blocked},
		{ask: `PUT /contact/$1 {"is_blocked":1}`, status: 200},
		{ask: `PUT /contact/$1 {"id":$1,"is_blocked":0}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":1}`, status: 200},
		{ask: `PUT /contact/$1 {"is_blocked":1}`, status: 409, message: archived},
		{ask: `PUT /contact/$1 {"is_archived":null}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, status: 200},
		{ask: `PUT /contact/$1 {"name":"C"}`, status: 409, errors: []string{blocked, archived}},
		{ask: `PUT /contact/$1 {"is_archived":0,"name":"C"}`, status: 409, errors: []string{blocked, archived}},
		{ask: `PUT /contact/$1 {"is_archived":0}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":1}`, status: 409, message: blocked},
		{ask: `PUT /contact/$1 {"is_blocked":0}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":0,"is_blocked":0}`, status: 200},
		{ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, status: 200},
		{ask: `GET /contact/$1`, status: 200},
		{what: "may be referred to", ask: `POST /contactcommunication {"contact_id":$1,"type":1,"value":"1"}`, status: 201},
		{what: "in use all the same", ask: `DELETE /contact/$1`, status: 406, message: `Field: id in use at: contactcommunication`},
		{what: "may be deleted", ask: `DELETE /contact/$2`, status: 200},
		{what: "publishing a blocked one", ask: `PUT /vehicle/publishstart?id=$3`, status: 409, message: blocked},
		{what: "a plate of a blocked one", ask: `PUT /updatelicenseplate {"id":$3,"license_plate":"ZZ-998-Z"}`, status: 409, message: blocked},
		{what: "system", ask: `PUT /country/528 {"is_blocked":1}`, status: 409, message: `This is a system record, fields cannot be changed`},
		{what: "system, nothing", ask: `PUT /country/528 {}`, status: 200},
		{what: "system, readonly", ask: `PUT /country/528 {"is_system":0}`, status: 403, message: `Field: is_system is readonly do not supply in request`},
		{what: "system", ask: `DELETE /country/528`, status: 409, message: `This is a system-record, record cannot be deleted`},
	}, id, state(`{"is_blocked":1,"is_archived":1}`)(p)[0], p.vehicle(`,"is_blocked":1`))
}

// contractOrderStatus closes an order for good.
func contractOrderStatus(t *testing.T, p *practice) {
	order := p.order("ready")
	line := p.line(order)
	p.holds(t, []wire{
		{ask: `PUT /order/$1 {"order_status":"concept"}`, status: 200},
		{ask: `PUT /order/$1 {"order_status":"invoiced","reference":"last"}`, status: 200},
		{ask: `PUT /order/$1 {}`, status: 200},
		{ask: `PUT /order/$1 {"order_status":"invoiced"}`, status: 409, message: `order_status is invoiced, cannot add/update/delete`},
		{ask: `PUT /orderline/$2 {}`, status: 200},
		{ask: `DELETE /orderline/$2`, status: 409, message: `order_status is invoiced, cannot add/update/delete`},
		{ask: `PUT /order/$3 {"order_status":"cancelled"}`, status: 200},
		{ask: `DELETE /order/$3`, status: 409, message: `order_status is cancelled, cannot add/update/delete`},
	}, order, line, p.order("open"))
	require.Regexp(t, `^F\d+$`, p.get(fmt.Sprintf("/order/%d", order))["invoice_number"])
}
