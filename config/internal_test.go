package config

import (
	"embed"
	"reflect"

	"frontdesk/config/schema"
)

// Load reads a configuration once.
func Load(path string, known Known) (*Config, error) { return NewLoader(path, known).Load() }

// Parse is Load for a main file that was read already; path is its name in
// problems, and what it includes is looked for beside it.
func Parse(path string, src []byte, known Known) (*Config, error) {
	l := NewLoader(path, known)
	return l.finish(decodeSource(path, src, true, l.known.Env), l.known.Now())
}

//go:embed config.go key.go
var structs embed.FS

// SchemaID is where the JSON Schema of configurations says that it is.
const SchemaID = "https://frontdesk.example/config.schema.json"

// Schema returns the JSON Schema (2020-12) of configurations, for editors. It is
// made of the structs, their comments being its descriptions. Included files fit
// it too.
func Schema() []byte {
	return schema.Of(reflect.TypeFor[Config](), schema.Options{ID: SchemaID, Title: "Configuration of frontdesk", Sources: structs, Type: schemaOf})
}

func matching(pattern string, types ...any) schema.Object {
	return schema.Object{{Key: "type", Value: types}, {Key: "pattern", Value: "^(.*" + schema.Variable + ".*|" + pattern + ")$"}}
}

// schemaOf is the schema of a type that is more than its kind; nil for any other.
func schemaOf(g *schema.Generator, t reflect.Type) schema.Object {
	switch t {
	case reflect.TypeFor[Size]():
		return schema.Size()
	case reflect.TypeFor[Zone](), reflect.TypeFor[Network]():
		return schema.Typed("string")
	case reflect.TypeFor[Rule]():
		const grant = `(GET|POST|PUT|DELETE|\*) /.*`
		return schema.AnyOf(matching(grant, "string"), schema.Object{
			{Key: "type", Value: "object"}, {Key: "minProperties", Value: 1}, {Key: "maxProperties", Value: 1},
			{Key: "propertyNames", Value: schema.Object{{Key: "pattern", Value: "^" + grant + "$"}}}, {Key: "additionalProperties", Value: g.Reference(reflect.TypeFor[Fields]())},
		})
	case reflect.TypeFor[Digest]():
		return matching(`[0-9a-fA-F]{64}`, "string", "integer")
	case reflect.TypeFor[Expiry]():
		return matching(`[0-9]{4}-[0-9]{2}-[0-9]{2}(T.+)?`, "string")
	case reflect.TypeFor[KeyHash]():
		return schema.AnyOf(schemaOf(g, reflect.TypeFor[Digest]()), g.Reference(t))
	}
	switch t.Kind() {
	case reflect.Slice:
		return schema.Object{{Key: "type", Value: []any{"array", "null"}}, {Key: "items", Value: g.Of(t.Elem())}}
	case reflect.Bool:
		return orVariable("boolean")
	case reflect.Int, reflect.Int64, reflect.Uint16:
		if t.PkgPath() == "" {
			return orVariable("integer")
		}
	case reflect.Float64:
		return orVariable("number")
	}
	return nil
}

// orVariable is a number or boolean, or a schema.Variable that stands for one.
func orVariable(name string) schema.Object {
	return schema.AnyOf(schema.Typed(name), schema.Object{{Key: "type", Value: "string"}, {Key: "pattern", Value: schema.Variable}})
}
