package gateway

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// parameters returns the parameters of path, query and headers. A parameter of the path is not listed
// again for the query.
func (d *describer) parameters(op *Operation) []*openapi.Parameter {
	var all []*openapi.Parameter
	inPath := ""
	if _, part, ok := strings.Cut(op.Template, "{"); ok {
		inPath = strings.TrimSuffix(part, "}")
		all = append(all, d.pathParameter(op, inPath))
	}
	for _, p := range op.params {
		if p.Name != inPath && d.describable(op, p) {
			all = append(all, d.sharedParameter(op, p))
		}
	}
	switch {
	case op.about.answers.form == recordForm && op.Endpoint.Resource != nil && op.Method == "GET":
		all = append(all, d.headerParameter("If-None-Match", "ETag of the record as it is known; 304 where that is how it still is.", openapi.Schema{}))
	case op.conditional && op.Method != "GET":
		all = append(all, d.headerParameter("If-Match", "ETag of the record as it was read; 412 where it has been changed since. * for any.", openapi.Schema{Examples: []any{"*"}}))
	}
	if d.g.o.Offer.Copied && op.Method == "GET" && op.Endpoint.Resource != nil {
		all = append(all, d.headerParameter("Cache-Control", "no-cache has the administration asked before the answer, as far as there is time; max-age=N only if what is known is older than N seconds. stale-if-error=N takes a record that is at most N seconds old while the administration is away, for an api_key that may have that.", openapi.Schema{Examples: []any{"no-cache"}}))
	}
	if op.idempotent {
		all = append(all, d.headerParameter("Idempotency-Key", "1 to 255 visible ASCII characters, new for everything that is to be done once. The same request under the same key is done once, within 24 hours, and answered as the first time.", openapi.Schema{
			MinLength: 1, MaxLength: maxIdempotencyKey, Pattern: `^[!-~]+$`, Examples: []any{"2d931510-d99f-494a-8c67-87feb05e1594"},
		}))
	}
	return all
}

func (d *describer) pathParameter(op *Operation, name string) *openapi.Parameter {
	p := &openapi.Parameter{Name: name, In: "path", Required: true, Schema: idSchema()}
	var example any
	if r := op.Endpoint.Resource; r != nil {
		p.Schema.References = r.Name
		example = d.idExample(op, r)
	} else {
		names := d.g.o.Offer.Model.Names()
		p.Description, p.Schema, example = "Name of a resource.", oneOf(names), names[0]
	}
	p.Examples = exampleOf(d.givenExample(op).pick(name, example))
	return p
}

// describable reports whether a parameter is described: a list of names only if there are any.
// Filters are described one by one, except ranges of texts and lists of flags or of times, which
// the general text about lists explains.
func (d *describer) describable(op *Operation, p param) bool {
	switch {
	case p.followable || p.choice != nil:
		return len(d.names(op, p)) > 0
	case p.operator == mapping.AnyOf:
		return p.Type != mapping.Timestamp && !slices.Equal(p.OneOf, []string{"0", "1"})
	case p.filter && p.IsText():
		return p.operator == mapping.Equals || p.operator == mapping.IsNull || p.operator == mapping.Contains
	default:
		return true
	}
}

// names returns those that a parameter takes: of resources that the api_key may follow, or of fields.
func (d *describer) names(op *Operation, p param) []string {
	if p.followable {
		return namesOf(d.followable())
	}
	return slices.DeleteFunc(slices.Clone(p.choice), func(name string) bool { return !op.Endpoint.Resource.Field(name).In(d.arrays(arrayRead)) })
}

// sharedParameter returns a parameter of the query, kept among the components where lists share it.
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
	if !keep(&d.doc.Components.Parameters, name, q) {
		return q
	}
	return &openapi.Parameter{Ref: "#/components/parameters/" + name}
}

func (d *describer) queryParameter(op *Operation, p param) *openapi.Parameter {
	q := &openapi.Parameter{Name: p.Name, In: "query", Required: p.Required, Description: p.Description, Deprecated: p.Deprecated != nil}
	if p.bodyToo {
		q.Description += " Required unless the body has it."
	}
	if p.followable || p.choice != nil {
		names := d.names(op, p)
		if example := cmp.Or(p.Example, names[0]); p.choice != nil {
			q.Schema = listOf(p.before, names)
			q.Schema.Examples = []any{example}
		} else {
			q.Schema, q.Examples = oneOf(names), exampleOf(example)
		}
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
	var example any
	switch {
	case p.Primary && op.Endpoint.Resource == nil: // of a vehicle or a document
		example = d.idExample(op, d.g.o.Offer.Model.Resource(p.of))
	case p.Example != "":
		example = literal(&p.Field, p.Example)
	}
	if example = d.givenExample(op).pick(p.Name, example); p.Required {
		q.Examples = exampleOf(example)
	} else if example != nil { // in the schema, so that explorers do not fill it in
		s.Examples = []any{example}
	}
	return q
}

// listOf returns the schema of a text of names with commas between, each with before in front of it. It is not
// an array, because most generators of clients repeat the parameter for each element, which
// is refused.
func listOf(before string, names []string) *openapi.Schema {
	return listOfAny(before + "(" + strings.Join(names, "|") + ")")
}

// listOfAny is listOf for anything that a pattern fits.
func listOfAny(one string) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"string"}, Pattern: "^" + one + "(," + one + ")*$"}
}

// anyOf returns the schema of the values of a filter: a text with commas between, or an array where a value
// may hold a comma itself.
func anyOf(s *openapi.Schema, p param) *openapi.Schema {
	switch choices := p.Choices(); {
	case p.HoldsComma(): // clients and pages make texts of lists, whatever their elements are
		text := oneOf(p.OneOf)
		text.Pattern = s.Pattern
		return &openapi.Schema{Type: openapi.Types{"array"}, Items: text, MinItems: 1, MaxItems: mapping.MaxAnyOf}
	case choices != nil:
		return listOf("", choices)
	case p.Type == mapping.Float8:
		return listOfAny(`-?\d+(\.\d+)?([eE][+-]?\d+)?`)
	default:
		return listOfAny(`-?\d+`)
	}
}

// describeFilter describes the values of a filter, in few words because there are many filters: the
// list explains what their names mean, and the record what the field is.
func (d *describer) describeFilter(q *openapi.Parameter, p param) {
	s := q.Schema
	if s.Format = ""; !p.Required {
		q.Description = ""
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

// headerParameter returns a header of a request, kept among the components.
func (d *describer) headerParameter(name, description string, s openapi.Schema) *openapi.Parameter {
	s.Type = openapi.Types{"string"}
	keep(&d.doc.Components.Parameters, name, &openapi.Parameter{Name: name, In: "header", Description: description, Schema: &s})
	return &openapi.Parameter{Ref: "#/components/parameters/" + name}
}
