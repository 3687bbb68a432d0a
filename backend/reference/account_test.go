package reference

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// user is the user of that name.
func (x *fixture) user(name string) auth.User {
	x.t.Helper()
	return must.Have(x.FindUser(bg(), name))(x.t)
}

// users adds users whose names are their passwords.
func (x *fixture) users(names ...string) {
	x.t.Helper()
	for _, name := range names {
		must.Have(x.AddUser(bg(), NewUser{Username: name, Password: name, Client: "A"}))(x.t)
	}
}

func TestAccounts(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		added := must.Have(x.AddUser(bg(), NewUser{Username: "jan", Password: "geheim12", Email: "jan@example.nl", Client: "Garage"}))(t)
		require.Equal(t, "Garage", added.Client.Name)
		require.Equal(t, added.Client, x.client("Garage"), "a client of that name was there")
		require.Equal(t, added, x.user("jan"))
		login := func(username, password string) (auth.User, error) {
			return x.Verify(bg(), auth.Credentials{Username: username, Password: password})
		}
		require.Equal(t, added, must.Have(login("jan", "geheim12"))(t))
		refused := func(username, password string, as auth.Refused) {
			t.Helper()
			_, err := login(username, password)
			require.ErrorIs(t, err, auth.ErrCredentials)
			require.Equal(t, &as, err)
		}
		refused("jan", "Geheim12", auth.Refused{Why: auth.CauseWrongPassword, Client: added.Client})
		for _, nobody := range []string{"Jan", "piet", ""} {
			refused(nobody, "geheim12", auth.Refused{Why: auth.CauseUnknownUser})
		}
		require.ErrorIs(t, must.Fail(x.FindUser(bg(), "JAN")), auth.ErrUnknownUser)

		for want, wrong := range map[error]NewUser{ErrUsernameTaken: {Username: "jan", Password: "x", Client: "Other"}, auth.ErrPasswordLength: {Username: "kim", Client: "A"}} {
			require.ErrorIs(t, must.Fail(x.AddUser(bg(), wrong)), want)
		}
		require.Error(t, must.Fail(x.AddUser(bg(), NewUser{Username: "kim", Password: "p"})))
		require.Error(t, must.Fail(x.AddClient(bg(), "")))
		capital, err := x.AddUser(bg(), NewUser{Username: "Jan", Password: "x", Client: "Other", External: true})
		require.NoError(t, err, "names differ by case")
		require.True(t, capital.External)

		require.NoError(t, x.SetBlocked(bg(), "jan", true))
		refused("jan", "geheim12", auth.Refused{Why: auth.CauseUserBlocked, Client: added.Client})
		require.True(t, x.user("jan").Blocked)
		require.NoError(t, x.SetBlocked(bg(), "jan", false))
		hash := must.Have(hasher.Hash(bg(), "nieuw1234"))(t)
		require.NoError(t, x.SetPassword(bg(), "jan", hash))
		require.ErrorIs(t, x.SetPassword(bg(), "piet", hash), auth.ErrUnknownUser)
		must.Have(login("jan", "nieuw1234"))(t)

		users := must.Have(x.ListUsers(bg()))(t)
		require.Len(t, users, 2)
		require.Equal(t, "Jan", users[0].Username)
	})
}

// TestEndedSessions: a block and a new password say since when, each time later, by the clock of
// the database: that of whoever makes them may be hours off.
func TestEndedSessions(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		x.users("jan", "piet")
		ends := func(within time.Duration) []auth.UserEnd {
			t.Helper()
			return must.Have(x.EndedSessions(bg(), within))(t)
		}
		require.Empty(t, ends(time.Hour))
		require.Zero(t, x.user("jan").SessionsEnd)

		begun := time.UnixMilli(time.Now().UnixMilli())
		require.NoError(t, x.SetBlocked(bg(), "jan", true))
		blocked := ends(time.Hour)
		require.Len(t, blocked, 1)
		at := blocked[0].End
		require.False(t, at.Before(begun))
		require.False(t, at.After(time.Now()))
		require.Equal(t, []auth.UserEnd{{Username: "jan", Blocked: true, End: at, Why: auth.CauseUserBlocked}}, blocked)
		require.Equal(t, blocked, ends(-time.Hour), "who is blocked, is told of for ever")
		require.NoError(t, x.SetBlocked(bg(), "jan", false))
		require.Equal(t, []auth.UserEnd{{Username: "jan", End: at, Why: auth.CauseUserBlocked}}, ends(time.Hour), "and nobody looked meanwhile")
		require.Empty(t, ends(-time.Hour))

		for range 3 { // some in the same millisecond
			before := at
			require.NoError(t, x.SetPassword(bg(), "jan", "hash"))
			at = x.user("jan").SessionsEnd
			require.True(t, at.After(before))
			require.Equal(t, []auth.UserEnd{{Username: "jan", End: at, Why: auth.CauseNewPassword}}, ends(time.Hour))
		}
		ahead := at.Add(time.Hour)
		require.NoError(t, x.inOwnTx(bg(), func(t *txn) error {
			_, err := t.conn.Exec(bg(), `UPDATE app_user SET sessions_end = ?1 WHERE username = 'jan'`, mapping.IntValue(ahead.UnixMilli()))
			return err
		}))
		require.NoError(t, x.SetPassword(bg(), "jan", "hash"))
		require.Equal(t, ahead.Add(time.Millisecond), x.user("jan").SessionsEnd, "later than one of a clock that was ahead")
	})
}

