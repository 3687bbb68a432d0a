package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModelIsTheOneThatValidates tells a field of every kind.
func TestModelIsTheOneThatValidates(t *testing.T) {
	t.Parallel()
	a := newFixture(t).as("demo").ask("GET", "/model/order", "")
	require.Equal(t, 200, a.status)
	type described struct {
		Data struct {
			Name      string
			PrimaryID string `json:"primary_id"`
			Fields    []map[string]any
		}
	}
	order := decode[described](t, a).Data
	require.Equal(t, "order", order.Name)
	require.Equal(t, "id", order.PrimaryID)
	fields := map[any]map[string]any{}
	for _, f := range order.Fields {
		fields[f["name"]] = f
	}
	for name, differs := range map[string]map[string]any{
		"id":            {"datatype": "int4", "primary": true, "required": true},
		"number":        {"datatype": "varchar", "length": 20., "readonly": true, "unique": true},
		"contact_id":    {"datatype": "int4", "required": true, "reference": "contact"},
		"kind":          {"datatype": "varchar", "length": 20., "required": true, "custom_validation": "workshop|sales|parts|lease"},
		"delivery_date": {"datatype": "timestamp", "after": "order_date"},
		"total_excl":    {"datatype": "float8", "readonly": true},
		"orderlines":    {"datatype": "orderline", "reference": "orderline", "array": true},
	} {
		want := map[string]any{
			"name": name, "length": nil, "required": false, "readonly": false, "unique": false, "primary": false,
			"reference": nil, "custom_validation": nil, "after": nil, "array": false,
		}
		for member, value := range differs {
			want[member] = value
		}
		require.Equal(t, want, fields[name])
	}
}
