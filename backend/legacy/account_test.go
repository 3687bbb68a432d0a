package legacy

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
)

func TestLogin(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, c := range []struct {
			name, username, password string
			why                      auth.Cause // "" for nothing
		}{
			{"bcrypt", "piet.dekker", "Sleutelbos-1998", ""},
			{"salted SHA-1", "sanne.bos", "Welkom01", ""},
			{"of another branch", "sanne.bos2", "Welkom01", ""},
			{"external, which Login judges", "anja.mulder", "Welkom01", ""},
			{"wrong password", "sanne.bos", "welkom01", auth.CauseWrongPassword},
			{"another's password", "piet.dekker", "Welkom01", auth.CauseWrongPassword},
			{"in capitals", "SANNE.BOS", "Welkom01", auth.CauseUnknownUser},
			{"blank behind", "sanne.bos ", "Welkom01", auth.CauseUnknownUser},
			{"blocked", "kees.visser5", "Welkom01", auth.CauseUserBlocked},
			{"unknown", "nobody", "Welkom01", auth.CauseUnknownUser},
			{"no SQL", "' OR '1' = '1", "Welkom01", auth.CauseUnknownUser},
			{"NUL", "sanne.bos\x00", "Welkom01", auth.CauseUnknownUser},
			{"no UTF-8", "sanne.bos\xff", "Welkom01", auth.CauseUnknownUser},
			{"letters that the database lacks", "sanne.bos✓", "Welkom01", auth.CauseUnknownUser},
			{"empty", "", "", auth.CauseUnknownUser},
		} {
			t.Run(c.name, func(t *testing.T) {
				user, err := x.Verify(t.Context(), auth.Credentials{Username: c.username, Password: c.password})
				if c.why != "" {
					var refused *auth.Refused
					require.ErrorIs(t, err, auth.ErrCredentials)
					require.ErrorAs(t, err, &refused)
					require.Equal(t, c.why, refused.Why)
					require.Equal(t, c.why != auth.CauseUnknownUser, refused.Client.ID != 0)
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
		_, err = x.FindReset(t.Context(), [32]byte{}, time.Time{})
		require.ErrorIs(t, err, auth.ErrUnknownReset)
		require.ErrorIs(t, x.Redeem(t.Context(), [32]byte{}, "x", time.Time{}), auth.ErrUnknownReset)
	})
}

// Whose row cannot be used is not told from nobody.
func TestLoginTellsNoUser(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for column, value := range map[string]string{"WW": "plain text", "GEBLOK": "?"} {
			_, err := x.db.ExecContext(t.Context(), "UPDATE "+x.quoted("GEBRUIKER")+" SET "+x.quoted(column)+" = '"+value+"' WHERE "+x.quoted("LOGIN")+" = 'sanne.bos7'")
			require.NoError(t, err)
			_, err = x.Verify(t.Context(), auth.Credentials{Username: "sanne.bos7", Password: "Welkom01"})
			require.ErrorIs(t, err, auth.ErrCredentials, column)
			var refused *auth.Refused
			require.ErrorAs(t, err, &refused)
			require.Equal(t, auth.CauseUserUnusable, refused.Why, column)
		}
	})
}

// TestSharedLoginName: before, the first row was logged in by, and the other user never
// could; and whose client that was is chance.
func TestSharedLoginName(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := engines[engine](t)
		base := openOn(t, engine, dsn)
		for _, statement := range []string{
			"CREATE TABLE w_users AS SELECT * FROM " + base.quoted("GEBRUIKER"),
			"UPDATE w_users SET " + base.quoted("LOGIN") + " = 'sanne.bos' WHERE " + base.quoted("LOGIN") + " = 'sanne.bos2'", // of another branch
			"INSERT INTO w_users SELECT * FROM w_users WHERE " + base.quoted("LOGIN") + " = 'piet.dekker'",                    // the same user twice
		} {
			_, err := base.db.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		require.NoError(t, base.Close())
		text := strings.Replace(dealerpakText(t, engine), "table: GEBRUIKER", "table: w_users", 1)
		c := newClock()
		logged, told := observer.New(zap.WarnLevel)
		sh := loadText(t, dsn, text, c.Now)
		s, err := Open(t.Context(), Options{Sheet: sh, IDStore: openIDStore(t, c.Now), Now: c.Now, Random: rand.Reader, Hasher: auth.NewHasher(), Log: zap.New(logged)})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.NotZero(t, told.FilterMessage("several users have one login name: none of them can log in").Len())
		_, err = s.Verify(t.Context(), auth.Credentials{Username: "sanne.bos", Password: "Welkom01"})
		require.ErrorIs(t, err, auth.ErrCredentials)
		require.Equal(t, 1, told.FilterMessage("a user cannot log in").Len())
		_, err = s.Verify(t.Context(), auth.Credentials{Username: "piet.dekker", Password: "Sleutelbos-1998"})
		require.NoError(t, err)
	})
}
