package sheet

import (
	"embed"
	"reflect"
	"regexp"

	"frontdesk/config"
	"frontdesk/config/schema"
)

//go:embed file.go file_*.go
var fileSources embed.FS

// SchemaID is where the JSON Schema of mapping sheets says that it is.
const SchemaID = "https://frontdesk.example/sheet.schema.json"

// SQLSchemaID is where that of sheets of format 2 is.
const SQLSchemaID = "https://frontdesk.example/sheet-sql.schema.json"

// Schema returns the JSON Schema (2020-12) of mapping sheets, for editors. It
// is made of the structs that sheets are decoded into, their comments being its
// descriptions.
func Schema() []byte { return schemaBy(reflect.TypeFor[file](), SchemaID) }

// SQLSchema is Schema of sheets of format 2.
func SQLSchema() []byte { return schemaBy(reflect.TypeFor[sqlSheetFile](), SQLSchemaID) }

func schemaBy(t reflect.Type, id string) []byte {
	return schema.Of(t, schema.Options{
		ID: id, Title: "Mapping sheet of frontdesk", Sources: fileSources, Type: schemaOf,
		Name: func(t reflect.Type) string { return fileName.ReplaceAllString(t.Name(), "") },
	})
}

var fileName = regexp.MustCompile(`(File|Settings)$`)

// scalars are the values that a place or a field may have.
func scalars() schema.Object {
	return schema.Object{{Key: "type", Value: []any{"string", "number", "boolean", "null"}}}
}

// schemaOf is the schema of a type that decodes itself; nil for any other.
func schemaOf(g *schema.Generator, t reflect.Type) schema.Object {
	text, typed, anyOf := schema.Text, schema.Typed, schema.AnyOf
	switch t {
	case reflect.TypeFor[config.Size]():
		return config.SizeSchema()
	case reflect.TypeFor[config.Zone]():
		return typed("string")
	case reflect.TypeFor[pairs]():
		return schema.Map(text())
	case reflect.TypeFor[names]():
		return anyOf(text(), schema.List(text()))
	case reflect.TypeFor[scalarFile]():
		return scalars()
	case reflect.TypeFor[values]():
		return schema.Map(anyOf(scalars(), g.Reference(reflect.TypeFor[nowFile]())))
	case reflect.TypeFor[codesFile]():
		return schema.Map(scalars())
	case reflect.TypeFor[codesRefFile]():
		return anyOf(typed("string"), schema.Map(scalars()))
	case reflect.TypeFor[unknownFile]():
		return anyOf(schema.Object{{Key: "enum", Value: []any{"fail", "null", "keep"}}}, typed("null"), g.Reference(reflect.TypeFor[unknownValueFile]()))
	case reflect.TypeFor[connectionsFile]():
		return anyOf(typed("integer"), schema.Object{{Key: "const", Value: fresh}})
	case reflect.TypeFor[whoseFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[throughFile]()))
	case reflect.TypeFor[fieldFile]():
		return anyOf(typed("string"), schema.List(typed("string")), typed("null"), g.Reference(reflect.TypeFor[fieldSettings]()))
	case reflect.TypeFor[exprFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[readFile]()))
	case reflect.TypeFor[sqlWhoseFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[readFile]()), g.Reference(reflect.TypeFor[throughFile]()))
	case reflect.TypeFor[generatedFile]():
		return anyOf(schema.Object{{Key: "enum", Value: []any{"identity", "max+1", "supplied"}}}, g.Reference(reflect.TypeFor[generatedSettings]()))
	case reflect.TypeFor[sqlFactFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[sqlFactSettings]()))
	case reflect.TypeFor[sqlFieldFile]():
		return anyOf(typed("string"), schema.List(typed("string")), typed("null"), g.Reference(reflect.TypeFor[sqlFieldSettings]()))
	case reflect.TypeFor[hashFile]():
		return anyOf(typed("string"), g.Reference(reflect.TypeFor[hashSettings]()))
	}
	return nil
}
