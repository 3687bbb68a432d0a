package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const expressedSheet = `client: {read: "(SELECT adm FROM e_groep g WHERE g.id = groep)"}
rules: backend
resources:
  contact:
    table: e_rel
    read: "(SELECT id, groep, naam, dagen, weg, 2.5 AS half FROM e_rel)"
    key: {columns: id}
    where: "weg = 0 AND :client > 0"
    version: {read: "dagen + :client"}
    operations: {only: [get, list]}
    fields:
      kind: {constant: person}
      name: {read: "CONCAT(naam, '!')"}
      payment_days: {read: "dagen + 1"}
      note: {read: "dagen * :client"}
      is_archived: {read: "CASE WHEN naam = 'Een' THEN 1 ELSE 0 END"}
`

// TestExpressions has values found by what an expression of the sheet gives, whatever sort that
// is to the engine.
func TestExpressions(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, expressedSheet, expressed...)
		for _, c := range []struct {
			field string
			op    mapping.Operator
			value mapping.Value
			ids   []int32
		}{
			{"name", mapping.Equals, mapping.TextValue("Twee!"), []int32{2}},
			{"payment_days", mapping.Equals, mapping.IntValue(15), []int32{1}},
			{"payment_days", mapping.Above, mapping.IntValue(15), []int32{2}},
			{"is_archived", mapping.Equals, mapping.IntValue(1), []int32{1}},
			{"is_archived", mapping.Equals, mapping.IntValue(0), []int32{2}},
			{"note", mapping.Equals, mapping.TextValue("14"), []int32{1}},
		} {
			var ids []int32
			for _, rec := range x.list(one, "contact", backend.Filter{Field: x.model.Resource("contact").Field(c.field), Op: c.op, Value: c.value}) {
				ids = append(ids, rec.ID())
			}
			require.Equal(t, c.ids, ids, "%s %s %s", c.field, c.op, c.value)
		}
		require.Len(t, x.list(two, "contact"), 1)
	})
}

var expressed = []string{
	"CREATE TABLE e_groep (id integer PRIMARY KEY, adm integer NOT NULL)",
	"CREATE TABLE e_rel (id integer PRIMARY KEY, groep integer NOT NULL, naam varchar(20) NOT NULL, dagen integer NOT NULL, weg integer NOT NULL DEFAULT 0)",
	"INSERT INTO e_groep VALUES (10, 1), (20, 2)",
	"INSERT INTO e_rel VALUES (1, 10, 'Een', 14, 0), (2, 10, 'Twee', 30, 0), (3, 20, 'Drie', 8, 0), (4, 10, 'Weg', 8, 1)",
}

// TestExpressionsThatTheDatabaseRefuses are told at the start, each with where it stands.
func TestExpressionsThatTheDatabaseRefuses(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := made(t, engine, expressed...)
		for old, c := range map[string]struct{ now, told string }{
			"dagen + 1":                  {"dagem + 1", "field payment_days: read: "},
			"dagen * :client":            {"nosuch(dagen)", "field note: read: "},
			"dagen + :client":            {"dagem", "version: read: "},
			"weg = 0":                    {"wech = 0", "where: "},
			"(SELECT adm FROM e_groep g": {"(SELECT adn FROM e_groep g", "client: read: "},
			"2.5 AS half FROM e_rel":     {"2.5 AS half FROM e_rol", "read: "},
		} {
			x, err := tryMade(t, engine, dsn, strings.Replace(expressedSheet, old, c.now, 1), nil)
			require.NoError(t, err)
			require.Contains(t, x.Closed()[0].What, c.told)
		}
		x, err := tryMade(t, engine, dsn, strings.NewReplacer("dagen + 1", "dagem", "CONCAT(naam, '!')", "nam").Replace(expressedSheet), nil)
		require.NoError(t, err)
		require.Contains(t, x.Closed()[0].What, "field name: read: ")
		require.Contains(t, x.Closed()[0].What, "field payment_days: read: ")
	})
}
