package mapping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// worded sorts violations as an answer does and words each with its status.
func worded(v mapping.Violations, scopes ...mapping.Scope) []string {
	c := mapping.NewCatalogue()
	c.Sort(v, scopes...)
	var all []string
	for _, e := range v {
		row := c.Lookup(e.Reason, scopes...)
		all = append(all, fmt.Sprintf("%d %s", row.Status, row.Word(e.Args)))
	}
	return all
}

// valid are the least fields that a new record of each resource takes.
var valid = map[string]string{
	"order":     `"contact_id":17,"kind":"workshop","order_status":"open","order_date":"2026-07-01"`,
	"orderline": `"order_id":42,"description":"Oil filter","quantity":1,"price":12.95,"turnover_group_id":2`,
	"contact":   `"kind":"person","name":"Vries"`,
	"vehicle":   `"license_plate":"GT-123-B","brand":"Volkswagen","model":"Golf"`,
	"document":  `"name":"a.pdf","resource":"order","resource_id":42`,
	"employee":  `"username":"jvisser","last_name":"Visser"`,
	"article":   `"number":"OF-1","description":"Oil filter","article_kind":"part","unit_type":"piece","turnover_group_id":2,"price":1`,
	"contactaddress": `"contact_id":17,"type":"visit","street":"Stationsweg","house_number":12,"postcode":"3811 MH",` +
		`"city":"Amersfoort","country_id":528`,
}

