package sheet

import (
	"embed"
	"reflect"
	"regexp"
	"strings"

	"frontdesk/config"
	"frontdesk/config/schema"
)

//go:embed file.go file_*.go
var fileSources embed.FS

// SQLSchemaID is where the JSON Schema of mapping sheets of databases says that it is.
const SQLSchemaID = "https://frontdesk.example/sheet-sql.schema.json"

// SQLSchema returns the JSON Schema (2020-12) of mapping sheets of databases, for editors. It
// is made of the structs that sheets are decoded into, their comments being its
// descriptions.
func SQLSchema() []byte { return schemaBy(reflect.TypeFor[sqlSheetFile](), SQLSchemaID) }

// HTTPSchemaID is where that of sheets of services is.
const HTTPSchemaID = "https://frontdesk.example/sheet-http.schema.json"

// HTTPSchema is SQLSchema of sheets of services.
func HTTPSchema() []byte { return schemaBy(reflect.TypeFor[httpSheetFile](), HTTPSchemaID) }

func schemaBy(t reflect.Type, id string) []byte {
	return schema.Of(t, schema.Options{
		ID: id, Title: "Mapping sheet of frontdesk", Sources: fileSources, Type: schemaOf,
		Name: func(t reflect.Type) string {
			return upper.ReplaceAllStringFunc(fileName.ReplaceAllString(strings.Split(t.Name(), "[")[0], ""), strings.ToLower)
		},
	})
}

var (
	fileName = regexp.MustCompile(`(File|Settings)$`)
	upper    = regexp.MustCompile(`^([A-Z]+$|[A-Z])`)
)

// scalars are the values that a place or a field may have.
func scalars() schema.Object {
	return schema.Object{{Key: "type", Value: []any{"string", "number", "boolean", "null"}}}
}

// schemaOf is the schema of a type that decodes itself; nil for any other.
func schemaOf(g *schema.Generator, t reflect.Type) schema.Object {
	text, typed, anyOf := schema.Text, schema.Typed, schema.AnyOf
	switch t {
	case reflect.TypeFor[config.Size]():
		return schema.Size()
	case reflect.TypeFor[config.Zone]():
		return typed("string")
	case reflect.TypeFor[assigns]():
		return schema.Map(text())
	case reflect.TypeFor[names]():
		return anyOf(text(), schema.List(text()))
	case reflect.TypeFor[scalarFile]():
		return scalars()
	case reflect.TypeFor[codesFile]():
		return schema.Map(scalars())
	case reflect.TypeFor[codesRefFile]():
		return anyOf(typed("string"), schema.Map(scalars()))
	case reflect.TypeFor[generatedFile]():
		return anyOf(schema.Object{{Key: "enum", Value: []any{"identity", "max+1", "supplied"}}}, g.Reference(reflect.TypeFor[generatedSettings]()))
	case reflect.TypeFor[sqlFactFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[sqlFactFile]()))
	case reflect.TypeFor[sqlFieldFile]():
		return anyOf(typed("string"), schema.List(typed("string")), typed("null"), g.Reference(reflect.TypeFor[sqlFieldFile]()))
	case reflect.TypeFor[textFile](), reflect.TypeFor[JQ](), reflect.TypeFor[Path](), reflect.TypeFor[Text]():
		return text()
	case reflect.TypeFor[whoseFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[readFile]()), g.Reference(reflect.TypeFor[throughFile]()))
	case reflect.TypeFor[spotFile](), reflect.TypeFor[Spot]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[readFile]()))
	case reflect.TypeFor[spotsFile]():
		spot := g.Of(reflect.TypeFor[spotFile]())
		return anyOf(typed("string"), schema.List(spot), g.Reference(reflect.TypeFor[readFile]()))
	case reflect.TypeFor[httpKeyFile]():
		return anyOf(typed("string"), schema.List(g.Of(reflect.TypeFor[spotFile]())), g.Reference(reflect.TypeFor[httpKeyFile]()))
	case reflect.TypeFor[Parameters]():
		return schema.Map(anyOf(text(), typed("null"), g.Reference(reflect.TypeFor[producedFile]())))
	case reflect.TypeFor[httpFieldFile]():
		return anyOf(typed("string"), typed("null"), g.Reference(reflect.TypeFor[httpFieldFile]()))
	case reflect.TypeFor[httpFactFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[httpFactFile]()))
	case reflect.TypeFor[hashFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[hashFile]()))
	}
	return nil
}
