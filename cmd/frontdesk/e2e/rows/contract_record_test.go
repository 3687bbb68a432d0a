package rows

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractCreate answers the record as it is stored, and where it is.
func contractCreate(t *testing.T, p *rig.Practice) {
	a := p.Call("POST", "/contact", p.Token, `{"name":"A","kind":"person","note":"","infix":null}`, "Content-Type", "text/plain")
	require.Equal(t, 201, a.Status)
	id := a.ID(t)
	require.Equal(t, fmt.Sprintf("/webservice_v2/contact/%d", id), a.Header.Get("Location"))
	read := p.Call("GET", fmt.Sprintf("/contact/%d", id), p.Token, "")
	require.Equal(t, string(read.Body), string(a.Body))
	require.Equal(t, read.Header.Get("ETag"), a.Header.Get("ETag"))
	rec := a.Data(t)
	require.Regexp(t, `^C\d+$`, rec["number"])
	require.Equal(t, rec["created_at"], rec["modified_at"])
	for field, want := range map[string]any{"note": nil, "infix": nil, "first_name": nil, "is_system": 0.0, "is_blocked": 0.0, "is_archived": 0.0, "is_customer": nil} {
		require.Equal(t, want, rec[field], field)
	}
	for _, kind := range []string{"", "multipart/form-data; boundary=x", "multipart/form-data", "application/x-www-form-urlencoded", "application/json; charset=latin1", "nonsense"} {
		require.Equal(t, 201, p.Call("POST", "/contact", p.Token, `{"name":"A","kind":"person"}`, "Content-Type", kind).Status, "the Content-Type %q is not judged", kind)
	}
	vehicle := p.Vehicle("")
	require.Equal(t, "not_published", p.Get(fmt.Sprintf("/vehicle/%d", vehicle))["publish_status"])
	// What is no e-mail address is not told that there is a preferred one already.
	p.Post("contactcommunication", `{"contact_id":%d,"type":4,"value":"a@example.nl","is_prefered_email":1}`, id)
	p.Answers(rig.Wire{Ask: `POST /contactcommunication {"contact_id":$1,"type":2,"value":"+31 6 0000","is_prefered_email":1}`, Status: 409, Errors: []string{`Field: is_prefered_email value: 1 is not alowed`}}, id)
}

