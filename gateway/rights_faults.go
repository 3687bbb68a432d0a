package gateway

import (
	"maps"
	"slices"

	"frontdesk/mapping"
)

// RightsFault is why a field cannot be taken away from an api_key.
type RightsFault struct{ Resource, Field, Why string }

// RightsFaults judges the rights to fields of an api_key that may call these operations: a field that is
// taken away must exist, and no operation that the api_key may call may need or reveal it.
func (g *Gateway) RightsFaults(rights mapping.Rights, may func(method, path string) bool) (all []RightsFault) {
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		r, taken := g.o.Offer.Model.Resource(name), rights[name]
		if r == nil {
			all = append(all, RightsFault{name, "", "there is no such resource"})
			continue
		}
		fields := slices.Concat(taken.Reads, taken.Creates, taken.Updates)
		slices.Sort(fields)
		for _, field := range slices.Compact(fields) {
			if why := g.cannotTake(r, field, taken, may); why != "" {
				all = append(all, RightsFault{name, field, why})
			}
		}
	}
	return all
}

// isElement reports whether records of r are elements of an array.
func (g *Gateway) isElement(r *mapping.Resource) bool {
	return slices.ContainsFunc(g.o.Offer.Model.Resources, func(of *mapping.Resource) bool {
		return slices.ContainsFunc(of.Fields, func(f mapping.Field) bool { return f.ArrayOf == r.Name })
	})
}

// writing are the methods that write.
var writing = [...]struct {
	method string
	op     mapping.Scope
}{{"POST", mapping.OpCreate}, {"PUT", mapping.OpUpdate}, {"DELETE", mapping.OpDelete}}

// cannotTake returns why a field cannot be taken; "" where it can.
func (g *Gateway) cannotTake(r *mapping.Resource, field string, taken mapping.FieldRights, may func(method, path string) bool) string {
	f := r.Field(field)
	hidden := slices.Contains(taken.Reads, field)
	switch {
	case f == nil:
		return "there is no such field"
	case f.Primary, hidden && f.Index >= r.IsSystem:
		return "every record has it"
	case hidden && slices.Contains(r.ListRequires, field) && may("GET", "/"+r.Name):
		return "lists require it"
	case f.Required && f.Default == "" && slices.Contains(taken.Creates, field) && may("POST", "/"+r.Name):
		return "a new record must have it, and it has no default"
	case !hidden:
		return ""
	case field == "sort_order" && g.isElement(r):
		return "the elements of an array come in its order"
	}
	for _, written := range g.o.Offer.Model.Resources {
		for _, w := range writing {
			path := "/" + written.Name
			if !may(w.method, path) && path == "/vehicle" {
				path = "/updatelicenseplate"
			}
			if why := g.o.Offer.Reveals(r.Name, f, written, w.op); why != "" && may(w.method, path) {
				return w.method + " " + path + " would tell of it: " + why
			}
		}
	}
	return ""
}
