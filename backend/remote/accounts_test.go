package remote

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/mapping/sheet"
)

// TestListedUsersAreRefused: those of a sheet's list are refused for a cause, with their client.
func TestListedUsersAreRefused(t *testing.T) {
	hasher := auth.NewHasher()
	hash, err := hasher.Hash(t.Context(), "a password")
	require.NoError(t, err)
	theirs := auth.Client{ID: 7, Name: "De Wit"}
	users := []sheet.User{
		{PasswordHash: config.Secret(hash), User: auth.User{Username: "anna", Client: theirs}},
		{PasswordHash: config.Secret(hash), User: auth.User{Username: "bert", Client: theirs, Blocked: true}},
	}
	s := &Store{core: &core{Options: Options{Hasher: hasher, Sheet: &sheet.Sheet{Accounts: sheet.Accounts{Users: users}}}}}
	for _, c := range []struct {
		username, password string
		as                 *auth.Refused
	}{
		{"anna", "a password", nil},
		{"anna", "another", &auth.Refused{Why: auth.CauseWrongPassword, Client: theirs}},
		{"bert", "a password", &auth.Refused{Why: auth.CauseUserBlocked, Client: theirs}},
		{"Anna", "a password", &auth.Refused{Why: auth.CauseUnknownUser}},
	} {
		user, err := s.verifyListed(t.Context(), auth.Credentials{Username: c.username, Password: c.password})
		if c.as == nil {
			require.NoError(t, err)
			require.Equal(t, theirs, user.Client)
			continue
		}
		require.Equal(t, c.as, err)
	}
}

// TestBlockedByTheService: whose user it is is told of the one that was asked about only.
func TestBlockedByTheService(t *testing.T) {
	user := auth.User{Username: "ANNA", Client: auth.Client{ID: 7, Name: "De Wit"}}
	require.Equal(t, &auth.Refused{Why: auth.CauseUserBlocked, Client: user.Client}, blocked(user, "anna"))
	require.Equal(t, &auth.Refused{Why: auth.CauseUserBlocked}, blocked(user, "bert"))
}

// TestUsersWithinAnswers: log-ons answer the user as a part of something, searches as a list.
func TestUsersWithinAnswers(t *testing.T) {
	const anna = `{"login":"anna","org":7}`
	answers := map[string]string{
		"anna": `{"items":[` + anna + `]}`, "nobody": `{"items":[]}`, "two": `{"items":[` + anna + `,{"login":"two","org":8}]}`,
		"without": `{}`, "null": `{"items":null}`, "": `{"items":[` + anna + `]}`,
	}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			_, _ = w.Write([]byte(`{"token":"x","org":9,"record":` + anna + `}`))
			return
		}
		_, _ = w.Write([]byte(answers[r.FormValue("name")]))
	})
	s := served(t, `
accounts:
  verify: {path: /login, body: '{"login": "{username}", "password": "{password}"}', result: record}
  find: {path: /users, query: {name: "{username}"}, result: items}
  result: {username: login, client_id: org}
resources:
  contact:
    key: {columns: nr}
    operations: {get: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: naam}
`, service)
	user, err := s.Verify(bg(), auth.Credentials{Username: "anna", Password: "x"})
	require.NoError(t, err)
	require.EqualValues(t, 7, user.Client.ID)
	user, err = s.FindUser(bg(), "anna")
	require.NoError(t, err)
	require.EqualValues(t, 7, user.Client.ID)
	for _, name := range []string{"nobody", ""} {
		_, err = s.FindUser(bg(), name)
		require.ErrorIs(t, err, auth.ErrUnknownUser, name)
	}
	for _, name := range []string{"two", "without", "null"} {
		_, err = s.FindUser(bg(), name)
		require.ErrorIs(t, err, backend.ErrUnexpected, name)
	}
}
