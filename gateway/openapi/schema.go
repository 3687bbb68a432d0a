package openapi

import "encoding/json"

// Schema says what a value is.
type Schema struct {
	Ref         string       `json:"$ref,omitempty"`
	Type        Types        `json:"type,omitempty"`
	Nullable    bool         `json:"nullable,omitempty"` // 3.0 only; 3.1 has null among its types
	Description string       `json:"description,omitempty"`
	Format      string       `json:"format,omitempty"`
	Encoding    string       `json:"contentEncoding,omitempty"`
	Pattern     string       `json:"pattern,omitempty"`
	MinLength   int          `json:"minLength,omitempty"`
	MaxLength   int          `json:"maxLength,omitempty"`
	Minimum     *int         `json:"minimum,omitempty"`
	Maximum     *int         `json:"maximum,omitempty"`
	Const       any          `json:"const,omitempty"`
	Enum        []any        `json:"enum,omitempty"`
	Default     any          `json:"default,omitempty"`
	Items       *Schema      `json:"items,omitempty"`
	MinItems    int          `json:"minItems,omitempty"`
	MaxItems    int          `json:"maxItems,omitempty"`
	Properties  Map[*Schema] `json:"properties,omitempty"`
	Required    []string     `json:"required,omitempty"`
	Additional  *bool        `json:"additionalProperties,omitempty"`
	AnyOf       []*Schema    `json:"anyOf,omitempty"`
	ReadOnly    bool         `json:"readOnly,omitempty"`
	Examples    []any        `json:"examples,omitempty"`
	Example     any          `json:"example,omitempty"` // 3.0 only
}

// Types are the types a value may have; most have one.
type Types []string

// MarshalJSON implements json.Marshaler.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Null is the type of null.
const Null = "null"

// Ref refers to a schema of the components.
func Ref(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// each calls f with the schema and all that it is made of.
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
