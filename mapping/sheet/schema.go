package sheet

import (
	"bytes"
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/config"
)

//go:embed file.go file_*.go
var fileSources embed.FS

// SchemaID is where the JSON Schema of mapping sheets says that it is.
const SchemaID = "https://frontdesk.example/sheet.schema.json"

// Schema returns the JSON Schema (2020-12) of mapping sheets, for editors. It
// is made of the structs that sheets are decoded into, their comments being its
// descriptions.
func Schema() []byte {
	s := schema{comments: comments(), defs: map[string]object{}}
	root := s.structure(reflect.TypeFor[file]())
	root = append(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", SchemaID},
		{"title", "Mapping sheet of frontdesk"},
	}, root...)
	names := make([]string, 0, len(s.defs))
	for name := range s.defs {
		names = append(names, name)
	}
	slices.Sort(names)
	defs := object{}
	for _, name := range names {
		defs = append(defs, member{name, s.defs[name]})
	}
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b, jsontext.WithIndent("  "))
	write(e, append(root, member{"$defs", defs}))
	return b.Bytes()
}

// object is a JSON object in order.
type object []member

type member struct {
	key   string
	value any // string, bool, int, object or []any
}

// write encodes a value; the encoder's buffer never fails.
func write(e *jsontext.Encoder, v any) {
	switch v := v.(type) {
	case object:
		_ = e.WriteToken(jsontext.BeginObject)
		for _, m := range v {
			_ = e.WriteToken(jsontext.String(m.key))
			write(e, m.value)
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

// comments are those of the structs and their fields: file, file.Format.
func comments() map[string]string {
	out := map[string]string{}
	entries, _ := fileSources.ReadDir(".") // embedded: they are there and parse
	for _, entry := range entries {
		src, _ := fileSources.ReadFile(entry.Name())
		parsed, err := parser.ParseFile(token.NewFileSet(), entry.Name(), src, parser.ParseComments)
		if err != nil {
			continue
		}
		for _, decl := range parsed.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				out[t.Name.Name] = sentence(gen.Doc)
				if st, ok := t.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, name := range f.Names {
							out[t.Name.Name+"."+name.Name] = sentence(f.Doc)
						}
					}
				}
			}
		}
	}
	return out
}

func sentence(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}

// schema collects definitions on the way.
type schema struct {
	comments map[string]string
	defs     map[string]object
}

var fileName = regexp.MustCompile(`(File|Settings)$`)

// reference returns a $ref to the definition of a struct, made where it is new.
func (s *schema) reference(t reflect.Type) object {
	name := fileName.ReplaceAllString(t.Name(), "")
	if _, made := s.defs[name]; !made {
		s.defs[name] = nil // it may refer to itself
		s.defs[name] = s.structure(t)
	}
	return object{{"$ref", "#/$defs/" + name}}
}

// structure is the schema of a struct's mapping.
func (s *schema) structure(t reflect.Type) object {
	properties, required := object{}, []any{}
	s.properties(t, &properties, &required)
	out := object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if about := s.comments[t.Name()]; about != "" {
		about = strings.TrimPrefix(about, t.Name()+" is ")
		out = append(object{{"description", strings.ToUpper(about[:1]) + about[1:]}}, out...)
	}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	return out
}

func (s *schema) properties(t reflect.Type, properties *object, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "" && f.Anonymous {
			s.properties(f.Type, properties, required)
			continue
		}
		if name == "" {
			continue
		}
		of := s.of(f.Type)
		for _, rule := range rules(f.Tag.Get("schema")) {
			switch key, value, _ := strings.Cut(rule, "="); key {
			case "required":
				*required = append(*required, name)
			case "enum":
				of = append(of, member{"enum", words(value, f.Type)})
			case "pattern":
				of = append(of, member{"pattern", value})
			case "items":
				of = object{{"type", "array"}, {"items", object{{"enum", words(value, f.Type.Elem())}}}}
			}
		}
		if about := s.comments[t.Name()+"."+f.Name]; about != "" {
			of = append(object{{"description", about}}, of...)
		}
		*properties = append(*properties, member{name, of})
	}
}

// rules divides a schema tag; a pattern, which may hold commas, stands last.
func rules(tag string) []string {
	before, pattern, has := strings.Cut(tag, "pattern=")
	out := strings.FieldsFunc(before, func(r rune) bool { return r == ',' })
	if has {
		out = append(out, "pattern="+pattern)
	}
	return out
}

func words(list string, t reflect.Type) []any {
	var out []any
	for _, w := range strings.Split(list, "|") {
		if t.Kind() == reflect.Int {
			out = append(out, int(w[0]-'0'))
		} else {
			out = append(out, w)
		}
	}
	return out
}

func typed(name string) object { return object{{"type", name}} }

// scalars are the values that a place or a field may have.
func scalars() object {
	return object{{"type", []any{"string", "number", "boolean", "null"}}}
}

func mapOf(value object) object {
	return object{{"type", "object"}, {"additionalProperties", value}}
}

func anyOf(of ...object) object {
	all := make([]any, len(of))
	for i := range of {
		all[i] = of[i]
	}
	return object{{"anyOf", all}}
}

// text is what is decoded as text: a plain number or boolean is, too.
func text() object { return object{{"type", []any{"string", "number", "boolean"}}} }

// of is the schema of a type.
func (s *schema) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return object{{"type", "string"}, {"pattern", `^(\$\{.+\}|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`}}
	case reflect.TypeFor[config.Size]():
		return object{{"type", []any{"string", "integer"}}, {"pattern", `^(\$\{.+\}|[0-9]+(B|KiB|MiB|GiB)?)$`}}
	case reflect.TypeFor[config.Zone]():
		return typed("string")
	case reflect.TypeFor[pairs]():
		return mapOf(text())
	case reflect.TypeFor[names]():
		return anyOf(text(), object{{"type", "array"}, {"items", text()}})
	case reflect.TypeFor[scalarFile]():
		return scalars()
	case reflect.TypeFor[values]():
		return mapOf(anyOf(scalars(), s.reference(reflect.TypeFor[nowFile]())))
	case reflect.TypeFor[codesFile]():
		return mapOf(scalars())
	case reflect.TypeFor[codesRefFile]():
		return anyOf(typed("string"), mapOf(scalars()))
	case reflect.TypeFor[unknownFile]():
		return anyOf(object{{"enum", []any{"fail", "null", "keep"}}}, typed("null"), s.reference(reflect.TypeFor[unknownValueFile]()))
	case reflect.TypeFor[fieldFile]():
		return anyOf(typed("string"), object{{"type", "array"}, {"items", typed("string")}}, typed("null"), s.reference(reflect.TypeFor[fieldSettings]()))
	case reflect.TypeFor[hashFile]():
		return anyOf(typed("string"), s.reference(reflect.TypeFor[hashSettings]()))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Struct:
		return s.reference(t)
	case reflect.Map:
		return mapOf(s.of(t.Elem()))
	case reflect.Slice:
		return object{{"type", "array"}, {"items", s.of(t.Elem())}}
	case reflect.Bool:
		return typed("boolean")
	case reflect.Int, reflect.Int64:
		return typed("integer")
	default:
		return text()
	}
}
