package gateway

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// requestBody returns what an operation reads. It is left out for GET, which nobody expects to
// have a body: the query takes the same fields.
func (d *describer) requestBody(op *Operation) *openapi.RequestBody {
	if op.form == nil || op.Method == http.MethodGet {
		return nil
	}
	media := new(openapi.MediaType)
	r, name := op.Endpoint.Resource, upperFirst(op.about.name)+"Request"
	switch {
	case op.single != nil:
		media.Schema = d.severalSchema(op, name)
	case r != nil && op.Method == http.MethodPost:
		media.Schema, media.Examples = d.createSchema(r, nil, typeName(r.Name)+"Create"), d.createExamples(r)
	case r != nil:
		media.Schema, media.Examples = d.updateSchema(r), exampleOf(updateExample(r))
	default:
		form := name
		if op.callbackInBody { // the request has another field
			form = upperFirst(op.about.name) + "Form"
		}
		media.Schema, media.Examples = d.formSchema(op.form, form), d.formExamples(op)
	}
	if op.callbackInBody {
		media.Schema = d.withField(name, media.Schema, webhookURL, d.receiver)
		for i, e := range media.Examples {
			media.Examples[i].Value.Value = append(openapi.Map[any]{{Name: webhookURL, Value: callbackField().Example}}, e.Value.Value.(openapi.Map[any])...)
		}
	}
	if own := d.givenExample(op).Bodies; own != nil {
		media.Examples = nil
		for _, name := range slices.Sorted(maps.Keys(own)) {
			if d.sendable(r, own[name]) {
				media.Examples.Add(name, openapi.Example{Value: own[name]})
			}
		}
	}
	return &openapi.RequestBody{Required: !op.bodyOptional || op.callbackInBody, Content: openapi.Map[*openapi.MediaType]{{Name: jsonType, Value: media}}}
}

// severalSchema returns the schema of the body of an operation that writes several records. Each record of an
// update has its id.
func (d *describer) severalSchema(op *Operation, name string) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		var item *openapi.Schema
		if r := op.Endpoint.Resource; op.Method == http.MethodPost {
			item = d.createSchema(r, nil, typeName(r.Name)+"Create")
		} else {
			item = d.withField(typeName(r.Name)+"UpdateOfMany", d.updateSchema(r), r.Fields[r.ID].Name, idSchema)
		}
		s := object(mapping.SeveralField, &openapi.Schema{Type: openapi.Types{"array"}, MinItems: 1, MaxItems: mapping.MaxRecords, Items: item})
		s.Additional = ptr(false)
		if op.mayCall {
			s.Properties.Add(webhookURL, d.receiver())
		}
		if op.mustCall {
			s.Required = append(s.Required, webhookURL)
		}
		return s
	})
}

// receiver returns the schema of the address of the callback's receiver.
func (d *describer) receiver() *openapi.Schema {
	return d.component("WebhookURL", func() *openapi.Schema {
		f := callbackField()
		return d.formField(&f)
	})
}

// withField adds to the components a schema like of, with a required field before its own.
func (d *describer) withField(name string, of *openapi.Schema, field string, schema func() *openapi.Schema) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		plain, _ := d.doc.Components.Schemas.Get(strings.TrimPrefix(of.Ref, "#/components/schemas/"))
		s := *plain
		s.Properties = append(openapi.Map[*openapi.Schema]{{Name: field, Value: schema()}}, s.Properties...)
		s.Required = append([]string{field}, s.Required...)
		return &s
	})
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// aged returns the headers of answers that may be from a copy.
func (d *describer) aged(names ...string) []string {
	if !d.g.o.Offer.Copied {
		return nil
	}
	return names
}

