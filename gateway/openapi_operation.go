package gateway

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
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
	case p.Type == mapping.Timestamp:
		return listOfAny(strings.Trim(sentTimestamp, "^$"))
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

// requestBody is what an operation reads. It is left out for GET, which nobody expects to
// have a body: the query takes the same fields.
func (d *describer) requestBody(op *Operation) *openapi.RequestBody {
	if op.form == nil || op.Method == http.MethodGet {
		return nil
	}
	var schema *openapi.Schema
	var examples openapi.Map[openapi.Example]
	r := op.Endpoint.Resource
	switch {
	case op.single != nil:
		schema = d.severalSchema(op)
	case r != nil && op.Method == http.MethodPost:
		schema, examples = d.createSchema(r, nil, typeName(r.Name)+"Create"), d.createExamples(r)
	case r != nil:
		schema, examples = d.updateSchema(r), openapi.Map[openapi.Example]{{Name: "example", Value: openapi.Example{Value: updateExample(r)}}}
	default:
		schema, examples = d.formSchema(op.form, upperFirst(op.about.name)+"Request"), d.formExamples(op)
	}
	if op.callbackInBody {
		schema = d.withReceiver(schema, upperFirst(op.about.name)+"Request")
		for i, e := range examples {
			examples[i].Value.Value = append(openapi.Map[any]{{Name: webhookURL, Value: callbackField().Example}}, e.Value.Value.(openapi.Map[any])...)
		}
	}
	body := &openapi.RequestBody{Required: !op.bodyOptional || op.callbackInBody, Content: openapi.Map[*openapi.MediaType]{}}
	media := &openapi.MediaType{Schema: schema, Examples: examples}
	if own := d.exampleOf(op).Bodies; own != nil {
		media.Examples = nil
		for _, name := range slices.Sorted(maps.Keys(own)) {
			if !d.sendable(r, own[name]) {
				continue
			}
			media.Examples.Add(name, openapi.Example{Value: own[name]})
		}
	}
	body.Content.Add(jsonType, media)
	return body
}

// receiver is the schema of the address of the callback's receiver.
func (d *describer) receiver() *openapi.Schema {
	return d.component("WebhookURL", func() *openapi.Schema {
		f := callbackField()
		receiver := typed(&f)
		receiver.Description = f.Description
		d.restricted(receiver, &f)
		receiver.Examples = []any{f.Example}
		return receiver
	})
}

// withReceiver adds the address of the callback's receiver to a body.
func (d *describer) withReceiver(of *openapi.Schema, name string) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		plain, _ := d.doc.Components.Schemas.Get(strings.TrimPrefix(of.Ref, "#/components/schemas/"))
		s := *plain
		receiver := d.receiver()
		s.Properties = append(openapi.Map[*openapi.Schema]{{Name: webhookURL, Value: receiver}}, s.Properties...)
		s.Required = append([]string{webhookURL}, s.Required...)
		return &s
	})
}

func upperFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// responses are the successful answer and all others.
func (d *describer) responses(op *Operation) openapi.Map[*openapi.Response] {
	var all openapi.Map[*openapi.Response]
	a := op.about.answers
	status, ok, shared := http.StatusOK, &openapi.Response{}, ""
	switch a.form {
	case doneForm:
		shared = "IsDone"
		ok = d.json("Done.", d.component("Done", func() *openapi.Schema { return acknowledgement(http.StatusOK) }))
	case createdForm:
		status, ok = http.StatusCreated, d.json("The record as it was stored.", d.recordAnswer(op.Method, a), "CacheOfRecord", "ETagOfRecord", "Location")
	case recordForm:
		var headers []string
		if a.fields == nil {
			headers = []string{"CacheOfRecord", "ETagOfRecord"}
		}
		ok = d.json("The record.", d.recordAnswer(op.Method, a), headers...)
	case pageForm:
		ok = d.json("A page of records.", d.pageAnswer(a.resource), "Vary", "ContentEncoding")
	case changesForm:
		ok = d.json("A page of changes.", d.changesAnswer())
	case wholeForm:
		ok = d.json("What was asked for.", d.component(a.name, func() *openapi.Schema { return d.dataSchema(reflect.TypeOf(a.data)) }))
	case tokenForm:
		ok = d.json("The session.", d.component("Session", tokenSchema))
	case dataForm, collectForm:
		if op.single != nil {
			shared = "Results"
		}
		ok = d.json("What was asked for.", d.dataAnswer(a))
	case acceptForm:
		status, ok, shared = http.StatusAccepted, d.acceptance("RetryAfter", "JobLocation"), "IsAccepted"
	case fileForm:
		ok = d.file("The result.", "Revalidate", "ETag", "AcceptRanges", "ContentDisposition")
	}
	if op.idempotent && a.form != acceptForm {
		ok.Headers.Add("Idempotent-Replayed", d.header("IdempotentReplayed"))
	}
	all.Add(strconv.Itoa(status), ok)
	switch {
	case op.mayCall && a.form != acceptForm:
		all.Add("202", d.response("IsAccepted", d.acceptance("RetryAfter", "JobLocation")))
	case a.form == collectForm:
		all.Add("202", d.acceptance("RetryAfter"))
	case a.form == fileForm:
		all.Add("206", d.file("The part of the result that the header Range asks for.", "Revalidate", "ETag", "AcceptRanges", "ContentDisposition", "ContentRange"))
		all.Add("416", &openapi.Response{Description: "The header Range asks for what is beyond the end.", Headers: d.headers("Revalidate", "ETag", "AcceptRanges", "ContentDisposition", "ContentRange")})
	case op.Method == http.MethodGet && a.form == recordForm && a.fields == nil:
		all.Add("304", d.response("NotModified", &openapi.Response{Description: "The record is as the client has it.", Headers: d.headers("Revalidate", "ETag")}))
	}
	d.addRefusals(op, &all)
	if ok.Reasons == nil {
		all[0].Value = d.response(shared, ok)
	}
	return all
}

