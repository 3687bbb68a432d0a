package foreign

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
)

// taggedSheet is of orders with lines, whose version is a time in whole seconds; %s are
// the source, a hash, and the ways to an order and to a line.
const taggedSheet = `format: 2
source: %s
keep: keep.db
rules: backend
accounts: {users: [{username: anna, password_hash: %q, email: a@example.nl, client: {id: 1, name: anna}}]}
resources:
  contact: {client: "", fields: {kind: {constant: person}, name: name}, %s}
  order:
    client: ""
    version: changed
    %s
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, description: note, %s}
  orderline:
    client: ""
    %s
    fields: {order_id: ord, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}
`

// startTagged starts the program with the sheet.
func startTagged(t *testing.T, driver, source, contact, order, lines, line string) *rig.Desk {
	t.Helper()
	o, _ := rig.BySheet(t, driver, fmt.Sprintf(taggedSheet, source, rig.PasswordHash("anna"), contact, order, lines, line))
	return rig.Start(t, o)
}

// judgesTags changes order 10 and its line 100, all within the second that the version
// says; change does so behind frontdesk's back.
func judgesTags(t *testing.T, d *rig.Desk, change func(text string)) {
	t.Helper()
	anna := d.Login(rig.FullKey, "anna")
	const plain, whole = "/order/10", "/order/10?fields=id,orderlines"
	tag := func(path string) string {
		t.Helper()
		a := d.Call("GET", path, anna, "")
		require.Equal(t, 200, a.Status, "%s", a.Body)
		got := a.Header.Get("ETag")
		require.Regexp(t, `^"[^"]+"$`, got, "%s %s", path, a.Body)
		require.Equal(t, 304, d.Call("GET", path, anna, "", "If-None-Match", got).Status, path)
		return got
	}
	first := tag(plain)
	require.Equal(t, first, tag(whole), "it is one record")

	// Of two writers who read the same, one is too late.
	a := d.Call("PUT", plain, anna, `{"description":"one"}`, "If-Match", first)
	require.Equal(t, 200, a.Status, "%s", a.Body)
	require.Equal(t, 412, d.Call("PUT", plain, anna, `{"description":"two"}`, "If-Match", first).Status)
	require.Equal(t, 200, d.Call("GET", plain, anna, "", "If-None-Match", first).Status)
	second := tag(plain)
	require.NotEqual(t, first, second)
	require.Equal(t, second, a.Header.Get("ETag"), "what PUT answered")
	require.Equal(t, second, d.Call("PUT", plain, anna, `{}`).Header.Get("ETag"))
	require.Equal(t, second, d.Call("PUT", plain, anna, `{"description":"one"}`).Header.Get("ETag"))

	// A line is a change of its order.
	for i, write := range []func(){
		func() {
			require.Equal(t, 200, d.Call("PUT", "/orderline/100", anna, `{"description":"changed"}`).Status)
		},
		func() { change("behind its back") },
	} {
		before := tag(whole)
		write()
		for _, path := range []string{plain, whole} {
			require.Equal(t, 200, d.Call("GET", path, anna, "", "If-None-Match", before).Status, "%d: %s", i, path)
		}
		require.Equal(t, 412, d.Call("PUT", plain, anna, `{"description":"three"}`, "If-Match", before).Status, i)
		require.NotEqual(t, before, tag(plain))
	}
	require.Equal(t, 200, d.Call("PUT", plain, anna, `{"description":"three"}`, "If-Match", tag(plain)).Status)
	require.Equal(t, 200, d.Call("PUT", plain, anna, `{"description":"four"}`, "If-Match", tag(whole)).Status)
	require.Equal(t, 412, d.Call("DELETE", plain, anna, "", "If-Match", first).Status)
}

