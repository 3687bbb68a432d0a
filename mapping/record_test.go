package mapping_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

func TestFillDefaults(t *testing.T) {
	vehicle := mapping.NewRecord(resource(t, "vehicle"))
	assert.True(t, vehicle.IsBlank())
	vehicle.Set("is_archived", mapping.NullValue())
	vehicle.Set("is_blocked", mapping.IntValue(1))
	assert.False(t, vehicle.IsBlank())

	vehicle.FillDefaults()
	assert.Equal(t, mapping.TextValue("not_published"), vehicle.Get("publish_status"))
	assert.Equal(t, mapping.IntValue(0), vehicle.Get("is_system"))
	assert.Equal(t, mapping.IntValue(0), vehicle.Get("is_archived"), "a flag is never null")
	assert.Equal(t, mapping.IntValue(1), vehicle.Get("is_blocked"), "what was supplied stays")
	assert.True(t, vehicle.Get("brand").IsAbsent())
	assert.Equal(t, mapping.NullValue(), resource(t, "vehicle").Field("brand").DefaultValue())
	assert.True(t, vehicle.Flag(vehicle.Resource.IsBlocked))
	assert.False(t, vehicle.Flag(vehicle.Resource.IsSystem))

	order := decoded(t, "order", newBody("order", `"orderlines":[{"description":"x"}]`)).Record
	assert.Zero(t, order.ID())
	order.Set("id", mapping.IntValue(42))
	assert.EqualValues(t, 42, order.ID())
	lines := resource(t, "order").Field("orderlines").Index
	copied := order.Clone()
	order.FillDefaults()
	assert.Equal(t, mapping.IntValue(0), order.Children[lines][0].Get("is_blocked"))
	assert.True(t, copied.Children[lines][0].Get("is_blocked").IsAbsent(), "a clone shares nothing")
	assert.True(t, copied.Get("is_blocked").IsAbsent())
}

func TestMustBeUnique(t *testing.T) {
	tests := []struct {
		resource, field string
		value           mapping.Value
		want            bool
	}{
		{"employee", "username", mapping.TextValue("jvisser"), true},
		{"employee", "number", mapping.NullValue(), false},
		{"employee", "last_name", mapping.TextValue("Visser"), false},
		{"flatrateline", "sort_order", mapping.IntValue(10), true},
		{"vehicleroleline", "role", mapping.TextValue("owner"), true},
		{"vehicleroleline", "role", mapping.TextValue("driver"), false},
		{"contactcommunication", "is_prefered_email", mapping.IntValue(1), true},
		{"contactcommunication", "is_prefered_email", mapping.IntValue(0), false},
		{"contactcommunication", "is_prefered_email", mapping.Value{}, false},
	}
	for _, tt := range tests {
		assert.Equalf(t, tt.want, fieldOf(t, tt.resource, tt.field).MustBeUnique(tt.value), "%s %s", tt.field, tt.value)
	}
}

// TestForm reads the body of an endpoint that is no resource.
func TestForm(t *testing.T) {
	form := mapping.NewForm("updatelicenseplate",
		mapping.Field{Name: "id", Type: mapping.Int4, Primary: true, Required: true},
		mapping.Field{Name: "license_plate", Type: mapping.Varchar, Length: 15, Required: true})
	assert.Equal(t, 0, form.ID)
	b, err := mapping.DecodeBody(form, []byte(`{"id":8,"license_plate":"GT-123-B","colour":"red"}`), time.UTC)
	require.NoError(t, err)
	assert.EqualValues(t, 8, b.Record.ID())
	assert.Equal(t, "GT-123-B", b.Record.Get("license_plate").Text())
	assert.Equal(t, []string{"403 Field: colour not found in model"}, worded(b.CheckUpdate(), mapping.OpUpdate))
	assert.Equal(t, -1, mapping.NewForm("forgotpassword", mapping.Field{Name: "username", Type: mapping.Varchar, Length: 64}).ID)
}

// TestBytesOfElements: what many elements without texts take counts too.
func TestBytesOfElements(t *testing.T) {
	order := resource(t, "order")
	line := mapping.NewRecord(order.Field("orderlines").Target())
	rec := mapping.NewRecord(order)
	before := rec.Bytes()
	rec.Children = map[int][]mapping.Record{}
	rec.Children[order.Field("orderlines").Index] = []mapping.Record{line, line}
	require.Equal(t, before+2*line.ElementBytes(), rec.Bytes())
	require.Greater(t, line.ElementBytes(), 10*len(line.Values))
}
