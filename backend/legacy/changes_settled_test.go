package legacy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// counter is a Store that notes how many records each list has.
type counter struct {
	*Store
	mu    sync.Mutex
	lists []int
}

func (c *counter) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	page, err := c.Store.List(ctx, r, q)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.lists = append(c.lists, len(page.Records))
	}
	return page, err
}

// since are the sizes of the lists from the nth on.
func (c *counter) since(n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lists[n:])
}

// next are the next three lists: the second and the third are of looks that begin now.
func (c *counter) next(t *testing.T) []int {
	t.Helper()
	n := len(c.since(0))
	require.Eventually(t, func() bool { return len(c.since(n)) >= 3 }, patience, time.Millisecond)
	return c.since(n)[:3]
}

// TestSettledChangesAreReadNoMore has a mass of records that were changed at one moment: they are read again at each
// look as long as another one may show that was changed at that moment, and then no more.
func TestSettledChangesAreReadNoMore(t *testing.T) {
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *fixture, own func() sqlrecord.DB) {
		contact := x.model.Resource("contact")
		x.sheet.Resource("contact").Changes = sheet.Changes{By: sheet.ByVersion, Every: 10 * time.Millisecond, Settle: time.Minute, Pause: time.Millisecond, Page: 100}
		db, c := own(), &counter{Store: x.Store}
		var passed atomic.Int64
		began := time.Now()
		x.follows(t, follow.Options{Reader: c, DB: db, Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
		mass := began.Truncate(time.Minute).Add(-59 * time.Second).UnixMilli() // no whole minute, which a date could be
		x.exec("UPDATE f_rel SET gew = %d", mass)

		page, err := x.front.Changes(t.Context(), beginning(one, contact))
		require.NoError(t, err)
		told := func() []string { return x.changed(t, one, page.Cursor, contact) }
		require.Equal(t, []int{4, 4}, c.next(t)[1:])
		passed.Store(int64(time.Hour + time.Minute)) // which is settle
		require.Equal(t, []int{4, 4}, c.next(t)[1:])
		x.exec("UPDATE f_rel SET naam = 'Late', gew = %d WHERE nr = 3", mass)
		x.eventually(t, []string{"updated contact 3"}, told)

		passed.Add(1)
		require.Eventually(t, func() bool { return slices.Equal([]int{0, 0}, c.next(t)[1:]) }, patience, time.Millisecond)
		n := len(c.since(0))
		x.exec("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", mass+1)
		x.eventually(t, []string{"updated contact 3", "updated contact 2"}, told)
		require.Equal(t, []int{1, 1}, c.next(t)[1:])
		require.LessOrEqual(t, slices.Max(c.since(n)), 1)

		require.Eventually(t, func() bool { // what the gateway knows is set back: it reads again what it has seen since
			require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error {
				_, err := c.Exec(t.Context(), "UPDATE followed SET since = since - 3600000")
				return err
			}))
			return slices.Contains(c.next(t), 4)
		}, patience, time.Millisecond)
	})
}
