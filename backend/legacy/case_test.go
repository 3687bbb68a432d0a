package legacy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// spelledSheet has groups whose keys the database compares without case; %s are the
// engine and what the sheet says of it.
const spelledSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
without_rules: []
accounts: {users: []}
resources:
  turnovergroup:
    table: c_groep
    key: {columns: nr, id: kept, generated: supplied%s}
    client: ""
    fields: {code: nr, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
  article:
    table: c_art
    key: {columns: nr, id: column, generated: supplied}
    client: ""
    fields: {number: {from: nr, type: integer}, description: oms, turnover_group_id: groep, article_kind: {constant: part}, unit_type: {constant: piece}}
    operations: {only: [get, list, update]}
`

// spelled opens a database where group AB01 has an article that says ab01.
func spelled(t *testing.T, engine, how string) *fixture {
	t.Helper()
	var statements []string
	text := "varchar(8)"
	switch engine {
	case "postgres":
		statements = append(statements, "CREATE COLLATION without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
		text += " COLLATE without_case"
	case "sqlite":
		text += " COLLATE NOCASE"
	case "mariadb":
		text += " COLLATE utf8mb4_general_ci"
	}
	return openTables(t, engine, fmt.Sprintf(spelledSheet, engine, how), append(statements,
		"CREATE TABLE c_groep (nr "+text+" NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL)",
		"CREATE TABLE c_art (nr integer NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, groep "+text+" NOT NULL REFERENCES c_groep (nr))",
		"INSERT INTO c_groep VALUES ('AB01', 'group'), ('CD02', 'other')",
		"INSERT INTO c_art VALUES (1, 'one', 'ab01'), (2, 'two', 'AB01'), (3, 'three', 'Ab01')")...)
}

// TestKeysWithoutCase: what the database takes for one key has one ID, however it is
// spelled where it is referred to. Before, the sheet had to say so; one that was silent
// gave each spelling an ID.
func TestKeysWithoutCase(t *testing.T) {
	for engine := range engines {
		t.Run(engine+"/exact", func(t *testing.T) {
			x := spelled(t, engine, ", case: exact")
			of := map[int64]bool{}
			for _, a := range x.all(one, "article") {
				of[a.Get("turnover_group_id").Int()] = true
			}
			require.Len(t, of, 3, "as the sheet says")
		})
		t.Run(engine, func(t *testing.T) {
			x := spelled(t, engine, "")
			articles := x.all(one, "article") // ab01 is met before AB01
			groups := x.all(one, "turnovergroup")
			require.Len(t, groups, 2)
			for _, a := range articles {
				require.EqualValues(t, groups[0].ID(), a.Get("turnover_group_id").Int(), shown(a))
			}
			require.Equal(t, groups[0].ID(), x.get(one, "turnovergroup", groups[0].ID()).ID())
			r := x.model.Resource("article")
			found := x.list(backend.Query{Client: one, Filters: []backend.Filter{{Field: r.Field("turnover_group_id"), Value: mapping.IntValue(int64(groups[0].ID()))}}}, "article")
			require.Len(t, found.Records, 3)
			x.update(one, groups[0].ID(), x.record("turnovergroup", "description", "changed"))
			require.Equal(t, "changed", x.get(one, "turnovergroup", groups[0].ID()).Get("description").Text())
			x.update(one, 1, x.record("article", "turnover_group_id", fmt.Sprint(groups[1].ID())))
			require.EqualValues(t, groups[1].ID(), x.get(one, "article", 1).Get("turnover_group_id").Int())
			column := x.table1(t, "c_groep").Column("nr")
			require.True(t, column.IgnoresCase)
			require.Equal(t, engine == "mariadb", x.table1(t, "c_art").Column("oms").IgnoresCase, "the default of the database")
		})
	}
}

func (x *fixture) table1(t *testing.T, name string) *Table {
	t.Helper()
	s, err := x.Inspect(t.Context())
	require.NoError(t, err)
	return s.Table(name)
}
