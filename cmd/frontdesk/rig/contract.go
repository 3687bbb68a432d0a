package rig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/openapi"
)

// Contract is a description that answers are held to.
type Contract struct {
	doc      map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by JSON pointer
}

// EveryKey may call everything, and is limited, so that its description holds
// whatever any key's does.
func EveryKey(grants []gateway.Grant) *auth.Key {
	key := &auth.Key{Name: "contract", Allowed: make([]bool, len(grants)), Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 1}}}
	for i := range key.Allowed {
		key.Allowed[i] = true
	}
	return key
}

// contracts are those that were made already, by description, and texts the
// descriptions by what is described: most desks have the same.
var contracts, texts sync.Map

// ContractOf describes what a desk of this configuration serves.
func ContractOf(c *config.Config, environment string) (*Contract, error) {
	text, err := describe(c, environment)
	if err != nil {
		return nil, err
	}
	if made, ok := contracts.Load(string(text)); ok {
		return made.(*Contract), nil
	}
	made, err := NewContract(text)
	if err != nil {
		return nil, err
	}
	kept, _ := contracts.LoadOrStore(string(text), made)
	return kept.(*Contract), nil
}

// describe describes what a configuration has served. Where no other files belong to
// it, that is done once for all that differ in nothing that is described.
func describe(c *config.Config, environment string) ([]byte, error) {
	about := c.Backend
	about.DSN = ""
	key := fmt.Sprintf("%s %+v %+v %+v %+v %v", environment, c.Server, about, c.Model, c.Sessions, c.Callbacks)
	if made, ok := texts.Load(key); ok {
		return made.([]byte), nil
	}
	offer, err := desk.OfferOf(c)
	if err != nil {
		return nil, err
	}
	c.Server.PublicURL = "http://127.0.0.1/webservice_v2"
	g, err := desk.DescribingGateway(c, offer, environment)
	if err != nil {
		return nil, err
	}
	text, err := g.Describe(EveryKey(g.Grants()), openapi.Version31)
	if err == nil && c.Backend.Sheet == "" && c.Model.Dir == "" {
		texts.Store(key, text)
	}
	return text, err
}

const contractURL = "https://contract.invalid/openapi.json"

// NewContract reads a description. Answers are held to it strictly: a member
// that it does not name is a drift.
func NewContract(text []byte) (*Contract, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := &Contract{doc: parsed.(map[string]any), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	for _, schema := range c.at("components", "schemas").(map[string]any) {
		closeObjects(schema)
	}
	c.compiler.AssertFormat()
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	return c, c.compiler.AddResource(contractURL, c.doc)
}

// closeObjects lets objects have no members but those they name.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, open := s["additionalProperties"]; !open && s["properties"] != nil {
			s["additionalProperties"] = false
		}
		for _, inner := range s {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range s {
			closeObjects(inner)
		}
	}
}

