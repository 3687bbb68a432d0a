package gateway

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// one is an answer of one record.
type one struct{ Data map[string]any }

// many is an answer of many.
type many struct {
	Data     []map[string]any
	Page     *int
	PageSize int `json:"page_size"`
	Next     *string
	Total    *int
}

const newOrder = `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01T12:00:00+02:00","orderlines":[
	{"description":"Oil filter","quantity":2,"price":12.95,"turnover_group_id":2}]}`

// TestRecordFromPostToDelete is the life of a record.
func TestRecordFromPostToDelete(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	a := demo.ask("POST", "/order", newOrder)
	require.Equal(t, 201, a.status, a.body)
	created := decode[one](t, a).Data
	id := fmt.Sprint(created["id"])
	require.Equal(t, "/webservice_v2/order/"+id, a.head("Location"))
	require.Equal(t, "2026-07-01T10:00:00.000Z", created["order_date"])
	require.Equal(t, 25.9, created["total_excl"])
	require.NotContains(t, created, "orderlines", "arrays come only when they are named")
	require.Nil(t, created["reference"])
	require.Contains(t, created, "reference", "all fields come, empty ones too")

	etag := a.head("ETag")
	require.Regexp(t, `^"[^"]+"$`, etag)
	for _, target := range []string{"/order/" + id, "/order?id=" + id} {
		got := demo.ask("GET", target, "")
		require.Equal(t, 200, got.status)
		require.Equal(t, a.body, got.body)
		require.Equal(t, etag, got.head("ETag"))
		require.Equal(t, "private, no-cache", got.head("Cache-Control"))
	}

	a = demo.ask("PUT", "/order", `{"id":`+id+`,"reference":"PO-1"}`)
	require.Equal(t, 200, a.status, a.body)
	require.NotEqual(t, etag, a.head("ETag"))
	updated := decode[one](t, a).Data
	require.Equal(t, "PO-1", updated["reference"])
	require.Equal(t, created["order_date"], updated["order_date"], "what was not sent keeps its value")

	lines := decode[many](t, demo.ask("GET", "/orderline?order_id="+id, "")).Data
	require.Len(t, lines, 1)
	require.Equal(t, 25.9, lines[0]["total"])
	refused(t, demo.ask("DELETE", "/order/"+id, ""), fault{406, "Field: id in use at: orderline", "in_use", "id"})
	for _, target := range []string{"/orderline/" + fmt.Sprint(lines[0]["id"]), "/order?id=" + id} {
		a = demo.ask("DELETE", target, "")
		require.Equal(t, `{"successCode":200}`, a.body)
		require.Equal(t, 200, a.status)
	}
	refused(t, demo.ask("GET", "/order/"+id, ""), fault{404, "Field: id value: " + id + " not found", "record_not_found", "id"})
}

func TestPutOfNothing(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	before := demo.ask("GET", "/order/1", "")
	after := demo.ask("PUT", "/order/1", "{}")
	require.Equal(t, 200, after.status)
	require.Equal(t, before.body, after.body)
	require.Equal(t, before.head("ETag"), after.head("ETag"))
}

// TestFieldsOfOne come in the order of the model, each once.
func TestFieldsOfOne(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	whole := demo.ask("GET", "/order/2", "")
	for query, want := range map[string]string{
		"fields=kind,id,number,kind": `{"data":{"id":2,"number":"O000002","kind":"workshop"}}`,
		"fields=id%2Ckind":           `{"data":{"id":2,"kind":"workshop"}}`,
		"fields=":                    whole.body,
		"id=2&fields=id":             `{"data":{"id":2}}`,
	} {
		a := demo.ask("GET", "/order/2?"+query, "")
		require.Equal(t, want, a.body, query)
		require.Equal(t, whole.head("ETag"), a.head("ETag"), "it changes with any change, whatever was asked for")
	}
	lines := demo.ask("GET", "/order/2?fields=orderlines", "")
	require.Len(t, decode[one](t, lines).Data["orderlines"], 1)
	require.Equal(t, whole.head("ETag"), lines.head("ETag"))
	refused(t, demo.ask("GET", "/order/2?fields=id,colour,", ""),
		fault{403, "Field: colour not found in model", "field_not_in_model", "colour"},
		fault{403, "Field:  not found in model", "field_not_in_model", ""})
}

