package sqlrecord

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

func (s *fixture) changes(t testing.TB) *Changes {
	t.Helper()
	c, err := OpenChanges(t.Context(), s.Store, time.Hour)
	require.NoError(t, err)
	return c
}

// begin returns the cursor of now for alice.
func begin(t testing.TB, c *Changes) string {
	t.Helper()
	page, err := c.Page(t.Context(), backend.ChangesQuery{Client: alice, Begin: true})
	require.NoError(t, err)
	return page.Cursor
}

// contacts returns the IDs of changed contacts, once the one that is given is among them.
func contacts(t testing.TB, c *Changes, after string, last mapping.Record) (ids []int32) {
	t.Helper()
	r := c.byName["contact"]
	await.True(t, func() bool {
		page, err := c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: after, Limit: 100, Resources: []*mapping.Resource{r}})
		require.NoError(t, err)
		ids = nil
		for _, change := range page.Changes {
			ids = append(ids, change.ID)
		}
		return len(ids) > 0 && ids[len(ids)-1] == last.ID()
	})
	return ids
}

// TestChangesOfALaterModel has the tables that a later model brings tell their changes, too.
func TestChangesOfALaterModel(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		later := modelWith(t, extended(t, "since: 7"))
		require.NoError(t, Migrate(t.Context(), s.db, later))
		l := &fixture{New(s.db, later, s.clock.now), later, s.clock}
		c := l.changes(t)
		after := begin(t, c)
		w := l.create(t, alice, "widget", "code", "a")
		c.byName["contact"] = later.Resource("widget")
		require.Equal(t, []int32{w.ID()}, contacts(t, c, after, w))
	})
}

// TestCursorsEndWithTheirSecret: cursors of one gateway are good at another, and end for all
// when the secret does, as it is told to those who put an older database back.
func TestCursorsEndWithTheirSecret(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		after := begin(t, s.changes(t))
		fresh := s.create(t, alice, "contact", "name", "new")
		require.Equal(t, []int32{fresh.ID()}, contacts(t, s.changes(t), after, fresh))
		s.create(t, alice, "contact", "name", "newer")
		change(t, s.db, "UPDATE "+changeLogTable+" SET secret = NULL")
		_, err := s.changes(t).Page(t.Context(), backend.ChangesQuery{Client: alice, After: after, Limit: 1})
		require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	})
}

// TestCursorAheadIsGone: a cursor that is ahead of the table is of another state of it.
func TestCursorAheadIsGone(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		c := s.changes(t)
		ahead := c.seal.text(alice, cursor{at: spot{tx: c.head(1 << 60).tx, seq: c.head(1 << 60).seq}, issued: time.Now().UnixMilli()})
		_, err := c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: ahead, Limit: 1})
		require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	})
}

// TestChangesReadLittle: a poll reads nothing but what is told.
func TestChangesReadLittle(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		var plan []string
		explain, column := "EXPLAIN QUERY PLAN ", []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Text}}
		if !s.db.Dialect().sqlite {
			explain, column = "EXPLAIN ", []Column{{Type: mapping.Text}}
		}
		c := s.changes(t)
		require.NoError(t, s.db.Read(t.Context(), func(conn Conn) error {
			args := []mapping.Value{mapping.IntValue(1), mapping.IntValue(0), mapping.IntValue(5), mapping.IntValue(100)}
			return conn.Query(t.Context(), explain+c.page, column, args, func(row []mapping.Value) error {
				plan = append(plan, strings.Clone(row[len(row)-1].Text()))
				return nil
			})
		}))
		whole := strings.Join(plan, "\n")
		if s.db.Dialect().sqlite {
			require.Equal(t, 2, strings.Count(whole, "record_change_client_idx (client_id=? AND rowid>?)"), whole)
			return
		}
		require.NotContains(t, whole, "Seq Scan on record_change", whole)
	})
}
