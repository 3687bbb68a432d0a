// Package openapi is the document that describes an interface to programs, in
// the words of OpenAPI 3.1, and its older form, 3.0.3. It knows how such a
// document is written, with members in the order they are given, and not what
// any interface has to say.
package openapi

import (
	"bytes"
	"encoding/json"
)

// Document is a description.
type Document struct {
	OpenAPI    string                `json:"openapi"`
	Info       Info                  `json:"info"`
	Servers    []Server              `json:"servers"`
	Security   []map[string][]string `json:"security"`
	Tags       []Tag                 `json:"tags"`
	Paths      Map[*PathItem]        `json:"paths"`
	Components Components            `json:"components"`
}

// Info says what is described.
type Info struct {
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	Summary     string   `json:"summary,omitempty"`
	Description string   `json:"description"`
	Contact     *Contact `json:"contact,omitempty"`
}

// Contact is who answers questions.
type Contact struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

// Server is where paths begin.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Tag groups operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PathItem are the operations of a path.
type PathItem struct {
	Get    *Operation `json:"get,omitempty"`
	Put    *Operation `json:"put,omitempty"`
	Post   *Operation `json:"post,omitempty"`
	Delete *Operation `json:"delete,omitempty"`
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
	RequestBody *RequestBody        `json:"requestBody,omitempty"`
	Responses   Map[*Response]      `json:"responses"`
	Callbacks   Map[Map[*PathItem]] `json:"callbacks,omitempty"`
	// Security is nil where the document's own holds, and empty where none does.
	Security *[]map[string][]string `json:"security,omitempty"`
}

// Parameter is one in the path, the query or a header.
type Parameter struct {
	Ref         string       `json:"$ref,omitempty"`
	Name        string       `json:"name,omitempty"`
	In          string       `json:"in,omitempty"`
	Description string       `json:"description,omitempty"`
	Required    bool         `json:"required,omitempty"`
	Style       string       `json:"style,omitempty"`
	Explode     *bool        `json:"explode,omitempty"`
	Schema      *Schema      `json:"schema,omitempty"`
	Examples    Map[Example] `json:"examples,omitempty"`
}

// RequestBody is what an operation is sent.
type RequestBody struct {
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Content     Map[*MediaType] `json:"content"`
}

// Response is an answer, or a reference to one.
type Response struct {
	Ref         string          `json:"$ref,omitempty"`
	Description string          `json:"description,omitempty"`
	Headers     Map[*Header]    `json:"headers,omitempty"`
	Content     Map[*MediaType] `json:"content,omitempty"`
	// Reasons are the reasons of the errors that are answered so.
	Reasons []string `json:"x-reasons,omitempty"`
}

// Header is a header of an answer, or a reference to one.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// MediaType is a body in one form.
type MediaType struct {
	Schema   *Schema      `json:"schema,omitempty"`
	Examples Map[Example] `json:"examples,omitempty"`
}

// Example is a value, or a reference to one.
type Example struct {
	Ref         string `json:"$ref,omitempty"`
	Summary     string `json:"summary,omitempty"`
	Description string `json:"description,omitempty"`
	Value       any    `json:"value,omitempty"`
}

// SecurityScheme is how a request proves whose it is.
type SecurityScheme struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
}

// Components are the parts that are referred to.
type Components struct {
	Schemas         Map[*Schema]        `json:"schemas,omitempty"`
	Parameters      Map[*Parameter]     `json:"parameters,omitempty"`
	Headers         Map[*Header]        `json:"headers,omitempty"`
	Responses       Map[*Response]      `json:"responses,omitempty"`
	Examples        Map[Example]        `json:"examples,omitempty"`
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

// MarshalJSON implements json.Marshaler.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(member.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON writes the document.
func (d *Document) JSON() ([]byte, error) { return marshal(d) }

// marshal leaves <x> as it is: the document is read by people too.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
