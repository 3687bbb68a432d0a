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

func TestNarrowToEverythingChangesNothing(t *testing.T) {
	m := embeddedModel(t)
	to := map[string]mapping.Narrowing{}
	for _, r := range m.Resources {
		to[r.Name] = whole(r)
	}
	narrowed := m.Narrow(to)
	for i, r := range m.Resources {
		got := narrowed.Resources[i]
		assert.Empty(t, cmp.Diff(fieldNames(r), fieldNames(got)), "%s (-want +got)", r.Name)
		if len(r.Referrers()) != len(got.Referrers()) || len(r.Rules) != len(got.Rules) || len(r.ListRequires) != len(got.ListRequires) {
			t.Errorf("%s lost referrers, rules or requirements", r.Name)
		}
		assert.Empty(t, cmp.Diff(r.ListFields(), got.ListFields()), "%s lists (-want +got)", r.Name)
		for k := range got.Fields {
			if target := got.Fields[k].Target(); target != nil && target != narrowed.Resource(target.Name) {
				t.Errorf("%s.%s refers out of the narrowed model", r.Name, got.Fields[k].Name)
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

	if len(narrowed.Resources) != 2 || narrowed.Version == m.Version {
		t.Fatalf("resources = %d, version %s", len(narrowed.Resources), narrowed.Version)
	}
	r := narrowed.Resource("order")
	if r.Field("order_date") != nil || r.Field("delivery_date").After != "" {
		t.Error("delivery_date still follows order_date")
	}
	if f := r.Field("contact_id"); f.Target() != nil || f.Reference != "" {
		t.Error("contact_id still refers to contact")
	}
	if f := r.Field("is_blocked"); f == nil || !f.Readonly || r.IsBlocked != f.Index {
		t.Error("is_blocked is not a readonly field in its place")
	}
	if f := r.Field("kind"); !f.Readonly || f.Required {
		t.Error("a readonly field is required")
	}
	if f := r.Field("order_status"); f.Required || len(f.OneOf) != 1 || len(r.Rules) != 0 {
		t.Error("order_status was not narrowed")
	}
	if f := r.Field("reference"); f.Length != 25 || !f.Sortable() || !f.Filterable() {
		t.Error("reference was not narrowed")
	}
	if f := r.Field("orderlines"); f == nil || f.Target() != narrowed.Resource("orderline") {
		t.Error("orderlines went")
	}
	l := narrowed.Resource("orderline")
	if len(l.ListRequires) != 0 || l.Field("order_id").Filterable() {
		t.Error("a list asks for what it cannot filter by")
	}
	if l.Field("price").Scale != 2 || l.Field("quantity").Scale != 4 || l.Field("sort_order").Default != "4" {
		t.Error("orderline was not narrowed")
	}
	if got := r.Referrers(); len(got) != 1 || got[0].Resource != l {
		t.Errorf("referrers = %v", got)
	}
}

func TestNarrowDropsArrays(t *testing.T) {
	m := embeddedModel(t)
	line := whole(m.Resource("orderline"))
	delete(line.Fields, "order_id")
	narrowed := m.Narrow(map[string]mapping.Narrowing{"order": whole(m.Resource("order")), "orderline": line})
	if narrowed.Resource("order").Field("orderlines") != nil {
		t.Error("orderlines has elements that do not refer back")
	}
	narrowed = m.Narrow(map[string]mapping.Narrowing{"order": whole(m.Resource("order"))})
	if r := narrowed.Resource("order"); r.Field("orderlines") != nil || r.IsSystem != r.Field("is_system").Index {
		t.Error("orderlines has no elements")
	}
	role := whole(m.Resource("vehicleroleline"))
	delete(role.Fields, "vehicle_id")
	if m.Narrow(map[string]mapping.Narrowing{"vehicleroleline": role}).Resource("vehicleroleline").Field("role").Unique {
		t.Error("role is unique per nothing")
	}
}

func TestNarrowDoesNotTouchTheModel(t *testing.T) {
	m, again := embeddedModel(t), freshModel(t)
	order := whole(m.Resource("order"))
	order.Fields["kind"] = mapping.FieldNarrowing{Readonly: true}
	m.Narrow(map[string]mapping.Narrowing{"order": order})
	for i, r := range again.Resources {
		assert.Empty(t, cmp.Diff(fieldNames(r), fieldNames(m.Resources[i])))
	}
	if m.Resource("order").Field("kind").Readonly || m.Resource("order").Field("contact_id").Target() == nil {
		t.Error("the model changed")
	}
}

func fieldNames(r *mapping.Resource) []string {
	var names []string
	for i := range r.Fields {
		names = append(names, r.Fields[i].Name)
	}
	return names
}

func freshModel(t *testing.T) *mapping.Model {
	m, err := mapping.LoadModel("")
	require.NoError(t, err)
	return m
}
