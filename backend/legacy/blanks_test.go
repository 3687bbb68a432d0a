package legacy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// blankColumns are the types of keys: most engines take texts for two if they differ in blanks behind, unless the
// type or the collation says otherwise.
var blankColumns = []struct{ name, engine, kind string }{
	{"varchar", "postgres", "varchar(6)"},
	{"char", "postgres", "char(6)"},
	{"text", "sqlite", "varchar(6)"},
	{"rtrim", "sqlite", "varchar(6) COLLATE RTRIM"},
	{"pad", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"},
	{"nopad", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
	{"nopad without case", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci"},
	{"bytes", "mariadb", "varbinary(6)"},
}

const blankSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
accounts: {users: []}
without_rules: []
resources:
  contact:
    table: l_klant
    key: {columns: [b, code], generated: supplied}
    client: ""
    operations: {only: [get, list, update, delete]}
    fields: {kind: {constant: person}, name: naam}
  order:
    table: l_bon
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list, update]}
    fields: {contact_id: [kb, klant], employee_id: {absent: true}, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
`

// TestDrawnKeysWithBlanks: what the engine takes for two keys are two records, each of which is found, listed, referred to and
// written as itself. Before, a key lost the blanks behind it: its record was 404, and a walk by one record at a time had no end.
func TestDrawnKeysWithBlanks(t *testing.T) {
	for seed, c := range blankColumns {
		t.Run(c.engine+"/"+c.name, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(uint64(seed), 7))
			statements := []string{
				"CREATE TABLE l_klant (b integer NOT NULL, code " + c.kind + " NOT NULL, naam varchar(8) NOT NULL, PRIMARY KEY (b, code))",
				"CREATE TABLE l_bon (nr integer NOT NULL PRIMARY KEY, kb integer, klant " + c.kind + ")",
			}
			counts := c.name != "char" && c.name != "rtrim" && c.name != "pad"
			keys := map[string]string{} // as the engine compares them, the name of each
			for n := range 30 {
				b, code := 1+draw.IntN(2), string("AB"[draw.IntN(2)])+string("12"[draw.IntN(2)])+strings.Repeat(" ", draw.IntN(4))
				key := fmt.Sprint(b, code)
				if !counts {
					key = strings.TrimRight(key, " ")
				}
				name, known := keys[key]
				if !known {
					name = fmt.Sprint("n", n)
					keys[key] = name
					statements = append(statements, fmt.Sprintf("INSERT INTO l_klant VALUES (%d, '%s', '%s')", b, code, name))
				}
				statements = append(statements, fmt.Sprintf("INSERT INTO l_bon VALUES (%d, %d, '%s')", n+1, b, code))
				keys[fmt.Sprint("order ", n+1)] = name
			}
			x, _, _ := onTables(t, c.engine, fmt.Sprintf(blankSheet, c.engine), statements...)
			x.judgeBlanks(keys)
		})
	}
}

// judgeBlanks checks that each record is itself; keys has the name of the contact of each order.
func (x *fixture) judgeBlanks(keys map[string]string) {
	t, contacts := x.t, ids(x.all(one, "contact"))
	var walked []int32
	for after, more := int32(0), true; more && len(walked) <= len(contacts); {
		page := x.list(backend.Query{Client: one, Keyset: true, After: after, Limit: 1}, "contact")
		walked, more = append(walked, ids(page.Records)...), page.More
		after = walked[len(walked)-1]
	}
	require.Equal(t, contacts, walked, "one at a time")
	named := map[string]int32{}
	for _, rec := range x.all(one, "contact") {
		name := rec.Get("name").Text()
		named[name] = rec.ID()
		require.Equal(t, name, x.get(one, "contact", rec.ID()).Get("name").Text())
	}
	require.Len(t, named, len(contacts))
	of := map[int32][]int32{}
	for _, order := range x.all(one, "order") {
		contact := int32(order.Get("contact_id").Int())
		require.Equal(t, named[keys[fmt.Sprint("order ", order.ID())]], contact, "order %d", order.ID())
		of[contact] = append(of[contact], order.ID())
	}
	for name, id := range named {
		require.Equal(t, of[id], x.by("order", "contact_id", mapping.Equals, mapping.IntValue(int64(id))), name)
	}
	for name, id := range named {
		x.update(one, id, x.record("contact", "name", name+"x"))
		require.Equal(t, "1", x.row(fmt.Sprintf("SELECT COUNT(*) FROM l_klant WHERE naam = '%sx'", name)))
		x.update(one, 1, x.record("order", "contact_id", fmt.Sprint(id)))
		require.Equal(t, id, int32(x.get(one, "order", 1).Get("contact_id").Int()))
	}
}

// TestPartsOfKeysWithBlanks: each part of a key is compared as its own column is. Before, all were as the first.
func TestPartsOfKeysWithBlanks(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(blankSheet, "postgres"), "key: {columns: [b, code]", "key: {columns: [b, code, soort]", 1)
	text = strings.Replace(text, "name: naam", "name: code, first_name: soort", 1)
	text = text[:strings.Index(text, "  order:")]
	x, _, _ := onTables(t, "postgres", text,
		"CREATE TABLE l_klant (b integer NOT NULL, code varchar(6) NOT NULL, soort char(4) NOT NULL, naam varchar(8), PRIMARY KEY (b, code, soort))",
		"INSERT INTO l_klant VALUES (1, 'A1', 'x')")
	id := x.all(one, "contact")[0].ID()
	_, err := x.tryUpdate(one, id, x.record("contact", "name", "A1 "))
	require.ErrorContains(t, err, "name", "another key")
	_, err = x.tryUpdate(one, id, x.record("contact", "first_name", "x"))
	require.NoError(t, err, "the same key, which the column pads")
}

// TestPaddedReferences: a sheet can say that a reference is padded and the key is not.
func TestPaddedReferences(t *testing.T) {
	for engine := range engines {
		t.Run(engine, func(t *testing.T) {
			text := fmt.Sprintf(strings.Replace(blankSheet, "[kb, klant]", "{from: [kb, klant], trim: right}", 1), engine)
			x, _, _ := onTables(t, engine, text,
				"CREATE TABLE l_klant (b integer NOT NULL, code varchar(6) NOT NULL, naam varchar(8) NOT NULL, PRIMARY KEY (b, code))",
				"CREATE TABLE l_bon (nr integer NOT NULL PRIMARY KEY, kb integer, klant varchar(6))",
				"INSERT INTO l_klant VALUES (1, 'A1', 'a')", "INSERT INTO l_bon VALUES (1, 1, 'A1'), (2, 1, 'A1  ')")
			x.judgeBlanks(map[string]string{"order 1": "a", "order 2": "a"})
		})
	}
}
