package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lossySheet reads several codes as one value, and a place of three values as a flag.
const lossySheet = `
format: 1
source: {sql: {engine: ENGINE, dsn: "${DEALERPAK_DSN}"}}
rules: backend
accounts: {users: []}
resources:
  contact:
    table: u_rel
    key: {columns: nr, generated: max+1}
    client: adm
    fields:
      kind: {from: typ, codes: {8: person, 100: company, 2: company, 3: company}}
      name: naam
      is_customer: {cel: "row.klant == 1 || row.klant == 3 ? 1 : 0", set: {klant: "(value == 1 ? 1 : 0) + (has(row.klant) && row.klant >= 2 ? 2 : 0)"}}
`

// TestWhatIsNotChangedIsNotWritten: before, whoever sent back what he had read wrote
// another code, and made of who is a customer and a prospect a customer alone.
func TestWhatIsNotChangedIsNotWritten(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := openTables(t, engine, strings.ReplaceAll(lossySheet, "ENGINE", engine),
			"CREATE TABLE u_rel (nr integer NOT NULL PRIMARY KEY, adm integer NOT NULL, typ integer, naam varchar(20) NOT NULL, klant integer)",
			"INSERT INTO u_rel VALUES (1, 1, 2, 'A', 3)")
		stored := func() (typ, klant int, naam string) {
			require.NoError(t, x.db.QueryRowContext(t.Context(), "SELECT typ, klant, naam FROM u_rel").Scan(&typ, &klant, &naam))
			return typ, klant, naam
		}
		read := x.get(one, "contact", 1)
		require.Equal(t, "company", read.Get("kind").Text())
		again := func(name string) {
			x.update(one, 1, x.record("contact", "kind", "company", "is_customer", "1", "name", name))
		}
		again("A")
		again("B")
		typ, klant, naam := stored()
		require.Equal(t, []any{2, 3, "B"}, []any{typ, klant, naam})
		x.update(one, 1, x.record("contact", "kind", "person", "is_customer", "0"))
		typ, klant, _ = stored()
		require.Equal(t, []any{8, 2}, []any{typ, klant}, "what is changed is written, and set keeps what the row says besides")
		created := x.create(one, x.record("contact", "kind", "person", "is_customer", "1", "name", "C"))
		require.NoError(t, x.db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT klant FROM u_rel WHERE nr = %d", created.ID())).Scan(&klant))
		require.Equal(t, 1, klant, "a new record has no row yet")
	})
}
