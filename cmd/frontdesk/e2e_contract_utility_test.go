package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// contractPublishing starts and stops the advertising of a vehicle.
func contractPublishing(t *testing.T, p *practice) {
	const done = `{"successCode":200}`
	vehicle := p.vehicle("")
	path := fmt.Sprintf("/vehicle/%d", vehicle)
	status := func(want any) map[string]any {
		t.Helper()
		rec := p.get(path)
		require.Equal(t, want, rec["publish_status"])
		require.Equal(t, want == "published", rec["published_at"] != nil)
		return rec
	}
	p.holds(t, []wire{
		{ask: `PUT /vehicle/publishstart?id=$1`, status: 403, errors: []string{
			`Field: tax_kind value: null is required vehicle not published`, `Vehicleadvertisementsite is required, vehicle not published`}},
		{ask: `PUT /vehicle/publishstart`, status: 400, message: `Empty body`},
		{ask: `PUT /vehicle/publishstart {}`, status: 403, message: `No Primary ID provided`},
		{ask: `PUT /vehicle/publishstart?id= {}`, status: 403, message: `No Primary ID provided`},
		{ask: `PUT /vehicle/publishstart?id=0`, status: 400, message: `Primary ID is not an valid ID`},
		{ask: `PUT /vehicle/publishstart?id=$1 {"id":1}`, status: 400, message: `Primary ID is not an valid ID`},
		{ask: `PUT /vehicle/publishstart {"id":$1,"x":1}`, status: 403, message: `Field: x not found in model`},
		{ask: `PUT /vehicle/publishstart?id=$1&x`, status: 400, message: `Invalid request, query parameter is not supported: x`},
		{ask: `GET /vehicle/publishstart`, status: 400, message: `These parameter(s): id are required`},
		{ask: `GET /vehicle/publishstart?id=x`, status: 403, message: `Primary ID is invalid`},
		{ask: `PUT /vehicle/$1 {"publish_status":"published"}`, status: 403, message: `Field: publish_status is readonly do not supply in request`},
	}, vehicle)
	p.put(path, `{"tax_kind":"margin"}`)
	p.post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, vehicle)
	p.answers(wire{ask: `POST /vehicleadvertisementsite {"vehicle_id":$1,"advertisementsite_id":1}`, status: 409, message: `Field: advertisementsite_id value: 1 has a duplicate illegal value`}, vehicle)
	p.answers(wire{ask: `GET /vehicle/publishstart?id=$1`, status: 200, body: done}, vehicle)
	status("not_published")
	a := p.answers(wire{ask: `PUT /vehicle/publishstart {"id":$1}`, status: 200}, vehicle)
	published := status("published")
	require.Equal(t, published, a.data(t))
	p.answers(wire{ask: `PUT /vehicle/publishstart?id=$1 {}`, status: 200}, vehicle)
	require.Equal(t, published, status("published"), "again changes nothing")
	p.answers(wire{ask: `PUT /vehicle/publishstop?id=$1`, headers: []string{"If-Match", `"x"`}, status: 412}, vehicle)
	p.answers(wire{ask: `DELETE /vehicle/$1`, status: 403, message: `Vehicle with id: $1 has publish status: published delete not allowed`}, vehicle)
	a = p.answers(wire{ask: `PUT /vehicle/publishstop?id=$1`, status: 200}, vehicle)
	require.Equal(t, status("not_published"), a.data(t))
	p.answers(wire{ask: `DELETE /vehicle/$1`, status: 406, message: `Field: id in use at: vehicleadvertisementsite`}, vehicle)
}

