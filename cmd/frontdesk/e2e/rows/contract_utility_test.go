package rows

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// contractPublishing starts and stops the advertising of a vehicle.
func contractPublishing(t *testing.T, p *rig.Practice) {
	const done = `{"successCode":200}`
	vehicle := p.Vehicle("")
	path := fmt.Sprintf("/vehicle/%d", vehicle)
	status := func(want any) map[string]any {
		t.Helper()
		rec := p.Get(path)
		require.Equal(t, want, rec["publish_status"])
		require.Equal(t, want == "published", rec["published_at"] != nil)
		return rec
	}
	p.Holds(t, []rig.Wire{
		{Ask: `PUT /vehicle/publishstart?id=$1`, Status: 403, Errors: []string{
			`Field: tax_kind value: null is required vehicle not published`, `Vehicleadvertisementsite is required, vehicle not published`}},
		{Ask: `PUT /vehicle/publishstart?id= {}`, Status: 403, Message: `No Primary ID provided`},
		{Ask: `PUT /vehicle/publishstart?id=$1 {"id":1}`, Status: 400, Message: `Primary ID is not an valid ID`},
		{Ask: `PUT /vehicle/$1 {"publish_status":"published"}`, Status: 403, Message: `Field: publish_status is readonly do not supply in request`},
	}, vehicle)
	p.Put(path, `{"tax_kind":"margin"}`)
	p.Post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, vehicle)
	p.Answers(rig.Wire{Ask: `POST /vehicleadvertisementsite {"vehicle_id":$1,"advertisementsite_id":1}`, Status: 409, Message: `Field: advertisementsite_id value: 1 has a duplicate illegal value`}, vehicle)
	p.Answers(rig.Wire{Ask: `GET /vehicle/publishstart?id=$1`, Status: 200, Body: done}, vehicle)
	status("not_published")
	a := p.Answers(rig.Wire{Ask: `PUT /vehicle/publishstart {"id":$1}`, Status: 200}, vehicle)
	published := status("published")
	require.Equal(t, published, a.Data(t))
	p.Answers(rig.Wire{Ask: `PUT /vehicle/publishstart?id=$1 {}`, Status: 200}, vehicle)
	require.Equal(t, published, status("published"), "again changes nothing")
	p.Answers(rig.Wire{Ask: `PUT /vehicle/publishstop?id=$1`, Headers: []string{"If-Match", `"x"`}, Status: 412}, vehicle)
	p.Answers(rig.Wire{Ask: `DELETE /vehicle/$1`, Status: 403, Message: `Vehicle with id: $1 has publish status: published delete not allowed`}, vehicle)
	a = p.Answers(rig.Wire{Ask: `PUT /vehicle/publishstop?id=$1`, Status: 200}, vehicle)
	require.Equal(t, status("not_published"), a.Data(t))
	p.Answers(rig.Wire{Ask: `DELETE /vehicle/$1`, Status: 406, Message: `Field: id in use at: vehicleadvertisementsite`}, vehicle)
}

