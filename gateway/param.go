package gateway

import (
	"slices"

	"frontdesk/mapping"
)

// param is a query parameter of an operation. Its Field says what it is, and whether it
// is required.
type param struct {
	mapping.Field
	min, max int              // of a number; 0 for no bound
	choice   []string         // it is a list of these names, separated by commas; empty for none, which is not described
	before   string           // of a list: what may stand before each name, as a pattern
	worded   bool             // the operation words itself that it is missing
	filter   bool             // it narrows a list by a field
	operator mapping.Operator // how, if it is a filter
	bodyToo  bool             // a body may hold it instead
	of       string           // of a primary ID: the resource
	telling  bool             // it names a resource whose changes are told, or several where choice is not nil
}

// named are parameters that hold a text of any length.
func named(name, description, example string) param {
	return param{Field: mapping.Field{Name: name, Type: mapping.Varchar, Description: description, Example: example}}
}

// must makes a parameter required.
func (p param) must() param {
	p.Required = true
	return p
}

// idParam is the primary ID in the query.
func idParam(what string) param {
	return param{Field: mapping.Field{Name: "id", Type: mapping.Int4, Primary: true, Description: "Primary ID of the " + what + "."}, min: 1, of: what}
}

// settle precomputes from the parameters what the stages need.
func (op *Operation) settle() {
	names := make([]string, len(op.params))
	op.requires = nil
	for i, p := range op.params {
		names[i] = p.Name
		if p.Required && !p.worded {
			op.requires = append(op.requires, p.Name)
		}
	}
	if op.parse == nil && len(op.requires) > 0 {
		op.parse = requiredParams
	}
	op.takes = nil
	switch {
	case len(names) > 8:
		known := make(map[string]bool, len(names))
		for _, name := range names {
			known[name] = true
		}
		op.takes = func(name string) bool { return known[name] }
	case len(names) > 0:
		op.takes = func(name string) bool { return slices.Contains(names, name) }
	}
}

// requiredParams returns one violation for all required parameters that are missing or
// empty.
func requiredParams(x *Exchange) mapping.Violations { return required(x, x.Operation.requires...) }
