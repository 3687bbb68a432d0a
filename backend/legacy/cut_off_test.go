package legacy

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// TestTransactionThatIsCutOff: a connection that ends within a transaction, or before its end, leaves
// nothing of it, is no answer, and is in the way of no other.
func TestTransactionThatIsCutOff(t *testing.T) {
	onTyped(t, func(t *testing.T, engine string, x *tables) {
		article := x.model.Resource("article")
		cut := func(tx backend.Tx) {
			var id string
			own := of(engine, "SELECT pg_backend_pid()::text", "SELECT CAST(CONNECTION_ID() AS CHAR)")
			require.NoError(t, tx.(*txn).conn.Query(t.Context(), own, []sqlrecord.Column{foreignText}, nil, func(row []mapping.Value) error {
				id = row[0].Text()
				return nil
			}))
			run(t, engine, x.dsn, of(engine, "SELECT pg_terminate_backend("+id+")", "KILL "+id))
		}
		for _, name := range []string{"within", "at its end"} {
			err := x.Write(t.Context(), func(tx backend.Tx) error {
				before, err := tx.Get(t.Context(), article, backend.Query{Client: one, ID: 1, ForUpdate: true})
				require.NoError(t, err)
				_, err = tx.Update(t.Context(), one, before, x.record("article", "description", "cut off"))
				require.NoError(t, err)
				if cut(tx); name == "within" {
					_, err = tx.Get(t.Context(), article, backend.Query{Client: one, ID: 2})
				}
				return err
			})
			require.Error(t, err, name)
			require.False(t, errors.Is(err, backend.ErrNotFound), "%s: %v", name, err)
			require.False(t, errors.Is(err, backend.ErrChanged), "%s: %v", name, err)
			require.Equal(t, "first", x.get(one, "article", 1).Get("description").Text())
		}
		for range 20 { // more than there are connections
			x.update(one, 1, x.record("article", "description", "goes on"))
			x.update(one, 1, x.record("article", "description", "first"))
		}
	})
}
