package gateway

import (
	"crypto/sha256"
	"fmt"
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

// reasons returns the reasons of every error that an operation can answer, sorted. Errors
// of requests that cannot be read are described in the introduction.
func (d *describer) reasons(op *Operation) []mapping.Reason {
	all := []mapping.Reason{mapping.InternalError, mapping.QueryRepeated, mapping.QueryUnsupported}
	if strings.Contains(op.Template, "{") {
		all = append(all, mapping.EndpointUnknown) // where the last part of the path is not valid
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
	all = append(all, op.about.early...)
	arrays, late := d.arrays(op.sent()), slices.Clone(op.about.late)
	if r := op.Endpoint.Resource; r != nil && op.single == nil {
		late = append(late, backend.Raises(r, op.scopes[len(op.scopes)-1], arrays)...)
	}
	switch {
	case op.form == nil || op.single != nil:
	case op.check != nil && !slices.Contains(op.about.early, mapping.PrimaryIDMissing):
		all = append(all, op.form.CreateRaises(arrays)...)
	default:
		all = append(all, op.form.UpdateRaises(arrays)...)
	}
	if op.direct != nil || op.mayCall { // for the address of the receiver
		all = append(all, mapping.VarcharInvalid, mapping.FieldRequired, mapping.ValidationFailed, mapping.VarcharTooLong)
	}
	if op.idempotent {
		all = append(all, mapping.IdempotencyInvalid)
		if op.about.answers.form != acceptForm {
			all = append(all, mapping.IdempotencyReused, mapping.IdempotencyInUse)
		}
	}
	if op.about.asksBackend {
		late = append(late, mapping.BackendUnavailable, mapping.BackendTimeout)
		if op.about.answers.form != tokenForm { // a login reads users, and no resource
			late = append(late, mapping.BackendChanged)
		}
	}
	if !op.ByCallback() { // with a callback, errors found while serving come with the result
		all = append(all, late...)
	}
	if op.Method == http.MethodGet { // without a body, a parameter of the query is missing instead
		all = slices.DeleteFunc(all, func(r mapping.Reason) bool { return r == mapping.EmptyBody })
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addRefusals adds the errors of an operation, by status. Each such answer is one of the
// components, and operations that refuse for the same reasons share it.
func (d *describer) addRefusals(op *Operation, all *openapi.Map[*openapi.Response]) {
	byStatus := map[int][]string{}
	for _, reason := range d.reasons(op) {
		row := d.worded(d.g.catalogue.Lookup(reason, op.scopes...))
		d.rows[row] = true
		byStatus[row.Status] = append(byStatus[row.Status], string(reason))
	}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		if status == http.StatusOK { // a logout without a session
			ok, _ := all.Get("200")
			ok.Reasons = byStatus[status]
			ok.Headers = append(ok.Headers, d.header("Help"))
			media, _ := ok.Content.Get(jsonType)
			media.Schema = &openapi.Schema{AnyOf: []*openapi.Schema{media.Schema, openapi.Ref("Error")}}
			ok.Content.Add(problemType, &openapi.MediaType{Schema: openapi.Ref("Problem")})
			ok.Description += " Or nothing was to be done, with a reason."
			continue
		}
		names := []string{"Help"}
		switch status {
		case http.StatusTooManyRequests:
			names = append(names, "RetryAfter")
		case http.StatusInternalServerError:
			names = append(names, "RetryAfterMaybe")
		}
		// The name depends on status, reasons and headers only: a wider allowlist, or what the key
		// may not see, does not change it.
		facts := fmt.Append(nil, byStatus[status], d.limited)
		if d.aging {
			facts = append(facts, "aging"...)
		}
		sum := sha256.Sum256(facts)
		name := fmt.Sprintf("%s%X", strings.ReplaceAll(http.StatusText(status), " ", ""), sum[:3])
		refusal := d.json(http.StatusText(status), openapi.Ref("Error"), names...)
		refusal.Content.Add(problemType, &openapi.MediaType{Schema: openapi.Ref("Problem")})
		refusal.Reasons = byStatus[status]
		keep(&d.doc.Components.Responses, name, refusal)
		all.Add(strconv.Itoa(status), &openapi.Response{Ref: "#/components/responses/" + name})
	}
}

// addMessages adds to the schema of a reason the wording of each reason that an operation refers
// to.
func (d *describer) addMessages() {
	reason, _ := d.doc.Components.Schemas.Get("Reason")
	for _, row := range d.wordings {
		if d.rows[row] {
			reason.Description += "\n- `" + string(row.Reason) + "`: " + strings.ReplaceAll(d.g.worded(row.Message), "<x>", `\<x\>`)
		}
	}
}

// worded returns the first row with the same reason, status and message: many tables repeat it.
func (d *describer) worded(row *mapping.Entry) *mapping.Entry {
	i := slices.IndexFunc(d.wordings, func(e *mapping.Entry) bool {
		return e.Reason == row.Reason && e.Status == row.Status && e.Message == row.Message
	})
	if i < 0 {
		d.wordings = append(d.wordings, row)
		return row
	}
	return d.wordings[i]
}

// The body of an error. Of several errors the first one is answered as if it were the only
// one.
type (
	violationAnswer struct {
		Message string         `json:"message" doc:"The documented text."`
		Reason  mapping.Reason `json:"reason"`
		Field   string         `json:"field" may:"lack"`
	}
	positionAnswer struct {
		Line   int `json:"line" doc:"From 1." min:"1"`
		Column int `json:"column" doc:"The character in the line, from 1." min:"1"`
	}
	errorAnswer struct {
		ErrorCode int64 `json:"errorCode" doc:"The HTTP status again."`
		violationAnswer
		Position  positionAnswer    `json:"position" doc:"Where a body is not JSON." may:"lack"`
		RequestID string            `json:"request_id" doc:"What to name in questions; the header X-Request-Id again."`
		Errors    []violationAnswer `json:"errors" doc:"Every violation, where there are several; the first one is the one above." min:"2" may:"lack"`
	}
	problemAnswer struct {
		Type   string `json:"type" doc:"Identifies the reason, and leads to its explanation." format:"uri"`
		Title  string `json:"title" doc:"The HTTP status in words."`
		Status int64  `json:"status" doc:"The HTTP status."`
		Detail string `json:"detail" doc:"The documented text."`
		errorAnswer
	}
)

// addErrors adds the one shape of errors.
func (d *describer) addErrors() {
	reason := &openapi.Schema{Type: openapi.Types{"string"}, Description: "A stable code of what is wrong."}
	for _, e := range d.g.catalogue.Entries() {
		if !slices.Contains(reason.Enum, any(string(e.Reason))) {
			reason.Enum = append(reason.Enum, string(e.Reason))
		}
	}
	d.doc.Components.Schemas.Add("Reason", reason)
	meant := "The field that is meant, where one is."
	if name := d.arrayName(); name != "" {
		meant = "The field that is meant, where one is; " + name + "[0].id within an array."
	}
	for _, of := range []struct {
		name, description string
		answer            any
	}{
		{"Violation", "", violationAnswer{}},
		{"Error", "What is wrong with a request.", errorAnswer{}},
		{"Problem", "The same after RFC 9457, answered where the header Accept asks for it.", problemAnswer{}},
	} {
		s := structSchema(reflect.TypeOf(of.answer))
		s.Description = of.description
		field, _ := s.Properties.Get("field")
		field.Description = meant
		d.doc.Components.Schemas.Add(of.name, s)
	}
}

// headers refers to headers among the components; every answer has those of the limits if the
// key has limits.
func (d *describer) headers(names ...string) (all openapi.Map[*openapi.Header]) {
	if d.limited {
		names = append(names, "RateLimitPolicy", "RateLimit")
	}
	if d.aging {
		names = append(names, "Deprecation", "Sunset")
	}
	for _, name := range names {
		all = append(all, d.header(name))
	}
	return all
}

func (d *describer) header(name string) openapi.Member[*openapi.Header] {
	d.usedHeaders[name] = true
	i := slices.IndexFunc(answerHeaders, func(h answerHeader) bool { return h.component == name })
	return openapi.Member[*openapi.Header]{Name: answerHeaders[i].name, Value: &openapi.Header{Ref: "#/components/headers/" + name}}
}

// addHeaders adds the headers that any answer refers to.
func (d *describer) addHeaders() {
	for _, h := range answerHeaders {
		if d.usedHeaders[h.component] {
			if h.schema.Type == nil {
				h.schema.Type = openapi.Types{"string"}
			}
			d.doc.Components.Headers.Add(h.component, &openapi.Header{Description: h.description, Required: h.required, Schema: &h.schema})
		}
	}
}

// answerHeader is a header of answers: what it is called among the components, its name, and
// whether it is in all answers that refer to it. Without another type its schema is a text.
type answerHeader struct {
	component, name, description string
	required                     bool
	schema                       openapi.Schema
}

// The patterns of one link, and of one limit before what it says.
const (
	linkPattern  = `<[^<>]+#[a-z0-9_]+>; rel="help"; title="([^"\\]|\\.)+"`
	limitPattern = `"(rate|per_day|concurrent)"`
)

// several returns the pattern of one thing, or of several with commas between.
func several(one string) string { return `^` + one + `(, ` + one + `)*$` }

var seconds = openapi.Schema{Type: openapi.Types{"integer"}, Minimum: ptr(1)}

var answerHeaders = []answerHeader{
	{"Help", "Link", "What to do about an error, as the title of a link to its explanation, after RFC 8288; of several errors about the first of each reason, and of three reasons at most.", false, openapi.Schema{
		Pattern: several(linkPattern), Examples: []any{`<https://api.example.nl/webservice_v2/errors#record_changed>; rel="help"; title="Read the record again, and send your change with the new ETag."`},
	}},
	{"Revalidate", "Cache-Control", "The answer may be kept by its client, which asks with the ETag whether it still holds.", true, openapi.Schema{Const: "private, no-cache"}},
	{"CacheOfRecord", "Cache-Control", "private, no-cache where the record has an ETag: it may be kept by its client, which asks with it whether it still holds.", true, openapi.Schema{Enum: []any{"private, no-cache", "no-store"}}},
	{"ETagOfRecord", "ETag", "Changes with any change of the record, and of the elements of its arrays, asked for or not. Absent where the system behind cannot tell.", false, openapi.Schema{Pattern: `^"[!#-~]+"$`}},
	{"ETag", "ETag", "Changes with any change of what is answered.", true, openapi.Schema{Pattern: `^"[!#-~]+"$`}},
	{"Location", "Location", "Path of the record.", true, openapi.Schema{}},
	{"Vary", "Vary", "Caches keep one answer for each way that it is compressed in.", true, openapi.Schema{Const: "Accept-Encoding"}},
	{"ContentEncoding", "Content-Encoding", "Answers of 1 KiB or more are compressed where Accept-Encoding says that the client takes it.", false, openapi.Schema{Enum: []any{"gzip", "br"}}},
	{"Age", "Age", "Seconds since the list was last known to be as the administration has it, after RFC 9111.", true, openapi.Schema{Type: openapi.Types{"integer"}, Minimum: ptr(0)}},
	{"AgeMaybe", "Age", "Seconds since the record was last known to be so, where it is not from the administration.", false, openapi.Schema{Type: openapi.Types{"integer"}, Minimum: ptr(0)}},
	{"CacheStatus", "Cache-Status", "Says that the record is from a copy, since the administration is away, after RFC 9211.", false, openapi.Schema{Const: "frontdesk; hit; detail=stale"}},
	{"JobLocation", "Location", "Path and query of the result, as GET /webhook takes it.", true, openapi.Schema{}},
	{"RetryAfter", "Retry-After", "When to come back, in seconds.", true, seconds},
	{"RetryAfterMaybe", "Retry-After", "When to come back, in seconds, where waiting helps.", false, seconds},
	{"IdempotentReplayed", "Idempotent-Replayed", "The request was done before, and is answered as it was then.", false, openapi.Schema{Const: "true"}},
	{"AcceptRanges", "Accept-Ranges", "Parts can be asked for.", true, openapi.Schema{Const: "bytes"}},
	{"ContentRange", "Content-Range", "Which bytes these are.", true, openapi.Schema{Pattern: `^bytes (\d+-\d+|\*)/\d+$`}},
	{"ContentDisposition", "Content-Disposition", "The name of the file.", true, openapi.Schema{}},
	{"Deprecation", "Deprecation", "Since when something is deprecated that the request names or that is in the answer, after RFC 9745: @ and Unix seconds. Of several the first.", false, openapi.Schema{Pattern: `^@-?\d+$`, Examples: []any{"@1796083200"}}},
	{"Sunset", "Sunset", "When that may be gone, after RFC 8594: an HTTP date. Of several the first; absent where no day is set.", false, openapi.Schema{Examples: []any{"Wed, 30 Jun 2027 00:00:00 GMT"}}},
	{"RateLimitPolicy", "RateLimit-Policy", "The limits of each client with the api_key, after draft-ietf-httpapi-ratelimit-headers-11: q requests in w seconds, or at once where qu says so. Absent where an answer is given before requests are counted.", false, openapi.Schema{
		Pattern: several(limitPattern + `;q=\d+(;w=\d+|;qu="concurrent-requests")`), Examples: []any{`"rate";q=100;w=2, "per_day";q=10000;w=86400`},
	}},
	{"RateLimit", "RateLimit", "What is left of them: r requests now, and more in t seconds.", false, openapi.Schema{
		Pattern: several(limitPattern + `;r=\d+(;t=\d+)?`), Examples: []any{`"rate";r=99;t=1, "per_day";r=8125;t=30060`},
	}},
}