// contractUpdate merges what is sent into what there is.
func contractUpdate(t *testing.T, p *rig.Practice) {
	id := p.Post("contact", `{"name":"A","kind":"person","note":"n","infix":"van","payment_days":14,"birth_date":"1980-02-29"}`)
	path := fmt.Sprintf("/contact/%d", id)
	want := p.Get(path)
	for _, c := range []struct {
		body   string
		change map[string]any
	}{
		{`{}`, nil},
		{`{"name":"A"}`, nil},
		{`{"name":"B"}`, map[string]any{"name": "B"}},
		{`{"note":null}`, map[string]any{"note": nil}},
		{`{"note":" "}`, map[string]any{"note": " "}},
		{`{"note":""}`, map[string]any{"note": nil}},
		{`{"infix":"","payment_days":null}`, map[string]any{"infix": nil, "payment_days": nil}},
		{`{"is_blocked":null}`, nil},
		{`{"birth_date":"2026-07-01T12:00:00.1239+02:00"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.123Z"}},
		{`{"birth_date":"2026-07-01"}`, map[string]any{"birth_date": "2026-06-30T22:00:00.000Z"}},
		{`{"birth_date":"2026-01-01"}`, map[string]any{"birth_date": "2025-12-31T23:00:00.000Z"}},
		{`{"birth_date":"2026-07-01T10:00Z"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.000Z"}},
		{fmt.Sprintf(`{"id":%d,"name":"𝄞é"}`, id), map[string]any{"name": "𝄞é"}},
	} {
		maps.Copy(want, c.change)
		a := p.Call("PUT", path, p.Token, c.body)
		require.Equal(t, 200, a.Status, "%s: %s", c.body, a.Body)
		got := a.Data(t)
		want["modified_at"] = got["modified_at"]
		require.Equal(t, want, got, c.body)
		require.Equal(t, want, p.Get(path), c.body)
	}
	p.Holds(t, []rig.Wire{
		{What: "the ID in the body alone", Ask: `PUT /contact {"id":$1,"name":"C"}`, Status: 200},
		{What: "the ID in the query", Ask: `PUT /contact?id=$1 {"name":"C"}`, Status: 200},
		{What: "the ID everywhere", Ask: `PUT /contact/$1?id=$1 {"id":$1}`, Status: 200},
		{What: "null in the body", Ask: `PUT /contact/$1 {"id":null}`, Status: 200},
		{What: "length in characters, too many", Ask: `PUT /contact/$1 {"name":"` + strings.Repeat("𝄞", 101) + `"}`, Status: 403, Message: `Field: name valuelength: 101 too long for datatype: varchar: 100`},
		{What: "the longest text", Ask: `PUT /contact/$1 {"note":"` + strings.Repeat("é", 65535) + `"}`, Status: 200},
	}, id, want["number"])
}

// contractDates judges dates on the record as it would be.
func contractDates(t *testing.T, p *rig.Practice) {
	order := p.Order("open")
	line := p.Line(order)
	const before = `Field: delivery_date value: %s date must be after Field: order_date value: %s`
	p.Holds(t, []rig.Wire{
		{What: "the same moment", Ask: `PUT /order/$1 {"delivery_date":"2026-07-01"}`, Status: 403, Message: fmt.Sprintf(before, "2026-07-01", "2026-06-30T22:00:00.000Z")},
		{Ask: `PUT /order/$1 {"delivery_date":"2026-07-02"}`, Status: 200},
		{What: "the other one moves", Ask: `PUT /order/$1 {"order_date":"2026-07-03"}`, Status: 403, Message: fmt.Sprintf(before, "2026-07-01T22:00:00.000Z", "2026-07-03")},
		{What: "both move", Ask: `PUT /order/$1 {"order_date":"2026-07-03","delivery_date":"2026-07-04"}`, Status: 200},
		{What: "none", Ask: `PUT /order/$1 {"order_date":"2026-08-03","delivery_date":null}`, Status: 200},
		{What: "fixed with its present value", Ask: `PUT /orderline/$2 {"order_id":$1,"quantity":2}`, Status: 200},
	}, order, line)
}

// contractEmptyText is no value: null where one may be missing, and missing where it may not.
func contractEmptyText(t *testing.T, p *rig.Practice) {
	for range 2 {
		name := fmt.Sprintf("empty%d", p.Next())
		id := p.Post("employee", `{"username":"%s","last_name":"A","number":"","job_title":""}`, name)
		rec := p.Get(fmt.Sprintf("/employee/%d", id))
		require.Nil(t, rec["number"])
		require.Nil(t, rec["job_title"])
	}
	order := p.Order("open")
	line := p.Line(order)
	const empty = ` is required and cannot be empty`
	p.Holds(t, []rig.Wire{
		{What: "no choice", Ask: `PUT /orderline/$2 {"unit_type":""}`, Status: 200},
		{What: "no choice of a new one", Ask: `POST /orderline {"order_id":$1,"description":"A","quantity":1,"price":1,"turnover_group_id":1,"unit_type":""}`, Status: 201},
		{What: "a required ID", Ask: `PUT /order/$1 {"contact_id":""}`, Status: 403, Message: `Field: contact_id` + empty},
		{What: "a required date", Ask: `PUT /order/$1 {"order_date":""}`, Status: 403, Message: `Field: order_date` + empty},
		{What: "a required number", Ask: `PUT /orderline/$2 {"quantity":""}`, Status: 403, Message: `Field: quantity` + empty},
		{What: "a required choice", Ask: `PUT /order/$1 {"kind":""}`, Status: 403, Message: `Field: kind` + empty},
		{What: "a required number of a new one", Ask: `POST /orderline {"order_id":$1,"description":"A","quantity":"","price":1,"turnover_group_id":1}`, Status: 403, Message: `Field: quantity is required and not supplied in request`},
		{What: "an optional date", Ask: `PUT /order/$1 {"delivery_date":""}`, Status: 403, Message: `Field: delivery_date has an invalid value:  for datatype: timestamp(ISO 8601)`},
		{What: "-0 as it was sent", Ask: `PUT /orderline/$2 {"turnover_group_id":-0}`, Status: 404, Message: `Field: turnover_group_id value: -0 ID not found`},
		{What: "a filter that is longer than its field", Ask: `GET /country?code=null`, Status: 403, Message: `Field: code valuelength: 4 too long for datatype: varchar: 2`},
		{What: "one of several", Ask: `GET /country?code[in]=NL,null`, Status: 403, Message: `Field: code valuelength: 4 too long for datatype: varchar: 2`},
	}, order, line)
}

// contractNoChange is a PUT by which no value changes: nobody is told of a change.
func contractNoChange(t *testing.T, p *rig.Practice) {
	article := p.Post("article", `{"number":"%s","description":"A","article_kind":"part","unit_type":"piece","turnover_group_id":1,"price":1.5}`, fmt.Sprintf("nc%d", p.Next()))
	vehicle := p.Vehicle("")
	for path, fields := range map[string][]string{fmt.Sprintf("/article/%d", article): {"description", "price", "stock"}, fmt.Sprintf("/vehicle/%d", vehicle): {"license_plate", "brand", "remark"}} {
		before := p.Call("GET", path, p.Token, "")
		cursor := changes(p, "/changes").Cursor
		same := map[string]any{}
		for _, f := range fields {
			if f != "stock" {
				same[f] = before.Data(t)[f]
			}
		}
		body, err := json.Marshal(same)
		require.NoError(t, err)
		for range 2 {
			a := p.Call("PUT", path, p.Token, string(body))
			require.Equal(t, 200, a.Status, "%s", a.Body)
			require.Equal(t, string(before.Body), string(a.Body))
			require.Equal(t, before.Header.Get("ETag"), a.Header.Get("ETag"))
		}
		require.Empty(t, changes(p, "/changes?after="+cursor).Data)
	}
	path := fmt.Sprintf("/article/%d", article)
	tag := p.Call("GET", path, p.Token, "").Header.Get("ETag")
	require.Equal(t, tag, p.Call("PUT", path, p.Token, `{"price":1.50001}`).Header.Get("ETag"), "it is rounded to what there is")
	require.NotEqual(t, tag, p.Call("PUT", path, p.Token, `{"price":1.6}`).Header.Get("ETag"))
}

// contractState is what may be done to blocked, archived and system records.
func contractState(t *testing.T, p *rig.Practice) {
	const blocked = `This is a blocked record, fields cannot be changed, only update: is_blocked`
	const archived = `This is an archived record, fields cannot be changed, only update: is_archived`
	id := p.Contact()
	p.Holds(t, []rig.Wire{
		{Ask: `PUT /contact/$1 {"is_blocked":1,"name":"B"}`, Status: 200},
		{Ask: `PUT /contact/$1 {}`, Status: 200},
		{Ask: `PUT /contact/$1 {"name":"B"}`, Status: 409, Message: blocked},
		{Ask: `PUT /contact/$1 {"is_archived":1}`, Status: 409, Message: blocked},
		{Ask: `PUT /contact/$1 {"is_blocked":0,"is_archived":1}`, Status: 409, Message: blocked},
		{Ask: `PUT /contact/$1 {"is_blocked":1}`, Status: 200},
		{Ask: `PUT /contact/$1 {"id":$1,"is_blocked":0}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":1}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_blocked":1}`, Status: 409, Message: archived},
		{Ask: `PUT /contact/$1 {"is_archived":null}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, Status: 200},
		{Ask: `PUT /contact/$1 {"name":"C"}`, Status: 409, Errors: []string{blocked, archived}},
		{Ask: `PUT /contact/$1 {"is_archived":0,"name":"C"}`, Status: 409, Errors: []string{blocked, archived}},
		{Ask: `PUT /contact/$1 {"is_archived":0}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":1}`, Status: 409, Message: blocked},
		{Ask: `PUT /contact/$1 {"is_blocked":0}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":0,"is_blocked":0}`, Status: 200},
		{Ask: `PUT /contact/$1 {"is_archived":1,"is_blocked":1}`, Status: 200},
		{Ask: `GET /contact/$1`, Status: 200},
		{What: "may be referred to", Ask: `POST /contactcommunication {"contact_id":$1,"type":1,"value":"1"}`, Status: 201},
		{What: "in use all the same", Ask: `DELETE /contact/$1`, Status: 406, Message: `Field: id in use at: contactcommunication`},
		{What: "may be deleted", Ask: `DELETE /contact/$2`, Status: 200},
		{What: "publishing a blocked one", Ask: `PUT /vehicle/publishstart?id=$3`, Status: 409, Message: blocked},
		{What: "a plate of a blocked one", Ask: `PUT /updatelicenseplate {"id":$3,"license_plate":"ZZ-998-Z"}`, Status: 409, Message: blocked},
		{What: "system", Ask: `PUT /country/528 {"is_blocked":1}`, Status: 409, Message: `This is a system record, fields cannot be changed`},
		{What: "system, nothing", Ask: `PUT /country/528 {}`, Status: 200},
		{What: "system, readonly", Ask: `PUT /country/528 {"is_system":0}`, Status: 403, Message: `Field: is_system is readonly do not supply in request`},
		{What: "system", Ask: `DELETE /country/528`, Status: 409, Message: `This is a system-record, record cannot be deleted`},
	}, id, state(`{"is_blocked":1,"is_archived":1}`)(p)[0], p.Vehicle(`,"is_blocked":1`))
}

// contractOwnerState is what may be done to the lines of a blocked or archived record.
func contractOwnerState(t *testing.T, p *rig.Practice) {
	messages := map[string]string{
		"is_blocked":  `This is a blocked record, fields cannot be changed, only update: is_blocked`,
		"is_archived": `This is an archived record, fields cannot be changed, only update: is_archived`,
	}
	flatrate := p.Post("flatrate", `{"number":"%s","description":"A"}`, fmt.Sprintf("os%d", p.Next()))
	order := p.Order("open")
	for _, c := range []struct {
		owner, line, create string
		id, lineID          int
	}{
		{"order", "orderline", `{"order_id":%d,"description":"A","quantity":1,"price":9,"turnover_group_id":1}`, order, p.Line(order)},
		{"flatrate", "flatrateline", `{"flatrate_id":%d,"is_manual_input":1,"article_kind":"text","unit_type":"piece","turnover_group_id":1,"price":9}`, flatrate, 0},
	} {
		create := fmt.Sprintf(c.create, c.id)
		if c.lineID == 0 {
			c.lineID = p.Post(c.line, "%s", create)
		}
		before := p.Get(fmt.Sprintf("/%s/%d", c.owner, c.id))
		for flag, message := range messages {
			p.Holds(t, []rig.Wire{
				{Ask: `PUT /` + c.owner + `/$1 {"` + flag + `":1}`, Status: 200},
				{Ask: `POST /` + c.line + ` ` + create, Status: 409, Message: message},
				{Ask: `PUT /` + c.line + `/$2 {"price":5}`, Status: 409, Message: message},
				{Ask: `PUT /` + c.line + `/$2 {}`, Status: 200},
				{Ask: `DELETE /` + c.line + `/$2`, Status: 409, Message: message},
				{Ask: `PUT /` + c.owner + `/$1 {"` + flag + `":0}`, Status: 200},
			}, c.id, c.lineID)
		}
		require.Equal(t, before["total_excl"], p.Get(fmt.Sprintf("/%s/%d", c.owner, c.id))["total_excl"])
		p.Holds(t, []rig.Wire{{Ask: `PUT /` + c.line + `/$1 {"price":5}`, Status: 200}}, c.lineID)
	}
}

// contractOrderStatus closes an order for good.
func contractOrderStatus(t *testing.T, p *rig.Practice) {
	order := p.Order("ready")
	line := p.Line(order)
	p.Holds(t, []rig.Wire{
		{Ask: `PUT /order/$1 {"order_status":"concept"}`, Status: 200},
		{Ask: `PUT /order/$1 {"order_status":"invoiced","reference":"last"}`, Status: 200},
		{Ask: `PUT /order/$1 {}`, Status: 200},
		{Ask: `PUT /order/$1 {"order_status":"invoiced"}`, Status: 409, Message: `order_status is invoiced, cannot add/update/delete`},
		{Ask: `PUT /orderline/$2 {}`, Status: 200},
		{Ask: `DELETE /orderline/$2`, Status: 409, Message: `order_status is invoiced, cannot add/update/delete`},
		{Ask: `PUT /order/$3 {"order_status":"cancelled"}`, Status: 200},
		{Ask: `DELETE /order/$3`, Status: 409, Message: `order_status is cancelled, cannot add/update/delete`},
	}, order, line, p.Order("open"))
	require.Regexp(t, `^F\d+$`, p.Get(fmt.Sprintf("/order/%d", order))["invoice_number"])
}

// state is a contact that was given these flags.
func state(flags string) func(p *rig.Practice) []any {
	return func(p *rig.Practice) []any {
		id := p.Contact()
		p.Put(fmt.Sprintf("/contact/%d", id), flags)
		return []any{id}
	}
}
