package gateway

import (
	"reflect"
	"slices"
	"strings"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// parameters are those of path, query and headers. A parameter of the path is not listed
// again for the query.
func (d *describer) parameters(op *Operation) []*openapi.Parameter {
	var all []*openapi.Parameter
	inPath := ""
	if _, part, ok := strings.Cut(op.Template, "{"); ok {
		inPath = strings.TrimSuffix(part, "}")
		all = append(all, d.pathParameter(op, inPath))
	}
	for _, p := range op.params {
		if some := p.choice == nil || len(p.choice) > 0; p.Name != inPath && (some && !p.followable || p.followable && len(d.followable()) > 0) {
			if !p.filter || describable(p) {
				all = append(all, d.sharedParameter(op, p))
			}
		}
	}
	switch {
	case op.about.answers.form == recordForm && op.Endpoint.Resource != nil && op.Method == "GET" && op.direct == nil:
		all = append(all, d.headerParameter("If-None-Match", "ETag of the record as it is known; 304 where that is how it still is."))
	case op.conditional && op.Method != "GET":
		all = append(all, d.headerParameter("If-Match", "ETag of the record as it was read; 412 where it has been changed since. * for any."))
	}
	if op.idempotent {
		all = append(all, d.headerParameter("Idempotency-Key", "1 to 255 visible ASCII characters, new for everything that is to be done once. The same request under the same key is done once, within 24 hours, and answered as the first time."))
	}
	return all
}

func (d *describer) pathParameter(op *Operation, name string) *openapi.Parameter {
	p := &openapi.Parameter{Name: name, In: "path", Required: true, Schema: &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Minimum: ptr(1)}}
	var example any
	if r := op.Endpoint.Resource; r != nil {
		p.Schema.References = r.Name
		example = d.idExample(op, r)
	} else {
		p.Description = "Name of a resource."
		p.Schema = &openapi.Schema{Type: openapi.Types{"string"}}
		for _, r := range d.g.o.Offer.Model.Resources {
			p.Schema.Enum = append(p.Schema.Enum, r.Name)
		}
		example = d.g.o.Offer.Model.Resources[0].Name
	}
	d.exemplify(p, d.exampleOf(op).pick(name, example))
	return p
}

// describable tells whether a filter is one of those that are described one by one: the ranges
// of a text, and lists of flags or of times, are told of in words.
func describable(p param) bool {
	switch {
	case p.operator == mapping.AnyOf:
		return p.Type != mapping.Timestamp && !slices.Equal(p.OneOf, []string{"0", "1"})
	case p.IsText():
		return p.operator == mapping.Equals || p.operator == mapping.IsNull || p.operator == mapping.Contains
	default:
		return true
	}
}

// everywhere are fields of every record, whose filters lists share.
var everywhere = []string{"id", "is_system", "is_blocked", "is_archived", "created_at", "modified_at"}

// sharedParameter is a parameter of the query, kept among the components where lists share it.
func (d *describer) sharedParameter(op *Operation, p param) *openapi.Parameter {
	q, name := d.queryParameter(op, p), strings.NewReplacer("[", ".", "]", "").Replace(p.Name)
	field, _ := mapping.CutOperator(p.Name)
	r := op.Endpoint.Resource
	switch {
	case p.filter && slices.Contains(everywhere, field), !p.filter && p.choice == nil && op.about.answers.form == pageForm:
	case r != nil && p.choice != nil && !p.followable:
		name = r.Name + "." + name
	default:
		return q
	}
	if kept, there := d.doc.Components.Parameters.Get(name); !there {
		d.doc.Components.Parameters.Add(name, q)
	} else if !reflect.DeepEqual(kept, q) {
		return q
	}
	return &openapi.Parameter{Ref: "#/components/parameters/" + name}
}

