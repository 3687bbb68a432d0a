package remote

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// TestCopyOfService lists what a service has, page by page, and what it changes by itself.
func TestCopyOfService(t *testing.T) {
	for name, since := range map[string]string{"sqlite since": remotetest.TellsSince, "sqlite walks": "every: 1h", "postgres since": remotetest.TellsSince, "postgres walks": "every: 1h"} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.NewRack()
			s.Do(func() { s.Max = 7 }) // less than is asked for
			d := copiedFrom(t, s, since, strings.Fields(name)[0])
			all, copied := listed(t, d, north, "contact", "name")
			assert.Len(t, all, 25)
			assert.True(t, copied.Told && !copied.Stale && copied.Age < time.Minute)
			all, _ = listed(t, d, south, "contact", "name", func(q *backend.Query) {
				q.Sort = []backend.Order{{Field: d.Sheet.Model.Resource("contact").Field("name"), Descending: true}}
			})
			assert.Equal(t, []string{"N29", "N28", "N27", "N26", "N25"}, all)

			s.Put("contacts", "c03", map[string]any{"name": "Renamed"})
			s.Put("contacts", "c99", map[string]any{"org": 1, "kind": "C", "name": "Added"})
			s.Put("contacts", "c04", map[string]any{"gone": true})
			all, _ = listed(t, d, north, "contact", "name", fromService)
			assert.Len(t, all, 25)
			assert.Subset(t, all, []string{"Renamed", "Added"})
			assert.NotContains(t, all, "N04")
			assert.NotContains(t, all, "N03")

			lines, _ := listed(t, d, north, "orderline", "quantity")
			assert.Equal(t, []string{"1", "2.5"}, lines)
			lines, _ = listed(t, d, south, "orderline", "quantity")
			assert.Empty(t, lines)
		})
	}
}

// TestCopyThatIsCounted walks again at once where fewer records came than the service counts: others
// may have added one before those that came. It fails where that is so each time.
func TestCopyThatIsCounted(t *testing.T) {
	s, passes, adds, more := remotetest.NewRack(), 0, 0, 0
	s.Meddle = func(of, page string) int {
		if of != "contacts" {
			return 0
		}
		if page == "1" {
			passes++
		} else if page == "2" && adds > 0 {
			adds--
			added := s.Set(of, fmt.Sprint("new", len(s.Of[of])), map[string]any{"org": 1, "kind": "P", "name": "New"})
			s.Of[of] = slices.Insert(s.Of[of][:len(s.Of[of])-1], 0, added)
		}
		return more
	}
	d := copiedFrom(t, s, "paging: {style: page, size: 10, total: total}, "+remotetest.TellsSince)
	all, _ := listed(t, d, north, "contact", "name")
	require.Len(t, all, 25)
	p := d.copy.sources[d.Sheet.Model.Resource("contact")].of(d.copy, north)
	for _, test := range []struct{ adds, more, passes, come int }{{1, 0, 2, 26}, {mostPasses - 1, 0, mostPasses, 25 + mostPasses}, {0, -15, 1, 25 + mostPasses}, {0, 1, mostPasses, 0}} {
		s.Do(func() { passes, adds, more = 0, test.adds, test.more })
		err := d.copy.walk(bg(), p)
		s.Do(func() { require.Equal(t, test.passes, passes) })
		if test.more > 0 {
			require.ErrorIs(t, err, backend.ErrChanged)
			require.ErrorContains(t, err, "35 of 36 records came")
		} else {
			require.NoError(t, err)
			state, err := d.copy.state(bg(), p)
			require.NoError(t, err)
			require.EqualValues(t, test.come+5, state.records, "once each")
			all, _ = listed(t, d, north, "contact", "name")
			require.Len(t, all, test.come)
		}
	}
}

