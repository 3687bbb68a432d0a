package check

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// notedSheet is of a system that notes itself what changes.
const notedSheet = `
format: 2
source: {sql: {engine: sqlite, dsn: "${NOTED_DSN}"}}
keep: keep.db
accounts: {users: []}
client: adm
resources:
  contact:
    table: n_rel
    key: {columns: nr, generated: max+1}
    changes: {by: table, table: n_wijz, sequence: nr, key: sleutel, where: tabel = 'n_rel'}
    fields: {name: naam, kind: {constant: person}}
`

// TestChangesAreAsked: of a table of changes it is told what cannot be read, what
// names no record, and what leads to none.
func TestChangesAreAsked(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "noted.db")
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	defer db.Close()
	execute(t, db, "CREATE TABLE n_rel (nr integer PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL)",
		"CREATE TABLE n_wijz (nr integer PRIMARY KEY, tabel varchar(10) NOT NULL, sleutel integer, ander integer)",
		"INSERT INTO n_rel VALUES (1, 1, 'Een'), (2, 1, 'Twee')", "INSERT INTO n_wijz VALUES (1, 'n_rel', 1, NULL), (2, 'n_rel', 2, 77), (3, 'ander', 5, 5)")
	for name, of := range map[string]struct {
		replace          []string
		rule, path, seen string
	}{
		"right":    {nil, "", "", "contact: 2 of 2 changes that were read lead to a record"},
		"unread":   {[]string{"where: tabel = 'n_rel'", "where: tabl = 'n_rel'"}, "ask.changes", "resources.contact.changes", "what has changed cannot be read: "},
		"nameless": {[]string{"key: sleutel", "key: ander"}, "ask.changes-key", "resources.contact.changes.key", "1 of 2 changes have no key there"},
		"nowhere":  {[]string{"tabel = 'n_rel'", "tabel = 'ander'"}, "ask.changes-lead-nowhere", "resources.contact.changes", "none of the 1 changes that were read leads to a record"},
	} {
		t.Run("table "+name, func(t *testing.T) {
			o, problems := sheetOf(t, notedSheet, dsn, of.replace...)
			require.Empty(t, problems)
			o.Open = opener(t)
			report, err := SQL(t.Context(), o)
			require.NoError(t, err)
			isSaid(t, report, of.rule, of.path, of.seen)
		})
	}

}

// isSaid holds a report to one finding; to none with these rules if the rule is "".
func isSaid(t *testing.T, report *Report, rule, path, seen string) {
	t.Helper()
	if rule == "" {
		require.Contains(t, words(t, report), seen)
		for _, f := range report.Findings {
			require.NotContains(t, f.Rule, "ask.changes", words(t, report))
		}
		return
	}
	found := report.has(rule, path)
	require.Len(t, found, 1, words(t, report))
	require.Contains(t, found[0].Seen, seen)
}
