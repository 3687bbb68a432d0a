package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

func TestRecall(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a, b := x.client("A"), x.client("B")
		kept := backend.StoredAnswer{Sum: [32]byte{1, 2, 3}, Answer: []byte(`{"data":{}}`)}
		require.NoError(t, x.Remember(bg(), a, "key", kept))
		memo, err := x.Recall(bg(), a, "key")
		require.NoError(t, err)
		require.Equal(t, &kept, memo)
		memo, err = x.Recall(bg(), b, "key")
		require.NoError(t, err)
		require.Nil(t, memo, "every client has its own keys")
		memo, err = x.Recall(bg(), a, "KEY")
		require.NoError(t, err)
		require.Nil(t, memo)

		x.clock.advance(24*time.Hour - time.Millisecond)
		memo, err = x.Recall(bg(), a, "key")
		require.NoError(t, err)
		require.NotNil(t, memo)
		x.clock.advance(time.Millisecond)
		memo, err = x.Recall(bg(), a, "key")
		require.NoError(t, err)
		require.Nil(t, memo, "24 hours have passed")
		again := backend.StoredAnswer{Answer: []byte("second")}
		require.NoError(t, x.Remember(bg(), a, "key", again))
		memo, err = x.Recall(bg(), a, "key")
		require.NoError(t, err)
		require.Equal(t, &again, memo)
	})
}

func TestMemoGoesWithItsTransaction(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a := x.client("A")
		err := x.Write(bg(), func(tx backend.Tx) error {
			if err := tx.Remember(bg(), a, "key", backend.StoredAnswer{}); err != nil {
				return err
			}
			if memo, err := tx.Recall(bg(), a, "key"); err != nil || memo == nil {
				t.Errorf("a transaction reads its own: %v, %v", memo, err)
			}
			return mapping.Fail(mapping.SecondOwner)
		})
		require.True(t, mapping.Is(err, mapping.SecondOwner))
		memo, err := x.Recall(bg(), a, "key")
		require.NoError(t, err)
		require.Nil(t, memo)
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
			_, err = x.Recall(bg(), b, "key")
			require.NoError(t, err)
			return nil
		}))
		_, err := x.Recall(bg(), a, "key")
		require.NoError(t, err)
	})
}

// The answer of a job outlives the weekend on which nobody started frontdesk.
func TestAnAnswerMayBeKeptForLonger(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a := x.client("A")
		const life = 90 * 24 * time.Hour
		require.NoError(t, x.Remember(bg(), a, "job", backend.StoredAnswer{Answer: []byte("done"), Life: life}))
		require.NoError(t, x.Remember(bg(), a, "short", backend.StoredAnswer{Answer: []byte("done"), Life: time.Minute}))
		x.clock.advance(backend.StoredAnswerLife - time.Millisecond)
		for _, key := range []string{"job", "short"} {
			memo, err := x.Recall(bg(), a, key)
			require.NoError(t, err)
			require.NotNil(t, memo, "never for less than the usual time")
		}
		x.clock.advance(life - backend.StoredAnswerLife)
		x.ticks <- time.Time{}
		x.ticks <- time.Time{} // taken only after the first was worked off
		memo, err := x.Recall(bg(), a, "job")
		require.NoError(t, err)
		require.Equal(t, &backend.StoredAnswer{Answer: []byte("done")}, memo)
		x.clock.advance(time.Millisecond)
		memo, err = x.Recall(bg(), a, "job")
		require.NoError(t, err)
		require.Nil(t, memo)
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
		x.ticks <- time.Time{}
		x.ticks <- time.Time{} // taken only after the first was worked off
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
