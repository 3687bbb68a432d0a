package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// reasons are the reasons of every error that an operation can answer, in no
// order. What is wrong with a request before it is read is told of in the introduction.
func (d *describer) reasons(op *Operation) []mapping.Reason {
	all := []mapping.Reason{mapping.InternalError, mapping.QueryRepeated, mapping.QueryUnsupported}
	if strings.Contains(op.Template, "{") {
		all = append(all, mapping.EndpointUnknown) // where what stands there is no such part
	}
	if !op.open {
		all = append(all, mapping.NotLoggedIn, mapping.TokenInvalid)
		if d.limited {
			all = append(all, mapping.TooManyRequests)
		}
	}
	if len(op.requires) > 0 {
		all = append(all, mapping.ParametersRequired)
	}
	if op.form != nil && op.Endpoint.Resource == nil {
		if op.check != nil && !slices.Contains(op.about.early, mapping.PrimaryIDMissing) {
			all = append(all, op.form.CreateRaises(nil)...)
		} else {
			all = append(all, op.form.UpdateRaises(nil)...)
		}
	}
	if op.callbackInBody || op.direct != nil || op.mayCall {
		all = append(all, mapping.VarcharInvalid)
	}
	if op.mayCall {
		all = append(all, receiverReasons()...)
	}
	if op.idempotent {
		all = append(all, mapping.IdempotencyInvalid)
		if op.about.answers.form != acceptForm {
			all = append(all, mapping.IdempotencyReused, mapping.IdempotencyInUse)
		}
	}
	if op.about.asksBackend {
		all = append(all, mapping.BackendUnavailable, mapping.BackendTimeout)
	}
	all = append(all, op.about.early...)
	all = append(all, op.about.late...)
	if op.about.raises != nil {
		early, late := op.about.raises(d.arrays(op.sent()))
		all = append(append(all, early...), late...)
	}
	if op.Method == http.MethodGet { // without a body the query is asked for what it lacks
		all = slices.DeleteFunc(all, func(r mapping.Reason) bool { return r == mapping.EmptyBody })
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rowsByStatus are the rows of every error that an operation can answer.
func (d *describer) rowsByStatus(op *Operation) map[int][]*mapping.Entry {
	byStatus := map[int][]*mapping.Entry{}
	for _, reason := range d.reasons(op) {
		row := d.worded(d.g.catalogue.Lookup(reason, op.scopes...))
		byStatus[row.Status] = append(byStatus[row.Status], row)
	}
	return byStatus
}

// addRefusals adds the errors of an operation, by status.
func (d *describer) addRefusals(op *Operation, all *openapi.Map[*openapi.Response]) {
	byStatus := d.rowsByStatus(op)
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		rows := byStatus[status]
		for _, row := range rows {
			d.rows[row] = true
		}
		r := d.refusal(status, rows)
		if status == http.StatusOK { // a logout of who is logged out
			ok, _ := all.Get("200")
			ok.Reasons = r.Reasons
			ok.Headers.Add("Link", d.header("Help"))
			media, _ := ok.Content.Get(jsonType)
			media.Schema = &openapi.Schema{AnyOf: []*openapi.Schema{media.Schema, openapi.Ref("Error")}}
			ok.Content.Add(problemType, &openapi.MediaType{Schema: openapi.Ref("Problem")})
			ok.Description += " Or nothing was to be done, with a reason."
			continue
		}
		all.Add(strconv.Itoa(status), d.shared(status, r))
	}
}

// shared keeps a refusal among the components, where the operations that refuse for the same
// reasons refer to it.
func (d *describer) shared(status int, r *openapi.Response) *openapi.Response {
	name := refusalName(status, r.Reasons, d.limited)
	if _, there := d.doc.Components.Responses.Get(name); !there {
		d.doc.Components.Responses.Add(name, r)
	}
	return &openapi.Response{Ref: "#/components/responses/" + name}
}

// refusal is the answer with errors of one status.
func (d *describer) refusal(status int, rows []*mapping.Entry) *openapi.Response {
	names := []string{"Help"}
	switch status {
	case http.StatusTooManyRequests:
		names = append(names, "RetryAfter")
	case http.StatusInternalServerError:
		names = append(names, "RetryAfterMaybe")
	}
	r := &openapi.Response{Headers: d.headers(names...), Description: http.StatusText(status)}
	for _, row := range rows {
		r.Reasons = append(r.Reasons, string(row.Reason))
	}
	r.Content.Add(jsonType, &openapi.MediaType{Schema: openapi.Ref("Error")})
	r.Content.Add(problemType, &openapi.MediaType{Schema: openapi.Ref("Problem")})
	return r
}

// fill puts the vendor into a text of a row.
func (d *describer) fill(text string) string {
	return strings.ReplaceAll(text, "<vendor>", d.g.vendor())
}

// tellMessages adds to the schema of a reason how each of them is worded, where any operation
// refers to it: once for all of these.
func (d *describer) tellMessages() {
	reason, _ := d.doc.Components.Schemas.Get("Reason")
	told := map[*mapping.Entry]bool{}
	for _, e := range d.g.catalogue.Entries() {
		if row := d.worded(d.g.catalogue.Lookup(e.Reason, e.Scope)); d.rows[row] && !told[row] {
			told[row] = true
			reason.Description += "\n- `" + string(row.Reason) + "`: " + strings.ReplaceAll(d.fill(row.Message), "<x>", `\<x\>`)
		}
	}
}

// worded is the first row that says the same of the same reason: many tables do.
func (d *describer) worded(row *mapping.Entry) *mapping.Entry {
	for _, e := range d.rowsOf[row.Reason] {
		if e.Status == row.Status && e.Message == row.Message {
			return e
		}
	}
	d.rowsOf[row.Reason] = append(d.rowsOf[row.Reason], row)
	return row
}

// addErrors adds the one shape of errors.
func (d *describer) addErrors() {
	field := "The field that is meant, where one is."
	if name := d.arrayName(); name != "" {
		field = "The field that is meant, where one is; " + name + "[0].id within an array."
	}
	text := func(description string) *openapi.Schema {
		return &openapi.Schema{Type: openapi.Types{"string"}, Description: description}
	}
	reason := func() *openapi.Schema {
		s := text("A stable code of what is wrong.")
		for _, e := range d.g.catalogue.Entries() {
			if !slices.Contains(s.Enum, any(string(e.Reason))) {
				s.Enum = append(s.Enum, string(e.Reason))
			}
		}
		return s
	}
	place := func(description string) *openapi.Schema {
		return &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Minimum: ptr(1), Description: description}
	}
	position := &openapi.Schema{
		Type: openapi.Types{"object"}, Description: "Where a body is not JSON.", Required: []string{"line", "column"},
		Properties: openapi.Map[*openapi.Schema]{{Name: "line", Value: place("From 1.")}, {Name: "column", Value: place("The character in the line, from 1.")}},
	}
	members := func() openapi.Map[*openapi.Schema] {
		return openapi.Map[*openapi.Schema]{
			{Name: "message", Value: text("The documented text.")},
			{Name: "reason", Value: openapi.Ref("Reason")},
			{Name: "field", Value: text(field)},
		}
	}
	facts := func(before ...openapi.Member[*openapi.Schema]) *openapi.Schema {
		s := &openapi.Schema{Type: openapi.Types{"object"}}
		s.Properties = append(s.Properties, before...)
		s.Properties.Add("errorCode", &openapi.Schema{Type: openapi.Types{"integer"}, Description: "The HTTP status again."})
		s.Properties = append(s.Properties, members()...)
		s.Properties.Add("position", position)
		s.Properties.Add("request_id", text("What to name in questions; the header X-Request-Id again."))
		s.Properties.Add("errors", &openapi.Schema{Type: openapi.Types{"array"}, MinItems: 2, Items: openapi.Ref("Violation"), Description: "Every violation, where there are several; the first one is the one above."})
		for _, m := range before {
			s.Required = append(s.Required, m.Name)
		}
		s.Required = append(s.Required, "errorCode", "message", "reason", "request_id")
		return s
	}
	schemas := &d.doc.Components.Schemas
	schemas.Add("Reason", reason())
	violation := &openapi.Schema{Type: openapi.Types{"object"}, Properties: members(), Required: []string{"message", "reason"}}
	schemas.Add("Violation", violation)
	e := facts()
	e.Description = "What is wrong with a request."
	schemas.Add("Error", e)
	uri := text("Identifies the reason, and leads to its explanation.")
	uri.Format = "uri"
	p := facts(
		openapi.Member[*openapi.Schema]{Name: "type", Value: uri},
		openapi.Member[*openapi.Schema]{Name: "title", Value: text("The HTTP status in words.")},
		openapi.Member[*openapi.Schema]{Name: "status", Value: &openapi.Schema{Type: openapi.Types{"integer"}, Description: "The HTTP status."}},
		openapi.Member[*openapi.Schema]{Name: "detail", Value: text("The documented text.")},
	)
	p.Description = "The same after RFC 9457, answered where the header Accept asks for it."
	schemas.Add("Problem", p)
}

