package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const unfinishedTables = `
format: 2
source: {sql: {engine: sqlite, dsn: some.db}}
rules: backend
accounts: {table: T}
codes: {none: {}}
resources:
  country: {table: LAND, key: {columns: LANDNR}, update: "CALL P(:naam)", fields: {code: ISO2, name: NAAM}}
  contact: {table: REL, key: {columns: RELNR}, fields: {id: RELNR, nam: C, kind: {column: SRT, codes: none}, name: {read: ":naam"}, note: B}}
`

const unfinishedService = `
format: 2
source: {http: {url: "https://dms.example.nl"}}
rules: backend
client: org
accounts: {users: []}
errors: [{when: {jq: "}"}, reason: in_use, at: order}]
resources:
  country: {path: c, key: nr, client: "", fields: {code: code, name: name}}
  contact: {path: /c, key: nr, fields: {kind: {constant: person}, name: {read: "{"}, note: memo}}
`

// TestLoadPart: what has no problem is loaded, with what depends on nothing that has some.
func TestLoadPart(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	load := func(text string) (*sheet.Sheet, []string) {
		path := filepath.Join(t.TempDir(), "sheet.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s, without, err := LoadPart(path, model, sheet.Options{})
		require.NoError(t, err)
		return s, without
	}
	s, without := load(unfinishedTables)
	require.Equal(t, []string{"accounts", "codes.none", "resources.contact.fields.id", "resources.contact.fields.kind", "resources.contact.fields.nam", "resources.contact.fields.name", "resources.country"}, without)
	require.Nil(t, s.Resource("contact").Field("name"))
	require.EqualValues(t, []string{"B"}, s.Resource("contact").SQL.Fields[s.Resource("contact").Field("note").Index].Names)

	s, without = load(unfinishedService)
	require.Equal(t, []string{"errors", "resources.contact.fields.name", "resources.country"}, without)
	require.Nil(t, s.Resource("contact").Field("name"))
	require.NotNil(t, s.Resource("contact").Field("note"))
	require.Empty(t, s.Source.Service.Errors)

	s, without = load(strings.Replace(unfinishedTables, "engine: sqlite", "engine: oracle", 1))
	require.Nil(t, s, "nobody knows what the rest means")
	require.Empty(t, without)
}
