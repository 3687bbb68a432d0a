package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// hindered is a Store whose lists somebody hinders.
type hindered struct {
	*Store
	list func(ctx context.Context, of auth.Client) error
}

func (h hindered) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if err := h.list(ctx, q.Client); err != nil {
		return backend.Page{}, err
	}
	return h.Store.List(ctx, r, q)
}

// hinder has a Store tell changes whose lists are hindered.
func (x *tables) hinder(t *testing.T, db sqlrecord.DB, list func(context.Context, auth.Client) error) {
	t.Helper()
	f, err := follow.Open(t.Context(), follow.Options{Reader: hindered{x.Store, list}, DB: db, Sheet: x.sheet, Lease: 200 * time.Millisecond, Log: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	x.TellBy(f)
}

// begins is a client that begins, and waits no longer than looked does, for a look at his records.
func (x *tables) begins(t *testing.T, of auth.Client, looked func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := x.front.Changes(ctx, beginning(of, x.model.Resources...))
		ended <- err
	}()
	looked()
	cancel()
	require.Error(t, <-ended)
}

// TestFailingLooksGiveWay has as many looks fail as there may be at once, of clients for whom the
// system does not work. Others are told their changes all the same.
func TestFailingLooksGiveWay(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		failed := make(chan int64, 1000)
		x.hinder(t, own(), func(_ context.Context, of auth.Client) error {
			if of.ID < 100 {
				return nil
			}
			failed <- of.ID
			return backend.ErrUnexpected
		})
		for id := range int64(10) { // of two resources each
			x.begins(t, auth.Client{ID: 100 + id}, func() {
				for <-failed != 100+id {
				}
			})
		}
		for range 16 {
			<-failed
		}
		after := x.cursor(t, one)
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after) })
	})
}

// TestSlowPageKeepsTheLease has a page take longer than the lease of the gateway that reads it.
func TestSlowPageKeepsTheLease(t *testing.T) {
	onFollowed(t, []string{"sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		db, reached, goOn := own(), make(chan struct{}, 1000), make(chan struct{})
		x.hinder(t, db, func(ctx context.Context, _ auth.Client) error {
			reached <- struct{}{}
			select {
			case <-goOn:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		x.begins(t, one, func() { <-reached })
		until := func() (at int64) {
			require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
				return c.Query(t.Context(), "SELECT until FROM follow_lease", []sqlrecord.Column{{Type: mapping.Int4}}, nil, func(row []mapping.Value) error {
					at = row[0].Int()
					return nil
				})
			}))
			return at
		}
		first := until()
		await.True(t, func() bool { return until() > first+200 }, "longer than it lasts")
		close(goOn)
		require.NotEmpty(t, x.cursor(t, one))
	})
}

// TestManyChangesAtOneSpot has a transaction change more than is looked up record by record, in a
// table that has its time for a number: then all are read.
func TestManyChangesAtOneSpot(t *testing.T) {
	tables := append([]string{"CREATE TABLE f_wijz (nr bigint NOT NULL, tabel varchar(10) NOT NULL, sleutel varchar(20) NOT NULL)"}, followedTables...)
	x := onTables(t, "sqlite", strings.ReplaceAll(triggeredSheet(), "settle: 50ms", "settle: 0s"), tables...)
	x.followed(t, ownDatabase(t))
	after := x.cursor(t, one)
	x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
	x.exec(fmt.Sprintf("INSERT INTO f_wijz WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT 7, 'f_rel', i FROM n", mostTogether+200))
	x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after) })

	x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2")
	x.exec("INSERT INTO f_wijz VALUES (8, 'f_rel', 2)")
	x.eventually(t, []string{"updated contact 3", "updated contact 2"}, func() []string { return x.changed(t, one, after) })
}

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
	await.True(t, func() bool { return len(c.since(n)) >= 3 })
	return c.since(n)[:3]
}

// TestSettledChangesAreReadNoMore has a mass of records that were changed at one moment: they are read again at each
// look as long as another one may show that was changed at that moment, and then no more.
func TestSettledChangesAreReadNoMore(t *testing.T) {
	onFollowed(t, []string{"mariadb", "postgres", "sqlite"}, func(t *testing.T, x *tables, own func() sqlrecord.DB) {
		contact := x.model.Resource("contact")
		x.sheet.Resource("contact").Changes = sheet.Changes{By: sheet.ByVersion, Every: 10 * time.Millisecond, Settle: time.Minute, Pause: time.Millisecond, Page: 100}
		db, c := own(), &counter{Store: x.Store}
		set := func(columns string) {
			_, err := sqlrecord.Change(t.Context(), db, "UPDATE followed SET "+columns)
			require.NoError(t, err)
		}
		x.follows(t, follow.Options{Reader: c, DB: db})
		mass := time.Now().Add(-59 * time.Second).UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET gew = %d", mass))

		page, err := x.front.Changes(t.Context(), beginning(one, contact))
		require.NoError(t, err)
		told := func() []string { return x.changed(t, one, page.Cursor, contact) }
		require.Equal(t, []int{4, 4}, c.next(t)[1:])
		const settled = 25*time.Hour + time.Minute
		set(fmt.Sprintf("high_at = high_at - %d", (settled - time.Minute).Milliseconds())) // a minute is left
		require.Equal(t, []int{4, 4}, c.next(t)[1:])
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'Late', gew = %d WHERE nr = 3", mass))
		x.eventually(t, []string{"updated contact 3"}, told)

		set(fmt.Sprintf("high_at = high_at - %d", time.Minute.Milliseconds()))
		await.True(t, func() bool { return slices.Equal([]int{0, 0}, c.next(t)[1:]) })
		n := len(c.since(0))
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'Twe', gew = %d WHERE nr = 2", mass+1))
		x.eventually(t, []string{"updated contact 3", "updated contact 2"}, told)
		require.Equal(t, []int{1, 1}, c.next(t)[1:])
		require.LessOrEqual(t, slices.Max(c.since(n)), 1)

		await.True(t, func() bool { // what the gateway knows is set back: it reads again what it has seen since
			set("since = since - 3600000, final = 0")
			return slices.Contains(c.next(t), 4)
		})
	})
}