func TestResets(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		x.users("jan", "piet")
		kept := func(name string) string {
			_, hash, err := x.readUser(bg(), name)
			require.NoError(t, err)
			return hash
		}
		now := x.clock.Now()
		later := now.Add(time.Hour)
		require.ErrorIs(t, x.KeepReset(bg(), [32]byte{9}, "nobody", later), auth.ErrUnknownUser)
		for i, name := range []string{"jan", "jan", "piet", "piet"} {
			require.NoError(t, x.KeepReset(bg(), [32]byte{byte(i)}, name, later))
		}
		require.NoError(t, x.inOwnTx(bg(), func(t *txn) error {
			_, err := t.conn.Exec(bg(), `CREATE UNIQUE INDEX for_the_test ON app_user (password_hash)`)
			return err
		}))
		require.Error(t, x.Redeem(bg(), [32]byte{1}, kept("piet"), now))
		ends := must.Have(x.EndedSessions(bg(), time.Hour))(t)
		require.Empty(t, ends, "all of it or nothing")

		const hash = "a new one"
		require.Equal(t, "jan", must.Have(x.FindReset(bg(), [32]byte{1}, now))(t).Username)
		require.NoError(t, x.Redeem(bg(), [32]byte{1}, hash, now))
		require.Equal(t, hash, kept("jan"))
		unknown := func(token byte, at time.Time, what string) {
			t.Helper()
			require.ErrorIs(t, must.Fail(x.FindReset(bg(), [32]byte{token}, at)), auth.ErrUnknownReset, what)
			require.ErrorIs(t, x.Redeem(bg(), [32]byte{token}, "another", at), auth.ErrUnknownReset, what)
		}
		for _, gone := range []byte{0, 1, 9} {
			unknown(gone, now, "its user's others go with it")
		}
		unknown(2, later, "an hour has passed")
		require.Equal(t, hash, kept("jan"))
		ends = must.Have(x.EndedSessions(bg(), time.Hour))(t)
		require.Len(t, ends, 1)
		require.Equal(t, auth.CauseNewPassword, ends[0].Why)

		won := 0
		for _, err := range drivertest.Together(16, func(n int) error { return x.Redeem(bg(), [32]byte{3}, fmt.Sprint("new ", n), now) }) {
			if err == nil {
				won++
			}
		}
		require.Equal(t, 1, won)
	})
}

// memo is the answer that is kept under a key; nil for none.
func (x *fixture) memo(client auth.Client, key string) *backend.StoredAnswer {
	x.t.Helper()
	return must.Have(x.Recall(bg(), client, key))(x.t)
}

// tick has old rows removed.
func (x *fixture) tick() {
	x.ticks <- time.Time{}
	x.ticks <- time.Time{} // taken only after the first was worked off
}

// TestRecall: every client has its own keys, and the database does not keep for ever what has ended. What is kept under one is forgotten after a day, or after the
// life that it was given if that is longer: the answer of a job outlives the weekend on which nobody
// started frontdesk.
func TestRecall(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a, b := x.client("A"), x.client("B")
		const life = 90 * 24 * time.Hour
		kept := backend.StoredAnswer{Sum: [32]byte{1, 2, 3}, Answer: []byte(`{"data":{}}`)}
		job, again := backend.StoredAnswer{Answer: []byte("done")}, backend.StoredAnswer{Answer: []byte("second")}
		x.users("u")
		require.NoError(t, x.KeepReset(bg(), [32]byte{1}, "u", x.clock.Now().Add(time.Hour)))
		require.NoError(t, x.Remember(bg(), a, "key", kept))
		for key, life := range map[string]time.Duration{"job": life, "short": time.Minute} {
			require.NoError(t, x.Remember(bg(), a, key, backend.StoredAnswer{Answer: job.Answer, Life: life}))
		}
		for _, s := range []struct {
			wait   time.Duration
			client auth.Client
			key    string
			want   *backend.StoredAnswer
		}{
			{0, a, "key", &kept}, {0, b, "key", nil}, {0, a, "KEY", nil},
			{backend.StoredAnswerLife - time.Millisecond, a, "key", &kept}, {0, a, "short", &job},
			{time.Millisecond, a, "key", nil}, {0, a, "short", nil}, {0, a, "job", &job},
			{life - backend.StoredAnswerLife - time.Millisecond, a, "job", &job}, {time.Millisecond, a, "job", nil},
		} {
			x.clock.advance(s.wait)
			x.tick()
			require.Equal(t, s.want, x.memo(s.client, s.key), "%s of %s", s.key, s.client.Name)
		}
		require.NoError(t, x.Remember(bg(), a, "key", again))
		require.Equal(t, &again, x.memo(a, "key"))
		x.tick()
		for table, want := range map[string]int64{"idempotency": 1, "password_reset": 0} {
			require.NoError(t, x.db.Read(bg(), func(c sqlrecord.Conn) error {
				n, _, err := x.internalTables(c).one(bg(), `SELECT count(*) FROM `+table)
				require.Equal(t, want, n, table)
				return err
			}))
		}
	})
}

// TestMemoGoesWithItsTransaction: while it holds a key, the key is in use to others.
func TestMemoGoesWithItsTransaction(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a := x.client("A")
		err := x.Write(bg(), func(tx backend.Tx) error {
			if err := tx.Remember(bg(), a, "key", backend.StoredAnswer{}); err != nil {
				return err
			}
			memo, err := tx.Recall(bg(), a, "key")
			require.NoError(t, err)
			require.NotNil(t, memo, "a transaction reads its own")
			if x.postgres() { // SQLite has one write at a time
				_, err = x.Recall(bg(), a, "key")
				require.True(t, mapping.Is(err, mapping.IdempotencyInUse), err)
				x.memo(x.client("B"), "key")
			}
			return mapping.Fail(mapping.SecondOwner)
		})
		require.True(t, mapping.Is(err, mapping.SecondOwner))
		require.Nil(t, x.memo(a, "key"))
	})
}
