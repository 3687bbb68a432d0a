package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rights are the fields that an api_key may not use, by resource. They are immutable; nil withholds
// nothing.
type Rights map[string]FieldRights

// FieldRights are the names of the withheld fields, sorted. What may not be read may not be written
// either: Creates and Updates include Reads.
type FieldRights struct{ Reads, Creates, Updates []string }

// By returns the fields that are withheld from requests of a method.
func (r FieldRights) By(method string) []string {
	switch method {
	case "GET":
		return r.Reads
	case "POST":
		return r.Creates
	case "PUT":
		return r.Updates
	default:
		return nil
	}
}

// String returns a text that identifies the rights; "" if nothing is withheld.
func (r Rights) String() string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&s, "%s%q", name, [][]string{r[name].Reads, r[name].Creates, r[name].Updates})
	}
	return s.String()
}

// Cover reports whether every field that other rights let read may be read by these.
func (r Rights) Cover(other Rights) bool {
	for name, taken := range r {
		if slices.ContainsFunc(taken.Reads, func(field string) bool { return !slices.Contains(other[name].Reads, field) }) {
			return false
		}
	}
	return true
}

// Writes is a set of kinds of writes.
type Writes uint8

// The kinds of writes.
const (
	InCreates Writes = 1 << iota
	InUpdates
)

// withheld returns the writes from which a field is withheld.
func (r FieldRights) withheld(field string) (w Writes) {
	if slices.Contains(r.Creates, field) {
		w |= InCreates
	}
	if slices.Contains(r.Updates, field) {
		w |= InUpdates
	}
	return w
}

// View is the model for an api_key with some rights: without the fields that it may not read. It is
// immutable.
type View struct {
	Model  *Model
	whole  *Model
	places map[*Resource][]int // positions of a resource's fields in the whole model
}

// View narrows the model by rights.
func (m *Model) View(rights Rights) *View {
	to := map[string]Narrowing{}
	for _, r := range m.Resources {
		n := Narrowing{Fields: map[string]FieldNarrowing{}}
		for _, f := range Each(r.Fields) {
			if taken := rights[r.Name]; !slices.Contains(taken.Reads, f.Name) {
				n.Fields[f.Name] = FieldNarrowing{Withheld: taken.withheld(f.Name), SameRow: f.SameRow}
			}
		}
		to[r.Name] = n
	}
	v := &View{Model: m.Narrow(to), whole: m, places: map[*Resource][]int{}}
	for _, r := range v.Model.Resources {
		for _, f := range Each(r.Fields) {
			v.places[r] = append(v.places[r], v.Whole(r).byName[f.Name].Index)
		}
	}
	return v
}

// Whole returns the resource with all fields.
func (v *View) Whole(r *Resource) *Resource { return v.whole.byName[r.Name] }

// WholeField returns the field in the whole model of a field of the view.
func (v *View) WholeField(r *Resource, f *Field) *Field {
	return &v.Whole(r).Fields[v.places[r][f.Index]]
}

// Places returns the positions of fields in the whole resource.
func (v *View) Places(r *Resource, fields []int) []int {
	all := make([]int, len(fields))
	for n, i := range fields {
		all[n] = v.places[r][i]
	}
	return all
}

// Record returns the visible part of a record of the whole model.
func (v *View) Record(rec Record) Record {
	if rec.Resource == nil {
		return rec
	}
	seen := rec
	seen.Resource, seen.Children = v.Model.byName[rec.Resource.Name], nil
	seen.Values = make([]Value, len(seen.Resource.Fields))
	for i, at := range v.places[seen.Resource] {
		seen.Values[i] = rec.Values[at]
		if children, has := rec.Children[at]; has {
			elements := make([]Record, len(children))
			for k := range children {
				elements[k] = v.Record(children[k])
			}
			seen.SetElements(i, elements)
		}
	}
	return seen
}

// Body converts a body of the view, which must be without violations, to one of the whole model.
func (v *View) Body(b *Body) *Body {
	places := v.places[b.Record.Resource]
	whole := newBody(v.Whole(b.Record.Resource))
	whole.update = b.update
	for i, at := range places {
		whole.Record.Values[at], whole.supplied[at] = b.Record.Values[i], b.supplied[i]
	}
	for _, s := range b.sent {
		whole.keepSent(&whole.Record.Resource.Fields[places[s.field]], s.text)
	}
	for i, lines := range b.lines {
		var bodies []*Body
		var records []Record
		for _, line := range lines {
			body := v.Body(line)
			bodies, records = append(bodies, body), append(records, body.Record)
		}
		whole.setLines(&whole.Record.Resource.Fields[places[i]], bodies, records)
	}
	return whole
}
