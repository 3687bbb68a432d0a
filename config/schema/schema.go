// Package schema makes JSON Schemas for editors from the structs that YAML files are decoded
// into. Comments become descriptions; types and the constraints of fields, by which the decoder
// judges as well, become the rest.
//
// Only tests make schemas, and compare docs/*.schema.json with them.
//
// It is not a general generator: it knows what [frontdesk/config/strictyaml]
// decodes, and asks its caller about types that decode themselves.
package schema

import (
	"bytes"
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/config/strictyaml"
)

// Object is a JSON object in order; its values are text, booleans, whole numbers,
// Objects and lists of these.
type Object []Member

// Member is a name and a value.
type Member struct {
	Key   string
	Value any // string, bool, int, Object or []any
}

// Options say what a schema is made from.
type Options struct {
	ID, Title string
	// Sources hold the structs, for their comments.
	Sources embed.FS
	// Type returns the schema of a type that decodes itself; nil for any other.
	Type func(g *Generator, t reflect.Type) Object
	// Name returns the name of a struct's definition; nil for the struct's own name.
	Name func(t reflect.Type) string
}

// Generator makes a schema, and collects its definitions.
type Generator struct {
	options  Options
	comments map[string]string
	defs     map[string]Object
}

// Of returns the JSON Schema (2020-12) of a struct.
func Of(t reflect.Type, o Options) []byte {
	if o.Name == nil {
		o.Name = reflect.Type.Name
	}
	g := &Generator{options: o, comments: comments(o.Sources), defs: map[string]Object{}}
	root := append(Object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", o.ID}, {"title", o.Title},
	}, g.structure(t)...)
	defs := Object{}
	for _, name := range slices.Sorted(maps.Keys(g.defs)) {
		defs = append(defs, Member{name, g.defs[name]})
	}
	var b bytes.Buffer
	write(jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), append(root, Member{"$defs", defs}))
	return b.Bytes()
}

// write encodes a value; the encoder's buffer never fails.
func write(e *jsontext.Encoder, v any) {
	switch v := v.(type) {
	case Object:
		_ = e.WriteToken(jsontext.BeginObject)
		for _, m := range v {
			_ = e.WriteToken(jsontext.String(m.Key))
			write(e, m.Value)
		}
		_ = e.WriteToken(jsontext.EndObject)
	case []any:
		_ = e.WriteToken(jsontext.BeginArray)
		for _, item := range v {
			write(e, item)
		}
		_ = e.WriteToken(jsontext.EndArray)
	case bool:
		_ = e.WriteToken(jsontext.Bool(v))
	case int:
		_ = e.WriteToken(jsontext.Int(int64(v)))
	case string:
		_ = e.WriteToken(jsontext.String(v))
	}
}

// comments returns the comments of structs and their fields, by names such as file and
// file.Format. The comment of a field is above it or at the end of its line.
func comments(sources embed.FS) map[string]string {
	out := map[string]string{}
	entries, _ := sources.ReadDir(".") // embedded files exist
	for _, entry := range entries {
		src, _ := sources.ReadFile(entry.Name())
		parsed, err := parser.ParseFile(token.NewFileSet(), entry.Name(), src, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			gen, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range gen.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					out[t.Name.Name] = sentence(gen.Doc)
					fieldComments(t, out)
				}
			}
			return false
		})
	}
	return out
}

func fieldComments(t *ast.TypeSpec, out map[string]string) {
	st, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range st.Fields.List {
		about := sentence(f.Doc)
		if about == "" {
			about = sentence(f.Comment)
		}
		for _, name := range f.Names {
			out[t.Name.Name+"."+name.Name] = about
		}
	}
}

func sentence(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}

// Reference returns a $ref to the definition of a struct, which it makes if it is new.
func (g *Generator) Reference(t reflect.Type) Object {
	name := g.options.Name(t)
	if _, made := g.defs[name]; !made {
		g.defs[name] = nil // the struct may refer to itself
		g.defs[name] = g.structure(t)
	}
	return Object{{"$ref", "#/$defs/" + name}}
}

// structure returns the schema of a struct.
func (g *Generator) structure(t reflect.Type) Object {
	properties, required := Object{}, []any{}
	g.properties(t, &properties, &required)
	out := Object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if about := g.comments[nameOf(t)]; about != "" {
		about = strings.TrimPrefix(about, nameOf(t)+" is ")
		out = append(Object{{"description", strings.ToUpper(about[:1]) + about[1:]}}, out...)
	}
	if len(required) > 0 {
		out = append(out, Member{"required", required})
	}
	return out
}