// at follows names into the description; nil where they lead nowhere.
func (c *Contract) at(names ...string) any {
	var v any = c.doc
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// deref follows a reference, and tells where the value is.
func (c *Contract) deref(v any, where string) (map[string]any, string) {
	object, _ := v.(map[string]any)
	ref, ok := object["$ref"].(string)
	if !ok {
		return object, where
	}
	where = strings.TrimPrefix(ref, "#")
	return c.at(strings.Split(where[1:], "/")...).(map[string]any), where
}

// Operation finds what a request asks for: its name, and where it is described.
func (c *Contract) Operation(method, path string, query url.Values) (name, where string, op map[string]any) {
	paths := c.doc["paths"].(map[string]any)
	template := path
	if cut := strings.LastIndexByte(path, '/'); cut > 0 && paths[path] == nil {
		for _, part := range []string{"{id}", "{name}"} {
			if paths[path[:cut+1]+part] != nil {
				template = path[:cut+1] + part
			}
		}
	}
	// A record may be named by the query, and by the body of a PUT.
	if item := path + "/{id}"; paths[item] != nil && (method == "PUT" || method == "DELETE" || method == "GET" && query.Has("id")) {
		template = item
	}
	op, _ = c.at("paths", template, strings.ToLower(method)).(map[string]any)
	if op == nil {
		return "", "", nil
	}
	where = "/paths/" + escapePointer(template) + "/" + strings.ToLower(method)
	return op["operationId"].(string), where, op
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

// hold tells what of an answer is not as it is described, and which operation
// and reason it was.
func (c *Contract) hold(method string, target *url.URL, resp *http.Response, body []byte) (hit string, err error) {
	path := target.EscapedPath()
	name, where, op := c.Operation(method, path, target.Query())
	reason := ""
	var e ErrorBody
	if download := name == "downloadResult" && resp.StatusCode < 400; !download && json.Unmarshal(body, &e) == nil {
		reason = e.Reason
	}
	// To another key, one that may not write many records at once, the path names a record.
	if of, bulk := strings.CutSuffix(path, "/bulk"); bulk && reason == "primary_id_invalid" {
		name, where, op = c.Operation(method, of+"/{id}", nil)
	}
	// Another key may have a description without the operation.
	if op == nil || reason == "method_unsupported" || reason == "endpoint_unknown" && resp.StatusCode == http.StatusBadRequest && isPlain(path) {
		return "", c.undescribed(path, resp, reason)
	}
	status := fmt.Sprint(resp.StatusCode)
	found, ok := op["responses"].(map[string]any)[status]
	switch {
	case !ok && slices.Contains([]string{"request_malformed", "overloaded", "header_too_large", "body_too_large", "content_encoding_unsupported"}, reason):
		return "", nil // told of in the introduction
	case !ok:
		return "", fmt.Errorf("%s does not describe the status %s: %.200s", name, status, body)
	}
	response, where := c.deref(found, where+"/responses/"+status)
	hit = name + " " + status
	if reason != "" {
		hit = name + " " + reason
		reasons, _ := response["x-reasons"].([]any)
		if !slices.Contains(reasons, any(reason)) {
			return "", fmt.Errorf("%s does not describe the reason %s of status %s: %.200s", name, reason, status, body)
		}
		described := c.reasonsOf(op)
		for _, violation := range e.Errors {
			if !described[violation.Reason] {
				return "", fmt.Errorf("%s does not describe the reason %s: %.200s", name, violation.Reason, body)
			}
		}
	}
	err = errors.Join(c.headers(name, response, resp.Header), c.body(name, response, where, resp, body, reason == "" && !target.Query().Has("fields")))
	return hit, err
}

// reasonsOf are the reasons of all errors of an operation: several violations in
// one answer need not have its status.
func (c *Contract) reasonsOf(op map[string]any) map[string]bool {
	all := map[string]bool{}
	for _, v := range op["responses"].(map[string]any) {
		response, _ := c.deref(v, "")
		reasons, _ := response["x-reasons"].([]any)
		for _, reason := range reasons {
			all[reason.(string)] = true
		}
	}
	return all
}

// isPlain reports whether a path has no part that no endpoint could have.
func isPlain(path string) bool {
	return !strings.ContainsAny(path, "%;*") && !strings.Contains(path, "/.")
}

// undescribed is an answer of what is no operation: an endpoint or a method that
// is not there, or a page for people.
func (c *Contract) undescribed(path string, resp *http.Response, reason string) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusBadRequest && slices.Contains([]string{"endpoint_unknown", "method_unsupported", "request_malformed"}, reason):
		return nil
	case resp.StatusCode == http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode == http.StatusRequestEntityTooLarge:
		return nil
	case kind != "application/json" && kind != "application/problem+json", slices.Contains([]string{"/openapi.json", "/testpage/requests", AgentsPath}, path), strings.HasPrefix(path, "/authenticate/resetpassword"):
		return nil
	default:
		return fmt.Errorf("%s is not described, and was answered %d %s", path, resp.StatusCode, reason)
	}
}

