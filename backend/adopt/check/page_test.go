package check

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const pagedSheet = `format: 1
source: {sql: {engine: sqlite, dsn: "${PAGE_DSN}"}}
time_zone: UTC
client: adm
rules: backend
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    soft_delete: {gone: J}
    constants: {made_by: web}
    fields:
      kind: {constant: person}
      name: name
      note: {lookup: {table: w_colour, match: {nr: colour}, take: words}}
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
	return Options{Sheet: s, Model: model, Rows: 10}
}

// TestPageSaysWhatIsUsed: a column is used that only a deletion, a constant or a lookup
// names, and so is the lookup's table.
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

// TestRowsBesideTheRecord: of a row in another table, which a write makes where there is none, all
// must be written that it has to have.
func TestRowsBesideTheRecord(t *testing.T) {
	const beside = "{lookup: {table: w_more, match: {contact: id}, take: "
	text := strings.Replace(pagedSheet, "note: {lookup: {table: w_colour, match: {nr: colour}, take: words}}",
		"note: "+beside+"memo, write: true}}\n      first_name: "+beside+"first, write: true}}", 1)
	report, err := SQL(t.Context(), overTables(t, text, "CREATE TABLE w_contact (id int NOT NULL PRIMARY KEY, adm int, name varchar(100), gone varchar(1), made_by varchar(9))",
		"CREATE TABLE w_more (contact int NOT NULL, memo text NOT NULL, first text, made_at text NOT NULL, kind text NOT NULL DEFAULT 'x', nr integer PRIMARY KEY)"))
	require.NoError(t, err)
	unfilled := report.has("sql.unfilled", "resources.contact.fields.first_name.lookup.table")
	require.Len(t, unfilled, 1, words(t, report))
	require.Contains(t, unfilled[0].Seen, "w_more.made_at must have a value")
	null := report.has("sql.not-null", "resources.contact.fields.note")
	require.Len(t, null, 1, words(t, report))
	require.Contains(t, null[0].Seen, "w_more.memo takes no null")
	require.Zero(t, report.Count(Error)-1, words(t, report))
}