// TestCopyWithoutDeletions is as old as the last walk that has ended well while walks fail: nothing else
// tells what is deleted.
func TestCopyWithoutDeletions(t *testing.T) {
	s, more := remotetest.NewRack(), 0
	s.Meddle = func(string, string) int { return more }
	d := copiedFrom(t, s, "every: 1h, paging: {style: page, size: 10, total: total}, "+remotetest.TellsSince)
	p := d.copy.sources[d.Sheet.Model.Resource("contact")].of(d.copy, north)
	insist := func(q *backend.Query) { q.Copy.Fresh = true }
	_, got := listed(t, d, north, "contact", "name", insist)
	require.Zero(t, got.Age)
	s.Do(func() { more = 1 })
	require.ErrorIs(t, walkNow(d, p), backend.ErrChanged)
	require.Equal(t, "contact: 30 of 31 records came: fewer than the service counts", d.Closed()[0].What)
	s.Do(func() { more = 0 })
	_, err := d.copy.set(bg(), p, "walked_at = walked_at - 5000", "")
	require.NoError(t, err)
	_, got = listed(t, d, north, "contact", "name", insist)
	require.GreaterOrEqual(t, got.Age, 5*time.Second)
	require.NoError(t, walkNow(d, p))
	_, got = listed(t, d, north, "contact", "name", insist)
	require.Zero(t, got.Age)
}

// TestCopyBegins has what is known of a walk made where it is not there, as after the gateway's own
// database failed when the walk was to begin.
func TestCopyBegins(t *testing.T) {
	d := copiedFrom(t, remotetest.NewRack(), remotetest.TellsSince)
	listed(t, d, north, "contact", "name")
	_, err := sqlrecord.Change(bg(), d.copy.db, "DELETE FROM "+stateTable)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(bg(), ample)
	defer cancel()
	page, err := d.List(ctx, d.Sheet.Model.Resource("contact"), backend.Query{Client: north, Limit: 1000})
	require.NoError(t, err)
	require.Len(t, page.Records, 25)
}

// TestCopyOfDeletions tells what is gone by the next walk, and by a record that is asked for.
func TestCopyOfDeletions(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	contact := d.Sheet.Model.Resource("contact")
	start, err := d.Changes(bg(), backend.ChangesQuery{Client: north, Begin: true, Resources: []*mapping.Resource{contact}})
	require.NoError(t, err)
	read, walked := idOf(t, d, north, "N01"), idOf(t, d, north, "N02")
	s.Remove("contacts", "c01")
	s.Remove("contacts", "c02")
	_, err = d.Get(bg(), contact, backend.Query{Client: north, ID: read})
	require.ErrorIs(t, err, backend.ErrNotFound)
	p := d.copy.sources[contact].of(d.copy, north)
	require.NoError(t, d.copy.walk(bg(), p))
	page, err := d.Changes(bg(), backend.ChangesQuery{Client: north, After: start.Cursor, Resources: []*mapping.Resource{contact}, Limit: 100})
	require.NoError(t, err)
	told := map[int32]backend.ChangeKind{}
	for _, c := range page.Changes {
		told[c.ID] = c.Kind
	}
	assert.Equal(t, map[int32]backend.ChangeKind{read: backend.RecordDeleted, walked: backend.RecordDeleted}, told)
}

// TestCopyOfOthers keeps what another client asks for, to whom it is not there, and tells nobody
// that it is gone.
func TestCopyOfOthers(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	contact := d.Sheet.Model.Resource("contact")
	r := []*mapping.Resource{contact}
	start, err := d.Changes(bg(), backend.ChangesQuery{Client: north, Begin: true, Resources: r})
	require.NoError(t, err)
	id := idOf(t, d, north, "N01")
	_, err = d.Get(bg(), contact, backend.Query{Client: south, ID: id})
	require.ErrorIs(t, err, backend.ErrNotFound)
	before, err := d.copy.held(bg(), d.Sheet.Resources[contact], id)
	require.NoError(t, err)
	require.NoError(t, d.copy.drop(bg(), d.Sheet.Resources[contact], south, id, before), "nor where the service has it for one client alone")
	assert.Equal(t, id, idOf(t, d, north, "N01"))
	page, err := d.Changes(bg(), backend.ChangesQuery{Client: north, After: start.Cursor, Resources: r, Limit: 100})
	require.NoError(t, err)
	assert.Empty(t, page.Changes)
}

