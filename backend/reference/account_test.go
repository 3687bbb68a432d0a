package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func TestAccounts(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		added, err := x.AddUser(bg(), NewUser{Username: "jan", Password: "geheim12", Email: "jan@example.nl", Client: "Garage"})
		require.NoError(t, err)
		require.Equal(t, "Garage", added.Client.Name)
		again := x.client("Garage")
		require.Equal(t, added.Client, again, "a client of that name was there")

		user, err := x.Verify(bg(), auth.Credentials{Username: "jan", Password: "geheim12"})
		require.NoError(t, err)
		require.Equal(t, added, user)
		found, err := x.FindUser(bg(), "jan")
		require.NoError(t, err)
		require.Equal(t, added, found)
		for _, c := range []auth.Credentials{{Username: "jan", Password: "Geheim12"}, {Username: "Jan", Password: "geheim12"}, {Username: "piet", Password: "geheim12"}, {}} {
			_, err := x.Verify(bg(), c)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		_, err = x.FindUser(bg(), "JAN")
		require.ErrorIs(t, err, auth.ErrUnknownUser)

		_, err = x.AddUser(bg(), NewUser{Username: "jan", Password: "x", Client: "Other"})
		require.ErrorIs(t, err, ErrUsernameTaken)
		capital, err := x.AddUser(bg(), NewUser{Username: "Jan", Password: "x", Client: "Other", External: true})
		require.NoError(t, err, "names differ by case")
		require.True(t, capital.External)

		require.NoError(t, x.SetBlocked(bg(), "jan", true))
		_, err = x.Verify(bg(), auth.Credentials{Username: "jan", Password: "geheim12"})
		require.ErrorIs(t, err, auth.ErrCredentials)
		found, err = x.FindUser(bg(), "jan")
		require.NoError(t, err)
		require.True(t, found.Blocked)
		blocked, err := x.BlockedUsers(bg())
		require.NoError(t, err)
		require.Equal(t, []string{"jan"}, blocked)
		require.NoError(t, x.SetBlocked(bg(), "jan", false))

		hash, err := hasher.Hash(bg(), "nieuw1234")
		require.NoError(t, err)
		require.NoError(t, x.SetPassword(bg(), "jan", hash))
		require.ErrorIs(t, x.SetPassword(bg(), "piet", hash), auth.ErrUnknownUser)
		_, err = x.Verify(bg(), auth.Credentials{Username: "jan", Password: "nieuw1234"})
		require.NoError(t, err)

		users, err := x.ListUsers(bg())
		require.NoError(t, err)
		require.Len(t, users, 2)
		require.Equal(t, "Jan", users[0].Username)
	})
}

func TestAddUserRefuses(t *testing.T) {
	x := open(t, sqliteDSN(t))
	_, err := x.AddUser(bg(), NewUser{Username: "jan", Client: "A"})
	require.ErrorIs(t, err, auth.ErrPasswordLength)
	_, err = x.AddUser(bg(), NewUser{Username: "jan", Password: "p"})
	require.Error(t, err)
	_, err = x.AddClient(bg(), "")
	require.Error(t, err)
}

func TestResets(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, name := range []string{"jan", "piet"} {
			_, err := x.AddUser(bg(), NewUser{Username: name, Password: name, Client: "A"})
			require.NoError(t, err)
		}
		now := x.clock.Now()
		later := now.Add(time.Hour)
		require.ErrorIs(t, x.KeepReset(bg(), [32]byte{9}, "nobody", later), auth.ErrUnknownUser)
		for i, name := range []string{"jan", "jan", "piet", "piet"} {
			require.NoError(t, x.KeepReset(bg(), [32]byte{byte(i)}, name, later))
		}
		name, err := x.TakeReset(bg(), [32]byte{1}, now)
		require.NoError(t, err)
		require.Equal(t, "jan", name)
		for _, gone := range []byte{0, 1, 9} { // its user's others go with it
			_, err = x.TakeReset(bg(), [32]byte{gone}, now)
			require.ErrorIs(t, err, auth.ErrUnknownReset)
		}
		_, err = x.TakeReset(bg(), [32]byte{2}, later)
		require.ErrorIs(t, err, auth.ErrUnknownReset, "an hour has passed")

		won := 0
		for _, err := range together(16, func(int) error {
			_, err := x.TakeReset(bg(), [32]byte{3}, now)
			return err
		}) {
			if err == nil {
				won++
			}
		}
		require.Equal(t, 1, won)
	})
}
