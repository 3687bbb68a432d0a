package foreign

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
)

// twoTenants is the end of a sheet for two clients, noord and zuid, whose lines do
// not say whose they are; %s are the ways to contact, order and orderline.
const twoTenants = `
keep: %[1]q
rules: backend
accounts:
  users:
    - {username: noord, password_hash: %[2]q, email: n@example.nl, client: {id: 1, name: noord}}
    - {username: zuid, password_hash: %[3]q, email: z@example.nl, client: {id: 2, name: zuid}}
resources:
  contact:
    client: adm
    fields: {kind: {constant: person}, number: {PLACE: nr, readonly: true}, name: name}
    %[4]s
  order:
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
    client: {through: contact_id}
    %[5]s
  orderline:
    fields: {order_id: ord, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}
    client: {through: order_id}
    %[6]s
`

// startTenants starts the program with a sheet for both.
func startTenants(t *testing.T, driver, source, contact, order, line string) *rig.Desk {
	t.Helper()
	dir := t.TempDir()
	sheet := filepath.Join(dir, "sheet.yaml")
	text := "format: 2\nsource: " + source + fmt.Sprintf(twoTenants, filepath.Join(dir, "keep.db"), rig.PasswordHash("noord"), rig.PasswordHash("zuid"), contact, order, line)
	text = strings.Replace(text, "PLACE", map[string]string{"legacy": "column", "remote": "path"}[driver], 1)
	require.NoError(t, os.WriteFile(sheet, []byte(text), 0o600))
	return rig.Start(t, rig.Options{Backend: fmt.Sprintf(", driver: %s, sheet: %q", driver, sheet)})
}

// keepsApart has zuid try all that it can with what is noord's: contact 1, its order
// 10 and that one's line 100; 2, 20 and 200 are zuid's own, 300 is a line of nobody.
func keepsApart(t *testing.T, d *rig.Desk) {
	t.Helper()
	noord, zuid := d.Login(rig.FullKey, "noord"), d.Login(rig.FullKey, "zuid")
	for _, path := range []string{"/contact/1", "/order/10", "/orderline/100", "/orderline/300"} {
		require.Equal(t, 404, d.Call("GET", path, zuid, "").Status, path)
	}
	for _, c := range [][3]string{
		{"PUT", "/orderline/100", `{"description":"stolen"}`}, {"DELETE", "/orderline/100", ""}, {"PUT", "/orderline/300", `{"description":"stolen"}`}, {"DELETE", "/orderline/300", ""},
		{"PUT", "/order/10", `{"contact_id":2}`}, {"PUT", "/order/20", `{"contact_id":1}`},
		{"POST", "/orderline", `{"order_id":10,"description":"planted","quantity":1,"price":1}`}, {"POST", "/order", `{"contact_id":1,"kind":"sales"}`},
	} {
		a := d.Call(c[0], c[1], zuid, c[2])
		require.Contains(t, []int{403, 404}, a.Status, "%v: %s", c, a.Body)
		require.NotEqual(t, "internal_error", a.Failure(t).Reason)
	}
	list := func(token, path string) []any {
		a := d.Call("GET", path, token, "")
		require.Equal(t, 200, a.Status, "%s: %s", path, a.Body)
		var body struct {
			Data  []any
			Total int
		}
		require.NoError(t, json.Unmarshal(a.Body, &body))
		require.Equal(t, len(body.Data), body.Total, path)
		return body.Data
	}
	require.Empty(t, list(zuid, "/orderline?order_id=10&total=1"))
	require.Len(t, list(zuid, "/orderline?order_id=20&total=1"), 1)
	lines := list(noord, "/orderline?order_id=10&total=1")
	require.Len(t, lines, 1)
	require.Equal(t, "noord", lines[0].(map[string]any)["description"])
	require.Len(t, list(zuid, "/order?total=1"), 1)

	// What one client searches by finds that, or nothing; never a failure.
	for _, value := range []string{"K'1", "'", `"`, `\`, `\'`, "' || adm!='", "') || (adm>0 //", "%", "*", "' OR '1'='1", "'; DROP TABLE x; --", "\n", "ʼ", "＇", "😀", "K'1' && '1'='1", ""} {
		found := list(zuid, "/contact?total=1&number="+url.QueryEscape(value))
		want := 0
		if value == "K'1" {
			want = 1
		}
		require.Len(t, found, want, "%q", value)
	}
	require.Equal(t, 200, d.Call("PUT", "/orderline/200", zuid, `{"description":"mine"}`).Status)
	require.Equal(t, 200, d.Call("GET", "/contact/1", noord, "").Status)
	id := d.Create(zuid, "orderline", `{"order_id":20,"description":"own","quantity":1,"price":1}`)
	require.Equal(t, 404, d.Call("GET", fmt.Sprintf("/orderline/%d", id), noord, "").Status)
}

// TestSheetKeepsClientsApartInMariaDB is of a child table without a client's number:
// before, its sheet had to say client: "", and zuid read, changed and removed
// noord's lines.
func TestSheetKeepsClientsApartInMariaDB(t *testing.T) {
	t.Parallel()
	dsn := legacytest.MariaDB(t)
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE t_contact (id int PRIMARY KEY, adm int, nr varchar(20), name varchar(40))",
		"CREATE TABLE t_order (id int PRIMARY KEY, contact int)",
		"CREATE TABLE t_line (id int PRIMARY KEY, ord int, text varchar(40), qty int, price int)",
		"INSERT INTO t_contact VALUES (1, 1, 'K''1', 'Noord'), (2, 2, 'K''1', 'Zuid'), (3, NULL, 'K3', 'Nobody')",
		"INSERT INTO t_order VALUES (10, 1), (20, 2), (30, 3)",
		"INSERT INTO t_line VALUES (100, 10, 'noord', 1, 1), (200, 20, 'zuid', 1, 1), (300, 30, 'nobody', 1, 1)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	of := func(table string) string {
		return "table: " + table + "\n    key: {columns: id, generated: max+1}"
	}
	keepsApart(t, startTenants(t, "legacy", fmt.Sprintf("{sql: {engine: mariadb, dsn: %q}}", dsn), of("t_contact"), of("t_order"), of("t_line")))
	var n int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM t_line WHERE text IN ('noord', 'nobody', 'mine', 'own')").Scan(&n))
	require.Equal(t, 4, n)
}

// TestSheetKeepsClientsApartOverHTTP is the same of a service with one log-on for all clients.
func TestSheetKeepsClientsApartOverHTTP(t *testing.T) {
	t.Parallel()
	s := new(rig.Shelf)
	for i, name := range []string{"Noord", "Zuid", "Nobody"} {
		n := i + 1
		s.Put("contacts", rig.Row{"id": n, "adm": []any{1, 2, nil}[i], "nr": []string{"K'1", "K'1", "K3"}[i], "name": name})
		s.Put("orders", rig.Row{"id": 10 * n, "contact": n})
		s.Put("lines", rig.Row{"id": 100 * n, "ord": 10 * n, "text": strings.ToLower(name), "qty": 1, "price": 1})
	}
	s.Serve(t)
	of := func(name string) string { return "path: /" + name + "\n    key: id" }
	source := fmt.Sprintf("{http: {url: %q, walk: {result: items, paging: {style: none, total: total}}}}", s.URL)
	keepsApart(t, startTenants(t, "remote", source, of("contacts"), of("orders"), of("lines")))
	require.Equal(t, []any{"noord", "nobody", 1}, []any{s.Row("lines", 100)["text"], s.Row("lines", 300)["text"], s.Row("orders", 10)["contact"]})
}