// headers refers to headers among the components; those of the limits are of every answer
// where the key has some.
func (d *describer) headers(names ...string) openapi.Map[*openapi.Header] {
	all := openapi.Map[*openapi.Header]{}
	for _, name := range names {
		all.Add(headerNames[name], d.header(name))
	}
	if d.limited {
		all.Add("RateLimit-Policy", d.header("RateLimitPolicy"))
		all.Add("RateLimit", d.header("RateLimit"))
	}
	if d.aging {
		all.Add("Deprecation", d.header("Deprecation"))
		all.Add("Sunset", d.header("Sunset"))
	}
	return all
}

func (d *describer) header(name string) *openapi.Header {
	d.usedHeaders[name] = true
	return &openapi.Header{Ref: "#/components/headers/" + name}
}

// headerNames are the headers by what they are called among the components.
var headerNames = map[string]string{
	"Help": "Link", "Revalidate": "Cache-Control", "CacheOfRecord": "Cache-Control", "ETag": "ETag", "ETagOfRecord": "ETag", "Location": "Location",
	"JobLocation": "Location", "Vary": "Vary", "ContentEncoding": "Content-Encoding", "RetryAfter": "Retry-After", "RetryAfterMaybe": "Retry-After", "IdempotentReplayed": "Idempotent-Replayed",
	"AcceptRanges": "Accept-Ranges", "ContentRange": "Content-Range", "ContentDisposition": "Content-Disposition",
}

