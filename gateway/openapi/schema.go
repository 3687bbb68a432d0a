package openapi

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema says what a value is.
type Schema struct {
	Ref         string       `json:"$ref,omitzero"`
	Type        Types        `json:"type,omitempty"`
	Nullable    bool         `json:"nullable,omitzero"` // 3.0 only; 3.1 has null among its types
	Description string       `json:"description,omitzero"`
	Format      string       `json:"format,omitzero"`
	Encoding    string       `json:"contentEncoding,omitzero"`
	Pattern     string       `json:"pattern,omitzero"`
	MinLength   int          `json:"minLength,omitzero"`
	MaxLength   int          `json:"maxLength,omitzero"`
	Minimum     *int         `json:"minimum,omitzero"`
	Maximum     *int         `json:"maximum,omitzero"`
	Const       any          `json:"const,omitzero"`
	Enum        []any        `json:"enum,omitempty"`
	Default     any          `json:"default,omitzero"`
	Items       *Schema      `json:"items,omitzero"`
	MinItems    int          `json:"minItems,omitzero"`
	MaxItems    int          `json:"maxItems,omitzero"`
	Properties  Map[*Schema] `json:"properties,omitempty"`
	Required    []string     `json:"required,omitempty"`
	Additional  *bool        `json:"additionalProperties,omitzero"`
	AnyOf       []*Schema    `json:"anyOf,omitempty"`
	Deprecated  bool         `json:"deprecated,omitzero"`
	Examples    []any        `json:"examples,omitempty"`
	Example     any          `json:"example,omitzero"` // 3.0 only
	// References is the resource whose record an id names.
	References string `json:"x-references,omitzero"`
}

// Types are the types a value may have; most have one.
type Types []string

// MarshalJSONTo implements json.MarshalerTo.
func (t Types) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(t) == 1 {
		return e.WriteToken(jsontext.String(t[0]))
	}
	return json.MarshalEncode(e, []string(t))
}

// Null is the type of null.
const Null = "null"

// Ref refers to a schema of the components.
func Ref(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// each calls f with the schema and all its parts.
func (s *Schema) each(f func(*Schema)) {
	if s == nil {
		return
	}
	f(s)
	s.Items.each(f)
	for _, p := range s.Properties {
		p.Value.each(f)
	}
	for _, a := range s.AnyOf {
		a.each(f)
	}
}