// startTaggedMariaDB starts the program before a MariaDB whose clock stands still for it.
func startTaggedMariaDB(t *testing.T) (*rig.Desk, *sql.DB) {
	t.Helper()
	dsn := legacytest.MariaDB(t)
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{
		"CREATE TABLE t_contact (id int PRIMARY KEY, name varchar(40))",
		"CREATE TABLE t_order (id int PRIMARY KEY, contact int, note varchar(40), changed TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
		"CREATE TABLE t_line (id int PRIMARY KEY, ord int, text varchar(40), qty int, price int)",
		"INSERT INTO t_contact VALUES (1, 'A')",
		"INSERT INTO t_order VALUES (10, 1, 'none', FROM_UNIXTIME(1782900000))", "INSERT INTO t_line VALUES (100, 10, 'none', 1, 1)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	of := func(table string) string { return "table: " + table + ", key: {columns: id, generated: max+1}" }
	block := func(table string) string { return strings.Replace(of(table), ", ", "\n    ", 1) }
	// All statements are of one second.
	source := fmt.Sprintf(`{sql: {engine: mariadb, dsn: %q, session: ["SET timestamp = 1782900000"]}}`, dsn)
	return startTagged(t, "legacy", source, of("t_contact"), block("t_order"), "orderlines: {}", block("t_line")), db
}

// TestTagsOfSecondsInMariaDB: before, the second of two writers within a second
// overwrote the first, and a change of a line was answered 304.
func TestTagsOfSecondsInMariaDB(t *testing.T) {
	t.Parallel()
	d, db := startTaggedMariaDB(t)
	judgesTags(t, d, func(text string) {
		_, err := db.Exec("UPDATE t_line SET text = ? WHERE id = 100", text)
		require.NoError(t, err)
	})
}

// startTimed starts the program before a service whose changes are all of one second, with lines within
// their orders, or elsewhere.
func startTimed(t *testing.T, inside bool, lines, line string) (*rig.Desk, *rig.Shelf) {
	t.Helper()
	s := new(rig.Shelf)
	s.Put("contacts", rig.Row{"id": 1, "name": "A"})
	s.Put("orders", rig.Row{"id": 10, "contact": 1, "note": "none", "changed": "2026-07-01T10:00:00Z"})
	first := s.Put("lines", rig.Row{"id": 100, "ord": 10, "text": "none", "qty": 1, "price": 1})
	s.Show = func(table string, row rig.Row) rig.Row {
		if inside && table == "orders" {
			row["lines"] = []any{first}
		}
		return row
	}
	s.Serve(t)
	source := fmt.Sprintf("{http: {url: %q, walk: {result: items}}}", s.URL)
	return startTagged(t, "remote", source, "path: /contacts, key: id", "path: /orders\n    key: id", lines, line), s
}

// withinOrders is a sheet's way to lines that stand within their orders.
const withinOrders = "key: id\n    get: {path: \"/lines/{key}\"}\n    update: {path: \"/lines/{key}\"}"

// TestRecordWithoutTag is of a service that does not tell the lines of its orders, or has them
// elsewhere and does not tell what has changed: there is no entity tag, nothing is answered 304, and
// no If-Match holds but *.
func TestRecordWithoutTag(t *testing.T) {
	t.Parallel()
	for name, way := range map[string][2]string{"not told": {"orderlines: {path: lines}", withinOrders}, "elsewhere": {"orderlines: {readonly: true}", "path: /lines\n    key: id"}} {
		t.Run(name, func(t *testing.T) {
			d, _ := startTimed(t, false, way[0], way[1])
			anna := d.Login(rig.FullKey, "anna")
			for _, match := range []string{"", "*", `"aaaaaa-zz.zz"`} {
				a := d.Call("GET", "/order/10", anna, "", "If-None-Match", match)
				require.Equal(t, []any{200, "", "no-store"}, []any{a.Status, a.Header.Get("ETag"), a.Header.Get("Cache-Control")}, match)
			}
			require.Equal(t, 412, d.Call("PUT", "/order/10", anna, `{"description":"one"}`, "If-Match", `"aaaaaa-zz.zz"`).Status)
			require.Equal(t, 412, d.Call("PUT", "/order/10", anna, `{"description":"one"}`, "If-Match", `,`).Status)
			require.Equal(t, 200, d.Call("PUT", "/order/10", anna, `{"description":"one"}`, "If-Match", "*").Status)
			require.Empty(t, d.Call("PUT", "/order/10", anna, `{"description":"two"}`).Header.Get("ETag"))
			require.NotEmpty(t, d.Call("GET", "/contact/1", anna, "").Header.Get("ETag"))
		})
	}
}

// TestTagsOfSecondsOverHTTP is the same of a service.
func TestTagsOfSecondsOverHTTP(t *testing.T) {
	t.Parallel()
	d, s := startTimed(t, true, "orderlines: {path: lines}", withinOrders)
	judgesTags(t, d, func(text string) { s.Put("lines", rig.Row{"id": 100, "text": text}) })
}