// responses returns the successful answer and all others.
func (d *describer) responses(op *Operation) openapi.Map[*openapi.Response] {
	var all openapi.Map[*openapi.Response]
	a := op.about.answers
	status, ok, shared := http.StatusOK, &openapi.Response{}, ""
	switch a.form {
	case doneForm:
		shared = "IsDone"
		ok = d.json("Done.", d.acknowledged("Done", http.StatusOK))
	case createdForm:
		status, ok = http.StatusCreated, d.json("The record as it was stored.", d.recordAnswer(op.Method, a), "CacheOfRecord", "ETagOfRecord", "Location")
	case recordForm:
		var headers []string
		if a.fields == nil {
			headers = append([]string{"CacheOfRecord", "ETagOfRecord"}, d.aged("AgeMaybe", "CacheStatus")...)
		}
		ok = d.json("The record.", d.recordAnswer(op.Method, a), headers...)
	case pageForm:
		ok = d.json("A page of records.", d.pageAnswer(a.resource), append([]string{"Vary", "ContentEncoding"}, d.aged("Age")...)...)
	case changesForm:
		ok = d.json("A page of changes.", d.changesAnswer())
	case wholeForm:
		ok = d.json("What was asked for.", d.component(a.name, func() *openapi.Schema { return dataSchema(reflect.TypeOf(a.data)) }))
	case tokenForm:
		ok = d.json("The session.", d.component("Session", tokenSchema))
	case dataForm, collectForm:
		if op.single != nil {
			shared = "Results"
		}
		ok = d.json("What was asked for.", d.data(a.name, dataSchema(reflect.TypeOf(a.data))))
	case acceptForm:
		status, ok, shared = http.StatusAccepted, d.acceptance("RetryAfter", "JobLocation"), "IsAccepted"
	case fileForm:
		ok = d.file("The result.", "Revalidate", "ETag", "AcceptRanges", "ContentDisposition")
	}
	if op.idempotent && a.form != acceptForm {
		ok.Headers = append(ok.Headers, d.header("IdempotentReplayed"))
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

// response moves an answer to the components, if it is given a name and no other answer has that
// name.
func (d *describer) response(name string, r *openapi.Response) *openapi.Response {
	if name == "" || !keep(&d.doc.Components.Responses, name, r) {
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
	return d.json("Accepted: there is no result yet.", d.acknowledged("Accepted", http.StatusAccepted), names...)
}

// acknowledged returns the schema of an answer with nothing but its status.
func (d *describer) acknowledged(name string, status int) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		return object("successCode", &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Const: status})
	})
}

// object returns the schema of an object with one required member.
func object(name string, s *openapi.Schema) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"object"}, Properties: openapi.Map[*openapi.Schema]{{Name: name, Value: s}}, Required: []string{name}}
}

func tokenSchema() *openapi.Schema {
	return object("token", &openapi.Schema{Type: openapi.Types{"string"}, Format: "uuid", Description: "Sent in the header token of every further call.", Examples: []any{"3f0e8a52-8c0e-4d7b-9d0f-2f1b1f3f8a11"}})
}

// recordAnswer returns the schema of a record as a method answers it: with all its fields, unless some may be
// chosen.
func (d *describer) recordAnswer(method string, a answers) *openapi.Schema {
	switch {
	case a.fields != nil:
		fields := make([]*mapping.Field, len(a.fields))
		for i, name := range a.fields {
			fields[i] = a.resource.Field(name)
		}
		return d.data(a.name, fieldsSchema("", fields, d.answered, always))
	case method == http.MethodGet: // GET takes the parameter fields
		return d.data(typeName(a.resource.Name)+"Answer", d.recordSchema(a.resource))
	default:
		return d.data("Whole"+typeName(a.resource.Name)+"Answer", d.wholeRecord(a.resource, a.resource.RecordFields()))
	}
}

// data returns the schema of an answer {"data": …}, one of the components.
func (d *describer) data(name string, s *openapi.Schema) *openapi.Schema {
	return d.component(name, func() *openapi.Schema { return object("data", s) })
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

func (d *describer) changesAnswer() *openapi.Schema {
	return d.component("ChangesPage", func() *openapi.Schema {
		text := func(description string) *openapi.Schema {
			return &openapi.Schema{Type: openapi.Types{"string"}, Description: description}
		}
		record := &openapi.Schema{Description: "Only with records=1: the record as a list answers it; null where it is deleted.", AnyOf: []*openapi.Schema{{Type: openapi.Types{"null"}}}}
		for _, r := range d.followable() {
			record.AnyOf = append(record.AnyOf, d.wholeRecord(r, r.ListFields()))
		}
		kind := text("What became of the record since the last page; deleted too where the client may no longer see it.")
		kind.Enum = []any{string(backend.RecordCreated), string(backend.RecordUpdated), string(backend.RecordDeleted)}
		at := text("When.")
		at.Format, at.Pattern = "date-time", answeredTimestamp
		change := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"resource", "id", "kind", "at"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "resource", Value: oneOf(namesOf(d.followable()))},
			{Name: "id", Value: idSchema()},
			{Name: "kind", Value: kind}, {Name: "at", Value: at}, {Name: "record", Value: record},
		}}
		return &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"data", "cursor", "more", "next"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "data", Value: &openapi.Schema{Type: openapi.Types{"array"}, Items: change}},
			{Name: "cursor", Value: text("What the next after is. It says nothing by itself, and is good only for this client.")},
			{Name: "more", Value: &openapi.Schema{Type: openapi.Types{"boolean"}, Description: "There are changes after the cursor already."}},
			{Name: "next", Value: nullable(text("Path and query of the page that follows; null where there is none yet."))},
		}}
	})
}
