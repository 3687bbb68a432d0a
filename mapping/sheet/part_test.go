package sheet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

const unfinished = `
format: 1
source: {http: {url: "https://dms.example.nl"}}
rules: backend
client: ADM
accounts: {verify: {path: /login}, result: {username: LOGIN}}
resources:
  country:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: LANDNR, generated: uuids}
    client: ""
    fields: {code: ISO2, name: NAAM}
  contact:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: RELNR}
    fields:
      kind: {from: SRT, codes: {}}
      name: NAAM
      birth_date: {from: GEBDAT, format: jjjj}
  contactaddress:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: ADRNR}
    fields: {contact_id: RELNR, type: {constant: visit}, street: STRAAT, house_number: NR, postcode: PC, city: PLAATS, country_id: LANDNR}
`

const unfinishedTables = `
format: 2
source: {sql: {engine: sqlite, dsn: some.db}}
rules: backend
accounts: {users: []}
resources:
  country: {table: LAND, key: {columns: LANDNR}, update: "CALL P(:naam)", fields: {code: ISO2, name: NAAM}}
  contact: {table: REL, key: {columns: RELNR}, fields: {kind: {constant: person}, name: {read: ":naam"}, note: B}}
`

// TestLoadPart: what has no problem is loaded, with what depends on nothing that has some.
func TestLoadPart(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	load := func(text string) (*Sheet, []string) {
		path := filepath.Join(t.TempDir(), "sheet.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s, without, err := LoadPart(path, model, Options{})
		require.NoError(t, err)
		return s, without
	}
	s, without := load(unfinished)
	require.Equal(t, []string{"accounts", "resources.contact.fields.birth_date", "resources.contact.fields.kind", "resources.country"}, without)
	require.NotNil(t, s.Resource("contact").Field("name"))
	require.Nil(t, s.Resource("contact").Field("birth_date"))
	require.NotNil(t, s.Resource("contactaddress").Field("city"))
	require.Nil(t, s.Resource("country"))

	s, without = load(unfinishedTables)
	require.Equal(t, []string{"resources.contact.fields.name", "resources.country"}, without)
	require.Nil(t, s.Resource("contact").Field("name"))
	require.Equal(t, []string{"B"}, s.Resource("contact").SQL.Fields[s.Resource("contact").Field("note").Index].Names)

	s, without = load(strings.Replace(unfinishedTables, "engine: sqlite", "engine: oracle", 1))
	require.Nil(t, s, "nobody knows what the rest means")
	require.Empty(t, without)
}
