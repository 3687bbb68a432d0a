package mapping_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

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

// TestCheckCreate holds what a create is refused for to testdata/checks.txt.
func TestCheckCreate(t *testing.T) {
	src, err := os.ReadFile("testdata/checks.txt")
	require.NoError(t, err)
	words := strings.NewReplacer("LONG", strings.Repeat("é", 100), "LINE", `"description":"Oil filter","price":12.95,"turnover_group_id":2`)
	name := ""
	for line := range strings.Lines(words.Replace(string(src))) {
		line = strings.TrimSuffix(line, "\n")
		resourceName, is := strings.CutPrefix(line, "== ")
		switch {
		case is:
			name = resourceName
		case line != "" && !strings.HasPrefix(line, "#"):
			fields, want, _ := strings.Cut(line, " -> ")
			b := decoded(t, name, newBody(name, strings.Split(fields, " & ")...))
			assert.Equal(t, want, strings.Join(worded(b.CheckCreate(), mapping.OpCreate), "; "), line)
		}
	}
}

func decoded(t testing.TB, resourceName, body string) *mapping.Body {
	t.Helper()
	b, err := mapping.DecodeBody(resource(t, resourceName), []byte(body), amsterdam(t))
	require.NoError(t, err, body)
	return b
}

// TestCheckMerged changes legacy rows, which lack what is required.
func TestCheckMerged(t *testing.T) {
	order := resource(t, "order")
	for _, tt := range []struct{ stored, patch, want string }{
		{newBody("order", "-kind", "-order_date"), `{"mileage":1}`, "403 Field: kind is required and not supplied in request; 403 Field: order_date is required and not supplied in request"},
		{newBody("order", "-kind"), `{"kind":"sales"}`, ""},
		{newBody("order", `"kind":""`), `{}`, "403 Field: kind is required and not supplied in request"},
	} {
		stored := decoded(t, "order", tt.stored).Record
		stored.Values[order.ID] = mapping.IntValue(42)
		b := decoded(t, "order", tt.patch)
		assert.Equal(t, tt.want, strings.Join(worded(b.CheckMerged(stored.Merge(b.Record)), mapping.OpUpdate), "; "), tt.stored)
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
