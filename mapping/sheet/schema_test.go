package sheet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"frontdesk/mapping/sheet"
)

const schemaFile = "../../docs/sheet.schema.json"

func TestSchemaFileIsUpToDate(t *testing.T) {
	got := sheet.Schema()
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the structs: run go test ./mapping/sheet -update", schemaFile)
	}
}

func validator(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(sheet.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(sheet.SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(sheet.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a YAML file as a JSON value, as editors judge it.
func instance(t *testing.T, file string) any {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSheetsFitTheSchema(t *testing.T) {
	s := validator(t)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../../backend/*/testdata/*.yaml", "../../backend/*/testdata/*/*.yaml"} {
		others, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, others...)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, ".bad.yaml") || !bytes.Contains(src, []byte("\nsource:")) {
			continue
		}
		if err := s.Validate(instance(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestBadSheetsDoNotFitTheSchema(t *testing.T) {
	s := validator(t)
	for _, name := range []string{"unknown_key", "words", "engine"} {
		if s.Validate(instance(t, "testdata/"+name+".bad.yaml")) == nil {
			t.Errorf("%s fits the schema", name)
		}
	}
}
