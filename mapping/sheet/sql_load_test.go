package sheet_test

import (
	"strings"
	"testing"

	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClientsKept takes text for what identifies a client, where clients are kept.
func TestClientsKept(t *testing.T) {
	const users = `
format: 2
source: {sql: {engine: sqlite, dsn: "file:x.db"}}
keep: k.db
rules: backend
accounts: {CLIENTS users: [{username: jan, password_hash: $argon2id$x, client: {id: ID, name: Noord}}]}
resources: {contact: {table: REL, key: {columns: ID}, fields: {kind: {constant: person}, name: NAAM}}}
`
	of := func(clients, id string) sheet.User {
		return parse(t, strings.NewReplacer("CLIENTS", clients, "ID,", id+",").Replace(users)).Accounts.Users[0]
	}
	assert.Equal(t, "01", of("clients: kept,", `"01"`).ClientKey)
	assert.Equal(t, int64(7), of("", "7").Client.ID)
}

func parse(t *testing.T, src string) *sheet.Sheet {
	t.Helper()
	s, err := sheet.Parse("testdata/inline.yaml", []byte(src), model(t), options)
	require.NoError(t, err)
	return s
}