// TestCopyOfMoved tells both clients of a record that moves from one to the other, and of its
// elements.
func TestCopyOfMoved(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	r := []*mapping.Resource{d.Sheet.Model.Resource("order"), d.Sheet.Model.Resource("orderline")}
	told := map[auth.Client]string{}
	for _, who := range []auth.Client{north, south} {
		page, err := d.Changes(bg(), backend.ChangesQuery{Client: who, Begin: true, Resources: r})
		require.NoError(t, err)
		told[who] = page.Cursor
	}
	s.Put("orders", "o1", map[string]any{"org": 2})
	require.NoError(t, d.copy.walk(bg(), d.copy.sources[r[0]].of(d.copy, north)))
	for who, kind := range map[auth.Client]backend.ChangeKind{north: backend.RecordDeleted, south: backend.RecordCreated} {
		page, err := d.Changes(bg(), backend.ChangesQuery{Client: who, After: told[who], Resources: r, Limit: 100})
		require.NoError(t, err)
		all := []string{}
		for _, c := range page.Changes {
			all = append(all, c.Resource.Name)
			assert.Equal(t, kind, c.Kind, "%s to %s", c.Resource.Name, who.Name)
		}
		assert.ElementsMatch(t, []string{"order", "orderline", "orderline"}, all, who.Name)
	}
}

// TestCopyOfOwnWrites has what was written through the gateway at once.
func TestCopyOfOwnWrites(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, "every: 1h")
	contact := d.Sheet.Model.Resource("contact")
	c, err := backend.NewClient(d, d.Sheet.Model, backend.Options{Timeout: ample})
	require.NoError(t, err)
	create(t, c, north, "contact", `{"kind": "person", "name": "Made"}`)
	id := idOf(t, d, north, "N07")
	changed, err := c.Update(bg(), north, id, patch(t, contact, `{"name": "Changed", "note": "x"}`), backend.Write{})
	require.NoError(t, err)
	assert.Equal(t, "Changed x", changed.Get("name").Text()+" "+changed.Get("note").Text())
	require.NoError(t, c.Delete(bg(), north, contact, idOf(t, d, north, "N08"), backend.Write{}))
	all, _ := listed(t, d, north, "contact", "name")
	assert.Subset(t, all, []string{"Made", "Changed"})
	assert.NotContains(t, all, "N08")
	assert.Len(t, all, 25)
	assert.Contains(t, s.Seen(), "PATCH /contacts/c07")
}

// TestCopyWhileAway goes on with lists while the service is away, and with records where a request
// asks for that.
func TestCopyWhileAway(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	contact := d.Sheet.Model.Resource("contact")
	id := idOf(t, d, north, "N01")
	s.Do(func() { s.Away = true })
	all, copied := listed(t, d, north, "contact", "name")
	assert.Len(t, all, 25)
	assert.True(t, copied.Told)
	_, err := d.Get(bg(), contact, backend.Query{Client: north, ID: id})
	require.Error(t, err)
	wish := &backend.Copy{StaleIfError: time.Hour}
	rec, err := d.Stale(bg(), contact, backend.Query{Client: north, ID: id, Copy: wish})
	require.NoError(t, err)
	assert.Equal(t, "N01", rec.Get("name").Text())
	assert.True(t, wish.Stale && wish.Told)
	_, err = d.Stale(bg(), contact, backend.Query{Client: south, ID: id, Copy: &backend.Copy{StaleIfError: time.Hour}})
	require.ErrorIs(t, err, backend.ErrNotFound)
}

