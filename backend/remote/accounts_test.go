package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
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
