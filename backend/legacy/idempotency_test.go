package legacy

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// onBothMemories runs f with answers kept in the id store, and in a table.
func onBothMemories(t *testing.T, f func(t *testing.T, x *tables)) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, name := range []string{"kept", "in a table"} {
			t.Run(name, func(t *testing.T) { f(t, scripted(t, "once.txt", name).open(t, engine)) })
		}
	})
}

func TestAnIdempotencyKeyInUse(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		if x.engine == "sqlite" {
			return // whoever is second waits until the first has ended
		}
		var mark int64
		undone := errors.New("undone")
		err := x.Write(t.Context(), func(tx backend.Tx) error {
			_, err := tx.Recall(t.Context(), one, "busy")
			require.NoError(t, err)
			if x.answers == "" { // two that are under way at once: the first to commit has it
				_, err = x.Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				mark, err = x.ids.Begin(t.Context(), one, "busy")
				require.NoError(t, err)
				return tx.Remember(t.Context(), one, "busy", backend.StoredAnswer{})
			}
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			return undone
		})
		if x.answers == "" {
			require.ErrorIs(t, err, backend.ErrStale)
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			require.NoError(t, x.ids.Abandon(t.Context(), one, "busy", mark))
		} else {
			require.ErrorIs(t, err, undone)
		}
		memo, err := x.Recall(t.Context(), one, "busy")
		require.NoError(t, err)
		require.Nil(t, memo)
	})
}
