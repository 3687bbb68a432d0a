package sqlrecord

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
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
		args := []mapping.Value{mapping.IntValue(1), mapping.IntValue(0), mapping.IntValue(5), mapping.IntValue(100)}
		whole := s.plan(t, s.changes(t).page, args)
		if s.db.Dialect().sqlite {
			require.Equal(t, 2, strings.Count(whole, "record_change_client_idx (client_id=? AND rowid>?)"), whole)
			return
		}
		require.NotContains(t, whole, "Seq Scan on record_change", whole)
	})
}

// TestChangesOfADump reads a dump into another server, whose transactions have lower numbers:
// cursors from before are gone, and new changes are told.
func TestChangesOfADump(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	db, err := OpenPostgres(t.Context(), dsn, Options{})
	require.NoError(t, err)
	s := newFixture(t, db)
	before := begin(t, s.changes(t))
	require.NoError(t, sqltest.Execute(dsn, "DO 'BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'"))
	s.create(t, alice, "contact", "name", "dumped")
	require.NoError(t, db.Close())

	dump, err := exec.Command(sqltest.Tool(t, "postgres", "pg_dump"), "--no-owner", dsn).Output() // #nosec G204
	require.NoError(t, err)
	elsewhere := sqltest.Unrelated(t).DSN("postgres")
	read := exec.Command(sqltest.Tool(t, "postgres", "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--dbname="+elsewhere) // #nosec G204
	read.Stdin = bytes.NewReader(dump)
	said, err := read.CombinedOutput()
	require.NoError(t, err, "%s", said)

	db = openPostgresAt(t, elsewhere, Options{})
	s = newFixture(t, db)
	c := s.changes(t)
	_, err = c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: before, Limit: 1})
	require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	after := begin(t, c)
	fresh := s.create(t, alice, "contact", "name", "new")
	require.Equal(t, []int32{fresh.ID()}, contacts(t, c, after, fresh))
}

// ending is a context whose time is nearly over, and does not end.
type ending struct{ context.Context }

func (ending) Deadline() (time.Time, bool) { return time.Now().Add(time.Nanosecond), true }

// filling is a page of changes of contacts 1 to 40 whose records are read one by one.
func filling(t *testing.T, ctx context.Context, read func(id int32) error) (told gathering, page backend.ChangesPage, err error) {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	r := model.Resource("contact")
	told = gathering{wanted: []*mapping.Resource{r}, most: 100}
	for id := range int32(40) {
		told.add([]entry{{at: spot{seq: int64(id + 1)}, resource: r, id: id + 1, kind: kindUpdated}})
	}
	page.Changes = told.changes()
	each := func(_ context.Context, _ auth.Client, _ *mapping.Resource, ids []int32, each func(mapping.Record)) error {
		for _, id := range ids {
			if err := read(id); err != nil {
				return err
			}
			rec := mapping.NewRecord(r)
			rec.Values[r.ID] = mapping.IntValue(int64(id))
			each(rec)
		}
		return nil
	}
	err = fill(ctx, backend.ChangesQuery{}, &told, &page, oneByOne, each)
	return told, page, err
}

// TestPageEndsInTime: a page of changes whose records are read one by one ends before the time of
// the request does, and the cursor leads to what comes next.
func TestPageEndsInTime(t *testing.T) {
	read := 0
	told, page, err := filling(t, ending{t.Context()}, func(int32) error {
		read++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, oneByOne, read)
	require.Len(t, page.Changes, oneByOne)
	require.True(t, page.More)
	require.Equal(t, spot{seq: oneByOne}, told.at)
}

// TestPageOfASlowSystem: a page ends in time also where the first few records take all of it.
func TestPageOfASlowSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, page, err := filling(t, ctx, func(int32) error { return auth.Sleep(ctx, 100*time.Millisecond) })
		require.NoError(t, err)
		require.NotEmpty(t, page.Changes)
		require.Less(t, len(page.Changes), 10)
		require.True(t, page.More)
	})
}

// TestPageEndsBeforeWhatCannotBeRead: what comes before a record that cannot be read is told. A
// page that would begin with that one fails.
func TestPageEndsBeforeWhatCannotBeRead(t *testing.T) {
	for bad, want := range map[int32]int{1: 0, 3: 2} {
		told, page, err := filling(t, t.Context(), func(id int32) error {
			if id == bad {
				return backend.ErrUnexpected
			}
			return nil
		})
		if want == 0 {
			require.ErrorIs(t, err, backend.ErrUnexpected)
			continue
		}
		require.NoError(t, err)
		require.Len(t, page.Changes, want)
		require.True(t, page.More)
		require.Equal(t, spot{seq: int64(want)}, told.at)
	}
}