// newBody is the least valid body of a resource with some fields put in its
// place, or added: field is `"name":value`, and `-name` leaves a field out.
func newBody(resourceName string, fields ...string) string {
	parts := strings.Split(valid[resourceName], ",")
	for _, f := range fields {
		name, _, _ := strings.Cut(f, ":")
		name, leftOut := strings.CutPrefix(name, "-")
		if leftOut {
			name = `"` + name + `"`
		}
		parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, name+":") })
		if !leftOut {
			parts = append(parts, f)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

type checkTest struct {
	name, resource string
	fields         []string
	want           []string
}

func TestCheckCreate(t *testing.T) {
	long := strings.Repeat("é", 100)
	tests := []checkTest{
		{"valid order", "order", nil, nil},
		{"unknown field", "order", []string{`"colour":"red"`}, []string{"403 Field: colour not found in model"}},
		{"other case", "order", []string{`"Reference":"x"`}, []string{"403 Field: Reference not found in model"}},
		{"nameless field", "order", []string{`"":1`}, []string{"403 Field:  not found in model"}},
		{"readonly", "order", []string{`"number":"O1"`}, []string{"403 Field: number is readonly do not supply in request"}},
		{"readonly as null", "order", []string{`"number":null`}, []string{"403 Field: number is readonly do not supply in request"}},
		{"readonly and ill-typed", "order", []string{`"total_excl":"x"`}, []string{"403 Field: total_excl is readonly do not supply in request"}},
		{"created_at", "order", []string{`"created_at":"2026-07-01"`}, []string{"403 Field: created_at is readonly do not supply in request"}},
		{"is_system", "order", []string{`"is_system":1`}, []string{"403 Field: is_system is readonly do not supply in request"}},
		{"primary ID", "order", []string{`"id":1`}, []string{"403 Field: id is primary ID do not supply in request"}},
		{"primary ID, ill-typed", "order", []string{`"id":"x"`}, []string{"403 Field: id is primary ID do not supply in request"}},
		{"required left out", "order", []string{"-order_date"}, []string{"403 Field: order_date is required and not supplied in request"}},
		{"required as null", "order", []string{`"order_date":null`}, []string{"403 Field: order_date is required and not supplied in request"}},
		{"required as empty text", "order", []string{`"kind":""`}, []string{"403 Field: kind is required and not supplied in request"}},
		{"required ill-typed is supplied", "order", []string{`"contact_id":"x"`}, []string{"403 Field: contact_id has an invalid value: x for datatype: int4"}},
		{"varchar as long as it may be", "order", []string{`"reference":"` + strings.Repeat("é", 50) + `"`}, nil},
		{"varchar too long", "order", []string{`"reference":"` + strings.Repeat("é", 51) + `"`}, []string{"403 Field: reference valuelength: 51 too long for datatype: varchar: 50"}},
		{"text as long as it may be", "order", []string{`"description":"` + strings.Repeat("é", 65535) + `"`}, nil},
		{"text too long", "order", []string{`"description":"` + strings.Repeat("é", 65536) + `"`}, []string{"403 Field: description valuelength: 65536 too long for datatype: text: 65535"}},
		{"timestamp", "order", []string{`"delivery_date":"tomorrow"`}, []string{"403 Field: delivery_date has an invalid value: tomorrow for datatype: timestamp(ISO 8601)"}},
		{"float8", "orderline", []string{`"price":"12,95"`}, []string{"403 Field: price has an invalid value: 12,95 for datatype: float8"}},
		{"int4", "order", []string{`"mileage":1.0`}, []string{"403 Field: mileage has an invalid value: 1.0 for datatype: int4"}},
		{"varchar", "order", []string{`"reference":{"a": [1, true]}`}, []string{`403 Field: reference has an invalid value: {"a":[1,true]} for datatype: varchar`}},
		{"text", "order", []string{`"description":5`}, []string{"403 Field: description has an invalid value: 5 for datatype: varchar"}},
		{"bytea", "document", []string{`"content":"%"`}, []string{"403 Field: content has an invalid value: % for datatype: bytea"}},
		{"list of texts", "order", []string{`"kind":"trade"`}, []string{"403 Field: kind has an invalid value: trade for validation: workshop|sales|parts|lease"}},
		{"list of numbers", "contact", []string{`"is_customer":2`}, []string{"403 Field: is_customer has an invalid value: 2 for validation: 0|1"}},
		{"list, other case", "order", []string{`"kind":"Sales"`}, []string{"403 Field: kind has an invalid value: Sales for validation: workshop|sales|parts|lease"}},
		{"optional list, empty text", "orderline", []string{`"unit_type":""`}, nil},
		{"optional list, null", "orderline", []string{`"unit_type":null`}, nil},
		{"percentage", "orderline", []string{`"discount_percentage":100.5`}, []string{"403 Field: discount_percentage has an invalid value: 100.5 for validation: percentage"}},
		{"percentage as it was sent", "orderline", []string{`"discount_percentage":-1.50e0`}, []string{"403 Field: discount_percentage has an invalid value: -1.50e0 for validation: percentage"}},
		{"license plate", "vehicle", []string{`"license_plate":"GT-12-34-B"`}, []string{"403 Field: license_plate has an invalid value: GT-12-34-B for validation: license_plate"}},
		{"foreign license plate", "vehicle", []string{`"license_plate":"M-GT 1234"`, `"country_id":276`}, nil},
		{"vin", "vehicle", []string{`"vin":"WVWZZZ1KZAW00000O"`}, []string{"403 Field: vin has an invalid value: WVWZZZ1KZAW00000O for validation: vin"}},
		{"e-mail", "employee", []string{`"email":"jvisser"`}, []string{"403 Field: email has an invalid value: jvisser for validation: email"}},
		{"ean", "article", []string{`"ean":"8711253001203"`}, []string{"403 Field: ean has an invalid value: 8711253001203 for validation: ean"}},
		{"https", "document", []string{`"external_url":"http://example.nl/a.pdf"`}, []string{"403 Field: external_url has an invalid value: http://example.nl/a.pdf for validation: https_url"}},
		{"resource", "document", []string{`"resource":"garage"`}, []string{"403 Field: resource has an invalid value: garage for validation: resource"}},
		{"postcode", "contactaddress", []string{`"postcode":"  "`}, []string{"403 Field: postcode has an invalid value:    for validation: postcode"}},
		{"too long and invalid", "vehicle", []string{`"tax_kind":"marginscheme"`}, []string{
			"403 Field: tax_kind valuelength: 12 too long for datatype: varchar: 10",
			"403 Field: tax_kind has an invalid value: marginscheme for validation: vat|margin|exempt",
		}},
		{"date after", "order", []string{`"delivery_date":"2026-06-30T12:00:00+02:00"`}, []string{"403 Field: delivery_date value: 2026-06-30T12:00:00+02:00 date must be after Field: order_date value: 2026-07-01"}},
		{"the same date", "order", []string{`"delivery_date":"2026-07-01"`}, []string{"403 Field: delivery_date value: 2026-07-01 date must be after Field: order_date value: 2026-07-01"}},
		{"a millisecond later", "order", []string{`"delivery_date":"2026-06-30T22:00:00.001Z"`}, nil},
		{"date after none", "vehicle", []string{`"apk_expiry_date":"2027-01-01"`}, nil},
		{"value of 100 characters", "order", []string{`"mileage":"` + long + `"`}, []string{"403 Field: mileage has an invalid value: " + long + " for datatype: int4"}},
		{"value of 101 characters", "order", []string{`"mileage":"` + long + `x"`}, []string{"403 Field: mileage has an invalid value: " + long + "… for datatype: int4"}},
		{"name of 101 characters", "order", []string{`"` + long + `x":1`}, []string{"403 Field: " + long + "… not found in model"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := decoded(t, tt.resource, newBody(tt.resource, tt.fields...))
			if diff := cmp.Diff(tt.want, worded(b.CheckCreate(), mapping.OpCreate)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func decoded(t testing.TB, resourceName, body string) *mapping.Body {
	t.Helper()
	b, err := mapping.DecodeBody(resource(t, resourceName), []byte(body), amsterdam(t))
	require.NoError(t, err, body)
	return b
}

// TestCheckCreateReportsAll finds everything in one go, in the order of the
// table's rows and, within a row, of the model's fields.
func TestCheckCreateReportsAll(t *testing.T) {
	b := decoded(t, "order", `{"zebra":1,"mileage":"far","kind":"trade","id":3,"reference":"`+strings.Repeat("x", 51)+`","order_status":"gone",
		"delivery_date":"2026-06-30","order_date":"2026-07-01","total_incl":1,"number":"O1","aardvark":2,"orderlines":[],"vehicle_id":"x"}`)
	want := []string{
		"403 Field: zebra not found in model",
		"403 Field: aardvark not found in model",
		"403 Field: number is readonly do not supply in request",
		"403 Field: total_incl is readonly do not supply in request",
		"403 Field: contact_id is required and not supplied in request",
		"403 Field: id is primary ID do not supply in request",
		"403 Field: orderlines minimum 1 element is required in array",
		"403 Field: reference valuelength: 51 too long for datatype: varchar: 50",
		"403 Field: vehicle_id has an invalid value: x for datatype: int4",
		"403 Field: mileage has an invalid value: far for datatype: int4",
		"403 Field: kind has an invalid value: trade for validation: workshop|sales|parts|lease",
		"403 Field: order_status has an invalid value: gone for validation: concept|open|in_progress|ready|invoiced|cancelled",
		"403 Field: delivery_date value: 2026-06-30 date must be after Field: order_date value: 2026-07-01",
	}
	if diff := cmp.Diff(want, worded(b.CheckCreate(), "POST /order", mapping.OpCreate)); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestCheckArray(t *testing.T) {
	line := `{"description":"Oil filter","quantity":1,"price":12.95,"turnover_group_id":2}`
	tests := []struct {
		name, lines string
		want        []string
	}{
		{"none", `[]`, []string{"403 Field: orderlines minimum 1 element is required in array"}},
		{"null", `null`, []string{"403 Field: orderlines minimum 1 element is required in array"}},
		{"one", `[` + line + `]`, nil},
		{"parent's ID", `[` + strings.Replace(line, "{", `{"order_id":1,`, 1) + `]`, []string{"403 Field: orderlines[0].order_id is readonly do not supply in request"}},
		{"parent's ID as null", `[` + strings.Replace(line, "{", `{"order_id":null,`, 1) + `]`, []string{"403 Field: orderlines[0].order_id is readonly do not supply in request"}},
		{"primary ID", `[` + strings.Replace(line, "{", `{"id":1,`, 1) + `]`, []string{"403 Field: orderlines[0].id is primary ID do not supply in request"}},
		{"ill-typed", `[` + line + `,` + strings.Replace(line, `"quantity":1`, `"quantity":"1"`, 1) + `]`, []string{"403 Field: orderlines[1].quantity has an invalid value: 1 for datatype: float8"}},
		{"several", `[{"total":1},{"unit_type":"box","description":"x","price":1,"quantity":1,"turnover_group_id":1,"colour":"red"}]`, []string{
			"403 Field: orderlines[1].colour not found in model",
			"403 Field: orderlines[0].total is readonly do not supply in request",
			"403 Field: orderlines[0].description is required and not supplied in request",
			"403 Field: orderlines[0].quantity is required and not supplied in request",
			"403 Field: orderlines[0].price is required and not supplied in request",
			"403 Field: orderlines[0].turnover_group_id is required and not supplied in request",
			"403 Field: orderlines[1].unit_type has an invalid value: box for validation: piece|hour|litre|kg|metre|set",
		}},
		{"element that is no object", `[` + line + `,5]`, []string{"403 Field: orderlines[1] has an invalid value: 5 for datatype: varchar"}},
		{"element that is null", `[null]`, []string{"403 Field: orderlines[0] has an invalid value: null for datatype: varchar"}},
		{"element after one that is no object", `[5,{"description":"x","quantity":1,"price":1}]`, []string{
			"403 Field: orderlines[1].turnover_group_id is required and not supplied in request",
			"403 Field: orderlines[0] has an invalid value: 5 for datatype: varchar",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := decoded(t, "order", newBody("order", `"orderlines":`+tt.lines))
			if diff := cmp.Diff(tt.want, worded(b.CheckCreate(), mapping.OpCreate)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckUpdate(t *testing.T) {
	tests := []struct {
		name, resource, body string
		want                 []string
	}{
		{"nothing", "order", `{}`, nil},
		{"one field", "order", `{"mileage":5}`, nil},
		{"the primary ID", "order", `{"id":42}`, nil},
		{"unknown field", "order", `{"colour":"red"}`, []string{"403 Field: colour not found in model"}},
		{"readonly", "order", `{"number":"O1","created_at":"x"}`, []string{
			"403 Field: number is readonly do not supply in request", "403 Field: created_at is readonly do not supply in request"}},
		{"required as null", "order", `{"order_date":null}`, []string{"403 Field: order_date is required and cannot be empty"}},
		{"required as empty text", "order", `{"kind":""}`, []string{"403 Field: kind is required and cannot be empty"}},
		{"optional as null", "order", `{"reference":null,"vehicle_id":null}`, nil},
		{"empty array", "order", `{"orderlines":[]}`, []string{"403 Field: orderlines minimum 1 element is required in array"}},
		{"array as null", "order", `{"orderlines":null}`, []string{"403 Field: orderlines minimum 1 element is required in array"}},
		{"varchar too long", "contact", `{"language":"nld"}`, []string{"403 Field: language valuelength: 3 too long for datatype: varchar: 2"}},
		{"ill-typed", "orderline", `{"price":"x","order_id":true}`, []string{
			"403 Field: price has an invalid value: x for datatype: float8", "403 Field: order_id has an invalid value: true for datatype: int4"}},
		{"flag", "order", `{"is_blocked":2}`, []string{"403 Field: is_blocked has an invalid value: 2 for validation: 0|1"}},
		{"bytea", "document", `{"content":"%"}`, []string{"403 Field: content has an invalid value: % for datatype: bytea"}},
		{"a date alone waits for the stored one", "order", `{"delivery_date":"1999-01-01"}`, nil},
		{"several", "order", `{"mileage":"x","kind":"trade","order_status":null,"colour":1,"total_excl":1}`, []string{
			"403 Field: colour not found in model",
			"403 Field: total_excl is readonly do not supply in request",
			"403 Field: order_status is required and cannot be empty",
			"403 Field: mileage has an invalid value: x for datatype: int4",
			"403 Field: kind has an invalid value: trade for validation: workshop|sales|parts|lease",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := worded(decoded(t, tt.resource, tt.body).CheckUpdate(), mapping.OpUpdate)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckMerged(t *testing.T) {
	tests := []struct {
		name, stored, patch string
		want                []string
	}{
		{"nothing", newBody("order"), `{}`, nil},
		{"a legacy row", newBody("order", "-kind", "-order_date"), `{"mileage":1}`, []string{
			"403 Field: kind is required and not supplied in request", "403 Field: order_date is required and not supplied in request"}},
		{"a legacy row made whole", newBody("order", "-kind"), `{"kind":"sales"}`, nil},
		{"a legacy row with empty text", newBody("order", `"kind":""`), `{}`, []string{"403 Field: kind is required and not supplied in request"}},
		{"later than the stored date", newBody("order"), `{"delivery_date":"2026-07-02"}`, nil},
		{"earlier than the stored date", newBody("order"), `{"delivery_date":"2026-06-01"}`, []string{
			"403 Field: delivery_date value: 2026-06-01 date must be after Field: order_date value: 2026-06-30T22:00:00.000Z"}},
		{"stored date earlier than the new one", newBody("order", `"delivery_date":"2026-07-03T10:00:00Z"`), `{"order_date":"2026-07-04"}`, []string{
			"403 Field: delivery_date value: 2026-07-03T10:00:00.000Z date must be after Field: order_date value: 2026-07-04"}},
		{"other date taken away", newBody("order", `"delivery_date":"2026-06-03"`), `{"delivery_date":null}`, nil},
	}
	order := resource(t, "order")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored := decoded(t, "order", tt.stored).Record
			stored.Values[order.ID] = mapping.IntValue(42)
			b := decoded(t, "order", tt.patch)
			got := worded(b.CheckMerged(stored.Merge(b.Record)), mapping.OpUpdate)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	cause := fmt.Errorf("disk full")
	e := mapping.Fail(mapping.InternalError).Because(cause)
	assert.ErrorIs(t, e, cause)
	assert.EqualError(t, e, "internal_error: disk full")

	wrapped := fmt.Errorf("create order: %w", mapping.Violations{mapping.Fail(mapping.FieldEmpty, "kind"), mapping.Fail(mapping.EmptyBody)})
	assert.True(t, mapping.Is(wrapped, mapping.EmptyBody))
	assert.False(t, mapping.Is(wrapped, mapping.InUse))
	assert.False(t, mapping.Is(nil, mapping.InUse))

	var v mapping.Violations
	require.NoError(t, v.Err())
	require.NoError(t, v.Add(nil))
	require.NoError(t, v.Add(wrapped))
	require.NoError(t, v.Add(mapping.Fail(mapping.InUse, "id", "orderline")))
	require.ErrorIs(t, v.Add(cause), cause, "a failure is no violation")
	assert.EqualError(t, v.Err(), "field_empty: kind; empty_body; in_use: id, orderline")

	inner := mapping.Fail(mapping.FieldRequired, "quantity")
	assert.EqualError(t, inner.In("orderlines[0]"), "field_required: orderlines[0].quantity")
	assert.EqualError(t, inner, "field_required: quantity", "the original stays")
	assert.EqualError(t, mapping.Fail(mapping.RecordNotFound, mapping.Literal("id"), int32(7)), "record_not_found: id, 7")
	assert.EqualError(t, mapping.Fail(mapping.InUse, int64(7), true), "in_use: 7, true")
}
