package reference

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
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
	require.Eventually(x.t, func() bool {
		page, err := x.front.Changes(bg(), q)
		require.NoError(x.t, err)
		require.LessOrEqual(x.t, len(page.Changes), q.Limit)
		for _, c := range page.Changes {
			require.WithinDuration(x.t, time.Now(), c.At, time.Minute)
			told = append(told, fmt.Sprintf("%s %s %d", c.Kind, c.Resource.Name, c.ID))
		}
		q.After = page.Cursor
		return len(told) > 0 && told[len(told)-1] == ends && !page.More
	}, time.Minute, time.Millisecond, "%v", told)
	return told, q.After
}

func TestChanges(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		other := x.client("B")
		begin := s.beginning()
		theirs := cursorOfNow(t, x.front, other)

		order := s.order(s.line("high", "1", "10"), s.line("high", "1", "10"))
		lines := x.all(s.mine, "orderline")
		name := func(kind string, rec mapping.Record) string {
			return fmt.Sprintf("%s %s %d", kind, rec.Resource.Name, rec.ID())
		}
		told, cursor := x.changesAfter(backend.ChangesQuery{Client: s.mine, After: begin, Limit: 100}, name("created", lines[1]))
		require.Equal(t, []string{name("created", order), name("created", lines[0]), name("created", lines[1])}, told)

		// A line changes its order, too; what is derived from that is the same change.
		x.update(s.mine, lines[0].ID(), x.record("orderline", "price", "20"))
		told, cursor = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: cursor, Limit: 100}, name("updated", order))
		require.Equal(t, []string{name("updated", lines[0]), name("updated", order)}, told)

		// Of each record the last.
		for _, price := range []string{"30", "40"} {
			x.update(s.mine, lines[1].ID(), x.record("orderline", "price", price))
		}
		require.NoError(t, x.front.Delete(bg(), s.mine, lines[0].Resource, lines[0].ID(), backend.Write{}))
		extra := x.create(s.mine, x.group("extra"))
		x.update(s.mine, extra.ID(), x.record("turnovergroup", "description", "more"))
		want := []string{name("updated", lines[1]), name("deleted", lines[0]), name("updated", order), name("created", extra)}
		told, after := x.changesAfter(backend.ChangesQuery{Client: s.mine, After: cursor, Limit: 100}, name("created", extra))
		require.Equal(t, want, told)
		told, _ = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: cursor, Limit: 100, Resources: []*mapping.Resource{order.Resource}}, name("updated", order))
		require.Equal(t, want[2:3], told)
		told, _ = x.changesAfter(backend.ChangesQuery{Client: s.mine, After: cursor, Limit: 1}, name("created", extra))
		require.Subset(t, told, []string{name("deleted", lines[0]), name("created", extra)})

		// A system record is told to all, a record of another client to nobody else.
		country := x.create(auth.Client{}, x.record("country", "code", "XX", "name", "Nowhere", "is_eu", "0"))
		for _, of := range []backend.ChangesQuery{{Client: s.mine, After: after, Limit: 5}, {Client: other, After: theirs, Limit: 5}} {
			told, _ = x.changesAfter(of, name("created", country))
			require.Equal(t, []string{name("created", country)}, told)
		}
		for _, wrong := range []string{"", "x", theirs, cursor[:len(cursor)-1], cursor + "A", "c1_"} {
			_, err := x.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, After: wrong, Limit: 1})
			require.True(t, mapping.Is(err, mapping.CursorGone), "%q: %v", wrong, err)
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
		q := backend.ChangesQuery{Client: s.mine, After: begin, Limit: 11, Records: true, Resources: x.model.Resources}
		page, err := x.front.Changes(bg(), q)
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
		// The page ends where there is no more room, and the next goes on there.
		seen := 0
		for q.Room = func(_, records int) error {
			if records > 4 {
				return mapping.Fail(mapping.PageTooLarge)
			}
			return nil
		}; ; seen++ {
			page, err := x.front.Changes(bg(), q)
			require.NoError(t, err)
			require.LessOrEqual(t, len(slices.DeleteFunc(page.Changes, func(c backend.RecordChange) bool { return c.Kind == backend.RecordDeleted })), 4)
			if q.After = page.Cursor; !page.More {
				break
			}
		}
		require.GreaterOrEqual(t, seen, 2)
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
		time.Sleep(2 * time.Millisecond) // by the clock of the database
		_, err = short.Page(bg(), backend.ChangesQuery{Client: s.mine, After: begin, Limit: 1})
		require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	})
}

// copySum sums up records as the documentation has a client do it.
type copySum struct {
	count int
	lines strings.Builder
}

func (s *copySum) add(rec mapping.Record) {
	s.count++
	fmt.Fprintf(&s.lines, "%d %s\n", rec.ID(), rec.Get("modified_at"))
}

func (s *copySum) digest() [32]byte { return sha256.Sum256([]byte(s.lines.String())) }

// TestDigest compares sums with those of a copy.
func TestDigest(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		other := x.client("B")
		for n := range 40 {
			x.create(s.mine, x.group(fmt.Sprint("g", n)))
			x.create(other, x.group(fmt.Sprint("g", n)))
		}
		groups := x.model.Resource("turnovergroup")
		digest := func(ranges int, from, to int32) []backend.DigestRange {
			d, err := x.front.Digest(bg(), groups, backend.DigestQuery{Client: s.mine, Ranges: ranges, From: from, To: to})
			require.NoError(t, err)
			require.NotEmpty(t, d.Cursor)
			require.Equal(t, from, d.Ranges[0].From)
			for i, r := range d.Ranges[1:] {
				require.Equal(t, d.Ranges[i].To+1, r.From)
			}
			return d.Ranges
		}
		of := func(records []mapping.Record, r backend.DigestRange) (sum copySum) {
			for _, rec := range records {
				if id := rec.ID(); id >= r.From && id <= r.To {
					sum.add(rec)
				}
			}
			return sum
		}
		whole := digest(8, 1, 0)
		require.Len(t, whole, 8)
		require.EqualValues(t, 1<<31-1, whole[7].To)
		mine := x.all(s.mine, "turnovergroup")
		for _, r := range whole {
			sum := of(mine, r)
			require.Equal(t, sum.count, r.Count)
			require.Equal(t, sum.digest(), r.Digest)
		}
		changed := mine[20]
		x.update(s.mine, changed.ID(), x.record("turnovergroup", "description", "other"))
		x.create(other, x.group("new"))
		for i, r := range digest(8, 1, 0) {
			require.Equal(t, whole[i].To, r.To)
			if changed.ID() >= r.From && changed.ID() <= r.To {
				require.NotEqual(t, whole[i].Digest, r.Digest)
				parts := digest(4, r.From, r.To)
				require.Equal(t, r.To, parts[len(parts)-1].To)
				continue
			}
			require.Equal(t, whole[i], r)
		}
		require.Len(t, digest(3, 1, 2), 2, "no range is empty of ids")
		require.Len(t, digest(1000, 1<<31-1, 0), 1)
	})
}