// told are the headers that a description must tell of where they are sent.
var told = []string{
	"Etag", "Location", "Retry-After", "Idempotent-Replayed", "Accept-Ranges", "Content-Range", "Content-Disposition",
	"Ratelimit", "Ratelimit-Policy", "Link",
}

func (c *Contract) headers(name string, response map[string]any, sent http.Header) error {
	described, _ := response["headers"].(map[string]any)
	var faults []error
	if sent.Get("X-Request-Id") == "" || described["Cache-Control"] == nil && sent.Get("Cache-Control") != "no-store" { // told of in the introduction
		faults = append(faults, fmt.Errorf("%s: X-Request-Id is %q, Cache-Control %q", name, sent.Get("X-Request-Id"), sent.Get("Cache-Control")))
	}
	seen := map[string]bool{}
	for header, v := range described {
		seen[http.CanonicalHeaderKey(header)] = true
		h, where := c.deref(v, "")
		value := sent.Get(header)
		if value == "" {
			if h["required"] == true {
				faults = append(faults, fmt.Errorf("%s: the header %s is missing", name, header))
			}
			continue
		}
		schema, err := c.schema(where + "/schema")
		if err != nil {
			return err
		}
		var typed any = value
		if h["schema"].(map[string]any)["type"] == "integer" {
			typed = json.Number(value)
		}
		if err := schema.Validate(typed); err != nil {
			faults = append(faults, fmt.Errorf("%s: header %s: %q: %w", name, header, value, err))
		}
	}
	for _, header := range told {
		if sent.Get(header) != "" && !seen[header] {
			faults = append(faults, fmt.Errorf("%s does not describe the header %s", name, header))
		}
	}
	return errors.Join(faults...)
}

// body holds a body to its schema, and records that nothing chose the fields of
// to having all.
func (c *Contract) body(name string, response map[string]any, where string, resp *http.Response, body []byte, whole bool) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	content, _ := response["content"].(map[string]any)
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s describes no body for status %d: %.100s", name, resp.StatusCode, body)
		}
		return nil
	}
	media, ok := content[kind].(map[string]any)
	if !ok {
		return fmt.Errorf("%s does not describe the media type %s of status %d", name, kind, resp.StatusCode)
	}
	if kind != "application/json" && kind != "application/problem+json" {
		return nil
	}
	schema, err := c.schema(where + "/content/" + escapePointer(kind) + "/schema")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		if resp.StatusCode == http.StatusPartialContent {
			return nil
		}
		return fmt.Errorf("%s: %w: %.100s", name, err, body)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s %d: %w: %.300s", name, resp.StatusCode, err, body)
	}
	if !whole {
		return nil
	}
	return c.whole(name, media["schema"], value)
}

// whole tells which fields of a record are missing.
func (c *Contract) whole(name string, schema, value any) error {
	answer, _ := c.deref(schema, "")
	members, _ := answer["properties"].(map[string]any)
	data, _ := members["data"].(map[string]any)
	if data == nil {
		return nil
	}
	records := []any{value.(map[string]any)["data"]}
	page := data["type"] == "array"
	if page {
		data, _ = data["items"].(map[string]any)
		records, _ = value.(map[string]any)["data"].([]any)
	}
	record, _ := c.deref(data, "")
	if record["required"] != nil || !strings.Contains(fmt.Sprint(record["description"]), "unless `fields` chose") {
		return nil
	}
	for field, s := range record["properties"].(map[string]any) {
		of := s.(map[string]any)
		if of["type"] == "array" || page && of["contentEncoding"] != nil {
			continue
		}
		for _, r := range records {
			if _, there := r.(map[string]any)[field]; !there {
				return fmt.Errorf("%s: a record lacks the field %s", name, field)
			}
		}
	}
	return nil
}

func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(contractURL + "#" + pointer)
	if err == nil {
		c.schemas[pointer] = s
	}
	return s, err
}