// TestRowsOfRecords are the rows about primary IDs, states and clients, by the
// operation that words them.
func TestRowsOfRecords(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, other := h.as("demo"), h.as("other")
	require.Equal(t, 200, demo.ask("PUT", "/order/2", `{"is_blocked":1}`).status)
	require.Equal(t, 200, demo.ask("PUT", "/order/3", `{"is_archived":1}`).status)
	invalid, none := "Primary ID is not an valid ID", "No Primary ID provided"
	for _, c := range []struct {
		who                  visitor
		method, target, body string
		want                 fault
	}{
		{demo, "GET", "/order/0", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{demo, "GET", "/order/01", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{demo, "GET", "/order?id=-1", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{demo, "GET", "/order/2147483648", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{demo, "GET", "/order/1?id=2", "", fault{403, "Primary ID is invalid", "primary_id_invalid", ""}},
		{demo, "GET", "/order?id=", "", fault{400, "These parameter(s): id are required", "parameters_required", ""}},
		{demo, "GET", "/order/2147483647", "", fault{404, "Field: id value: 2147483647 not found", "record_not_found", "id"}},
		{other, "GET", "/order/1", "", fault{404, "Field: id value: 1 not found", "record_not_found", "id"}},
		{demo, "PUT", "/order/x", `{}`, fault{400, invalid, "primary_id_invalid", ""}},
		{demo, "PUT", "/order", `{}`, fault{403, none, "primary_id_missing", ""}},
		{demo, "PUT", "/order?id=", `{}`, fault{403, none, "primary_id_missing", ""}},
		{demo, "PUT", "/order", `{"id":null}`, fault{403, none, "primary_id_missing", ""}},
		{demo, "PUT", "/order", `{"id":"1"}`, fault{400, invalid, "primary_id_invalid", ""}},
		{demo, "PUT", "/order", `{"id":1.5}`, fault{400, invalid, "primary_id_invalid", ""}},
		{demo, "PUT", "/order/1", `{"id":2}`, fault{400, invalid, "primary_id_invalid", ""}},
		{demo, "PUT", "/order/1?id=2", `{}`, fault{400, invalid, "primary_id_invalid", ""}},
		{other, "PUT", "/order/1", `{}`, fault{404, "Field: id value: 1 not found", "record_not_found", "id"}},
		{demo, "PUT", "/order/1", `{"kind":""}`, fault{403, "Field: kind is required and cannot be empty", "field_empty", "kind"}},
		{demo, "PUT", "/order/1", `{"kind":null}`, fault{403, "Field: kind is required and cannot be empty", "field_empty", "kind"}},
		{demo, "PUT", "/order/1", `{"kind":"toys"}`, fault{403, "Field: kind has an invalid value: toys for validation: workshop|sales|parts|lease", "custom_validation_failed", "kind"}},
		{demo, "PUT", "/order/1", `{"number":"O000001"}`, fault{403, "Field: number is readonly do not supply in request", "field_readonly", "number"}},
		{demo, "PUT", "/order/1", `{"orderlines":[]}`, fault{403, "Field: orderlines minimum 1 element is required in array", "array_needs_element", "orderlines"}},
		{demo, "PUT", "/order/1", `{"orderlines":[{}]}`, fault{409, "Cannot update orderlines", "cannot_update", "orderlines"}},
		{demo, "PUT", "/order/2", `{"kind":"lease"}`, fault{409, "This is a blocked record, fields cannot be changed, only update: is_blocked", "blocked_record", ""}},
		{demo, "PUT", "/order/3", `{"kind":"lease"}`, fault{409, "This is an archived record, fields cannot be changed, only update: is_archived", "archived_record", ""}},
		{demo, "PUT", "/order/4", `{"kind":"lease"}`, fault{409, "order_status is invoiced, cannot add/update/delete", "status_forbids_change", ""}},
		{demo, "PUT", "/country/528", `{"name":"Holland"}`, fault{409, "This is a system record, fields cannot be changed", "system_record", ""}},
		{demo, "DELETE", "/country/528", "", fault{409, "This is a system-record, record cannot be deleted", "system_record", ""}},
		{demo, "DELETE", "/order/x", "", fault{400, invalid, "primary_id_invalid", ""}},
		{demo, "DELETE", "/order", "", fault{403, none, "primary_id_missing", ""}},
		{demo, "DELETE", "/order/1?id=2", "", fault{400, invalid, "primary_id_invalid", ""}},
		{other, "DELETE", "/order/1", "", fault{404, "Field: id value: 1 not found", "record_not_found", "id"}},
		{demo, "DELETE", "/vehicle/1", "", fault{403, "Vehicle with id: 1 has publish status: published delete not allowed", "vehicle_published", ""}},
		{demo, "PUT", "/vehicle/1", `{"license_plate":"GT-123-B"}`, fault{409, "The change of the licenseplate is not allowed via put, use /updatelicenseplate.", "license_plate_change", ""}},
		{demo, "POST", "/order/1", `{}`, fault{400, "Method: POST not supported for endpoint: /order/1", "method_unsupported", ""}},
		{demo, "POST", "/order?id=1", `{}`, fault{400, "Invalid request, query parameter is not supported: id", "query_parameter_unsupported", ""}},
		{demo, "POST", "/article", `{"number":"LAB-MEC","description":"x","turnover_group_id":1,"article_kind":"part","unit_type":"piece","price":1}`, fault{409, "Field: number value: LAB-MEC has a duplicate illegal value", "duplicate_value", "number"}},
		{demo, "PUT", "/article/1", `{"number":"LAB-DIA"}`, fault{409, "Field: number Value: LAB-DIA has a duplicate illegal value", "duplicate_value", "number"}},
	} {
		refused(t, c.who.ask(c.method, c.target, c.body), c.want)
	}
}

// TestArraysOfAKey: who may not use the lines by themselves does not meet them in
// the order either.
func TestArraysOfAKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setKeys(keyOf(keyAll, "orders", Grant{"GET", "/order"}, Grant{"POST", "/order"}, Grant{"PUT", "/order"}, Grant{"GET", "/model/*"}))
	demo, unknown := h.as("demo"), fault{403, "Field: orderlines not found in model", "field_not_in_model", "orderlines"}
	refused(t, demo.ask("GET", "/order/1?fields=orderlines", ""), unknown)
	refused(t, demo.ask("POST", "/order", newOrder), unknown)
	refused(t, demo.ask("PUT", "/order/1", `{"orderlines":[{}]}`), unknown)
	require.NotContains(t, demo.ask("GET", "/model/order", "").body, "orderlines")

	last := h.lines.FilterMessage("request").All()
	require.Equal(t, []any{"POST /orderline"}, last[1].ContextMap()["lacks"])
	fingerprint := demo.ask("GET", "/authenticate/fingerprint", "").body
	h.setKeys(keyOf(keyAll, "orders", Grant{"GET", "/order"}, Grant{"GET", "/orderline"}, Grant{"GET", "/model/*"}))
	require.Len(t, decode[one](t, demo.ask("GET", "/order/1?fields=orderlines", "")).Data["orderlines"], 3)
	require.NotEqual(t, fingerprint, demo.ask("GET", "/authenticate/fingerprint", "").body, "the model is another one")
	require.Contains(t, demo.ask("GET", "/model/order", "").body, `"name":"orderlines","datatype":"orderline","length":null,"required":false,"readonly":true`)
}