// limitItem is the pattern of one limit, or of several.
func limitItem(parameters string) string {
	one := `"(rate|per_day|concurrent)"` + parameters
	return one + `(, ` + one + `)*`
}

func (d *describer) addHeaders() {
	add := func(name, description string, required bool, s *openapi.Schema) {
		if !d.usedHeaders[name] {
			return
		}
		s.Type = openapi.Types{"string"}
		if name == "RetryAfter" || name == "RetryAfterMaybe" {
			s.Type, s.Minimum = openapi.Types{"integer"}, ptr(1)
		}
		d.doc.Components.Headers.Add(name, &openapi.Header{Description: description, Required: required, Schema: s})
	}
	const link = `<[^<>]+#[a-z0-9_]+>; rel="help"; title="([^"\\]|\\.)+"`
	add("Help", "What to do about an error, as the title of a link to its explanation, after RFC 8288; of several errors about the first of each reason, and of three reasons at most.", false, &openapi.Schema{
		Pattern: `^` + link + `(, ` + link + `)*$`, Examples: []any{`<https://api.example.nl/webservice_v2/errors#record_changed>; rel="help"; title="Read the record again, and send your change with the new ETag."`},
	})
	add("Revalidate", "The answer may be kept by its client, which asks with the ETag whether it still holds.", true, &openapi.Schema{Const: "private, no-cache"})
	add("CacheOfRecord", "private, no-cache where the record has an ETag: it may be kept by its client, which asks with it whether it still holds.", true, &openapi.Schema{Enum: []any{"private, no-cache", "no-store"}})
	add("ETagOfRecord", "Changes with any change of the record, and of the elements of its arrays, asked for or not. Absent where the system behind cannot tell.", false, &openapi.Schema{Pattern: `^"[!#-~]+"$`})
	add("ETag", "Changes with any change of what is answered.", true, &openapi.Schema{Pattern: `^"[!#-~]+"$`})
	add("Location", "Path of the record.", true, &openapi.Schema{})
	add("Vary", "Caches keep one answer for each way that it is compressed in.", true, &openapi.Schema{Const: "Accept-Encoding"})
	add("ContentEncoding", "Answers of 1 KiB or more are compressed where Accept-Encoding says that the client takes it.", false, &openapi.Schema{Enum: []any{"gzip", "br"}})
	add("JobLocation", "Path and query of the result, as GET /webhook takes it.", true, &openapi.Schema{})
	add("RetryAfter", "When to come back, in seconds.", true, &openapi.Schema{})
	add("RetryAfterMaybe", "When to come back, in seconds, where waiting helps.", false, &openapi.Schema{})
	add("IdempotentReplayed", "The request was done before, and is answered as it was then.", false, &openapi.Schema{Const: "true"})
	add("AcceptRanges", "Parts can be asked for.", true, &openapi.Schema{Const: "bytes"})
	add("ContentRange", "Which bytes these are.", true, &openapi.Schema{Pattern: `^bytes (\d+-\d+|\*)/\d+$`})
	add("ContentDisposition", "The name of the file.", true, &openapi.Schema{})
	add("Deprecation", "Since when something is deprecated that the request names or that is in the answer, after RFC 9745: @ and Unix seconds. Of several the first.", false, &openapi.Schema{Pattern: `^@-?\d+$`, Examples: []any{"@1796083200"}})
	add("Sunset", "When that may be gone, after RFC 8594: an HTTP date. Of several the first; absent where no day is set.", false, &openapi.Schema{Examples: []any{"Wed, 30 Jun 2027 00:00:00 GMT"}})
	add("RateLimitPolicy", "The limits of each client with the api_key, after draft-ietf-httpapi-ratelimit-headers-11: q requests in w seconds, or at once where qu says so. Absent where an answer is given before requests are counted.", false, &openapi.Schema{
		Pattern: `^` + limitItem(`;q=\d+(;w=\d+|;qu="concurrent-requests")`) + `$`, Examples: []any{`"rate";q=100;w=2, "per_day";q=10000;w=86400`},
	})
	add("RateLimit", "What is left of them: r requests now, and more in t seconds.", false, &openapi.Schema{
		Pattern: `^` + limitItem(`;r=\d+(;t=\d+)?`) + `$`, Examples: []any{`"rate";r=99;t=1, "per_day";r=8125;t=30060`},
	})
}
