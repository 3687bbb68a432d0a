package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublishing: vehicle 3 of the sample data is not published yet.
func TestPublishing(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	status := func() any { return decode[one](t, demo.ask("GET", "/vehicle/3", "")).Data["publish_status"] }
	site := fault{403, "Vehicleadvertisementsite is required, vehicle not published", "advertisementsite_required", ""}
	for _, method := range []string{"GET", "PUT"} {
		require.Equal(t, 200, demo.ask("PUT", "/vehicle/3", `{"tax_kind":null}`).status)
		refused(t, demo.ask(method, "/vehicle/publishstart?id=3", ""),
			fault{403, "Field: tax_kind value: null is required vehicle not published", "publish_field_required", "tax_kind"}, site)
		require.Equal(t, 200, demo.ask("PUT", "/vehicle/3", `{"tax_kind":"vat"}`).status)
		refused(t, demo.ask(method, "/vehicle/publishstart?id=3", ""), site)
	}
	require.Equal(t, 201, demo.ask("POST", "/vehicleadvertisementsite", `{"vehicle_id":3,"advertisementsite_id":1}`).status)
	for _, c := range []struct{ target, body string }{{"/vehicle/publishstart?id=3", ""}, {"/vehicle/publishstart", `{"id":3}`}} {
		a := demo.ask("GET", c.target, c.body)
		require.Equal(t, `{"successCode":200}`, a.body)
		require.Equal(t, 200, a.status)
		require.Equal(t, "not_published", status(), "it only judges")
	}
	a := demo.ask("PUT", "/vehicle/publishstart", `{"id":3}`)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "published", decode[one](t, a).Data["publish_status"])
	require.Equal(t, "published", status())
	refused(t, demo.ask("PUT", "/vehicle/publishstop?id=3", "", "If-Match", `"x"`), fault{412, "Record has been changed", "record_changed", ""})
	a = demo.ask("PUT", "/vehicle/publishstop?id=3", " ")
	require.Equal(t, "not_published", decode[one](t, a).Data["publish_status"])
	require.Equal(t, "not_published", status())
}

func TestVehicleIdentification(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	invalid, none := fault{400, "Primary ID is not an valid ID", "primary_id_invalid", ""}, fault{403, "No Primary ID provided", "primary_id_missing", ""}
	required, empty := fault{400, "These parameter(s): id are required", "parameters_required", ""}, fault{400, "Empty body", "empty_body", ""}
	for _, c := range []struct {
		method, target, body string
		want                 fault
	}{
		{"PUT", "/vehicle/publishstart", "", empty},
		{"PUT", "/vehicle/publishstop", "", empty},
		{"GET", "/vehicle/publishstart", "", required},
		{"PUT", "/vehicle/publishstart", `{}`, none},
		{"PUT", "/vehicle/publishstop", `{}`, none},
		{"PUT", "/vehicle/publishstop?id=0", "", invalid},
		{"PUT", "/vehicle/publishstop?id=1", `{"id":2}`, invalid},
		{"PUT", "/vehicle/publishstop?id=1", `{"plate":2}`, fault{403, "Field: plate not found in model", "field_not_in_model", "plate"}},
		{"PUT", "/vehicle/publishstop?id=1", `{`, fault{400, "Body is not valid JSON", "body_not_json", ""}},
		{"GET", "/vehicle/publishstart?id=x", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{"PUT", "/vehicle/publishstart?id=9999", "", fault{404, "Field: id value: 9999 not found", "record_not_found", "id"}},
		{"POST", "/vehicle/publishstart?id=1", "", fault{400, "Method: POST not supported for endpoint: /vehicle/publishstart", "method_unsupported", ""}},
		{"GET", "/vehicle/publishstop?id=1", "", fault{400, "Method: GET not supported for endpoint: /vehicle/publishstop", "method_unsupported", ""}},
	} {
		refused(t, demo.ask(c.method, c.target, c.body), c.want)
	}
	refused(t, h.as("other").ask("PUT", "/vehicle/publishstop?id=1", ""), fault{404, "Field: id value: 1 not found", "record_not_found", "id"})
}

func TestLicensePlate(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	for _, method := range []string{"PUT", "POST"} {
		for _, c := range []struct {
			body string
			want []fault
		}{
			{"", []fault{{400, "Empty body", "empty_body", ""}}},
			{`{"id":"x","license_plate":"GT-123-B"}`, []fault{{400, "Primary ID is not an valid ID", "primary_id_invalid", ""}}},
			{`{"license_plate":"GT-123-B"}`, []fault{{403, "No Primary ID provided", "primary_id_missing", ""}}},
			{`{"id":3}`, []fault{{403, "Field: license_plate is required and not supplied in request", "field_required", "license_plate"}}},
			{`{}`, []fault{{403, "No Primary ID provided", "primary_id_missing", ""}, {403, "Field: license_plate is required and not supplied in request", "field_required", "license_plate"}}},
			{`{"id":3,"license_plate":""}`, []fault{{403, "Field: license_plate is required and cannot be empty", "field_empty", "license_plate"}}},
			{`{"id":3,"license_plate":7}`, []fault{{403, "Field: license_plate has an invalid value: 7 for datatype: varchar", "varchar_invalid", "license_plate"}}},
			{`{"id":9999,"license_plate":"GT-123-B"}`, []fault{{404, "Field: id value: 9999 not found", "record_not_found", "id"}}},
			{`{"id":3,"license_plate":"b131kl"}`, []fault{{409, "Field: license_plate Value: b131kl has a duplicate illegal value", "duplicate_value", "license_plate"}}},
			{`{"id":3,"license_plate":"nope"}`, []fault{{403, "Field: license_plate has an invalid value: nope for validation: license_plate", "custom_validation_failed", "license_plate"}}},
		} {
			refused(t, demo.ask(method, "/updatelicenseplate", c.body), c.want...)
		}
	}
	a := demo.ask("PUT", "/updatelicenseplate", `{"id":3,"license_plate":"gt123b"}`)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "GT-123-B", decode[one](t, a).Data["license_plate"])
	require.Equal(t, a.body, demo.ask("GET", "/vehicle/3", "").body)
}