// contractLicensePlate changes plates, which only /updatelicenseplate does.
func contractLicensePlate(t *testing.T, p *rig.Practice) {
	const dutch = `Field: license_plate has an invalid value: %s for validation: license_plate`
	vehicle, belgian := p.Vehicle(""), p.Post("vehicle", `{"license_plate":"1-abc-%d","country_id":56,"brand":"A","model":"B"}`, p.Next())
	taken := p.Get(fmt.Sprintf("/vehicle/%d", p.Vehicle("")))["license_plate"]
	plate := p.Get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"].(string)
	p.Holds(t, []rig.Wire{
		{What: "its present value is no change", Ask: `PUT /vehicle/$1 {"license_plate":"$4","color":"red"}`, Status: 200},
		{What: "nor is it without dashes", Ask: `PUT /vehicle/$1 {"license_plate":"$5"}`, Status: 200},
		{What: "another", Ask: `PUT /vehicle/$1 {"license_plate":"ZZ-996-Z"}`, Status: 409, Message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{What: "none", Ask: `PUT /vehicle/$1 {"license_plate":null}`, Status: 403, Message: `Field: license_plate is required and cannot be empty`},
		{Ask: `POST /updatelicenseplate {"id":$1,"license_plate":""}`, Status: 403, Message: `Field: license_plate is required and cannot be empty`},
		{Ask: `POST /updatelicenseplate {"id":$1,"license_plate":"NO PLATE"}`, Status: 403, Message: fmt.Sprintf(dutch, "NO PLATE")},
		{What: "at create", Ask: `POST /vehicle {"license_plate":"$3","brand":"A","model":"B"}`, Status: 409, Message: `Field: license_plate value: $3 has a duplicate illegal value`},
		{What: "at create, malformed", Ask: `POST /vehicle {"license_plate":"A","brand":"A","model":"B"}`, Status: 403, Message: fmt.Sprintf(dutch, "A")},
		{What: "at create, malformed for the country", Ask: `POST /vehicle {"license_plate":"A","country_id":528,"brand":"A","model":"B"}`, Status: 403, Message: fmt.Sprintf(dutch, "A")},
		{What: "foreign, as given", Ask: `POST /updatelicenseplate {"id":$2,"license_plate":"any thing é"}`, Status: 200},
	}, vehicle, belgian, taken, plate, strings.ToLower(strings.ReplaceAll(plate, "-", "")))
	for method, c := range map[string][2]string{"PUT": {"zz995z", "ZZ-995-Z"}, "POST": {"1-XX-994", "1-XX-994"}} {
		a := p.Answers(rig.Wire{Ask: method + ` /updatelicenseplate {"id":$1,"license_plate":"` + c[0] + `"}`, Status: 200}, vehicle)
		require.Equal(t, c[1], a.Data(t)["license_plate"])
		require.Equal(t, a.Data(t), p.Get(fmt.Sprintf("/vehicle/%d", vehicle)))
		require.Empty(t, a.Header.Get("Location"))
	}
	require.Equal(t, "any thing é", p.Get(fmt.Sprintf("/vehicle/%d", belgian))["license_plate"])
}

// contractCheckAddress completes what the address book knows.
func contractCheckAddress(t *testing.T, p *rig.Practice) {
	const answer = `{"data":{"valid":true,"verified":%s,"street":%s,"house_number":%s,"addition":%s,"postcode":"%s","city":%s,"country_id":%d}}`
	p.Holds(t, []rig.Wire{
		{Ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=33&toevoeging=bis&CountryId=528`, Status: 200, Body: fmt.Sprintf(answer, "true", `"Oudegracht"`, "33", `"bis"`, "3511 EV", `"Utrecht"`, 528)},
		{What: "even, on the odd side", Ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=34&CountryId=528`, Status: 200, Body: fmt.Sprintf(answer, "false", "null", "34", "null", "3511 EV", "null", 528)},
		{Ask: `GET /contact/checkaddress?Postcode=9999%20ZZ&CountryId=528`, Status: 200, Body: fmt.Sprintf(answer, "false", "null", "null", "null", "9999 ZZ", "null", 528)},
		{What: "no house has it", Ask: `GET /contact/checkaddress?Postcode=3511%20EV&Huisnummer=-1&CountryId=528`, Status: 200, Body: `{"data":{"valid":false,"verified":false,"street":null,"house_number":-1,"addition":null,"postcode":"3511 EV","city":null,"country_id":528}}`},
		{Ask: `GET /contact/checkaddress?Postcode=3511%20EV&toevoeging=%00&CountryId=528`, Status: 403, Message: "Field: toevoeging has an invalid value: \x00 for datatype: varchar"},
		{What: "required and length together", Ask: `GET /contact/checkaddress?Postcode=&toevoeging=12345678901`, Status: 403, Errors: []string{
			`Field: Postcode is required and not supplied in request`, `Field: CountryId is required and not supplied in request`, `Field: toevoeging valuelength: 11 too long for type varchar (10)`}},
		{Ask: `GET /contact/checkaddress?Postcode=3511%20EV&CountryId=-1`, Status: 403, Message: `Field: CountryId has an invalid value: -1 for validation: country`},
	})
}

// contractCheckAddressOrder is the order of its checks.
func contractCheckAddressOrder(t *testing.T, p *rig.Practice) {
	p.Answers(rig.Wire{Ask: `GET /contact/checkaddress?Postcode=abc&Huisnummer=x&toevoeging=12345678901&CountryId=`, Status: 403, Errors: []string{
		`Field: CountryId is required and not supplied in request`,
		`Field: toevoeging valuelength: 11 too long for type varchar (10)`,
		`Field: Huisnummer has an invalid value: x for datatype: int4`,
		`Field: Postcode has an invalid value: abc for validation: postcode`,
	}})
}

// contractSmallUtilities are those that answer one thing.
func contractSmallUtilities(t *testing.T, p *rig.Practice) {
	document := p.Post("document", `{"name":"a.pdf","mime_type":"application/pdf","resource":"contact","resource_id":1,"content":"SGVsbG8=","external_url":"https://files.example.nl/a"}`)
	p.Holds(t, []rig.Wire{
		{Ask: `GET /document/info?id=$1`, Status: 200, Body: `{"data":{"id":$1,"name":"a.pdf","mime_type":"application/pdf","size":5,
				"sha256":"185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969","external_url":"https://files.example.nl/a"}}`},
		{Ask: `GET /util/environment?username=whoever`, Status: 200, Body: `{"data":{"environment":"production","version":"` + desk.Version() + `","base_url":"$2","time_zone":"Europe/Amsterdam","client":"Demo Garage","username":"whoever"}}`},
	}, document, p.Base)
}

// contractModel describes the very model that validates.
func contractModel(t *testing.T, p *rig.Practice) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, r := range model.Resources {
		var body struct {
			Data struct {
				Name      string           `json:"name"`
				PrimaryID string           `json:"primary_id"`
				Fields    []map[string]any `json:"fields"`
				Changes   string           `json:"changes"`
			}
		}
		a := p.Call("GET", "/model/"+r.Name, p.Token, "")
		require.NoError(t, json.Unmarshal(a.Body, &body), "%s", a.Body)
		require.Equal(t, r.Name, body.Data.Name)
		require.Equal(t, "id", body.Data.PrimaryID)
		require.Equal(t, "all", body.Data.Changes)
		require.Len(t, body.Data.Fields, len(r.Fields))
		for i, got := range body.Data.Fields {
			f := r.Fields[i]
			require.Equal(t, f.Name, got["name"])
			want := []any{f.Required, f.Readonly, f.Unique, f.Primary, f.Type == mapping.Array}
			require.Equal(t, want, []any{got["required"], got["readonly"], got["unique"], got["primary"], got["array"]}, f.Name)
			members := 11
			if f.IsText() && f.InLists() && f.Length > mapping.MaxSearched {
				members++
				require.Equal(t, []any{"contains"}, got["not_filterable_by"], f.Name)
			}
			require.Len(t, got, members, f.Name)
		}
	}
	p.Holds(t, []rig.Wire{
		{Ask: `GET /model/Order`, Status: 404, Message: `Field: name value: Order not found`},
	})
	fields := map[any][]any{}
	for _, f := range p.Model("order") {
		fields[f["name"]] = []any{f["datatype"], f["reference"], f["custom_validation"], f["after"]}
	}
	for name, want := range map[string][]any{
		"contact_id": {"int4", "contact", nil, nil}, "kind": {"varchar", nil, "workshop|sales|parts|lease", nil},
		"delivery_date": {"timestamp", nil, nil, "order_date"}, "orderlines": {"orderline", "orderline", nil, nil},
	} {
		require.Equal(t, want, fields[name], name)
	}
	first := p.Model("order")[1]
	require.Equal(t, map[string]any{
		"name": "number", "datatype": "varchar", "length": 20.0, "required": false, "readonly": true, "unique": true, "primary": false,
		"reference": nil, "custom_validation": nil, "after": nil, "array": false,
	}, first)
	p.Faults.Describes(`{"name":"theirs"}`)
	p.Answers(rig.Wire{What: "of the backend's own", Ask: `GET /model/theirs`, Status: 200, Body: `{"data":{"name":"theirs"}}`})
	for _, bad := range []string{`[]`, `"x"`, `{"a":1} x`, `x`, `{"a":1,"a":2}`} {
		p.Faults.Describes(bad)
		p.Answers(rig.Wire{Ask: `GET /model/theirs`, Status: 400, Message: `Body is not valid JSON`})
	}
}

// contractOps is the listener that is never under the base path.
func contractOps(t *testing.T, p *rig.Practice) {
	healthy := func(path string, want int) string {
		t.Helper()
		a := p.AskOps(path)
		require.Equal(t, want, a.Status, path)
		require.True(t, json.Valid(a.Body), "%s", a.Body)
		return string(a.Body)
	}
	healthy("/healthz", http.StatusOK)
	require.Contains(t, healthy("/readyz", http.StatusOK), `"ok"`)
	p.Faults.Set(rig.Fails)
	healthy("/healthz", http.StatusOK)
	require.NotContains(t, healthy("/readyz", http.StatusServiceUnavailable), "secret")
	p.Faults.None()
	healthy("/readyz", http.StatusOK)
	require.Contains(t, p.OpsText("/"), "<title>frontdesk: ok</title>")
	for _, path := range []string{"/order", "/webservice_v2/order", "/webservice_v2/healthz"} {
		require.Equal(t, http.StatusNotFound, p.AskOps(path).Status, path)
	}
}
