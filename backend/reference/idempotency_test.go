package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// memo is the answer that is kept under a key; nil for none.
func (x *fixture) memo(client auth.Client, key string) *backend.StoredAnswer {
	x.t.Helper()
	memo, err := x.Recall(bg(), client, key)
	require.NoError(x.t, err)
	return memo
}

// tick has old rows removed.
func (x *fixture) tick() {
	x.ticks <- time.Time{}
	x.ticks <- time.Time{} // taken only after the first was worked off
}

// TestRecall: every client has its own keys. What is kept under one is forgotten after a day, or after the
// life that it was given if that is longer: the answer of a job outlives the weekend on which nobody
// started frontdesk.
func TestRecall(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a, b := x.client("A"), x.client("B")
		const life = 90 * 24 * time.Hour
		kept := backend.StoredAnswer{Sum: [32]byte{1, 2, 3}, Answer: []byte(`{"data":{}}`)}
		job, again := backend.StoredAnswer{Answer: []byte("done")}, backend.StoredAnswer{Answer: []byte("second")}
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
	})
}

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
			return mapping.Fail(mapping.SecondOwner)
		})
		require.True(t, mapping.Is(err, mapping.SecondOwner))
		require.Nil(t, x.memo(a, "key"))
	})
}

// TestKeyInUse holds a key in one transaction and asks for it in another. On
// SQLite the other one waits for its turn instead.
func TestKeyInUse(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a, b := x.client("A"), x.client("B")
		if x.Capabilities().Store == sqlrecord.SQLite().Name {
			t.Skip("one write at a time")
		}
		require.NoError(t, x.Write(bg(), func(tx backend.Tx) error {
			_, err := tx.Recall(bg(), a, "key")
			require.NoError(t, err)
			_, err = x.Recall(bg(), a, "key")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), err)
			x.memo(b, "key")
			return nil
		}))
		x.memo(a, "key")
	})
}

func TestPurge(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a := x.client("A")
		_, err := x.AddUser(bg(), NewUser{Username: "u", Password: "u", Client: "A"})
		require.NoError(t, err)
		require.NoError(t, x.KeepReset(bg(), [32]byte{1}, "u", x.clock.Now().Add(time.Hour)))
		require.NoError(t, x.Remember(bg(), a, "old", backend.StoredAnswer{}))
		x.clock.advance(backend.StoredAnswerLife)
		require.NoError(t, x.Remember(bg(), a, "new", backend.StoredAnswer{}))
		x.tick()
		count := func(table string) (n int64) {
			require.NoError(t, x.db.Read(bg(), func(c sqlrecord.Conn) (err error) {
				n, _, err = x.internalTables(c).one(bg(), `SELECT count(*) FROM `+table)
				return err
			}))
			return n
		}
		require.EqualValues(t, 1, count("idempotency"))
		require.EqualValues(t, 0, count("password_reset"))
	})
}
