package secrets

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

// shopRequests are fewer than elsewhere: in the tables of a shop all lists are read from the
// beginning, and by that of 500 contacts at most it is told whose the orders are.
const shopRequests = 4_000

// shopSheet is of a system that does not know who asks, and lists what it has to
// everybody: a contact tells whose it is, an order belongs to whom its contact does, and
// a line to whom its order. What is gone is listed, too.
const shopSheet = `format: 2
source: SOURCE
keep: keep.db
accounts:
  users:
    - {username: noord, password_hash: "NOORD", email: n@example.nl, client: {id: 1, name: noord}}
    - {username: zuid, password_hash: "ZUID", email: z@example.nl, client: {id: 2, name: zuid}}
resources:
  contact:
    client: adm
    system_client: "0"
    fields: {kind: {constant: person}, name: name, payment_days: terms}
    OF contact
  order:
    client: {through: contact_id}
    fields: {contact_id: contact, reference: ref, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {readonly: true}}
    OF ord
  orderline:
    client: {through: order_id}
    fields: {order_id: ord, description: text, quantity: qty, price: {constant: 1}, turnover_group_id: {absent: true}}
    OF line
`

// shopKind is a shop whose sheet has these ways to its source and to a table.
func shopKind(t testing.TB, driver string, source func(side int) string, table func(name string) string, hide func() int) kind {
	hashes := []string{"NOORD", rig.PasswordHash("noord"), "ZUID", rig.PasswordHash("zuid")}
	sheet := regexp.MustCompile(`OF (\w+)`).ReplaceAllStringFunc(shopSheet, func(of string) string { return table(of[3:]) })
	return kind{viewer: login{"noord", "noord"}, other: login{"zuid", "zuid"}, requests: shopRequests, bySheet: true, scans: true, hide: hide, start: func(side int) *rig.Desk {
		return startSheet(t, driver, sheet, fewerGrants(takenOfShop), append(hashes, "SOURCE", source(side))...)
	}}
}

// shopRows is how many contacts a shop begins with; they are those of noord, of zuid, of
// both, and of nobody, in turn.
const shopRows = 24

// shopInSQL is a shop in tables. Rows that are gone are added in one of the twins, and
// changed in it.
func shopInSQL(t testing.TB) kind {
	var files [2]string
	hide := func() int {
		db := openSQL(t, "sqlite", files[1]+"?_pragma=busy_timeout(10000)")
		return change(t, db,
			`INSERT INTO contact (adm, name, terms, gone) SELECT adm, name, terms, 1 FROM contact ORDER BY random() LIMIT 2`,
			`INSERT INTO ord (contact, ref, gone) SELECT contact, ref, 1 FROM ord ORDER BY random() LIMIT 2`,
			`INSERT INTO line (ord, text, qty, gone) SELECT ord, text, qty, 1 FROM line ORDER BY random() LIMIT 2`,
			`UPDATE contact SET terms = terms + 1, adm = 3 - adm WHERE gone = 1 AND adm > 0`)
	}
	return shopKind(t, "legacy", func(side int) string {
		files[side] = filepath.Join(t.TempDir(), "shop.db")
		db := openSQL(t, "sqlite", files[side])
		change(t, db, "PRAGMA journal_mode = wal",
			"CREATE TABLE contact (id INTEGER PRIMARY KEY AUTOINCREMENT, adm INTEGER, name VARCHAR(40), terms INTEGER, gone INTEGER NOT NULL DEFAULT 0)",
			"CREATE TABLE ord (id INTEGER PRIMARY KEY AUTOINCREMENT, contact INTEGER, ref VARCHAR(20), gone INTEGER NOT NULL DEFAULT 0)",
			"CREATE TABLE line (id INTEGER PRIMARY KEY AUTOINCREMENT, ord INTEGER, text VARCHAR(40), qty INTEGER, gone INTEGER NOT NULL DEFAULT 0)")
		for i := range shopRows {
			change(t, db, fmt.Sprintf("INSERT INTO contact (adm, name, terms) VALUES (%s, 'Name %d', 14)", []string{"1", "2", "0", "NULL"}[i%4], i/4),
				fmt.Sprintf("INSERT INTO ord (contact, ref) VALUES (%d, 'R%d')", i+1, i/4),
				fmt.Sprintf("INSERT INTO line (ord, text, qty) VALUES (%d, 'Text %d', 1)", i+1, i/4))
		}
		return fmt.Sprintf("{sql: {engine: sqlite, dsn: %q}}", files[side])
	}, func(name string) string {
		table := "table: " + name + "\n    key: {columns: id, generated: identity}\n    where: gone <> 1"
		if name == "line" { // of which nothing but this tells what is gone
			table += "\n    delete: UPDATE line SET gone = 1 WHERE id = :key"
		}
		return table
	}, hide)
}

// shopOverHTTP is one before which the gateway itself has to leave out what is others'. Rows that are
// gone are added in one of the twins.
func shopOverHTTP(t testing.TB) kind {
	var shops [2]*rig.Shelf
	turn := 0
	return shopKind(t, "remote", func(side int) string {
		s := &rig.Shelf{Stays: func(table string) bool { return table != "line" }}
		for i := range shopRows {
			contact := s.Put("contact", rig.Row{"adm": []any{1, 2, 0, nil}[i%4], "name": fmt.Sprintf("Name %d", i/4), "terms": 14})
			order := s.Put("ord", rig.Row{"contact": contact["id"], "ref": fmt.Sprintf("R%d", i/4)})
			s.Put("line", rig.Row{"ord": order["id"], "text": fmt.Sprintf("Text %d", i/4), "qty": 1})
		}
		shops[side] = s.Serve(t)
		return fmt.Sprintf(`{http: {url: %q, timeout: 60s, walk: {query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 10, total: total}}}}`, s.URL)
	}, func(name string) string {
		return fmt.Sprintf("path: /%s\n    key: id\n    select: .gone != 1\n    update: {method: PATCH}", name)
	}, func() (n int) {
		turn++
		for _, name := range []string{"contact", "ord"} {
			rows := shops[1].Rows(name)
			row := rows[turn%len(rows)]
			delete(row, "id")
			row["gone"] = 1
			shops[1].Put(name, row)
			n++
		}
		return n
	})
}