// TestCopyOfChangedService closes what needs a member that is no more, and makes nothing of it: no
// null, no deletion, no empty list.
func TestCopyOfChangedService(t *testing.T) {
	for what, change := range map[string]func(*remotetest.Rack){
		"a member":     func(s *remotetest.Rack) { s.Rename = map[string]string{"name": "full_name"} },
		"the client":   func(s *remotetest.Rack) { s.Rename = map[string]string{"org": "organisation"} },
		"the key":      func(s *remotetest.Rack) { s.Rename = map[string]string{"id": "uid"} },
		"the list":     func(s *remotetest.Rack) { s.Wrap = "data" },
		"nothing else": func(*remotetest.Rack) {},
	} {
		t.Run(what, func(t *testing.T) {
			s := remotetest.NewRack()
			d := copiedFrom(t, s, remotetest.TellsSince)
			contact := d.Sheet.Model.Resource("contact")
			r := []*mapping.Resource{contact}
			start, err := d.Changes(bg(), backend.ChangesQuery{Client: north, Begin: true, Resources: r})
			require.NoError(t, err)
			id := idOf(t, d, north, "N05")
			p := d.copy.sources[contact].of(d.copy, north)

			s.Do(func() { change(s) })
			s.Put("contacts", "c05", map[string]any{"days": 77})
			err = walkNow(d, p)
			all, _ := listed(t, d, north, "contact", "name")
			assert.Len(t, all, 25)
			assert.Contains(t, all, "N05")
			page, errOfChanges := d.Changes(bg(), backend.ChangesQuery{Client: north, After: start.Cursor, Resources: r, Limit: 100})
			require.NoError(t, errOfChanges)
			if what == "nothing else" {
				require.NoError(t, err)
				assert.Len(t, page.Changes, 1)
				return
			}
			require.ErrorIs(t, err, backend.ErrChanged)
			assert.Empty(t, page.Changes)
			_, err = d.Get(bg(), contact, backend.Query{Client: north, ID: id})
			if what != "the list" {
				require.Error(t, err)
				require.NotErrorIs(t, err, backend.ErrNotFound)
			}
			d.copy.fail(bg(), p, backend.ErrChanged)
			require.Len(t, d.Closed(), 1)
			_, err = writer(t, d).Update(bg(), north, id, patch(t, contact, `{"payment_days": 5}`), backend.Write{})
			require.ErrorIs(t, err, backend.ErrChanged, "nothing of what the client sent is wrong")

			s.Do(func() { s.Rename, s.Wrap = nil, "" })
			require.NoError(t, walkNow(d, p))
			assert.Empty(t, d.Closed())
			_, err = d.Get(bg(), contact, backend.Query{Client: north, ID: id})
			require.NoError(t, err)
		})
	}
}

// TestCopyLeavesOut lists all records but one that cannot be shown, and tells nobody that it is
// gone.
func TestCopyLeavesOut(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	contact := d.Sheet.Model.Resource("contact")
	r := []*mapping.Resource{contact}
	s.Put("contacts", "c05", map[string]any{"note": "the newest, so that it alone is told next"})
	start, err := d.Changes(bg(), backend.ChangesQuery{Client: north, Begin: true, Resources: r})
	require.NoError(t, err)
	id := idOf(t, d, north, "N05")
	s.Put("contacts", "c05", map[string]any{"kind": "X"})
	require.NoError(t, d.copy.ask(bg(), d.copy.sources[contact].of(d.copy, north)), "which waits for a walk, since all could be so")
	all, _ := listed(t, d, north, "contact", "name")
	require.Len(t, all, 24)
	_, err = d.Get(bg(), contact, backend.Query{Client: north, ID: id})
	require.ErrorIs(t, err, backend.ErrUnexpected)
	page, err := d.Changes(bg(), backend.ChangesQuery{Client: north, After: start.Cursor, Resources: r, Limit: 100})
	require.NoError(t, err)
	assert.Empty(t, page.Changes)
	require.NoError(t, walkNow(d, d.copy.sources[contact].of(d.copy, north)))
	assert.Equal(t, map[backend.Place]int64{{Resource: "contact", Field: "kind"}: 1}, d.LeftOut())
}

// TestCopyLeavesOutElements tells nobody that the elements are gone of a record that cannot be shown.
func TestCopyLeavesOutElements(t *testing.T) {
	s := remotetest.NewRack()
	s.Put("orders", "o2", map[string]any{"org": 1, "contact": "c02", "lines": []any{map[string]any{"line": 1, "text": "other", "qty": 3}}})
	d := copiedFrom(t, s, "every: 1h")
	r := []*mapping.Resource{d.Sheet.Model.Resource("order"), d.Sheet.Model.Resource("orderline")}
	start, err := d.Changes(bg(), backend.ChangesQuery{Client: north, Begin: true, Resources: r})
	require.NoError(t, err)
	s.Put("orders", "o1", map[string]any{"lines": []any{map[string]any{"line": 1, "text": "first", "qty": "few"}}})
	require.NoError(t, walkNow(d, d.copy.sources[r[0]].of(d.copy, north)))
	lines, _ := listed(t, d, north, "orderline", "quantity")
	require.Equal(t, []string{"3"}, lines)
	page, err := d.Changes(bg(), backend.ChangesQuery{Client: north, After: start.Cursor, Resources: r, Limit: 100})
	require.NoError(t, err)
	require.Empty(t, page.Changes)
}

