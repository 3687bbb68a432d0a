package check

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
)

// groupSheet has records by a text; %s is what the sheet says of their case.
const groupSheet = `
format: 2
source: {sql: {engine: mariadb, dsn: "${DSN}"}}
keep: keep.db
accounts: {users: []}
resources:
  turnovergroup:
    table: omzetgroep
    key: {columns: code%s, id: kept, generated: supplied}
    client: ""
    fields: {code: code, description: omschrijving, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
`

// TestCaseOfKeys: what the sheet says of case is held to what the database says.
func TestCaseOfKeys(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	for _, test := range []struct {
		collation, says string
		want            []Severity
	}{
		{"utf8mb4_general_ci", "", nil}, // known to the driver
		{"utf8mb4_general_ci", ", case: exact", []Severity{Warning}},
		{"utf8mb4_general_ci", ", case: ignore", nil},
		{"utf8mb4_bin", "", nil},
		{"utf8mb4_bin", ", case: ignore", []Severity{Error}},
	} {
		t.Run(test.collation+test.says, func(t *testing.T) {
			for _, statement := range []string{
				"DROP TABLE IF EXISTS omzetgroep",
				"CREATE TABLE omzetgroep (code varchar(20) COLLATE " + test.collation + " NOT NULL PRIMARY KEY, omschrijving varchar(100) NOT NULL)",
				"INSERT INTO omzetgroep VALUES ('AB01', 'first')",
			} {
				_, err := db.ExecContext(t.Context(), statement)
				require.NoError(t, err)
			}
			path := filepath.Join(t.TempDir(), "sheet.yaml")
			require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, groupSheet, test.says), 0o600))
			var got []Severity
			for _, f := range checked(t, path, dsn).has("sql.key-case", "resources.turnovergroup.key") {
				got = append(got, f.Severity)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// TestTablesWithoutTransactions: what a write leaves that is refused half-way is an error of the sheet,
// unless clients only read.
func TestTablesWithoutTransactions(t *testing.T) {
	dsn := legacytest.EmptyMariaDB(t, "utf8mb4")
	db := opened(t, dsn)
	execute(t, db, "CREATE TABLE omzetgroep (code varchar(20) NOT NULL PRIMARY KEY, omschrijving varchar(100) NOT NULL) ENGINE=MyISAM", "INSERT INTO omzetgroep VALUES ('AB01', 'first')")
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	write := func(more string) *Report {
		require.NoError(t, os.WriteFile(path, append(fmt.Appendf(nil, groupSheet, ""), more...), 0o600))
		return checked(t, path, dsn)
	}
	found := write("").has("sql.no-transactions", "resources.turnovergroup.table")
	require.Len(t, found, 1)
	require.Equal(t, Error, found[0].Severity)
	require.Contains(t, found[0].Seen, "omzetgroep is a table of MyISAM, which has no transactions")
	require.Empty(t, write("    operations: {only: [get, list]}\n").has("sql.no-transactions", "resources.turnovergroup.table"))
}
