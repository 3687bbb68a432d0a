package sqlrecord

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestChangesAreReadAhead: records of a group that are changed are read at once, so that what is
// written waits for the end of the group. One that was changed is read again.
func TestChangesAreReadAhead(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	var made, coming []mapping.Record
	for _, name := range []string{"Jansen", "De Vries"} {
		made = append(made, s.create(t, alice, "contact", "name", name))
		coming = append(coming, s.record("contact", "id", made[len(made)-1].ID(), "note", "new"))
	}
	require.NoError(t, s.inTx(t.Context(), func(tx *Store) error {
		prepared, err := tx.Prepare(t.Context(), alice, coming)
		require.NoError(t, err)
		require.True(t, prepared)
		hold := func(i int) mapping.Record {
			rec, err := tx.Get(t.Context(), made[i].Resource, backend.Query{Client: alice, ID: made[i].ID(), ForUpdate: true})
			require.NoError(t, err)
			return rec
		}
		waiting := func() int { return len(tx.conn.(*postgresConn).postponed) }
		for i := range made {
			_, err := tx.Update(t.Context(), alice, hold(i), s.record("contact", "note", "new"))
			require.NoError(t, err)
			require.Equal(t, i+1, waiting())
		}
		require.Equal(t, "new", hold(0).Get("note").Text())
		require.Zero(t, waiting())
		return nil
	}))
	require.Equal(t, "new", s.get(t, alice, made[1]).Get("note").Text())
}
