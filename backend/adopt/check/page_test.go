package check

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const pagedSheet = `format: 2
source: {sql: {engine: sqlite, dsn: "${PAGE_DSN}"}}
time_zone: UTC
keep: keep.db
client: adm
rules: backend
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    where: gone <> 'J'
    delete: UPDATE w_contact SET gone = 'J' WHERE id = :key
    constants: {made_by: "'web'"}
    fields:
      kind: {constant: person}
      name: name
      note: {read: (SELECT words FROM w_colour WHERE nr = colour)}
`

// overTables is a sheet over an SQLite database of these tables.
func overTables(t *testing.T, text string, tables ...string) Options {
	t.Helper()
	dir := t.TempDir()
	dsn, path := filepath.Join(dir, "page.db"), filepath.Join(dir, "page.yaml")
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	execute(t, db, tables...)
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{Env: func(string) (string, bool) { return dsn, true }})
	require.NoError(t, err)
	return Options{Sheet: s, Model: model, Rows: 10, Open: opener(t)}
}

// TestPageSaysWhatIsUsed: a column is used that only a deletion, a constant or SQL
// names, and so is the table in it.
func TestPageSaysWhatIsUsed(t *testing.T) {
	o := overTables(t, pagedSheet, "CREATE TABLE w_contact (id int NOT NULL PRIMARY KEY, adm int, name varchar(100), gone varchar(1), made_by varchar(9), colour int, idle int)",
		"CREATE TABLE w_colour (nr int PRIMARY KEY, words varchar(99))", "CREATE TABLE w_idle (nr int PRIMARY KEY)")
	report, err := SQL(t.Context(), o)
	require.NoError(t, err)
	page, err := Page(t.Context(), o, report)
	require.NoError(t, err)
	require.Len(t, page.Resources[0].Columns, 1)
	require.Equal(t, "idle", page.Resources[0].Columns[0].Name)
	require.Len(t, page.Unused, 1)
	require.Equal(t, "w_idle", page.Unused[0].Name)
}
