package rows

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractIsolationOfReferences takes no ID of another client.
func contractIsolationOfReferences(t *testing.T, p *rig.Practice) {
	theirs := p.As(p.Login(rig.FullKey, "other"))
	order, vehicle, contact := theirs.OwnOrder(), theirs.Vehicle(`,"vin":"WVWZZZ1KZAW000999"`), theirs.Contact()
	plate := fmt.Sprint(theirs.Get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"])
	p.Holds(t, []rig.Wire{
		{Ask: `POST /order {"contact_id":$3,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`, Status: 404, Message: `Field: contact_id value: $3 ID not found`},
		{Ask: `PUT /order/$4 {"contact_id":$3,"vehicle_id":$2}`, Status: 404, Errors: []string{`Field: contact_id value: $3 ID not found`, `Field: vehicle_id value: $2 ID not found`}},
		{Ask: `POST /orderline {"order_id":$1,"description":"A","quantity":1,"price":1,"turnover_group_id":1}`, Status: 404, Message: `Field: order_id value: $1 ID not found`},
		{Ask: `POST /document {"name":"a","resource":"vehicle","resource_id":$2}`, Status: 404, Message: `Field: resource_id value: $2 ID not found`},
		{Ask: `POST /document {"name":"a","resource":"nothing","resource_id":$2}`, Status: 403, Message: `Field: resource has an invalid value: nothing for validation: resource`},
		{Ask: `POST /order {"contact_id":1,"vehicle_id":$2,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":[{"description":"A","quantity":1,"price":1,"turnover_group_id":1}]}`, Status: 404, Message: `Field: vehicle_id value: $2 ID not found`},
		{Ask: `POST /vehicleadvertisementsite {"vehicle_id":$2,"advertisementsite_id":1}`, Status: 404, Message: `Field: vehicle_id value: $2 ID not found`},
		{Ask: `GET /orderline?order_id=$1`, Status: 200, Body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{Ask: `PUT /vehicle/publishstart?id=$2`, Status: 404, Message: `Field: id value: $2 not found`},
		{Ask: `GET /vehicle/publishstart?id=$2`, Status: 404, Message: `Field: id value: $2 not found`},
		{Ask: `PUT /vehicle/publishstop {"id":$2}`, Status: 404, Message: `Field: id value: $2 not found`},
		{Ask: `POST /updatelicenseplate {"id":$2,"license_plate":"ZZ-997-Z"}`, Status: 404, Message: `Field: id value: $2 not found`},
		{Ask: `GET /document/info?id=$5`, Status: 404, Message: `Field: id value: $5 not found`},
		{Ask: `GET /empoyee/email?username=other`, Status: 404, Message: `Field: username value: other not found`},
		{What: "unique per client", Ask: `POST /vehicle {"license_plate":"$6","vin":"WVWZZZ1KZAW000999","brand":"A","model":"B"}`, Status: 201},
		{What: "references of 0 and below", Ask: `POST /order {"contact_id":0,"vehicle_id":-1,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`, Status: 404, Errors: []string{
			`Field: contact_id value: 0 ID not found`, `Field: vehicle_id value: -1 ID not found`}},
	}, order, vehicle, contact, p.Order("open"), theirs.Post("document", `{"name":"a","resource":"contact","resource_id":%d,"external_url":"https://files.example.nl/a"}`, contact), plate)
}

// contractSystemRecords are there for every client.
func contractSystemRecords(t *testing.T, p *rig.Practice) {
	other := p.As(p.Login(rig.FullKey, "other"))
	for _, resource := range []string{"country", "advertisementsite"} {
		mine := p.Page("/" + resource + "?page_size=1000")
		require.NotEmpty(t, mine.Data)
		require.Equal(t, mine, other.Page("/"+resource+"?page_size=1000"))
		for _, rec := range mine.Data {
			require.Equal(t, 1.0, rec["is_system"])
		}
	}
	require.Len(t, p.Page("/country?page_size=1000").Data, 249)
	for _, session := range []*rig.Practice{p, other} {
		session.Holds(t, []rig.Wire{
			{Ask: `PUT /country/528 {"name":"Holland"}`, Status: 409, Message: `This is a system record, fields cannot be changed`},
			{Ask: `DELETE /country/528`, Status: 409, Message: `This is a system-record, record cannot be deleted`},
			{Ask: `POST /country {"code":"NL","name":"Holland"}`, Status: 409, Message: `Field: code value: NL has a duplicate illegal value`},
		})
	}
	id := p.Post("country", `{"code":"XX","name":"Nowhere"}`)
	require.True(t, id > 999)
	require.Equal(t, 0.0, p.Get(fmt.Sprintf("/country/%d", id))["is_system"])
	other.Answers(rig.Wire{Ask: `GET /country/$1`, Status: 404}, id)
	other.Answers(rig.Wire{Ask: `POST /country {"code":"XX","name":"Elsewhere"}`, Status: 201})
	p.Answers(rig.Wire{Ask: `DELETE /country/$1`, Status: 200}, id)
	require.False(t, strings.Contains(string(p.Call("GET", "/country?page_size=1000", p.Token, "").Body), "Elsewhere"))
}
