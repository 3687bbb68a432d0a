package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"frontdesk/config"
)

const schemaFile = "../docs/config.schema.json"

func TestSchemaFileIsUpToDate(t *testing.T) {
	got := config.Schema()
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
		t.Errorf("%s differs from the structs: run go test ./config -update", schemaFile)
	}
}

// schemaOf compiles the schema, as editors do.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(config.SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(config.SchemaID)
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

func TestConfigurationsFitTheSchema(t *testing.T) {
	s := schemaOf(t)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".bad.yaml") {
			continue
		}
		fit++
		if err := s.Validate(instance(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if fit == 0 {
		t.Error("no configuration was tried")
	}
}

func TestBadConfigurationsDoNotFitTheSchema(t *testing.T) {
	s := schemaOf(t)
	for _, name := range []string{"allow_method", "allow_list", "expect", "key_name_missing", "log_level", "mistyped"} {
		if s.Validate(instance(t, "testdata/"+name+".bad.yaml")) == nil {
			t.Errorf("%s fits the schema", name)
		}
	}
}
