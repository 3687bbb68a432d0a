package reference

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// cursorOfNow is where a copy begins.
func cursorOfNow(t testing.TB, front *backend.Client, client auth.Client) string {
	t.Helper()
	page, err := front.Changes(bg(), backend.ChangesQuery{Client: client, Begin: true})
	require.NoError(t, err)
	require.Empty(t, page.Changes)
	require.False(t, page.More)
	return page.Cursor
}

// beginning is the cursor of a moment at which all that the shop has written is told.
func (s *shop) beginning() string {
	s.t.Helper()
	last := s.create(s.mine, s.group("last"))
	s.changesAfter(backend.ChangesQuery{Client: s.mine, After: s.begun, Limit: 1000}, fmt.Sprint("created turnovergroup ", last.ID()))
	return cursorOfNow(s.t, s.front, s.mine)
}

// changesAfter returns the changes after a cursor, up to the one that ends them as ends says:
// on PostgreSQL they are told once no older transaction is under way, of other tests too.
func (x *fixture) changesAfter(q backend.ChangesQuery, ends string) (told []string, cursor string) {
	x.t.Helper()
	if q.Resources == nil {
		q.Resources = x.model.Resources
	}
	q.Limit = max(q.Limit, 1)
	await.True(x.t, func() bool {
		page, err := x.front.Changes(bg(), q)
		require.NoError(x.t, err)
		require.LessOrEqual(x.t, len(page.Changes), q.Limit)
		for _, c := range page.Changes {
			require.False(x.t, c.At.Before(x.began) || c.At.After(time.Now()), "%s", c.At)
			told = append(told, fmt.Sprintf("%s %s %d", c.Kind, c.Resource.Name, c.ID))
		}
		q.After = page.Cursor
		return len(told) > 0 && told[len(told)-1] == ends && !page.More
	}, "%v", told)
	return told, q.After
}

// TestSystemRecordsAreToldToAll, and a record of another client to nobody else.
func TestSystemRecordsAreToldToAll(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		other := x.client("B")
		mine, theirs := s.beginning(), cursorOfNow(t, x.front, other)
		country := x.create(auth.Client{}, x.record("country", "code", "XX", "name", "Nowhere", "is_eu", "0"))
		created := fmt.Sprint("created country ", country.ID())
		for _, of := range []backend.ChangesQuery{{Client: s.mine, After: mine, Limit: 5}, {Client: other, After: theirs, Limit: 5}} {
			told, _ := x.changesAfter(of, created)
			require.Equal(t, []string{created}, told)
		}
	})
}

// TestChangesWithRecords has records come with their changes, as they are when they are read.
func TestChangesWithRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		begin := s.beginning()
		var all []mapping.Record
		for n := range 12 {
			all = append(all, x.create(s.mine, x.group(fmt.Sprint("g", n))))
		}
		require.NoError(t, x.front.Delete(bg(), s.mine, all[3].Resource, all[3].ID(), backend.Write{}))
		_, _ = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: begin, Limit: 100}, fmt.Sprint("deleted turnovergroup ", all[3].ID()))
		page, err := x.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, After: begin, Limit: 11, Records: true, Resources: x.model.Resources})
		require.NoError(t, err)
		require.Len(t, page.Changes, 11)
		for i, c := range page.Changes {
			if i == 3 {
				require.Equal(t, backend.RecordDeleted, c.Kind, "deleted by now")
				require.Nil(t, c.Record.Resource)
				continue
			}
			require.Equal(t, all[i].Get("code"), c.Record.Get("code"))
		}
	})
}

