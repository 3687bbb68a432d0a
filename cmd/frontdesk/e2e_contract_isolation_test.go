package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractIsolation hides every record of a client from the other one.
func contractIsolation(t *testing.T, p *practice) {
	p.post("flatrate", `{"number":"MINE","description":"A","flatratelines":[{"sort_order":1}]}`)
	parents := map[string]string{
		"orderline": "order_id=1", "contactcommunication": "contact_id=1", "contactaddress": "contact_id=1", "vehicleroleline": "vehicle_id=1",
		"vehicleadvertisementsite": "vehicle_id=1", "flatrateline": "flatrate_id=1", "document": "resource=vehicle&resource_id=" + fmt.Sprint(p.documented()),
	}
	other := p.login(fullKey, "other")
	for _, resource := range []string{
		"order", "orderline", "contact", "contactcommunication", "contactaddress", "vehicle", "vehicleroleline", "vehicleadvertisementsite",
		"flatrate", "flatrateline", "employee", "document", "article", "turnovergroup",
	} {
		path := "/" + resource + "?page_size=1000&" + parents[resource]
		mine := ids(p.page(path))
		require.NotEmpty(t, mine, resource)
		theirs := p.as(other).page(path)
		seen := map[int]bool{}
		for _, id := range ids(theirs) {
			seen[id] = true
		}
		require.Equal(t, parents[resource] == "", len(seen) > 0, resource)
		for _, id := range mine {
			require.False(t, seen[id], "%s %d is seen by both", resource, id)
		}
		id := mine[len(mine)-1]
		const gone = `Field: id value: $1 not found`
		p.as(other).holds(t, []wire{
			{ask: `GET /` + resource + `/$1`, status: 404, message: gone},
			{ask: `GET /` + resource + `?id=$1&fields=id`, status: 404, message: gone},
			{ask: `PUT /` + resource + `/$1 {}`, status: 404, message: gone},
			{ask: `PUT /` + resource + ` {"id":$1,"is_blocked":1}`, status: 404, message: gone},
			{ask: `DELETE /` + resource + `/$1`, status: 404, message: gone},
			{what: "whatever it says of it", ask: `PUT /` + resource + `/$1 {"is_blocked":1}`, headers: []string{"If-Match", `"x"`}, status: 404, message: gone},
		}, id)
		require.Equal(t, 200, p.call("GET", fmt.Sprintf("/%s/%d", resource, id), p.token, "").Status)
	}
}

// as is the practice with another session.
func (p *practice) as(token string) *practice {
	inner := *p
	inner.token = token
	return &inner
}

// documented is a vehicle that has a document.
func (p *practice) documented() int {
	p.post("document", `{"name":"a","resource":"vehicle","resource_id":1,"external_url":"https://files.example.nl/a"}`)
	return 1
}