// response keeps an answer among the components by a name, if it has one; where another one of
// that name is there already it stays where it is.
func (d *describer) response(name string, r *openapi.Response) *openapi.Response {
	if name == "" {
		return r
	}
	if kept, there := d.doc.Components.Responses.Get(name); !there {
		d.doc.Components.Responses.Add(name, r)
	} else if !reflect.DeepEqual(kept, r) {
		return r
	}
	return &openapi.Response{Ref: "#/components/responses/" + name}
}

func (d *describer) json(description string, schema *openapi.Schema, names ...string) *openapi.Response {
	return &openapi.Response{
		Description: description, Headers: d.headers(names...),
		Content: openapi.Map[*openapi.MediaType]{{Name: jsonType, Value: &openapi.MediaType{Schema: schema}}},
	}
}

func (d *describer) file(description string, names ...string) *openapi.Response {
	binary := func() *openapi.MediaType {
		return &openapi.MediaType{Schema: &openapi.Schema{Type: openapi.Types{"string"}, Format: "binary"}}
	}
	return &openapi.Response{Description: description, Headers: d.headers(names...), Content: openapi.Map[*openapi.MediaType]{
		{Name: "application/zip", Value: binary()}, {Name: jsonType, Value: &openapi.MediaType{Schema: &openapi.Schema{}}},
	}}
}

func (d *describer) acceptance(names ...string) *openapi.Response {
	return d.json("Accepted: there is no result yet.", d.component("Accepted", func() *openapi.Schema { return acknowledgement(http.StatusAccepted) }), names...)
}

func acknowledgement(status int) *openapi.Schema {
	return object("successCode", &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Const: status})
}

// object is the schema of an object with one required member.
func object(name string, s *openapi.Schema) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"object"}, Properties: openapi.Map[*openapi.Schema]{{Name: name, Value: s}}, Required: []string{name}}
}

func tokenSchema() *openapi.Schema {
	return object("token", &openapi.Schema{Type: openapi.Types{"string"}, Format: "uuid", Description: "Sent in the header token of every further call.", Examples: []any{"3f0e8a52-8c0e-4d7b-9d0f-2f1b1f3f8a11"}})
}

// recordAnswer is a record as a method is answered: with all its fields, unless some may be
// chosen.
func (d *describer) recordAnswer(method string, a answers) *openapi.Schema {
	if a.fields == nil {
		if method == http.MethodGet { // which takes fields
			record := d.recordSchema(a.resource)
			return d.component(typeName(a.resource.Name)+"Answer", func() *openapi.Schema { return object("data", record) })
		}
		record := d.wholeRecord(a.resource, false)
		return d.component("Whole"+typeName(a.resource.Name)+"Answer", func() *openapi.Schema { return object("data", record) })
	}
	return d.component(a.name, func() *openapi.Schema {
		s := &openapi.Schema{Type: openapi.Types{"object"}, Required: a.fields}
		for _, name := range a.fields {
			s.Properties.Add(name, d.answered(a.resource.Field(name)))
		}
		return object("data", s)
	})
}

func (d *describer) dataAnswer(a answers) *openapi.Schema {
	return d.component(a.name, func() *openapi.Schema { return object("data", d.dataSchema(reflect.TypeOf(a.data))) })
}

func (d *describer) pageAnswer(r *mapping.Resource) *openapi.Schema {
	record := d.recordSchema(r)
	return d.component(typeName(r.Name)+"Page", func() *openapi.Schema {
		number := &openapi.Schema{Type: openapi.Types{"integer"}}
		properties := openapi.Map[*openapi.Schema]{
			{Name: "data", Value: &openapi.Schema{Type: openapi.Types{"array"}, Items: record}},
			{Name: "page", Value: number}, {Name: "page_size", Value: number},
			{Name: "next", Value: nullable(&openapi.Schema{Type: openapi.Types{"string"}})},
			{Name: "total", Value: number},
		}
		if d.g.o.Offer.Until && !r.Undated {
			properties.Add("until", &openapi.Schema{Type: openapi.Types{"string"}, Format: "date-time"})
		}
		return &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"data", "page_size", "next"}, Properties: properties}
	})
}