// TestCopyNewEnough asks for what has changed only where the copy is older than a client allows.
func TestCopyNewEnough(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	listed(t, d, north, "contact", "name")
	s.Seen()
	for within, pages := range map[time.Duration]int{time.Hour: 0, 0: 2} {
		listed(t, d, north, "contact", "name", func(q *backend.Query) { q.Copy.Fresh, q.Copy.Within = true, within })
		assert.Len(t, s.Seen(), pages, "%s", within)
	}
}

// TestCopyAsksOnce asks once for all lists that wait.
func TestCopyAsksOnce(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.TellsSince)
	listed(t, d, north, "contact", "name")
	s.Seen()
	var all sync.WaitGroup
	s.Do(func() { // the service does not answer until all wait
		for range 20 {
			all.Go(func() { listed(t, d, north, "contact", "name") })
		}
		waits := regexp.MustCompile(`\[select[^]]*\]:\nfrontdesk/backend/remote\.flown\(`)
		await.True(t, func() bool {
			var stacks bytes.Buffer
			require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
			return len(waits.FindAll(stacks.Bytes(), -1)) == 20
		})
	})
	all.Wait()
	calls := 0
	for _, call := range s.Seen() {
		if strings.Contains(call, "since=") {
			calls++
		}
	}
	assert.Less(t, calls, 20, "and each question has two pages")
}

// TestCopyThatOthersWalk lets others have their turn where another gateway walks.
func TestCopyThatOthersWalk(t *testing.T) {
	d := copiedFrom(t, remotetest.NewRack(), remotetest.TellsSince, "postgres")
	listed(t, d, north, "contact", "name")
	p := d.copy.sources[d.Sheet.Model.Resource("contact")].of(d.copy, north)
	_, err := d.copy.set(bg(), p, "holder = 'another', until = now() + 60000", "")
	require.NoError(t, err)
	require.ErrorIs(t, d.copy.walk(bg(), p), errOthers)
	_, copied := listed(t, d, north, "contact", "name", fromService)
	assert.Zero(t, copied.Age)
	ctx, cancel := context.WithTimeout(bg(), ample)
	defer cancel()
	release, err := p.take(ctx, d.copy)
	require.NoError(t, err)
	release()
}

// TestCopyOfSeveral is shared by gateways: one walks, and what one writes all have at once.
func TestCopyOfSeveral(t *testing.T) {
	s := remotetest.NewRack()
	server := httptest.NewServer(s)
	defer server.Close()
	db := keepDB(t, "postgres")
	text := strings.Replace(remotetest.RackSheet, "SINCE", "every: 1h", 1)
	a, b := openOn(t, text, server.URL, db), openOn(t, text, server.URL, db)
	for _, d := range []*Driver{a, b} {
		all, _ := listed(t, d, north, "contact", "name")
		assert.Len(t, all, 25)
	}
	walks, seen := 0, s.Seen()
	for _, call := range seen {
		if strings.HasPrefix(call, "GET /contacts?") && strings.Contains(call, "page=1") {
			walks++
		}
	}
	assert.Equal(t, 1, walks, "%v", seen)
	made := create(t, writer(t, a), north, "contact", `{"kind": "person", "name": "Made"}`)
	assert.Equal(t, made.ID(), idOf(t, b, north, "Made"))
	require.NoError(t, writer(t, b).Delete(bg(), north, b.Sheet.Model.Resource("contact"), made.ID(), backend.Write{}))
	all, _ := listed(t, a, north, "contact", "name")
	assert.NotContains(t, all, "Made")
}