// TestChangesWithManyRecords is of a page whose records are read some at a time: each has
// its own, and a page may end among the later ones.
func TestChangesWithManyRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		q := backend.ChangesQuery{Client: s.mine, After: s.beginning(), Limit: 300, Records: true, Resources: x.model.Resources}
		var all []mapping.Record
		for n := range 230 {
			all = append(all, x.create(s.mine, x.group(fmt.Sprint("g", n))))
		}
		last := fmt.Sprint("created turnovergroup ", all[len(all)-1].ID())
		_, _ = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: q.After, Limit: 300}, last)
		page, err := x.front.Changes(bg(), q)
		require.NoError(t, err)
		require.Len(t, page.Changes, len(all))
		for i, c := range page.Changes {
			require.Equal(t, all[i].ID(), c.ID)
			require.Equal(t, all[i].Get("code"), c.Record.Get("code"))
		}
		q.Room = func(_, records int) error {
			if records > 150 {
				return mapping.Fail(mapping.PageTooLarge)
			}
			return nil
		}
		page, err = x.front.Changes(bg(), q)
		require.NoError(t, err)
		require.Len(t, page.Changes, 150)
		require.True(t, page.More)
		q.After = page.Cursor
		page, err = x.front.Changes(bg(), q)
		require.NoError(t, err)
		require.Equal(t, all[150].ID(), page.Changes[0].ID)
		require.Len(t, page.Changes, len(all)-150)
	})
}

// TestChangesAreKept ages changes and the cursors before them.
func TestChangesAreKept(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		begin := s.beginning()
		for n := range 5 {
			x.create(s.mine, x.group(fmt.Sprint("g", n)))
		}
		count := func() (n int64) {
			require.NoError(t, x.inOwnTx(bg(), func(tx *txn) (err error) {
				n, _, err = tx.one(bg(), "SELECT count(*) FROM record_change")
				return err
			}))
			return n
		}
		before := count()
		require.NoError(t, x.purge(bg()))
		require.Equal(t, before, count(), "nothing is old")
		require.NoError(t, x.inOwnTx(bg(), func(tx *txn) error {
			_, err := tx.conn.Exec(bg(), "UPDATE record_change SET at = at - ?1", mapping.IntValue((keepChanges + 25*time.Hour).Milliseconds()))
			return err
		}))
		last := x.create(s.mine, x.group("final"))
		require.NoError(t, x.purge(bg()))
		require.EqualValues(t, 1, count())
		told, _ := x.changesAfter(backend.ChangesQuery{Client: s.mine, After: begin, Limit: 10}, fmt.Sprint("created turnovergroup ", last.ID()))
		require.Len(t, told, 1)

		short, err := sqlrecord.OpenChanges(bg(), x.records, time.Nanosecond)
		require.NoError(t, err)
		await.True(t, func() bool { // by the clock of the database
			_, err = short.Page(bg(), backend.ChangesQuery{Client: s.mine, After: begin, Limit: 1})
			return mapping.Is(err, mapping.CursorGone)
		}, "the end of a cursor")
	})
}

// follower applies changes to a copy.
type follower struct {
	client auth.Client
	cursor string
	copied map[string]int64 // versions, by resource and ID
	seen   int
}

// catchUp reads changes until there are no more.
func (f *follower) catchUp(t testing.TB, front *backend.Client) {
	q := backend.ChangesQuery{Client: f.client, Limit: 7, Records: true, Resources: front.Model().Resources}
	for more := true; more; {
		q.After = f.cursor
		page, err := front.Changes(bg(), q)
		require.NoError(t, err)
		told := map[string]bool{}
		for _, c := range page.Changes {
			key := fmt.Sprint(c.Resource.Name, " ", c.ID)
			require.False(t, told[key], "%s twice on a page", key)
			told[key] = true
			if c.Kind == backend.RecordDeleted {
				delete(f.copied, key)
				continue
			}
			f.copied[key] = c.Record.Version
		}
		f.seen += len(page.Changes)
		f.cursor, more = page.Cursor, page.More
	}
}

// source is what a copy should be.
func (x *fixture) source(client auth.Client) map[string]int64 {
	all := map[string]int64{}
	for _, name := range []string{"turnovergroup", "order", "orderline", "contact"} {
		for _, rec := range x.all(client, name) {
			all[fmt.Sprint(name, " ", rec.ID())] = rec.Version
		}
	}
	return all
}