func (g *Generator) properties(t reflect.Type, properties *Object, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "" && f.Anonymous {
			g.properties(f.Type, properties, required)
			continue
		}
		if name == "" {
			continue
		}
		of := g.Of(f.Type)
		for _, c := range strictyaml.Constraints(f.Tag.Get("schema")) {
			if c.Name == "required" {
				*required = append(*required, name)
			}
			of = constrained(of, f.Type, c)
		}
		if about := g.comments[nameOf(t)+"."+f.Name]; about != "" {
			of = append(Object{{"description", about}}, of...)
		}
		*properties = append(*properties, Member{name, of})
	}
}

// nameOf returns the name of a struct in its source, without type arguments.
func nameOf(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// constrained adds a constraint to the schema of a type.
func constrained(of Object, t reflect.Type, c strictyaml.Constraint) Object {
	isList := t.Kind() == reflect.Slice
	switch c.Name {
	case "required":
		if isList && c.Expected != "" {
			return append(of, Member{"minItems", 1})
		}
		return of
	case "unique":
		return append(of, Member{"uniqueItems", true})
	case "items":
		return List(Object{{"enum", words(c)}})
	}
	if isList {
		if i := slices.IndexFunc(of, func(m Member) bool { return m.Key == "items" }); i >= 0 {
			of[i].Value = constrained(of[i].Value.(Object), t.Elem(), c)
		}
		return of
	}
	switch low, high := c.Bounds(); {
	case c.Name == "enum":
		return append(of, AnyOf(Object{{"enum", words(c)}}, Object{{"type", "string"}, {"pattern", Variable}})...)
	case c.Name == "pattern":
		return append(of, Member{"pattern", c.Argument + "|" + Variable})
	case t.Kind() < reflect.Int || t.Kind() > reflect.Float64 || t.PkgPath() != "": // a text with a unit
		return of
	case c.Name == "above":
		return append(of, Member{"exclusiveMinimum", whole(low)})
	default:
		return append(append(of, bound("minimum", low)...), bound("maximum", high)...)
	}
}

func bound(keyword, text string) Object {
	if text == "" {
		return nil
	}
	return Object{{keyword, whole(text)}}
}

// whole reads a whole number from a tag; 0 if it is none.
func whole(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func words(c strictyaml.Constraint) (all []any) {
	for _, word := range c.Words() {
		all = append(all, word)
	}
	return all
}

// Variable matches a text that refers to an environment variable, which may stand in place of any
// value.
const Variable = `\$\{.+\}`

// Size returns the schema of a config.Size.
func Size() Object {
	return Object{{"type", []any{"string", "integer"}}, {"pattern", `^(` + Variable + `|[0-9]+(B|KiB|MiB|GiB)?)$`}}
}

// Typed returns the schema of a JSON type.
func Typed(name string) Object { return Object{{"type", name}} }

// Text returns the schema of what is decoded as text; plain numbers and booleans are, too.
func Text() Object { return Object{{"type", []any{"string", "number", "boolean"}}} }

// Map returns the schema of a mapping from any name to a value.
func Map(value Object) Object {
	return Object{{"type", "object"}, {"additionalProperties", value}}
}

// List returns the schema of a list.
func List(value Object) Object { return Object{{"type", "array"}, {"items", value}} }

// AnyOf returns the schema of a value that fits one of several.
func AnyOf(of ...Object) Object {
	all := make([]any, len(of))
	for i := range of {
		all[i] = of[i]
	}
	return Object{{"anyOf", all}}
}

// Of returns the schema of a type.
func (g *Generator) Of(t reflect.Type) Object {
	if t == reflect.TypeFor[time.Duration]() {
		return Object{{"type", "string"}, {"pattern", `^(\$\{.+\}|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`}}
	}
	if of := g.options.Type(g, t); of != nil {
		return of
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.Of(t.Elem())
	case reflect.Struct:
		return g.Reference(t)
	case reflect.Map:
		return Map(g.Of(t.Elem()))
	case reflect.Slice:
		return List(g.Of(t.Elem()))
	case reflect.Bool:
		return Typed("boolean")
	case reflect.Int, reflect.Int64:
		return Typed("integer")
	default:
		return Text()
	}
}
