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
