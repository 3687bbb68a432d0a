package reference

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// since lists what was changed since a moment, and says until when.
func since(t testing.TB, front *backend.Client, client auth.Client, moment mapping.Value, q backend.Query) backend.Page {
	t.Helper()
	q.Client, q.ModifiedSince = client, moment
	page := must.Have(front.List(bg(), front.Model().Resource("turnovergroup"), q))(t)
	require.True(t, page.Until.IsSet())
	return page
}

// group is a record whose creates do not wait for one another, as those do that are
// numbered.
func (x *fixture) group(code string) mapping.Record {
	return x.record("turnovergroup", "code", code, "description", code, "vat_kind", "high", "ledger_account", "8000")
}

// copied is what a client keeps of its records, by nothing but the lists of what
// was changed since the until before.
type copied struct {
	client   auth.Client
	since    mapping.Value
	versions map[int32]int64
}

func newCopy(client auth.Client) *copied {
	return &copied{client: client, since: mapping.MilliValue(0), versions: map[int32]int64{}}
}

// refresh walks through what was changed. The until of the first page holds.
func (c *copied) refresh(t testing.TB, front *backend.Client) {
	t.Helper()
	q := backend.Query{Keyset: true, Limit: 10}
	for from, more := c.since, true; more; {
		page := since(t, front, c.client, from, q)
		if q.After == 0 {
			require.GreaterOrEqual(t, page.Until.Int(), c.since.Int(), "until goes back")
			c.since = page.Until
		}
		for _, rec := range page.Records {
			c.versions[rec.ID()], q.After = rec.Version, rec.ID()
		}
		more = page.More
	}
}

// gateways are three on one database, whose clocks jump to and fro at each look; on
// SQLite it is one.
func gateways(t *testing.T, x *fixture) []*backend.Client {
	n := 1
	if x.postgres() {
		n = 3
	}
	jumping := func() time.Time { return time.Now().Add(rand.N(20*time.Second) - 10*time.Second) }
	fronts := make([]*backend.Client, n)
	for i := range fronts {
		s := must.Have(Open(t.Context(), Options{DSN: x.dsn, Model: x.model, Hasher: hasher, Now: jumping, Purge: x.ticks}))(t)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		fronts[i] = must.Have(backend.NewClient(s, x.model, backend.Options{Timeout: time.Minute}))(t)
	}
	return fronts
}

// writers write beside copies, and tell which groups are there.
type writers struct {
	*shop
	fronts []*backend.Client
	order  int32

	mu    sync.Mutex
	there []int32
	ended atomic.Bool
}

func (w *writers) run(each int) {
	defer w.ended.Store(true)
	var end sync.WaitGroup
	for n := range 16 {
		end.Go(func() { w.write(w.fronts[n%len(w.fronts)], n, each) })
	}
	end.Wait()
}

// write creates and changes groups of its own, and lines of an order of all, which it deletes, too.
func (w *writers) write(front *backend.Client, n, each int) {
	made := map[string][]int32{}
	for k := range each {
		rec := w.group(fmt.Sprint(w.mine.ID, " ", n, " ", k))
		if rand.N(2) == 0 {
			rec = w.line("high", fmt.Sprint(k+1), "10", "order_id", fmt.Sprint(w.order))
		}
		r, of := rec.Resource, made[rec.Resource.Name]
		switch what := rand.N(4); {
		case what == 0 && len(of) > 0 && r.Name == "orderline":
			require.NoError(w.t, front.Delete(bg(), w.mine, r, of[0], backend.Write{}))
			made[r.Name] = of[1:]
		case what <= 1 && len(of) > 0:
			if r.Name == "orderline" {
				rec.Set("order_id", mapping.Value{})
			}
			must.Have(front.Update(bg(), w.mine, of[0], mapping.BodyOf(rec), backend.Write{}))(w.t)
		default:
			stored := must.Have(front.Create(bg(), w.mine, mapping.BodyOf(rec), backend.Write{}))(w.t)
			made[r.Name] = append(of, stored.ID())
			if r.Name == "turnovergroup" {
				w.mu.Lock()
				w.there = append(w.there, stored.ID())
				w.mu.Unlock()
			}
		}
	}
}

