package reference

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// cursorOfNow is where a copy begins.
func cursorOfNow(t testing.TB, front *backend.Client, client auth.Client) string {
	t.Helper()
	page := must.Have(front.Changes(bg(), backend.ChangesQuery{Client: client, Begin: true}))(t)
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
		page := must.Have(x.front.Changes(bg(), q))(x.t)
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

// TestChangesWithRecords has records come with their changes, as they are when they are read, some at a
// time: each has its own, and a page may end among the later ones.
func TestChangesWithRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		q := backend.ChangesQuery{Client: s.mine, After: s.beginning(), Limit: 229, Records: true, Resources: x.model.Resources}
		var all []mapping.Record
		for n := range 230 {
			all = append(all, x.create(s.mine, x.group(fmt.Sprint("g", n))))
		}
		require.NoError(t, x.front.Delete(bg(), s.mine, all[3].Resource, all[3].ID(), backend.Write{}))
		_, _ = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: q.After, Limit: 300}, fmt.Sprint("deleted turnovergroup ", all[3].ID()))
		page := func(from, to int) {
			t.Helper()
			page := must.Have(x.front.Changes(bg(), q))(t)
			require.Len(t, page.Changes, to-from)
			require.True(t, page.More)
			for i, c := range page.Changes {
				if from+i == 3 {
					require.Equal(t, backend.RecordDeleted, c.Kind, "deleted by now")
					require.Nil(t, c.Record.Resource)
					continue
				}
				require.Equal(t, all[from+i].ID(), c.ID)
				require.Equal(t, all[from+i].Get("code"), c.Record.Get("code"))
			}
			q.After = page.Cursor
		}
		begun := q.After
		page(0, 229)
		q.After = begun
		q.Room = func(_, records int) error {
			if records > 150 {
				return mapping.Fail(mapping.PageTooLarge)
			}
			return nil
		}
		page(0, 150)
		q.Limit = 50
		page(150, 200)
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
		page := must.Have(front.Changes(bg(), q))(t)
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

func benchEngines(b *testing.B, f func(b *testing.B, x *fixture)) {
	b.Run("sqlite", func(b *testing.B) { f(b, open(b, sqliteDSN(b))) })
	b.Run("postgres", func(b *testing.B) { f(b, open(b, sqltest.Postgres(b)+"&pool_max_conns=16")) })
}

// BenchmarkPoll holds a poll of changes that finds nothing to the get of a record: it should
// take 1.3 times as long at most.
func BenchmarkPoll(b *testing.B) {
	benchEngines(b, func(b *testing.B, x *fixture) {
		s := newShop(x, "A")
		for range 1000 { // that the client has, and others
			benchOrder(b, s)
		}
		now := must.Have(s.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, Begin: true}))(b)
		contact := s.contact.Resource
		b.Run("get", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.front.Get(bg(), contact, backend.Query{Client: s.mine, ID: s.contact.ID(), Tagged: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("poll", func(b *testing.B) {
			b.ReportAllocs()
			after := now.Cursor
			for b.Loop() {
				page, err := s.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, After: after, Resources: contact.Model().Resources, Limit: 100})
				if err != nil || len(page.Changes) > 0 {
					b.Fatal(err, page)
				}
				after = page.Cursor
			}
		})
	})
}

func benchOrder(b *testing.B, s *shop) {
	rec := s.record("order", "contact_id", fmt.Sprint(s.contact.ID()), "kind", "workshop", "order_status", "open", "order_date", "2026-11-20")
	if _, err := s.front.Create(bg(), s.mine, mapping.BodyOf(rec), backend.Write{}); err != nil {
		b.Fatal(err)
	}
}
