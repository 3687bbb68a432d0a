package sheet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/config/schema/schematest"
	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchemaFileIsUpToDate(t *testing.T) {
	schematest.UpToDate(t, "../../docs/sheet-sql.schema.json", sheet.SQLSchema(), *update)
	schematest.UpToDate(t, "../../docs/sheet-http.schema.json", sheet.HTTPSchema(), *update)
}

func TestSheetsFitTheSchema(t *testing.T) {
	databases, services := schematest.Compile(t, sheet.SQLSchemaID, sheet.SQLSchema()), schematest.Compile(t, sheet.HTTPSchemaID, sheet.HTTPSchema())
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	for _, pattern := range []string{"../../backend/*/testdata/*.yaml", "../../backend/*/testdata/*/*.yaml"} {
		others, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, others...)
	}
	fit := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, ".bad.yaml") || !bytes.Contains(src, []byte("\nsource:")) {
			continue
		}
		fit++
		s := databases
		if bytes.Contains(src, []byte("http:")) {
			s = services
		}
		assert.NoError(t, s.Validate(schematest.Instance(t, file)), file)
	}
	assert.NotZero(t, fit)
}

func TestBadSheetsDoNotFitTheSchema(t *testing.T) {
	databases, services := schematest.Compile(t, sheet.SQLSchemaID, sheet.SQLSchema()), schematest.Compile(t, sheet.HTTPSchemaID, sheet.HTTPSchema())
	for _, name := range []string{"service_source", "service_key", "service_field"} {
		require.Error(t, services.Validate(schematest.Instance(t, "testdata/"+name+".bad.yaml")), name)
	}
	for _, name := range []string{"unknown_key", "connections", "engine", "format", "resources_missing", "sql_words_of_format_1", "sql_accounts", "sql_field"} {
		require.Error(t, databases.Validate(schematest.Instance(t, "testdata/"+name+".bad.yaml")), name)
	}
}