// contractIsolationOfReferences takes no ID of another client.
func contractIsolationOfReferences(t *testing.T, p *practice) {
	theirs := p.as(p.login(fullKey, "other"))
	order, vehicle, contact := theirs.ownOrder(), theirs.vehicle(`,"vin":"WVWZZZ1KZAW000999"`), theirs.contact()
	plate := fmt.Sprint(theirs.get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"])
	p.holds(t, []wire{
		{ask: `POST /order {"contact_id":$3,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`, status: 404, message: `Field: contact_id value: $3 ID not found`},
		{ask: `PUT /order/$4 {"contact_id":$3,"vehicle_id":$2}`, status: 404, errors: []string{`Field: contact_id value: $3 ID not found`, `Field: vehicle_id value: $2 ID not found`}},
		{ask: `POST /orderline {"order_id":$1,"description":"A","quantity":1,"price":1,"turnover_group_id":1}`, status: 404, message: `Field: order_id value: $1 ID not found`},
		{ask: `POST /document {"name":"a","resource":"vehicle","resource_id":$2}`, status: 404, message: `Field: resource_id value: $2 ID not found`},
		{ask: `POST /document {"name":"a","resource":"nothing","resource_id":$2}`, status: 403, message: `Field: resource has an invalid value: nothing for validation: resource`},
		{ask: `POST /order {"contact_id":1,"vehicle_id":$2,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":[{"description":"A","quantity":1,"price":1,"turnover_group_id":1}]}`, status: 404, message: `Field: vehicle_id value: $2 ID not found`},
		{ask: `POST /vehicleadvertisementsite {"vehicle_id":$2,"advertisementsite_id":1}`, status: 404, message: `Field: vehicle_id value: $2 ID not found`},
		{ask: `GET /orderline?order_id=$1`, status: 200, body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{ask: `PUT /vehicle/publishstart?id=$2`, status: 404, message: `Field: id value: $2 not found`},
		{ask: `GET /vehicle/publishstart?id=$2`, status: 404, message: `Field: id value: $2 not found`},
		{ask: `PUT /vehicle/publishstop {"id":$2}`, status: 404, message: `Field: id value: $2 not found`},
		{ask: `POST /updatelicenseplate {"id":$2,"license_plate":"ZZ-997-Z"}`, status: 404, message: `Field: id value: $2 not found`},
		{ask: `GET /document/info?id=$5`, status: 404, message: `Field: id value: $5 not found`},
		{ask: `GET /empoyee/email?username=other`, status: 404, message: `Field: username value: other not found`},
		{what: "unique per client", ask: `POST /vehicle {"license_plate":"$6","vin":"WVWZZZ1KZAW000999","brand":"A","model":"B"}`, status: 201},
		{what: "references of 0 and below", ask: `POST /order {"contact_id":0,"vehicle_id":-1,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`, status: 404, errors: []string{
			`Field: contact_id value: 0 ID not found`, `Field: vehicle_id value: -1 ID not found`}},
	}, order, vehicle, contact, p.order("open"), theirs.post("document", `{"name":"a","resource":"contact","resource_id":%d,"external_url":"https://files.example.nl/a"}`, contact), plate)
}

// ownOrder is an order of whichever client the session belongs to.
func (p *practice) ownOrder() int {
	return p.post("order", `{"contact_id":%d,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`, p.contact())
}

// contractSystemRecords are there for every client.
func contractSystemRecords(t *testing.T, p *practice) {
	other := p.as(p.login(fullKey, "other"))
	for _, resource := range []string{"country", "advertisementsite"} {
		mine := p.page("/" + resource + "?page_size=1000")
		require.NotEmpty(t, mine.Data)
		require.Equal(t, mine, other.page("/"+resource+"?page_size=1000"))
		for _, rec := range mine.Data {
			require.Equal(t, 1.0, rec["is_system"])
		}
	}
	require.Len(t, p.page("/country?page_size=1000").Data, 249)
	for _, session := range []*practice{p, other} {
		session.holds(t, []wire{
			{ask: `PUT /country/528 {"name":"Holland"}`, status: 409, message: `This is a system record, fields cannot be changed`},
			{ask: `DELETE /country/528`, status: 409, message: `This is a system-record, record cannot be deleted`},
			{ask: `POST /country {"code":"NL","name":"Holland"}`, status: 409, message: `Field: code value: NL has a duplicate illegal value`},
		})
	}
	id := p.post("country", `{"code":"XX","name":"Nowhere"}`)
	require.True(t, id > 999)
	require.Equal(t, 0.0, p.get(fmt.Sprintf("/country/%d", id))["is_system"])
	other.answers(wire{ask: `GET /country/$1`, status: 404}, id)
	other.answers(wire{ask: `POST /country {"code":"XX","name":"Elsewhere"}`, status: 201})
	p.answers(wire{ask: `DELETE /country/$1`, status: 200}, id)
	require.False(t, strings.Contains(string(p.call("GET", "/country?page_size=1000", p.token, "").Body), "Elsewhere"))
}
