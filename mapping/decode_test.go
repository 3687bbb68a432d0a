package mapping_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

func TestDecodeOrder(t *testing.T) {
	order := resource(t, "order")
	b, err := mapping.DecodeBody(order, []byte(`{
		"reference": "PO-1", "contact_id": 17, "order_date": "2026-07-01T12:00:00+02:00", "mileage": null,
		"orderlines": [
			{"description": "Oil filter", "quantity": 1.50, "price": 12.95},
			{"description": "", "quantity": 2}
		]
	}`), amsterdam(t))
	require.NoError(t, err)
	require.Empty(t, b.Violations)
	rec := b.Record
	assert.Equal(t, mapping.TextValue("PO-1"), rec.Get("reference"))
	assert.Equal(t, mapping.IntValue(17), rec.Get("contact_id"))
	assert.Equal(t, time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC), rec.Get("order_date").Time())
	assert.Equal(t, mapping.NullValue(), rec.Get("mileage"))
	assert.True(t, rec.Get("description").IsAbsent())
	assert.True(t, b.Supplied(order.Field("mileage").Index))
	assert.False(t, b.Supplied(order.Field("description").Index))
	assert.Equal(t, "2026-07-01T12:00:00+02:00", b.Sent(order.Field("order_date").Index), "messages repeat what was sent")

	lines := rec.Children[order.Field("orderlines").Index]
	require.Len(t, lines, 2)
	assert.Equal(t, mapping.DecimalValue(15000, 4), lines[0].Get("quantity"))
	assert.Equal(t, mapping.NullValue(), lines[1].Get("description"))

	assert.Equal(t, `{"reference":"PO-1","mileage":null,"orderlines":[`+
		`{"id":null,"order_id":null,"sort_order":null,"article_id":null,"article_number":null,"description":"Oil filter","quantity":1.5,`+
		`"unit_type":null,"price":12.95,"discount_percentage":null,"turnover_group_id":null,"employee_id":null,"total":null,`+
		`"is_system":null,"is_blocked":null,"is_archived":null,"created_at":null,"modified_at":null},`+
		`{"id":null,"order_id":null,"sort_order":null,"article_id":null,"article_number":null,"description":null,"quantity":2,`+
		`"unit_type":null,"price":null,"discount_percentage":null,"turnover_group_id":null,"employee_id":null,"total":null,`+
		`"is_system":null,"is_blocked":null,"is_archived":null,"created_at":null,"modified_at":null}]}`,
		string(rec.AppendJSON(nil, []int{order.Field("reference").Index, order.Field("mileage").Index, order.Field("orderlines").Index})))
}

// TestBodyIsNotShared changes the request's buffer after it was read, as an
// HTTP server that reuses it does.
func TestBodyIsNotShared(t *testing.T) {
	body := []byte(`{"reference":"PO-1","colour":"\u0072ed","order_date":"yesterday"}`)
	order := resource(t, "order")
	b, err := mapping.DecodeBody(order, body, time.UTC)
	require.NoError(t, err)
	assert.Equal(t, `{"reference":"PO-1","colour":"\u0072ed","order_date":"yesterday"}`, string(body), "it is left as it was")
	copy(body, bytes.Repeat([]byte("#"), len(body)))
	assert.Equal(t, "PO-1", b.Record.Get("reference").Text())
	assert.Equal(t, "field_not_in_model: colour; timestamp_invalid: order_date, yesterday", b.Violations.Error())
}

func TestMerge(t *testing.T) {
	order := resource(t, "order")
	stored := mapping.NewRecord(order)
	stored.Version = 7
	stored.Set("reference", mapping.TextValue("old"))
	stored.Set("mileage", mapping.IntValue(1))
	stored.Set("kind", mapping.TextValue("sales"))
	patch := mapping.NewRecord(order)
	patch.Set("reference", mapping.TextValue("new"))
	patch.Set("mileage", mapping.NullValue())

	before := slices.Clone(stored.Values)
	merged := stored.Merge(patch)
	assert.Equal(t, "new", merged.Get("reference").Text())
	assert.Equal(t, mapping.NullValue(), merged.Get("mileage"))
	assert.Equal(t, "sales", merged.Get("kind").Text())
	assert.EqualValues(t, 7, merged.Version)
	assert.Equal(t, before, stored.Values, "neither operand is changed")
	assert.True(t, merged.Get("no_such_field").IsAbsent())
}

// onlyArrays are the arrays of a model by name.
type onlyArrays []string

func (a onlyArrays) Has(f *mapping.Field) bool { return slices.Contains(a, f.Name) }

// TestDecodeWithoutAnArray: an array that is not in the sender's model is passed over
// whole, whatever is in it.
func TestDecodeWithoutAnArray(t *testing.T) {
	order := resource(t, "order")
	for name, lines := range map[string]string{
		"filled": `[{"colour":1,"quantity":"x"},7]`, "empty": `[]`, "null": `null`,
		"more than an array may have": "[" + strings.Repeat("1,", mapping.MaxElements) + "1]",
	} {
		data := []byte(`{"orderlines":` + lines + `,"reference":"A"}`)
		b, err := mapping.DecodeBodyOf(order, onlyArrays{}, data, time.UTC)
		require.NoError(t, err, name)
		require.Equal(t, mapping.Violations{mapping.Fail(mapping.FieldNotInModel, "orderlines")}, b.Violations, name)
		require.False(t, b.Supplied(order.Field("orderlines").Index), name)
		require.Equal(t, "A", b.Record.Get("reference").Text(), name)
	}
	_, err := mapping.DecodeBodyOf(order, onlyArrays{}, []byte(`{"orderlines":`+strings.Repeat("[", mapping.MaxDepth)+strings.Repeat("]", mapping.MaxDepth)+`}`), time.UTC)
	require.True(t, mapping.Is(err, mapping.BodyNotJSON))
	b, err := mapping.DecodeBodyOf(order, onlyArrays{"orderlines"}, []byte(`{"orderlines":[{}]}`), time.UTC)
	require.NoError(t, err)
	require.Len(t, b.Record.Children, 1)
	require.NotContains(t, order.CreateRaises(onlyArrays{}), mapping.ArrayEmpty)
	require.Contains(t, order.CreateRaises(onlyArrays{"orderlines"}), mapping.ArrayEmpty)
	require.NotContains(t, order.UpdateRaises(onlyArrays{}), mapping.ArrayEmpty)
}

// TestHiddenFieldsAreToldAsUnknownOnes: before, fields that the sender may not know came behind
// those that nobody knows, in whatever order both were sent.
func TestHiddenFieldsAreToldAsUnknownOnes(t *testing.T) {
	order := resource(t, "order")
	for _, data := range []string{`{"orderlines":[{}],"colour":1}`, `{"colour":1,"orderlines":[{}]}`} {
		b, err := mapping.DecodeBodyOf(order, onlyArrays{}, []byte(data), time.UTC)
		require.NoError(t, err)
		for _, v := range []mapping.Violations{b.CheckCreate(), b.CheckUpdate()} {
			var unknown []string
			for _, e := range v {
				if e.Reason == mapping.FieldNotInModel {
					unknown = append(unknown, e.Args[0])
				}
			}
			require.Equal(t, strings.Index(data, "colour") < strings.Index(data, "orderlines"), unknown[0] == "colour", "%s: %q", data, unknown)
		}
	}
}