// walk goes through all groups by after: those that are there when it begins come
// once, and none comes twice.
func (w *writers) walk(front *backend.Client) {
	w.mu.Lock()
	before := slices.Clone(w.there)
	w.mu.Unlock()
	seen := map[int32]int{}
	q := backend.Query{Client: w.mine, Keyset: true, Limit: 10}
	for more := true; more; {
		page := must.Have(front.List(bg(), front.Model().Resource("turnovergroup"), q))(w.t)
		for _, rec := range page.Records {
			seen[rec.ID()]++
			q.After = rec.ID()
		}
		more = page.More
	}
	for _, id := range before {
		require.Equal(w.t, 1, seen[id], "record %d", id)
	}
	for id, n := range seen {
		require.Equal(w.t, 1, n, "record %d", id)
	}
}

// TestConcurrentCopy keeps copies beside 16 writers of several gateways, whose clocks jump, and walks
// through everything meanwhile: two by what was changed since, and one by what is told, also of
// deletions. Its short form is one round.
func TestConcurrentCopy(t *testing.T) {
	rounds, each := 1, 20
	if sqltest.Soak() {
		rounds, each = 50, 60
	}
	onEngines(t, func(t *testing.T, x *fixture) {
		fronts := gateways(t, x)
		n := len(fronts)
		for round := range rounds {
			s := newShop(x, fmt.Sprint("copied ", round))
			w := &writers{shop: s, fronts: fronts, order: s.order(s.line("high", "1", "10"), s.line("high", "1", "10")).ID()}
			var beside sync.WaitGroup
			during := func(does func(k int)) {
				beside.Go(func() {
					for k := 0; !w.ended.Load(); k++ {
						does(k)
					}
					does(0)
				})
			}
			copies := []*copied{newCopy(s.mine), newCopy(s.mine)}
			for i, c := range copies {
				during(func(int) { c.refresh(t, fronts[i%n]) })
			}
			f := &follower{client: s.mine, cursor: cursorOfNow(t, fronts[0], s.mine), copied: x.source(s.mine)}
			during(func(k int) { f.catchUp(t, fronts[k%n]) })
			during(func(int) { w.walk(fronts[n-1]) })
			w.run(each)
			beside.Wait()
			want := map[int32]int64{}
			for _, rec := range x.all(s.mine, "turnovergroup") {
				want[rec.ID()] = rec.Version
			}
			require.Len(t, want, len(s.groups)+len(w.there))
			for _, c := range copies {
				require.True(t, maps.Equal(want, c.versions), "round %d:\n%v\nis not\n%v", round, c.versions, want)
			}
			all := x.source(s.mine)
			await.True(t, func() bool {
				f.catchUp(t, fronts[0])
				return maps.Equal(all, f.copied)
			}, "round %d", round)
			require.Positive(t, f.seen)
		}
	})
}

// TestUntilStaysBelowAWriter holds a write that was begun before others, and comes
// after them.
func TestUntilStaysBelowAWriter(t *testing.T) {
	x := open(t, sqltest.Postgres(t))
	s := newShop(x, "A")
	fronts := gateways(t, x)
	begun, released := make(chan int64), make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	defer release()
	var held mapping.Record
	var end sync.WaitGroup
	end.Go(func() {
		var once sync.Once
		require.NoError(t, x.Write(bg(), func(tx backend.Tx) error {
			rec := s.group("held")
			rec.FillDefaults()
			var err error
			held, err = tx.Create(bg(), s.mine, rec)
			once.Do(func() { begun <- held.Get("modified_at").Int(); <-released })
			return err
		}))
	})
	moment := <-begun
	x.set(t, 0) // so that the next look sets it to the present
	later := s.create(s.mine, s.group("later"))
	page := since(t, fronts[0], s.mine, mapping.MilliValue(0), backend.Query{Limit: 100})
	require.Contains(t, idsOf(page), later.ID(), "lists show what is visible")
	require.NotContains(t, idsOf(page), held.ID())
	require.LessOrEqual(t, page.Until.Int(), moment)
	lag := must.Have(x.UntilLag(bg()))(t)
	require.GreaterOrEqual(t, lag, time.Duration(later.Get("modified_at").Int()-moment)*time.Millisecond)
	release()
	end.Wait()
	require.Contains(t, idsOf(since(t, fronts[1], s.mine, page.Until, backend.Query{Limit: 100})), held.ID())
	lag = must.Have(x.UntilLag(bg()))(t)
	require.Zero(t, lag)
}

