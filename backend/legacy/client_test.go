package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

const namedSheet = `client: firma
rules: backend
keep: keep.db
accounts: {clients: kept, USERS}
resources:
  turnovergroup: {table: c_groep, key: {columns: [firma, code], generated: supplied}, where: "code <> :client", constants: {van: "CONCAT(:client, '/', :client_name)"},
    fields: {code: {column: code, length: 4, immutable: true}, description: naam, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}}
`

var named = []string{
	"CREATE TABLE c_groep (firma varchar(10) NOT NULL, code varchar(10) NOT NULL, naam varchar(20), van varchar(40), PRIMARY KEY (firma, code))",
	"CREATE TABLE c_user (login varchar(10), ww varchar(10), firma varchar(10))",
	"INSERT INTO c_groep VALUES ('NOORD', 'A', 'An', ''), ('ZUID', 'A', 'Ans', ''), ('ZUID', 'ZUID', 'hidden', '')",
	"INSERT INTO c_user VALUES ('noor', 'x', 'NOORD'), ('zus', 'x', 'ZUID')",
}

// TestClientsOfTexts has clients that the database knows by a text: users say which, the id store
// numbers them, and the number of one leads to no record of another, also after a restart.
func TestClientsOfTexts(t *testing.T) {
	const columns = "columns: {username: login, password: ww, email: {constant: \"\"}, client_id: firma, client_name: firma}"
	listed := `users: [{username: noor, email: "", password_hash: "$argon2id$x", client: {id: NOORD, name: NOORD}}, {username: zus, email: "", password_hash: "$argon2id$x", client: {id: ZUID, name: ZUID}}]`
	eachEngine(t, func(t *testing.T, engine string) {
		for name, users := range map[string]string{"table": "table: c_user, hash: [bcrypt], " + columns, "listed": listed} {
			t.Run(name, func(t *testing.T) {
				text := strings.Replace(namedSheet, "USERS", users, 1)
				x := onTables(t, engine, text, named...)
				user := func(name string) auth.Client {
					u, err := x.FindUser(t.Context(), name)
					require.NoError(t, err)
					return u.Client
				}
				north, south := user("noor"), user("zus")
				require.NotEqual(t, north.ID, south.ID)
				require.Equal(t, north, user("noor"))

				made := x.create(north, x.record("turnovergroup", "code", "B", "description", "Bo"))
				require.Equal(t, "NOORD/NOORD", x.one("SELECT van FROM c_groep WHERE code = 'B'"))
				require.Equal(t, "2", x.one("SELECT COUNT(*) FROM c_groep WHERE firma = 'NOORD'"))
				names := func(client auth.Client) (all []string) {
					for _, rec := range x.list(client, "turnovergroup") {
						all = append(all, rec.Get("description").Text())
					}
					return all
				}
				require.Equal(t, []string{"An", "Bo"}, names(north))
				require.Equal(t, []string{"Ans"}, names(south))
				_, err := x.front.Get(t.Context(), x.model.Resource("turnovergroup"), backend.Query{Client: south, ID: made.ID()})
				require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)

				x.clients.Clear() // as after a restart, when nobody has logged in yet
				require.Equal(t, []string{"An", "Bo"}, names(north))
				_, err = x.List(t.Context(), x.model.Resource("turnovergroup"), backend.Query{Client: auth.Client{ID: 99}})
				require.ErrorIs(t, err, backend.ErrUnexpected)
				require.NoError(t, x.tryDelete(north, "turnovergroup", made.ID()))
			})
		}
	})
}

// TestWhoseARowIs is told at the start where the database cannot tell it.
func TestWhoseARowIs(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := made(t, engine, "CREATE TABLE o_rel (klant integer NOT NULL, id integer NOT NULL, naam varchar(40) NOT NULL, PRIMARY KEY (klant, id))",
			"CREATE TABLE o_tel (id integer NOT NULL PRIMARY KEY, rel integer NOT NULL, nr varchar(40) NOT NULL)", "CREATE VIEW o_view AS SELECT klant, id, naam FROM o_rel")
		text := strings.Join(scripted(t, "keys.txt", "the client in a column of texts").of("sheet", engine), "\n")
		_, err := tryMade(t, engine, dsn, text, nil)
		require.ErrorContains(t, err, "resource contactcommunication: client through contact_id: the key of contact, [id], is unique for each client only")
		_, err = tryMade(t, engine, dsn, strings.Replace(text, "{through: contact_id}", "klant", 1), nil)
		require.ErrorContains(t, err, "resource contactcommunication: client: every write names klant, and o_tel has no such column")
	})
}
