package gateway

import (
	"strconv"
	"time"

	"frontdesk/mapping"
)

// param is a query parameter of an operation. Its Field says what it is, and whether it
// is required.
type param struct {
	mapping.Field
	min, max   int              // of a number; 0 for no bound
	choice     []string         // names of which it is a list, separated by commas; without any it is not described; nil for no list
	before     string           // of a list: pattern of what may precede each name
	worded     bool             // the operation itself refuses a request without it
	filter     bool             // narrows a list by a field
	operator   mapping.Operator // of a filter
	bodyToo    bool             // a body may hold it instead
	of         string           // of a primary ID: the resource
	followable bool             // names a resource that can be followed, or several where choice is not nil
}

// named returns a parameter that holds a text of any length.
func named(name, description, example string) param {
	return param{Field: mapping.Field{Name: name, Type: mapping.Varchar, Description: description, Example: example}}
}

// flag returns a parameter that is 1 or 0, and 0 where it is left out.
func flag(name, description string) param {
	return param{Field: mapping.Field{Name: name, Type: mapping.Int4, OneOf: []string{"0", "1"}, Default: "0", Description: description, Example: "1"}}
}

// pageSizeParam returns the parameter that bounds a page.
func pageSizeParam(description string) param {
	return param{Field: mapping.Field{Name: "page_size", Type: mapping.Int4, Default: strconv.Itoa(defaultPageSize), Description: description, Example: "10"}, min: 1, max: maxPageSize}
}

// must makes a parameter required.
func (p param) must() param {
	p.Required = true
	return p
}

// worded marks parameters without which the operation itself refuses a request.
func worded(params ...param) []param {
	for i := range params {
		params[i].worded = true
	}
	return params
}

// idParam returns the parameter of the primary ID in the query.
func idParam(what string) param {
	return param{Field: mapping.Field{Name: "id", Type: mapping.Int4, Primary: true, Description: "Primary ID of the " + what + "."}, min: 1, of: what}
}

// isOn reads a flag.
func (p Param) isOn() (bool, mapping.Violations) {
	if p.Value != "0" && p.Value != "1" {
		return false, p.invalid("0|1")
	}
	return p.Value == "1", nil
}

// int4 reads a number from least to most; valid describes these numbers to the client.
func (p Param) int4(least, most int32, valid string) (int32, mapping.Violations) {
	n, bad := p.parse(mapping.Int4, nil)
	if bad == nil && (n.Int() < int64(least) || n.Int() > int64(most)) {
		bad = p.invalid(valid)
	}
	return int32(n.Int()), bad
}

// parse reads a value of a datatype; a date without a zone begins at a location.
func (p Param) parse(as mapping.Datatype, at *time.Location) (mapping.Value, mapping.Violations) {
	value, bad := (&mapping.Field{Name: p.Name, Type: as}).Parse(p.Value, at)
	if bad != nil {
		return value, mapping.Violations{bad}
	}
	return value, nil
}

// invalid refuses a value, and describes the valid ones.
func (p Param) invalid(valid string) mapping.Violations {
	return mapping.Violations{mapping.Fail(mapping.ValidationFailed, mapping.Literal(p.Name), p.Value, mapping.Literal(valid))}
}

// settle precomputes from the parameters what the stages need.
func (op *Operation) settle() {
	op.requires, op.takes = nil, make(map[string]bool, len(op.params))
	for _, p := range op.params {
		op.takes[p.Name] = true
		if p.Required && !p.worded {
			op.requires = append(op.requires, p.Name)
		}
	}
}
