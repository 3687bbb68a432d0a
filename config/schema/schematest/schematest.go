// Package schematest tries JSON Schemas of YAML files as editors use them. It is
// for tests only.
package schematest

import (
	"bytes"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// UpToDate fails if the file for editors differs from the schema that is made from the
// structs. With write (go test -update) it writes the file first.
func UpToDate(t *testing.T, file string, schema []byte, write bool) {
	t.Helper()
	if write {
		require.NoError(t, os.WriteFile(file, schema, 0o644))
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	if !bytes.Equal(schema, kept) {
		t.Errorf("%s differs from the structs: run this package's tests with -update", file)
	}
}

// Compile compiles a schema whose $id is id.
func Compile(t *testing.T, id string, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(id, doc))
	compiled, err := c.Compile(id)
	require.NoError(t, err)
	return compiled
}

// Instance reads a YAML file as a JSON value, as editors do.
func Instance(t *testing.T, file string) any {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON(src)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	require.NoError(t, err)
	return value
}