func (d *describer) queryParameter(op *Operation, p param) *openapi.Parameter {
	q := &openapi.Parameter{Name: p.Name, In: "query", Required: p.Required, Description: p.Description, Deprecated: p.Deprecated != nil}
	if p.bodyToo {
		q.Description += " Required unless the body has it."
	}
	if p.followable {
		return d.followableParameter(q, p)
	}
	if p.choice != nil {
		var names []string
		for _, c := range p.choice {
			if op.Endpoint.Resource.Field(c).In(d.arrays(arrayRead)) {
				names = append(names, c)
			}
		}
		q.Schema = listOf(p.before, names)
		q.Schema.Examples = []any{p.Example}
		return q
	}
	s := typed(&p.Field)
	q.Schema = s
	if p.filter {
		if d.describeFilter(q, p); !p.Required {
			return q
		}
	} else {
		d.restricted(s, &p.Field)
	}
	if p.min > 0 {
		s.Minimum = ptr(p.min)
	}
	if p.max > 0 {
		s.Maximum = ptr(p.max)
	}
	if p.Default != "" {
		s.Default = literal(&p.Field, p.Default)
	}
	example := any(nil)
	switch {
	case p.Primary && op.Endpoint.Resource == nil: // of a vehicle or a document
		example = d.idExample(op, d.g.o.Offer.Model.Resource(p.of))
	case p.Example != "":
		example = literal(&p.Field, p.Example)
	}
	if example = d.exampleOf(op).pick(p.Name, example); example != nil {
		if p.Required {
			d.exemplify(q, example)
		} else { // not filled in by itself where somebody tries the operation
			s.Examples = []any{example}
		}
	}
	return q
}

// listOf is a text of names with commas between, each with before in front of it. It is not
// an array, because most generators of clients repeat the parameter for each element, which
// is refused.
func listOf(before string, names []string) *openapi.Schema {
	return listOfAny(before + "(" + strings.Join(names, "|") + ")")
}

// listOfAny is listOf for anything that a pattern fits.
func listOfAny(one string) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"string"}, Pattern: "^" + one + "(," + one + ")*$"}
}

// anyOf are the values of a filter: a text with commas between, or an array where a value
// may hold a comma itself.
func anyOf(s *openapi.Schema, p param) *openapi.Schema {
	switch choices := p.Choices(); {
	case p.HoldsComma():
		return &openapi.Schema{Type: openapi.Types{"array"}, Items: asText(s, p.OneOf), MinItems: 1, MaxItems: mapping.MaxAnyOf}
	case choices != nil:
		return listOf("", choices)
	case p.Type == mapping.Float8:
		return listOfAny(`-?\d+(\.\d+)?([eE][+-]?\d+)?`)
	default:
		return listOfAny(`-?\d+`)
	}
}

// describeFilter says what the values of a filter are, in as few words as there are many filters:
// what their names mean is told with the list, and what the field is with the record.
func (d *describer) describeFilter(q *openapi.Parameter, p param) {
	s := q.Schema
	if s.Format = ""; !p.Required {
		q.Description = ""
	}
	for _, v := range p.OneOf {
		s.Enum = append(s.Enum, literal(&p.Field, v))
	}
	if p.Type == mapping.Timestamp {
		q.Schema = d.component("SentTime", func() *openapi.Schema { return &openapi.Schema{Type: s.Type, Pattern: sentTimestamp} })
	}
	switch p.operator {
	case mapping.Equals:
		s.References = p.Reference
		if s.Enum == nil {
			s.MaxLength = p.Length
		}
	case mapping.AnyOf:
		if q.Schema = anyOf(s, p); p.HoldsComma() {
			q.Style, q.Explode = "form", ptr(false)
		}
	case mapping.IsNull:
		q.Schema = &openapi.Schema{Type: openapi.Types{"integer"}, Enum: []any{0, 1}}
	case mapping.Contains:
		s.MinLength, s.MaxLength = mapping.MinContains, mapping.MaxContains
	}
}

// asText is one value of a list in a query. Clients and pages make texts of lists, whatever
// their elements are.
func asText(s *openapi.Schema, choices []string) *openapi.Schema {
	text := &openapi.Schema{Type: openapi.Types{"string"}, Pattern: s.Pattern}
	for _, c := range choices {
		text.Enum = append(text.Enum, c)
	}
	return text
}

func (d *describer) exemplify(p *openapi.Parameter, example any) {
	if example != nil {
		p.Examples = openapi.Map[openapi.Example]{{Name: "example", Value: openapi.Example{Value: example}}}
	}
}

// headerParameter is a header of a request, kept among the components.
func (d *describer) headerParameter(name, description string) *openapi.Parameter {
	if _, there := d.doc.Components.Parameters.Get(name); !there {
		s := &openapi.Schema{Type: openapi.Types{"string"}}
		switch name {
		case "If-Match":
			s.Examples = []any{"*"}
		case "Idempotency-Key":
			s.MinLength, s.MaxLength, s.Pattern = 1, maxIdempotencyKey, `^[!-~]+$`
			s.Examples = []any{"2d931510-d99f-494a-8c67-87feb05e1594"}
		}
		d.doc.Components.Parameters.Add(name, &openapi.Parameter{Name: name, In: "header", Description: description, Schema: s})
	}
	return &openapi.Parameter{Ref: "#/components/parameters/" + name}
}
