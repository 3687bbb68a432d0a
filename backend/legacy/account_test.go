package legacy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func TestLogin(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, c := range []struct {
			name, username, password string
			ok                       bool
		}{
			{"bcrypt", "piet.dekker", "Sleutelbos-1998", true},
			{"salted SHA-1", "sanne.bos", "Welkom01", true},
			{"of another branch", "sanne.bos2", "Welkom01", true},
			{"external, which Login judges", "anja.mulder", "Welkom01", true},
			{"wrong password", "sanne.bos", "welkom01", false},
			{"another's password", "piet.dekker", "Welkom01", false},
			{"in capitals", "SANNE.BOS", "Welkom01", false},
			{"blank behind", "sanne.bos ", "Welkom01", false},
			{"blocked", "kees.visser5", "Welkom01", false},
			{"unknown", "nobody", "Welkom01", false},
			{"no SQL", "' OR '1' = '1", "Welkom01", false},
			{"NUL", "sanne.bos\x00", "Welkom01", false},
			{"no UTF-8", "sanne.bos\xff", "Welkom01", false},
			{"empty", "", "", false},
		} {
			t.Run(c.name, func(t *testing.T) {
				user, err := x.Verify(t.Context(), auth.Credentials{Username: c.username, Password: c.password})
				if !c.ok {
					require.ErrorIs(t, err, auth.ErrCredentials)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.username, user.Username)
				require.NotEmpty(t, user.Email)
			})
		}
		user, err := x.FindUser(t.Context(), "anja.mulder2")
		require.NoError(t, err)
		require.Equal(t, auth.Client{ID: 2, Name: "004712"}, user.Client)
		require.True(t, user.External)

		require.Equal(t, "https://dealerpak.example/wachtwoord", x.ForgotPassword())
		require.Error(t, x.KeepReset(t.Context(), [32]byte{}, "sanne.bos", time.Time{}))
		require.Error(t, x.SetPassword(t.Context(), "sanne.bos", "x"))
		_, err = x.TakeReset(t.Context(), [32]byte{}, time.Time{})
		require.ErrorIs(t, err, auth.ErrUnknownReset)
	})
}

// Whose row cannot be used is not told from nobody.
func TestLoginTellsNoUser(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for column, value := range map[string]string{"WW": "plain text", "GEBLOK": "?"} {
			_, err := x.db.ExecContext(t.Context(), "UPDATE "+x.quoted("GEBRUIKER")+" SET "+x.quoted(column)+" = '"+value+"' WHERE "+x.quoted("LOGIN")+" = 'sanne.bos7'")
			require.NoError(t, err)
			_, err = x.Verify(t.Context(), auth.Credentials{Username: "sanne.bos7", Password: "Welkom01"})
			require.Equal(t, auth.ErrCredentials, err, column)
		}
	})
}
