// Package openapi is the document that describes an interface to programs, in
// the words of OpenAPI 3.1, and its older form, 3.0.3. It knows how such a
// document is written, with members in the order they are given, and not what
// any interface has to say.
package openapi

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Document is a description.
type Document struct {
	OpenAPI    string                `json:"openapi"`
	Info       Info                  `json:"info"`
	Servers    []Server              `json:"servers"`
	Security   []map[string][]string `json:"security"`
	Docs       Docs                  `json:"externalDocs"`
	Tags       []Tag                 `json:"tags"`
	Paths      Map[*PathItem]        `json:"paths"`
	Components Components            `json:"components"`
}

// Info says what is described.
type Info struct {
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	Summary     string   `json:"summary,omitzero"`
	Description string   `json:"description"`
	Contact     *Contact `json:"contact,omitzero"`
}

// Contact is who answers questions.
type Contact struct {
	Name string `json:"name"`
	URL  string `json:"url,omitzero"`
}

// Server is where paths begin.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
}

// Docs are further documentation.
type Docs struct {
	Description string `json:"description"`
	URL         string `json:"url"`
}

// Tag groups operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PathItem are the operations of a path.
type PathItem struct {
	Get    *Operation `json:"get,omitzero"`
	Put    *Operation `json:"put,omitzero"`
	Post   *Operation `json:"post,omitzero"`
	Delete *Operation `json:"delete,omitzero"`
}

// Set puts an operation at its method, which is one of the four above.
func (p *PathItem) Set(method string, op *Operation) {
	switch method {
	case "GET":
		p.Get = op
	case "PUT":
		p.Put = op
	case "POST":
		p.Post = op
	case "DELETE":
		p.Delete = op
	default:
		panic("openapi: no place for method " + method)
	}
}

// Each calls f with every operation there is.
func (p *PathItem) Each(f func(method string, op *Operation)) {
	for _, o := range []struct {
		method string
		op     *Operation
	}{{"GET", p.Get}, {"PUT", p.Put}, {"POST", p.Post}, {"DELETE", p.Delete}} {
		if o.op != nil {
			f(o.method, o.op)
		}
	}
}

// Operation is what a method does at a path.
type Operation struct {
	ID          string              `json:"operationId"`
	Tags        []string            `json:"tags,omitempty"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Parameters  []*Parameter        `json:"parameters,omitempty"`
	RequestBody *RequestBody        `json:"requestBody,omitzero"`
	Responses   Map[*Response]      `json:"responses"`
	Callbacks   Map[Map[*PathItem]] `json:"callbacks,omitempty"`
	Deprecated  bool                `json:"deprecated,omitzero"`
	// Security is nil where the document's own holds, and empty where none does.
	Security *[]map[string][]string `json:"security,omitzero"`
}

// Parameter is one in the path, the query or a header.
type Parameter struct {
	Ref         string       `json:"$ref,omitzero"`
	Name        string       `json:"name,omitzero"`
	In          string       `json:"in,omitzero"`
	Description string       `json:"description,omitzero"`
	Required    bool         `json:"required,omitzero"`
	Style       string       `json:"style,omitzero"`
	Explode     *bool        `json:"explode,omitzero"`
	Deprecated  bool         `json:"deprecated,omitzero"`
	Schema      *Schema      `json:"schema,omitzero"`
	Examples    Map[Example] `json:"examples,omitempty"`
}

// RequestBody is what an operation is sent.
type RequestBody struct {
	Description string          `json:"description,omitzero"`
	Required    bool            `json:"required,omitzero"`
	Content     Map[*MediaType] `json:"content"`
}

// Response is an answer, or a reference to one.
type Response struct {
	Ref         string          `json:"$ref,omitzero"`
	Description string          `json:"description,omitzero"`
	Headers     Map[*Header]    `json:"headers,omitempty"`
	Content     Map[*MediaType] `json:"content,omitempty"`
	// Reasons are the reasons of the errors that are answered so.
	Reasons []string `json:"x-reasons,omitempty"`
}

// Header is a header of an answer, or a reference to one.
type Header struct {
	Ref         string  `json:"$ref,omitzero"`
	Description string  `json:"description,omitzero"`
	Required    bool    `json:"required,omitzero"`
	Schema      *Schema `json:"schema,omitzero"`
}

// MediaType is a body in one form.
type MediaType struct {
	Schema   *Schema      `json:"schema,omitzero"`
	Examples Map[Example] `json:"examples,omitempty"`
}

// Example is a value.
type Example struct {
	Value any `json:"value,omitzero"`
}

// SecurityScheme is a way of authentication.
type SecurityScheme struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
}

// Components are the parts that others refer to.
type Components struct {
	Schemas         Map[*Schema]        `json:"schemas,omitempty"`
	Parameters      Map[*Parameter]     `json:"parameters,omitempty"`
	Headers         Map[*Header]        `json:"headers,omitempty"`
	Responses       Map[*Response]      `json:"responses,omitempty"`
	SecuritySchemes Map[SecurityScheme] `json:"securitySchemes,omitempty"`
}

// Map is a JSON object whose members keep their order.
type Map[V any] []Member[V]

// Member is a member of a Map.
type Member[V any] struct {
	Name  string
	Value V
}

// Get returns the value of a name, and whether there is one.
func (m Map[V]) Get(name string) (v V, ok bool) {
	for _, member := range m {
		if member.Name == name {
			return member.Value, true
		}
	}
	return v, false
}

// Add appends a member, whose name must not be there yet.
func (m *Map[V]) Add(name string, v V) { *m = append(*m, Member[V]{name, v}) }

// MarshalJSONTo implements json.MarshalerTo, which writes each level once. With MarshalJSON
// every level would write all levels below it again.
func (m Map[V]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range m {
		if err := e.WriteToken(jsontext.String(m[i].Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, &m[i].Value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// JSON writes the document. <x> is left as it is: the document is read by people too.
func (d *Document) JSON() ([]byte, error) { return json.Marshal(d, json.Deterministic(true)) }
