package gateway

import (
	"slices"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// filterParams returns the filters of a field: order_status, order_status[in]. The
// primary ID without an operator is no filter: it asks for one record.
func filterParams(resource *mapping.Resource, f *mapping.Field) (params []param) {
	plain := *f
	plain.Default, plain.OneOf, plain.Required = "", f.Choices(), slices.Contains(resource.ListRequires, f.Name)
	if f.Filterable() && !f.Primary {
		params = append(params, param{Field: plain, filter: true})
	}
	plain.Required = false
	for _, o := range mapping.AllOperators {
		if f.FilterableBy(o) {
			p := param{Field: plain, filter: true, operator: o}
			p.Name = o.Param(f.Name)
			params = append(params, p)
		}
	}
	return params
}

// parseFilter parses a filter on a field.
func (g *Gateway) parseFilter(x *Exchange, p Param) mapping.Violations {
	name, o := mapping.CutOperator(p.Name)
	f := x.Endpoint.Resource.Field(name)
	x.namesField(f)
	sent := []string{p.Value}
	if o == mapping.AnyOf {
		if sent = p.list(); len(sent) > mapping.MaxAnyOf {
			return mapping.Violations{mapping.Fail(mapping.ValidationFailed, mapping.Literal(name), p.Value, mapping.Literal("at most 100 values"))}
		}
	}
	var values []mapping.Value
	var v mapping.Violations
	for _, s := range sent {
		switch value, none, bad := f.ParseOperand(o, s, g.o.Location); {
		case bad != nil:
			v = append(v, bad)
		case !none:
			values = append(values, value)
		}
	}
	filter := backend.Filter{Field: f, Op: o}
	switch {
	case v != nil:
		return v
	case len(values) == 0:
		x.Query.None = true
		return nil
	case o == mapping.AnyOf:
		filter.Values = values
	default:
		filter.Value = values[0]
	}
	x.Query.Filters = append(x.Query.Filters, filter)
	return nil
}
