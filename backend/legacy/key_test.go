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

// blankColumns are the types of keys: most engines take texts for two if they differ in blanks
// behind, unless the type or the collation says otherwise.
var blankColumns = []struct {
	name, engine, kind string
	counts             bool
}{
	{"varchar", "postgres", "varchar(6)", true},
	{"char", "postgres", "char(6)", false},
	{"text", "sqlite", "varchar(6)", true},
	{"rtrim", "sqlite", "varchar(6) COLLATE RTRIM", false},
	{"pad", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", false},
	{"nopad", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", true},
	{"nopad without case", "mariadb", "varchar(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci", true},
	{"bytes", "mariadb", "varbinary(6)", true},
}

const blankSheet = `keep: keep.db
without_rules: []
resources:
  contact: {table: l_klant, key: {columns: [b, code], generated: supplied}, client: "", operations: {only: [get, list, update, delete]},
    fields: {kind: {constant: person}, name: naam}}
  order: {table: l_bon, key: {columns: nr, generated: max+1}, client: "", operations: {only: [get, list, update]},
    fields: {contact_id: [kb, klant], employee_id: {absent: true}, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}}
`

// TestDrawnKeysWithBlanks: what the engine takes for two keys are two records, each of which is
// found, listed, referred to and written as itself.
func TestDrawnKeysWithBlanks(t *testing.T) {
	for seed, c := range blankColumns {
		t.Run(c.engine+"/"+c.name, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(uint64(seed), 7))
			statements := []string{
				"CREATE TABLE l_klant (b integer NOT NULL, code " + c.kind + " NOT NULL, naam varchar(8) NOT NULL, PRIMARY KEY (b, code))",
				"CREATE TABLE l_bon (nr integer NOT NULL PRIMARY KEY, kb integer, klant " + c.kind + ")",
			}
			keys, orders := map[string]string{}, map[int32]string{} // names of contacts, by their keys as the engine compares them and by their orders
			for n := range int32(30) {
				b, code := 1+draw.IntN(2), string("AB"[draw.IntN(2)])+string("12"[draw.IntN(2)])+strings.Repeat(" ", draw.IntN(4))
				key := fmt.Sprint(b, code)
				if !c.counts {
					key = strings.TrimRight(key, " ")
				}
				name, known := keys[key]
				if !known {
					name = fmt.Sprint("n", n)
					keys[key] = name
					statements = append(statements, fmt.Sprintf("INSERT INTO l_klant VALUES (%d, '%s', '%s')", b, code, name))
				}
				statements = append(statements, fmt.Sprintf("INSERT INTO l_bon VALUES (%d, %d, '%s')", n+1, b, code))
				orders[n+1] = name
			}
			onTables(t, c.engine, blankSheet, statements...).judgeBlanks(orders)
		})
	}
}

// judgeBlanks checks that each record is itself; names has that of the contact of each order.
func (x *tables) judgeBlanks(names map[int32]string) {
	t, all := x.t, x.list(one, "contact")
	var walked []int32
	for after, more := int32(0), true; more && len(walked) <= len(all); after = walked[len(walked)-1] {
		page := x.page(backend.Query{Client: one, Keyset: true, After: after, Limit: 1}, "contact")
		walked, more = append(walked, ids(page.Records)...), page.More
	}
	require.Equal(t, ids(all), walked, "one at a time")
	named, of := map[string]int32{}, map[int32][]int32{}
	for _, rec := range all {
		name := rec.Get("name").Text()
		named[name] = rec.ID()
		require.Equal(t, name, x.get(one, "contact", rec.ID()).Get("name").Text())
	}
	require.Len(t, named, len(all))
	for _, order := range x.list(one, "order") {
		contact := int32(order.Get("contact_id").Int())
		require.Equal(t, named[names[order.ID()]], contact, "order %d", order.ID())
		of[contact] = append(of[contact], order.ID())
	}
	for name, id := range named {
		require.Equal(t, of[id], x.by("order", "contact_id", mapping.Equals, mapping.IntValue(int64(id))), name)
	}
	for name, id := range named {
		x.update(one, id, x.record("contact", "name", name+"x"))
		require.Equal(t, "1", x.one(fmt.Sprintf("SELECT COUNT(*) FROM l_klant WHERE naam = '%sx'", name)))
		x.update(one, 1, x.record("order", "contact_id", fmt.Sprint(id)))
		require.EqualValues(t, id, x.get(one, "order", 1).Get("contact_id").Int())
	}
}
