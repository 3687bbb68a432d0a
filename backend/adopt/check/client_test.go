package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
)

const whoseSheet = `
format: 2
source: {sql: {engine: mariadb, dsn: "${DSN}"}}
keep: keep.db
client: adm
without_rules: [postcode, prefered_email]
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    fields: {kind: {constant: person}, name: name, birth_date: {read: "STR_TO_DATE(born, '%Y%m%d')", write: {born: "DATE_FORMAT(:value, '%Y%m%d')"}}}
  order:
    table: w_order
    read: w_orders
    key: {columns: id, generated: max+1}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  contactaddress:
    table: w_address
    key: {columns: id, generated: max+1}
    client: {through: contact_id}
    fields: {contact_id: contact, type: {constant: postal}, street: street, house_number: {constant: "1"}, postcode: {constant: "1"}, city: {constant: x}, country_id: {absent: true}}
  contactcommunication:
    table: w_address
    key: {columns: id, generated: max+1}
    client: ""
    where: "contact IN (SELECT id FROM w_contact WHERE adm = :client)"
    fields: {contact_id: contact, type: {constant: 1}, value: {column: street, codes: {A: a}}, modified_at: {read: "CONCAT(LEFT(born, 4), '-', SUBSTR(born, 5, 2), '-', RIGHT(born, 2))", write: {born: "DATE_FORMAT(:value, '%Y%m%d')"}}}
`

// TestWhoseRows: before, a sheet whose client is a column of the view alone passed
// the check and failed at every write, rows of nobody were not told of, and rows
// behind :client were looked at for no client at all.
func TestWhoseRows(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, contact int NOT NULL)",
		"CREATE VIEW w_orders AS SELECT o.id, o.contact, c.adm FROM w_order o JOIN w_contact c ON c.id = o.contact",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"INSERT INTO w_contact VALUES (1, 1, 'A', '20000101'), (2, 7, 'B', '20000101'), (3, NULL, 'C', '20000101')",
		"INSERT INTO w_address VALUES (1, 1, 'A', '20000101'), (2, 2, 'A', '20000199'), (3, 99, 'A', '20000101'), (4, 3, 'A', '20000101')")
	path := filepath.Join(t.TempDir(), "whose.yaml")
	require.NoError(t, os.WriteFile(path, []byte(whoseSheet), 0o600))
	report := checked(t, path, dsn)
	missing := report.has("ask.start", "resources")
	require.Len(t, missing, 1, "%+v", report.Findings)
	require.Contains(t, missing[0].Seen, "resource order: client: every write names adm, and w_order has no such column")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(whoseSheet, "    read: w_orders\n", "    read: w_orders\n    operations: {only: [get, list]}\n", 1)), 0o600))
	report = checked(t, path, dsn)
	nobody := report.has("data.nobody", "resources.contact.client")
	require.Len(t, nobody, 1, words(t, report))
	require.Equal(t, "1 of 3 record(s) belong to no client that a user works for", nobody[0].Seen)
	nobody = report.has("data.nobody", "resources.contactaddress.client")
	require.Len(t, nobody, 1, words(t, report))
	require.Equal(t, "2 of 4 record(s) belong to no client that a user works for", nobody[0].Seen)
	unfit := report.has("data.unfit", "resources.contactcommunication.fields.modified_at")
	require.Len(t, unfit, 1, "%+v", report.Findings)
	require.Contains(t, unfit[0].Seen, "1 of 2 record(s)")
	require.Contains(t, strings.Join(report.Looked, "\n"), "contactcommunication: all 2 row(s)")
}

// TestUseBeyondTheSheet: before, foreign keys of tables that the sheet does not name were
// read and not told of, and clients learnt that the backend is unavailable.
func TestUseBeyondTheSheet(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, adm int, contact int NOT NULL, CONSTRAINT fk_order FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE VIEW w_orders AS SELECT * FROM w_order",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"CREATE TABLE w_memo (id int PRIMARY KEY, contact int, CONSTRAINT fk_memo FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE TABLE w_log (id int PRIMARY KEY, contact int, CONSTRAINT fk_log FOREIGN KEY (contact) REFERENCES w_contact (id) ON DELETE SET NULL)")
	path := filepath.Join(t.TempDir(), "use.yaml")
	require.NoError(t, os.WriteFile(path, []byte(whoseSheet), 0o600))
	report := checked(t, path, dsn)
	found := report.has("sql.in-use", "resources.contact.table")
	require.Len(t, found, 1, "%+v", report.Findings)
	require.Equal(t, "fk_memo of w_memo refers to w_contact, and no resource is of it: clients are told of what it refers to that it is in use elsewhere", found[0].Seen)
	const entry = `{when: {code: "1451", constraint: fk_memo}, reason: in_use, at: NAME, on: [contact.delete]}`
	require.Equal(t, "say under errors what clients call it: "+entry, found[0].Remedy)

	said := "errors: [" + strings.Replace(entry, "NAME", "memo", 1) + "]\nresources:"
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(whoseSheet, "resources:", said, 1)), 0o600))
	require.Empty(t, checked(t, path, dsn).has("sql.in-use", "resources.contact.table"))
}