// contractLicensePlate changes plates, which only /updatelicenseplate does.
func contractLicensePlate(t *testing.T, p *practice) {
	const dutch = `Field: license_plate has an invalid value: %s for validation: license_plate`
	vehicle, belgian := p.vehicle(""), p.post("vehicle", `{"license_plate":"1-abc-%d","country_id":56,"brand":"A","model":"B"}`, p.next())
	taken := p.get(fmt.Sprintf("/vehicle/%d", p.vehicle("")))["license_plate"]
	plate := p.get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"].(string)
	p.holds(t, []wire{
		{what: "its present value is no change", ask: `PUT /vehicle/$1 {"license_plate":"$4","color":"red"}`, status: 200},
		{what: "nor is it without dashes", ask: `PUT /vehicle/$1 {"license_plate":"$5"}`, status: 200},
		{what: "another", ask: `PUT /vehicle/$1 {"license_plate":"ZZ-996-Z"}`, status: 409, message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{what: "none", ask: `PUT /vehicle/$1 {"license_plate":null}`, status: 403, message: `Field: license_plate is required and cannot be empty`},
		{ask: `PUT /updatelicenseplate {"license_plate":"ZZ-996-Z"}`, status: 403, message: `No Primary ID provided`},
		{ask: `PUT /updatelicenseplate {"id":0,"license_plate":"ZZ-996-Z"}`, status: 400, message: `Primary ID is not an valid ID`},
		{ask: `PUT /updatelicenseplate {"id":999999,"license_plate":"ZZ-996-Z"}`, status: 404, message: `Field: id value: 999999 not found`},
		{ask: `PUT /updatelicenseplate?id=$1 {"license_plate":"ZZ-996-Z"}`, status: 400, message: `Invalid request, query parameter is not supported: id`},
		{ask: `POST /updatelicenseplate {"id":$1}`, status: 403, message: `Field: license_plate is required and not supplied in request`},
		{ask: `POST /updatelicenseplate {"id":$1,"license_plate":""}`, status: 403, message: `Field: license_plate is required and cannot be empty`},
		{ask: `POST /updatelicenseplate {"id":$1,"license_plate":"NO PLATE"}`, status: 403, message: fmt.Sprintf(dutch, "NO PLATE")},
		{ask: `POST /updatelicenseplate {"id":$1,"license_plate":"` + letters(16) + `"}`, status: 403, message: `Field: license_plate valuelength: 16 too long for datatype: varchar: 15`},
		{ask: `POST /updatelicenseplate {"id":$1,"license_plate":"$3"}`, status: 409, message: `Field: license_plate Value: $3 has a duplicate illegal value`},
		{what: "at create", ask: `POST /vehicle {"license_plate":"$3","brand":"A","model":"B"}`, status: 409, message: `Field: license_plate value: $3 has a duplicate illegal value`},
		{what: "at create, malformed", ask: `POST /vehicle {"license_plate":"A","brand":"A","model":"B"}`, status: 403, message: fmt.Sprintf(dutch, "A")},
		{what: "at create, malformed for the country", ask: `POST /vehicle {"license_plate":"A","country_id":528,"brand":"A","model":"B"}`, status: 403, message: fmt.Sprintf(dutch, "A")},
		{what: "foreign, as given", ask: `POST /updatelicenseplate {"id":$2,"license_plate":"any thing é"}`, status: 200},
	}, vehicle, belgian, taken, plate, strings.ToLower(strings.ReplaceAll(plate, "-", "")))
	for method, c := range map[string][2]string{"PUT": {"zz995z", "ZZ-995-Z"}, "POST": {"1-XX-994", "1-XX-994"}} {
		a := p.answers(wire{ask: method + ` /updatelicenseplate {"id":$1,"license_plate":"` + c[0] + `"}`, status: 200}, vehicle)
		require.Equal(t, c[1], a.data(t)["license_plate"])
		require.Equal(t, a.data(t), p.get(fmt.Sprintf("/vehicle/%d", vehicle)))
		require.Empty(t, a.Header.Get("Location"))
	}
	require.Equal(t, "any thing é", p.get(fmt.Sprintf("/vehicle/%d", belgian))["license_plate"])
}

// contractCheckAddress completes what the address book knows.
func contractCheckAddress(t *testing.T, p *practice) {
	const answer = `{"data":{"valid":true,"verified":%s,"street":%s,"house_number":%s,"addition":%s,"postcode":"%s","city":%s,"country_id":%d}}`
	p.holds(t, []wire{
		{ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=33&toevoeging=bis&CountryId=528`, status: 200, body: fmt.Sprintf(answer, "true", `"Oudegracht"`, "33", `"bis"`, "3511 EV", `"Utrecht"`, 528)},
		{what: "even, on the odd side", ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=34&CountryId=528`, status: 200, body: fmt.Sprintf(answer, "false", "null", "34", "null", "3511 EV", "null", 528)},
		{ask: `GET /contact/checkaddress?Postcode=9999%20ZZ&CountryId=528`, status: 200, body: fmt.Sprintf(answer, "false", "null", "null", "null", "9999 ZZ", "null", 528)},
		{what: "required and length together", ask: `GET /contact/checkaddress?Postcode=&toevoeging=12345678901`, status: 403, errors: []string{
			`Field: Postcode is required and not supplied in request`, `Field: CountryId is required and not supplied in request`, `Field: toevoeging valuelength: 11 too long for type varchar (10)`}},
		{ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=1&Huisnummer=2&CountryId=528`, status: 400, message: `Invalid request, query parameter is provided more than once: Huisnummer`},
		{ask: `GET /contact/checkaddress?postcode=3511%20EV&CountryId=528`, status: 400, message: `Invalid request, query parameter is not supported: postcode`},
		{ask: `GET /contact/checkaddress?Postcode=3511%20EV&CountryId=-1`, status: 403, message: `Field: CountryId has an invalid value: -1 for validation: country`},
	})
}

// contractCheckAddressOrder is the order of its checks.
func contractCheckAddressOrder(t *testing.T, p *practice) {
	p.answers(wire{ask: `GET /contact/checkaddress?Postcode=abc&Huisnummer=x&toevoeging=12345678901&CountryId=`, status: 403, errors: []string{
		`Field: CountryId is required and not supplied in request`,
		`Field: toevoeging valuelength: 11 too long for type varchar (10)`,
		`Field: Huisnummer has an invalid value: x for datatype: int4`,
		`Field: Postcode has an invalid value: abc for validation: postcode`,
	}})
}

// contractSmallUtilities are those that answer one thing.
func contractSmallUtilities(t *testing.T, p *practice) {
	document := p.post("document", `{"name":"a.pdf","mime_type":"application/pdf","resource":"contact","resource_id":1,"content":"SGVsbG8=","external_url":"https://files.example.nl/a"}`)
	p.holds(t, []wire{
		{ask: `GET /empoyee/email?username=demo`, status: 200, body: `{"data":{"username":"demo","email":"demo@example.nl"}}`},
		{ask: `GET /empoyee/email?username=nobody`, status: 404, message: `Field: username value: nobody not found`},
		{ask: `GET /empoyee/email?username=demo&id=1`, status: 400, message: `Invalid request, query parameter is not supported: id`},
		{ask: `GET /document/info?id=$1`, status: 200, body: `{"data":{"id":$1,"name":"a.pdf","mime_type":"application/pdf","size":5,
				"sha256":"185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969","external_url":"https://files.example.nl/a"}}`},
		{ask: `GET /document/info`, status: 400, message: `These parameter(s): id are required`},
		{ask: `GET /document/info?id=x`, status: 403, message: `Primary ID is invalid`},
		{ask: `GET /document/info?id=999999`, status: 404, message: `Field: id value: 999999 not found`},
		{ask: `GET /util/environment?username=whoever`, status: 200, body: `{"data":{"environment":"production","version":"` + version() + `","base_url":"$2","time_zone":"Europe/Amsterdam","client":"Demo Garage","username":"whoever"}}`},
	}, document, p.base)
}

// contractModel describes the very model that validates.
func contractModel(t *testing.T, p *practice) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, r := range model.Resources {
		var body struct {
			Data struct {
				Name      string           `json:"name"`
				PrimaryID string           `json:"primary_id"`
				Fields    []map[string]any `json:"fields"`
			}
		}
		a := p.call("GET", "/model/"+r.Name, p.token, "")
		require.NoError(t, json.Unmarshal(a.Body, &body), "%s", a.Body)
		require.Equal(t, r.Name, body.Data.Name)
		require.Equal(t, "id", body.Data.PrimaryID)
		require.Len(t, body.Data.Fields, len(r.Fields))
		for i, got := range body.Data.Fields {
			f := r.Fields[i]
			require.Equal(t, f.Name, got["name"])
			want := []any{f.Required, f.Readonly, f.Unique, f.Primary, f.Type == mapping.Array}
			require.Equal(t, want, []any{got["required"], got["readonly"], got["unique"], got["primary"], got["array"]}, f.Name)
			require.Len(t, got, 11)
		}
	}
	p.holds(t, []wire{
		{ask: `GET /model/nothing`, status: 404, message: `Field: name value: nothing not found`},
		{ask: `GET /model/Order`, status: 404, message: `Field: name value: Order not found`},
		{ask: `GET /model/order?x`, status: 400, message: `Invalid request, query parameter is not supported: x`},
	})
	first := p.model("order")[1]
	require.Equal(t, map[string]any{
		"name": "number", "datatype": "varchar", "length": 20.0, "required": false, "readonly": true, "unique": true, "primary": false,
		"reference": nil, "custom_validation": nil, "after": nil, "array": false,
	}, first)
	p.faults.describes(`{"name":"theirs"}`)
	p.answers(wire{what: "of the backend's own", ask: `GET /model/theirs`, status: 200, body: `{"data":{"name":"theirs"}}`})
	for _, bad := range []string{`[]`, `"x"`, `{"a":1} x`, `x`, `{"a":1,"a":2}`} {
		p.faults.describes(bad)
		p.answers(wire{ask: `GET /model/theirs`, status: 400, message: `Body is not valid JSON`})
	}
}

// contractOps is the listener that is never under the base path.
func contractOps(t *testing.T, p *practice) {
	healthy := func(path string, want int) string {
		t.Helper()
		a := p.askOps(path)
		require.Equal(t, want, a.Status, path)
		require.True(t, json.Valid(a.Body), "%s", a.Body)
		return string(a.Body)
	}
	healthy("/healthz", http.StatusOK)
	require.Contains(t, healthy("/readyz", http.StatusOK), `"ok"`)
	p.faults.set(fails)
	healthy("/healthz", http.StatusOK)
	require.NotContains(t, healthy("/readyz", http.StatusServiceUnavailable), "secret")
	p.faults.none()
	healthy("/readyz", http.StatusOK)
	require.Contains(t, p.opsText("/"), "<title>frontdesk: ok</title>")
	for _, path := range []string{"/order", "/webservice_v2/order", "/webservice_v2/healthz"} {
		require.Equal(t, http.StatusNotFound, p.askOps(path).Status, path)
	}
}
