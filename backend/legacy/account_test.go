package legacy

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/crypto/bcrypt"

	"frontdesk/auth"
	"frontdesk/mapping"
)

const accountsSheet = `client: adm
rules: backend
keep: keep.db
accounts:
  FROM
  columns:
    id: nr
    username: login
    password: {read: "COALESCE(ww, '')"}
    email: {read: "CONCAT(login, '@example.nl')"}
    client_id: adm
    client_name: {constant: A dealer}
    external: {column: extern, codes: {J: 1, N: 0}}
    blocked: {column: geblok, codes: {J: 1, N: 0, "": 0}}
  hash: [bcrypt, {algorithm: sha1, salt: zout}]
  forgot_password: https://dealer.example/password
resources:
  contact: {table: a_rel, key: {columns: id, generated: max+1},
    fields: {kind: {constant: person}, name: naam}}
`

// accounts are users by a name: with a hash of bcrypt, with salted ones, and with what cannot log
// in. ids may be longer than an int4.
func accounts(t *testing.T) []string {
	t.Helper()
	all := []string{
		"CREATE TABLE a_rel (id integer PRIMARY KEY, adm integer NOT NULL, naam varchar(20))",
		"CREATE TABLE a_user (nr bigint NOT NULL, login varchar(20), ww varchar(80), zout varchar(10), adm integer, extern char(1) NOT NULL, geblok char(1) NOT NULL)",
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("Sleutelbos"), bcrypt.MinCost)
	require.NoError(t, err)
	salted := fmt.Sprintf("%x", sha1.Sum([]byte("zoutWelkom01")))
	for i, u := range [][]any{
		{"piet", string(hash), 1, "N", "N"}, {"sanne", salted, 1, "N", "N"}, {"anja", salted, 2, "J", ""}, {"kees", salted, 1, "N", "J"},
		{"code", salted, 1, "N", "?"}, {"plain", "Welkom01", 1, "N", "N"}, {"both", salted, 1, "N", "N"}, {"both", salted, 2, "N", "N"},
	} {
		all = append(all, fmt.Sprintf("INSERT INTO a_user VALUES (%d, '%s', '%s', 'zout', %d, '%s', '%s')", append([]any{int64(9_000_000_000) + int64(i)}, u...)...))
	}
	return append(all, "INSERT INTO a_user SELECT * FROM a_user WHERE login = 'piet'", // a join may answer him twice
		"INSERT INTO a_user VALUES (1, 'nobodys', '"+salted+"', 'zout', NULL, 'N', 'N')")
}

func TestLogin(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for name, from := range map[string]string{"table": "table: a_user", "query": `query: "SELECT nr, login, ww, zout, adm, extern, geblok FROM a_user WHERE login = :username"`} {
			t.Run(name, func(t *testing.T) {
				logged, told := observer.New(zap.WarnLevel)
				x, err := tryMade(t, engine, made(t, engine, accounts(t)...), strings.Replace(accountsSheet, "FROM", from, 1), zap.New(logged))
				require.NoError(t, err)
				for _, c := range []struct {
					name, username, password string
					why                      auth.Cause // "" for nothing
				}{
					{"bcrypt", "piet", "Sleutelbos", ""},
					{"salted SHA-1", "sanne", "Welkom01", ""},
					{"external, which Login judges", "anja", "Welkom01", ""},
					{"wrong password", "sanne", "welkom01", auth.CauseWrongPassword},
					{"another's password", "piet", "Welkom01", auth.CauseWrongPassword},
					{"in capitals", "SANNE", "Welkom01", auth.CauseUnknownUser},
					{"blank behind", "sanne ", "Welkom01", auth.CauseUnknownUser},
					{"blocked", "kees", "Welkom01", auth.CauseUserBlocked},
					{"a code that is not listed", "code", "Welkom01", auth.CauseUserUnusable},
					{"no hash", "plain", "Welkom01", auth.CauseUserUnusable},
					{"two of one name", "both", "Welkom01", auth.CauseUserUnusable},
					{"of no client", "nobodys", "Welkom01", auth.CauseUserUnusable},
					{"unknown", "nobody", "Welkom01", auth.CauseUnknownUser},
					{"no SQL", "' OR '1' = '1", "Welkom01", auth.CauseUnknownUser},
					{"NUL", "sanne\x00", "Welkom01", auth.CauseUnknownUser},
					{"no UTF-8", "sanne\xff", "Welkom01", auth.CauseUnknownUser},
					{"empty", "", "", auth.CauseUnknownUser},
				} {
					user, err := x.Verify(t.Context(), auth.Credentials{Username: c.username, Password: c.password})
					if c.why == "" {
						require.NoError(t, err, c.name)
						require.Equal(t, c.username, user.Username)
						require.Equal(t, c.username+"@example.nl", user.Email)
						continue
					}
					var refused *auth.Refused
					require.ErrorIs(t, err, auth.ErrCredentials, c.name)
					require.ErrorAs(t, err, &refused, c.name)
					require.Equal(t, c.why, refused.Why, c.name)
				}
				require.NotZero(t, told.FilterMessage("a user cannot log in").Len())
				user, err := x.FindUser(t.Context(), "anja")
				require.NoError(t, err)
				require.Equal(t, auth.User{ID: 9_000_000_002, Username: "anja", Email: "anja@example.nl", External: true, Client: auth.Client{ID: 2, Name: "A dealer"}}, user)
				require.Equal(t, "https://dealer.example/password", x.ForgotPassword())
				require.Error(t, x.SetPassword(t.Context(), "sanne", "x"))
				require.ErrorIs(t, x.Redeem(t.Context(), [32]byte{}, "x", time.Time{}), auth.ErrUnknownReset)
			})
		}
	})
}

// TestFlagsOfUsers: whoever is blocked is so in whatever type the database says it.
func TestFlagsOfUsers(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "2": true, "-1": true, " 1": true, "true": true, "t": true, "TRUE": true, "0": false, "false": false, "f": false, "": false, "00": false} {
		require.Equal(t, want, isYes(mapping.TextValue(text)), "%q", text)
	}
}
