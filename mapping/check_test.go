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
		{"other case", "order", []string{`"Reference":"x"`}, []string{"403 Field: Reference not found in model"}},
		{"nameless field", "order", []string{`"":1`}, []string{"403 Field:  not found in model"}},
		{"created_at", "order", []string{`"created_at":"2026-07-01"`}, []string{"403 Field: created_at is readonly do not supply in request"}},
		{"is_system", "order", []string{`"is_system":1`}, []string{"403 Field: is_system is readonly do not supply in request"}},
		{"primary ID, ill-typed", "order", []string{`"id":"x"`}, []string{"403 Field: id is primary ID do not supply in request"}},
		{"list, other case", "order", []string{`"kind":"Sales"`}, []string{"403 Field: kind has an invalid value: Sales for validation: workshop|sales|parts|lease"}},
		{"optional list, null", "orderline", []string{`"unit_type":null`}, nil},
		{"percentage as it was sent", "orderline", []string{`"discount_percentage":-1.50e0`}, []string{"403 Field: discount_percentage has an invalid value: -1.50e0 for validation: percentage"}},
		{"foreign license plate", "vehicle", []string{`"license_plate":"M-GT 1234"`, `"country_id":276`}, nil},
		{"too long and invalid", "vehicle", []string{`"tax_kind":"marginscheme"`}, []string{
			"403 Field: tax_kind valuelength: 12 too long for datatype: varchar: 10",
			"403 Field: tax_kind has an invalid value: marginscheme for validation: vat|margin|exempt",
		}},
		{"a millisecond later", "order", []string{`"delivery_date":"2026-06-30T22:00:00.001Z"`}, nil},
		{"date after none", "vehicle", []string{`"apk_expiry_date":"2027-01-01"`}, nil},
		{"value of 100 characters", "order", []string{`"mileage":"` + long + `"`}, []string{"403 Field: mileage has an invalid value: " + long + " for datatype: int4"}},
		{"value of 101 characters", "order", []string{`"mileage":"` + long + `x"`}, []string{"403 Field: mileage has an invalid value: " + long + "… for datatype: int4"}},
		{"name of 101 characters", "order", []string{`"` + long + `x":1`}, []string{"403 Field: " + long + "… not found in model"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := decoded(t, tt.resource, newBody(tt.resource, tt.fields...))
			assert.Empty(t, cmp.Diff(tt.want, worded(b.CheckCreate(), mapping.OpCreate)), "violations (-want +got)")
		})
	}
}

func decoded(t testing.TB, resourceName, body string) *mapping.Body {
	t.Helper()
	b, err := mapping.DecodeBody(resource(t, resourceName), []byte(body), amsterdam(t))
	require.NoError(t, err, body)
	return b
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
		{"element that is no object", `[` + line + `,5]`, []string{"403 Field: orderlines[1] has an invalid value: 5 for datatype: varchar"}},
		{"element that is null", `[null]`, []string{"403 Field: orderlines[0] has an invalid value: null for datatype: varchar"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := decoded(t, "order", newBody("order", `"orderlines":`+tt.lines))
			assert.Empty(t, cmp.Diff(tt.want, worded(b.CheckCreate(), mapping.OpCreate)), "violations (-want +got)")
		})
	}
}

func TestCheckMerged(t *testing.T) {
	tests := []struct {
		name, stored, patch string
		want                []string
	}{
		{"a legacy row", newBody("order", "-kind", "-order_date"), `{"mileage":1}`, []string{
			"403 Field: kind is required and not supplied in request", "403 Field: order_date is required and not supplied in request"}},
		{"a legacy row made whole", newBody("order", "-kind"), `{"kind":"sales"}`, nil},
		{"a legacy row with empty text", newBody("order", `"kind":""`), `{}`, []string{"403 Field: kind is required and not supplied in request"}},
	}
	order := resource(t, "order")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored := decoded(t, "order", tt.stored).Record
			stored.Values[order.ID] = mapping.IntValue(42)
			b := decoded(t, "order", tt.patch)
			got := worded(b.CheckMerged(stored.Merge(b.Record)), mapping.OpUpdate)
			assert.Empty(t, cmp.Diff(tt.want, got), "violations (-want +got)")
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
