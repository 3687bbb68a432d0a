package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// Example is an example of a request: values of parameters, and bodies by name.
// What it leaves out is made of the model's own examples.
type Example struct {
	Parameters map[string]any             `json:"parameters"`
	Bodies     map[string]json.RawMessage `json:"bodies"`
}

// pick returns the example of a parameter, otherwise the value given.
func (e Example) pick(name string, otherwise any) any {
	if v, ok := e.Parameters[name]; ok {
		return v
	}
	return otherwise
}

func (d *describer) givenExample(op *Operation) Example {
	if d.g.o.Examples == nil {
		return Example{}
	}
	return d.g.o.Examples(d.key.Name)[op.about.name]
}

// UnknownExamples returns the names of the examples that belong to no operation.
func (g *Gateway) UnknownExamples() []string {
	if g.o.Examples == nil {
		return nil
	}
	unknown := maps.Clone(g.o.Examples(""))
	for op := range g.routes.operations {
		delete(unknown, op.about.name)
	}
	return slices.Sorted(maps.Keys(unknown))
}

// idExample returns an ID of the resource that the model's examples mention: that of
// a field that refers to it. Outside the demo there is none for what changes records: low
// IDs exist everywhere, and programs fill in examples and send them.
func (d *describer) idExample(op *Operation, r *mapping.Resource) any {
	if op.Method != http.MethodGet && d.g.o.Examples == nil {
		return nil
	}
	if r == nil {
		return 1
	}
	for _, ref := range r.Referrers() {
		if ref.Field.Reference != "" && ref.Field.Example != "" {
			return literal(ref.Field, ref.Field.Example)
		}
	}
	return 1
}

// createExamples returns a new record with every field that has an example, and the
// same with elements for each array.
func (d *describer) createExamples(r *mapping.Resource) openapi.Map[openapi.Example] {
	plain := d.newExample(r, nil)
	all := exampleOf(plain)
	for _, f := range fieldsOf(r, func(f *mapping.Field) bool { return f.Type == mapping.Array && d.creatable(f, nil) }) {
		elements := []any{d.newExample(f.Target(), f.Target().Field(f.ArrayKey))}
		all.Add("with_"+f.Name, openapi.Example{Value: append(slices.Clip(plain), openapi.Member[any]{Name: f.Name, Value: elements})})
	}
	return all
}

func (d *describer) newExample(r *mapping.Resource, parent *mapping.Field) openapi.Map[any] {
	return exampleOfFields(fieldsOf(r, func(f *mapping.Field) bool { return f.Type != mapping.Array && d.creatable(f, parent) }), nil)
}

// sendable reports whether a body has only arrays that the api_key may send.
func (d *describer) sendable(r *mapping.Resource, body json.RawMessage) bool {
	var members map[string]json.RawMessage
	if r == nil || json.Unmarshal(body, &members) != nil {
		return true
	}
	for name := range members {
		if f := r.Field(name); f == nil || !f.In(d.arrays(arraySend)) {
			return false
		}
	}
	return true
}

// updateExample changes one field: the last one that has an example and is not
// compared with others.
func updateExample(r *mapping.Resource) openapi.Map[any] {
	fields := fieldsOf(r, func(f *mapping.Field) bool {
		return changeable(r, f) && !f.Unique && f.Reference == "" && f.ReferenceBy == "" && f.After == "" && f.Example != ""
	})
	return exampleOfFields(fields[max(0, len(fields)-1):], nil)
}

// formExamples returns the example of a body that is no record; none where there is no example
// of the record that it names.
func (d *describer) formExamples(op *Operation) openapi.Map[openapi.Example] {
	fields, id := fieldsOf(op.form, always), d.idExample(op, nil)
	if id == nil && slices.ContainsFunc(fields, func(f *mapping.Field) bool { return f.Primary }) {
		return nil
	}
	return exampleOf(exampleOfFields(fields, id))
}

// exampleOfFields returns an object of the fields that have an example; id is that of the primary ID.
func exampleOfFields(fields []*mapping.Field, id any) openapi.Map[any] {
	members := openapi.Map[any]{}
	for _, f := range fields {
		switch {
		case f.Primary:
			members.Add(f.Name, id)
		case f.Example != "":
			members.Add(f.Name, literal(f, f.Example))
		}
	}
	return members
}

// exampleOf returns a value as the only example; none where that is nil.
func exampleOf(value any) openapi.Map[openapi.Example] {
	if value == nil {
		return nil
	}
	return openapi.Map[openapi.Example]{{Name: "example", Value: openapi.Example{Value: value}}}
}
