package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

const sameRowSheet = `
format: 1
source: {sql: {engine: sqlite, dsn: "${DEALERPAK_DSN}"}}
without_rules: [postcode, order_status]
accounts: {users: []}
resources:
  contact:
    table: w_rel
    key: {columns: id, generated: identity}
    fields: {kind: {constant: person}, name: naam}
  contactaddress:
    table: w_rel
    key: {columns: id, generated: identity}
    fields: {contact_id: id, type: {constant: visit}, street: straat, house_number: {constant: 1}, postcode: {constant: "1234 AB"}, city: plaats, country_id: {absent: true}}
    operations: {only: [get, list, update]}
  order:
    table: w_ord
    key: {columns: id, generated: identity}
    fields: {contact_id: rel, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
`

// TestAddressOnTheRowOfItsContact: before, such a contact was in use by its own address,
// and could never be deleted.
func TestAddressOnTheRowOfItsContact(t *testing.T) {
	x, _, _ := onTables(t, "sqlite", sameRowSheet,
		"CREATE TABLE w_rel (id integer NOT NULL PRIMARY KEY, naam text, straat text, plaats text)",
		"CREATE TABLE w_ord (id integer NOT NULL PRIMARY KEY, rel integer NOT NULL)",
		"INSERT INTO w_rel VALUES (1, 'One', 'A', 'X'), (2, 'Two', 'B', 'Y')",
		"INSERT INTO w_ord VALUES (1, 1)")
	require.Equal(t, "C", x.update(one, 2, x.record("contactaddress", "street", "C")).Get("street").Text())
	requireTold(t, x.tryDelete(one, "contact", 1), mapping.InUse, []string{"id", "order"})
	require.NoError(t, x.tryDelete(one, "contact", 2))
	require.Len(t, x.all(one, "contactaddress"), 1)
}
