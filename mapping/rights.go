package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rights are the fields that an api_key may not use, by resource. They are immutable; nil is all
// fields.
type Rights map[string]FieldRights

// FieldRights are the names of the fields that are taken away, sorted. What may not be read may not
// be written either: Creates and Updates include Reads.
type FieldRights struct{ Reads, Creates, Updates []string }

// By are the fields that are taken from requests of a method.
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

// String is the same for rights to the same fields; "" for those to all.
func (r Rights) String() string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&s, "%s%q", name, [][]string{r[name].Reads, r[name].Creates, r[name].Updates})
	}
	return s.String()
}

// Cover reports whether every field that may be read by other rights may be read by these.
func (r Rights) Cover(other Rights) bool {
	for name, taken := range r {
		if slices.ContainsFunc(taken.Reads, func(field string) bool { return !slices.Contains(other[name].Reads, field) }) {
			return false
		}
	}
	return true
}

// Writes are kinds of writes.
type Writes uint8

// The kinds of writes.
const (
	InCreates Writes = 1 << iota
	InUpdates
)

// withheld are the writes that may not have a field.
func (r FieldRights) withheld(field string) (w Writes) {
	if slices.Contains(r.Creates, field) {
		w |= InCreates
	}
	if slices.Contains(r.Updates, field) {
		w |= InUpdates
	}
	return w
}

// View is a model as an api_key with some rights meets it: without the fields that it may not read.
// It is immutable.
type View struct {
	Model  *Model
	whole  *Model
	places map[*Resource][]int // of the fields of a resource of Model, in that of the whole model
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

// Whole is the resource with all fields.
func (v *View) Whole(r *Resource) *Resource { return v.whole.byName[r.Name] }

// WholeField is a field of the view in the whole model.
func (v *View) WholeField(r *Resource, f *Field) *Field {
	return &v.Whole(r).Fields[v.places[r][f.Index]]
}

// Places are positions in the whole resource.
func (v *View) Places(r *Resource, fields []int) []int {
	all := make([]int, len(fields))
	for n, i := range fields {
		all[n] = v.places[r][i]
	}
	return all
}

// Record is what is seen of a record of the whole model.
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

// Body is a body of the view, that was accepted, as one of the whole model.
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