// TestUntilIsToldWhileAWriterBegins has until go on between a writer's look at the clock
// and the moment that others can see it: the writer must look again.
func TestUntilIsToldWhileAWriterBegins(t *testing.T) {
	x := open(t, sqltest.Postgres(t))
	s := newShop(x, "A")
	ahead := time.Now().Add(time.Hour).UnixMilli() // what the writer will begin with
	x.set(t, ahead)
	conn := must.Have(pgx.Connect(t.Context(), x.dsn))(t)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	must.Have(conn.Exec(t.Context(), "SELECT pg_advisory_lock((424242::bigint << 44) + $1)", ahead))(t)
	created := make(chan mapping.Record, 1)
	go func() { created <- s.create(s.mine, s.group("begins")) }()
	await.True(t, func() bool {
		var waits bool
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)").Scan(&waits))
		return waits
	})
	told := ahead + 5000
	must.Have(conn.Exec(t.Context(), "UPDATE record_until SET at = $1", told))(t)
	must.Have(conn.Exec(t.Context(), "SELECT pg_advisory_unlock((424242::bigint << 44) + $1)", ahead))(t)
	require.Equal(t, told, (<-created).Get("modified_at").Int())
}

func idsOf(page backend.Page) (all []int32) {
	for _, rec := range page.Records {
		all = append(all, rec.ID())
	}
	return all
}

// set has the moment kept in the database be another one.
func (x *fixture) set(t testing.TB, ms int64) {
	t.Helper()
	require.NoError(t, x.inTx(bg(), func(tx *txn) error {
		_, err := tx.conn.Exec(bg(), "UPDATE record_until SET at = "+strconv.FormatInt(ms, 10))
		return err
	}))
}

// TestUntilHoldsWhenTheClockIsSetBack: what was told before is in the database, and
// nothing is dated before it. It is told also where a filter can find nothing, and where nothing was dated yet.
func TestUntilHoldsWhenTheClockIsSetBack(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		x.set(t, 0)
		page := since(t, x.front, s.mine, mapping.MilliValue(0), backend.Query{None: true, Limit: 100})
		require.Empty(t, page.Records)
		require.NotZero(t, page.Until.Int())
		plain := must.Have(x.front.List(bg(), x.model.Resource("turnovergroup"), backend.Query{Client: s.mine, Limit: 100}))(t)
		require.False(t, plain.Until.IsSet(), "only answers to modified_since have it")

		ahead := time.Now().Add(time.Hour).UnixMilli() // by which the clock was ahead
		x.set(t, ahead)
		first := since(t, x.front, s.mine, mapping.MilliValue(0), backend.Query{Limit: 100})
		require.Equal(t, ahead, first.Until.Int())
		x.clock.advance(-time.Hour)
		again := x.reopen()
		defer func() { require.NoError(t, again.Close()) }()
		front := must.Have(backend.NewClient(again, x.model, backend.Options{Timeout: time.Minute}))(t)
		rec := must.Have(front.Create(bg(), s.mine, mapping.BodyOf(s.group("after")), backend.Write{}))(t)
		require.Equal(t, []int32{rec.ID()}, idsOf(since(t, front, s.mine, first.Until, backend.Query{Limit: 100})))
		changed := must.Have(front.Update(bg(), s.mine, rec.ID(), mapping.BodyOf(s.record("turnovergroup", "description", "changed")), backend.Write{}))(t)
		require.Greater(t, changed.Get("modified_at").Int(), rec.Get("modified_at").Int())
	})
}
