package mapping_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

func whole(r *mapping.Resource) mapping.Narrowing {
	n := mapping.Narrowing{Fields: map[string]mapping.FieldNarrowing{}}
	for i := range r.Fields {
		n.Fields[r.Fields[i].Name] = mapping.FieldNarrowing{}
	}
	return n
}

// TestNarrowToEverythingChangesNothing: nor is the model itself changed by another narrowing.
func TestNarrowToEverythingChangesNothing(t *testing.T) {
	m, err := mapping.LoadModel("")
	require.NoError(t, err)
	order := whole(m.Resource("order"))
	order.Fields["kind"] = mapping.FieldNarrowing{Readonly: true}
	m.Narrow(map[string]mapping.Narrowing{"order": order})
	to := map[string]mapping.Narrowing{}
	for _, r := range m.Resources {
		to[r.Name] = whole(r)
	}
	narrowed := m.Narrow(to)
	for i, r := range embeddedModel(t).Resources {
		for _, got := range []*mapping.Resource{m.Resources[i], narrowed.Resources[i]} {
			assert.Empty(t, cmp.Diff(summary(r), summary(got)), "%s (-want +got)", r.Name)
		}
		for k := range r.Fields {
			if target := narrowed.Resources[i].Fields[k].Target(); target != nil {
				assert.Same(t, target, narrowed.Resource(target.Name), "it refers out of the narrowed model")
			}
		}
	}
}

func TestNarrowTakesAlongWhatIsGone(t *testing.T) {
	m := embeddedModel(t)
	no := false
	two, def := 2, "4"
	order, line := whole(m.Resource("order")), whole(m.Resource("orderline"))
	delete(order.Fields, "order_date") // delivery_date follows it
	delete(order.Fields, "is_blocked") // remains, as a constant
	order.Fields["kind"] = mapping.FieldNarrowing{Readonly: true}
	order.Fields["order_status"] = mapping.FieldNarrowing{Required: &no, OneOf: []string{"open"}}
	order.Fields["reference"] = mapping.FieldNarrowing{Length: 25}
	order.WithoutRules = []string{"order_status"}
	line.Fields["price"] = mapping.FieldNarrowing{Scale: &two}
	line.Fields["sort_order"] = mapping.FieldNarrowing{Default: &def}
	line.Fields["order_id"] = mapping.FieldNarrowing{Unfiltered: mapping.OperatorsOf(mapping.Equals)}
	narrowed := m.Narrow(map[string]mapping.Narrowing{"order": order, "orderline": line, "nonesuch": {}})

	r, l := narrowed.Resource("order"), narrowed.Resource("orderline")
	for what, holds := range map[string]bool{
		"another version with two resources":    len(narrowed.Resources) == 2 && narrowed.Version != m.Version,
		"delivery_date follows nothing":         r.Field("order_date") == nil && r.Field("delivery_date").After == "",
		"contact_id refers to nothing":          r.Field("contact_id").Target() == nil && r.Field("contact_id").Reference == "",
		"is_blocked is readonly, in its place":  r.Field("is_blocked").Readonly && r.IsBlocked == r.Field("is_blocked").Index,
		"a readonly field is not required":      r.Field("kind").Readonly && !r.Field("kind").Required,
		"order_status is narrower":              !r.Field("order_status").Required && len(r.Field("order_status").OneOf) == 1 && len(r.Rules) == 0,
		"reference is shorter":                  r.Field("reference").Length == 25 && r.Field("reference").Sortable() && r.Field("reference").Filterable(),
		"orderlines have their narrowed target": r.Field("orderlines").Target() == l,
		"lists ask for what they filter by":     len(l.ListRequires) == 0 && !l.Field("order_id").Filterable(),
		"another scale, another default":        l.Field("price").Scale == 2 && l.Field("quantity").Scale == 4 && l.Field("sort_order").Default == "4",
		"one resource refers to orders":         len(r.Referrers()) == 1 && r.Referrers()[0].Resource == l,
	} {
		assert.True(t, holds, what)
	}
}

func TestNarrowDropsArrays(t *testing.T) {
	m := embeddedModel(t)
	line := whole(m.Resource("orderline"))
	delete(line.Fields, "order_id")
	narrowed := m.Narrow(map[string]mapping.Narrowing{"order": whole(m.Resource("order")), "orderline": line})
	assert.Nil(t, narrowed.Resource("order").Field("orderlines"), "elements that do not refer back")
	narrowed = m.Narrow(map[string]mapping.Narrowing{"order": whole(m.Resource("order"))})
	assert.Nil(t, narrowed.Resource("order").Field("orderlines"), "no elements")
	assert.Equal(t, narrowed.Resource("order").Field("is_system").Index, narrowed.Resource("order").IsSystem)
	role := whole(m.Resource("vehicleroleline"))
	delete(role.Fields, "vehicle_id")
	assert.False(t, m.Narrow(map[string]mapping.Narrowing{"vehicleroleline": role}).Resource("vehicleroleline").Field("role").Unique, "per nothing")
}

// summary is what a narrowing may take of a resource.
func summary(r *mapping.Resource) (all []any) {
	all = append(all, len(r.Referrers()), r.Rules, r.ListRequires, r.ListFields())
	for i := range r.Fields {
		f := &r.Fields[i]
		all = append(all, f.Name, f.Readonly, f.Required, f.Reference, f.Target() != nil)
	}
	return all
}
