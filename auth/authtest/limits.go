package authtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// LimitsOpener returns Limits that have counted nothing, whose days begin at
// midnight in zone. It closes them by t.Cleanup.
type LimitsOpener func(t *testing.T, zone *time.Location) auth.Limits

// Limits is the suite that everything passes which counts requests.
func Limits(t *testing.T, open LimitsOpener) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, c *counting)
	}{
		{"a burst goes through, and then what comes back", burst},
		{"an idle bucket holds no more than its burst", idle},
		{"the answer has what is left, and when there is more", standing},
		{"each client has all bounds for itself, with each key", perClient},
		{"a request counts against all bounds or none", allOrNone},
		{"the bound without room for longest is named", longestWait},
		{"requests at once are bounded, and give their slots back", concurrentSlots},
		{"a day begins at midnight where the house is", days},
		{"a request from before midnight gives nothing back", lateRequest},
		{"a clock that was wrong by days and is set right begins a day", clockSetRight},
		{"another configuration finds what was counted", reloaded},
		{"gateways whose limits differ for a moment forgive nothing", differing},
		{"a new bound holds for what comes, and an old one gives its slots back", boundsComeAndGo},
		{"time that goes back gives nothing", backwards},
		{"what exceeds the burst is taken from the requests that follow", debt},
		{"it is safe for concurrent use", concurrentTake},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			amsterdam, err := time.LoadLocation("Europe/Amsterdam")
			require.NoError(t, err)
			start := time.Date(2026, 7, 1, 12, 0, 0, 0, amsterdam)
			test.run(t, &counting{T: t, limits: open(t, amsterdam), now: start})
		})
	}
}

// counting is a test of limits, at a time of its own.
type counting struct {
	*testing.T
	limits auth.Limits
	now    time.Time
}

func (c *counting) take(key *auth.Key, client int64) auth.Standing {
	c.Helper()
	s, err := c.limits.Take(c.Context(), key, client, c.now)
	require.NoError(c, err)
	require.Equal(c, s.Refused != auth.NoBound, s.Wait > 0)
	if s.Refused != auth.NoBound {
		require.Zero(c, s.Slot)
	}
	return s
}

func (c *counting) served(key *auth.Key, client int64) auth.Standing {
	c.Helper()
	s := c.take(key, client)
	require.Equal(c, auth.NoBound, s.Refused)
	return s
}

func (c *counting) refused(by auth.Bound, wait time.Duration, key *auth.Key, client int64) {
	c.Helper()
	s := c.take(key, client)
	require.Equal(c, by.String(), s.Refused.String())
	// The wait may be off by the rounding of a fraction of a token.
	require.InDelta(c, wait.Seconds(), s.Wait.Seconds(), 0.001)
}

func keyOf(name string, b auth.Bounds) *auth.Key { return &auth.Key{Name: name, Bounds: b} }

func burst(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 2, Burst: 3}})
	for range 3 {
		c.served(k, 1)
	}
	for range 5 { // refusals take nothing
		c.refused(auth.RateBound, 500*time.Millisecond, k, 1)
	}
	c.now = c.now.Add(499 * time.Millisecond)
	c.refused(auth.RateBound, time.Millisecond, k, 1)
	c.now = c.now.Add(time.Millisecond)
	c.served(k, 1)
	c.refused(auth.RateBound, 500*time.Millisecond, k, 1)
	c.served(keyOf("other", k.Bounds), 1)
}

func idle(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 2, Burst: 3}})
	c.served(k, 1)
	c.now = c.now.Add(time.Hour)
	for range 3 {
		c.served(k, 1)
	}
	c.refused(auth.RateBound, 500*time.Millisecond, k, 1)
}

func standing(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{
		Rate: auth.Rate{PerSecond: 0.5, Burst: 3}, Concurrent: 5, PerDay: 100,
	})
	s := c.served(k, 1)
	require.Equal(t, auth.Room{Left: 2, More: 2 * time.Second}, s.Rooms[auth.RateBound])
	require.Equal(t, auth.Room{Left: 4}, s.Rooms[auth.ConcurrentBound])
	require.Equal(t, auth.Room{Left: 99, More: 12 * time.Hour}, s.Rooms[auth.DayBound])
	c.now = c.now.Add(time.Second)
	s = c.served(k, 1)
	require.Equal(t, auth.Room{Left: 1, More: time.Second}, s.Rooms[auth.RateBound])
	require.Equal(t, auth.Room{Left: 3}, s.Rooms[auth.ConcurrentBound])
	require.Equal(t, auth.Room{Left: 98, More: 12*time.Hour - time.Second}, s.Rooms[auth.DayBound])
	require.Equal(t, auth.Room{}, c.served(keyOf("other", auth.Bounds{PerDay: 1}), 1).Rooms[auth.RateBound])
}

func perClient(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 0.25, Burst: 2}, Concurrent: 2, PerDay: 4})
	var slots []uint64
	for _, client := range []int64{1, 2, -1} {
		first := c.served(k, client)
		require.Equal(t, [3]int64{1, 1, 3}, [3]int64{first.Rooms[auth.RateBound].Left, first.Rooms[auth.ConcurrentBound].Left, first.Rooms[auth.DayBound].Left})
		second := c.served(k, client)
		c.refused(auth.RateBound, 4*time.Second, k, client)
		slots = append(slots, first.Slot, second.Slot)
	}
	c.served(keyOf("other", k.Bounds), 1)
	c.now = c.now.Add(8 * time.Second)
	c.refused(auth.ConcurrentBound, time.Second, k, 1)
	for _, slot := range slots[:2] {
		c.limits.Done(t.Context(), k.Name, 1, slot)
	}
	c.served(k, 1)
	s := c.served(k, 1)
	c.refused(auth.DayBound, 12*time.Hour-8*time.Second, k, 1)
	require.NoError(t, c.limits.Charge(t.Context(), k, 1, 50, c.now, &s))
	c.refused(auth.ConcurrentBound, time.Second, k, 2) // by its own
	c.limits.Done(t.Context(), k.Name, 2, slots[2])
	c.served(k, 2)
}

func allOrNone(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 9}, Concurrent: 1, PerDay: 9})
	slot := c.served(k, 1).Slot
	for range 20 {
		c.refused(auth.ConcurrentBound, time.Second, k, 1)
	}
	c.limits.Done(t.Context(), k.Name, 1, slot)
	s := c.served(k, 1)
	for _, b := range []auth.Bound{auth.RateBound, auth.DayBound} {
		require.EqualValues(t, 7, s.Rooms[b].Left, b.String())
	}
}

func longestWait(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 0.25, Burst: 1}, Concurrent: 1})
	c.served(k, 1)
	c.refused(auth.RateBound, 4*time.Second, k, 1)
	c.now = c.now.Add(4 * time.Second)
	c.refused(auth.ConcurrentBound, time.Second, k, 1)
	one := keyOf("once", auth.Bounds{Rate: auth.Rate{PerSecond: 0.5, Burst: 1}, PerDay: 1})
	c.served(one, 1)
	c.refused(auth.DayBound, 12*time.Hour-4*time.Second, one, 1)
}

func concurrentSlots(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Concurrent: 2})
	first, second := c.served(k, 1).Slot, c.served(k, 1).Slot
	require.NotZero(t, first)
	require.NotZero(t, second)
	c.refused(auth.ConcurrentBound, time.Second, k, 1)
	require.NotZero(t, c.served(keyOf("other", k.Bounds), 1).Slot)
	c.limits.Done(t.Context(), k.Name, 1, first)
	third := c.served(k, 1).Slot
	c.refused(auth.ConcurrentBound, time.Second, k, 1)
	c.limits.Done(t.Context(), k.Name, 1, second)
	c.limits.Done(t.Context(), k.Name, 1, third)
	require.EqualValues(t, 1, c.served(k, 1).Rooms[auth.ConcurrentBound].Left)
	require.Zero(t, c.served(keyOf("unbound", auth.Bounds{PerDay: 1}), 1).Slot)
}

func days(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{PerDay: 2})
	spend := func() {
		t.Helper()
		require.EqualValues(t, 1, c.served(k, 1).Rooms[auth.DayBound].Left)
		require.EqualValues(t, 0, c.served(k, 1).Rooms[auth.DayBound].Left)
	}
	zone := c.now.Location()
	for _, day := range []struct {
		begins time.Time
		hours  int
	}{
		{time.Date(2026, 3, 29, 0, 0, 0, 0, zone), 23}, // the clock is put forward
		{time.Date(2026, 7, 1, 0, 0, 0, 0, zone), 24},
		{time.Date(2026, 10, 25, 0, 0, 0, 0, zone), 25}, // the clock is put back
		{time.Date(2026, 12, 31, 0, 0, 0, 0, zone), 24},
	} {
		length := time.Duration(day.hours) * time.Hour
		c.now = day.begins
		spend()
		c.refused(auth.DayBound, length, k, 1)
		c.now = day.begins.Add(length - time.Second).UTC() // whatever zone the clock has
		c.refused(auth.DayBound, time.Second, k, 1)
		c.now = day.begins.Add(length)
		spend()
	}
}

func lateRequest(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{PerDay: 2})
	midnight := time.Date(2026, 7, 2, 0, 0, 0, 0, c.now.Location())
	c.now = midnight
	c.served(k, 1)
	c.now = midnight.Add(-time.Millisecond)
	c.served(k, 1)
	c.now = midnight.Add(time.Millisecond)
	c.refused(auth.DayBound, 24*time.Hour-time.Millisecond, k, 1)
}

func clockSetRight(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{PerDay: 1})
	right := c.now
	c.now = right.AddDate(70, 0, 0)
	c.served(k, 1)
	c.now = right
	c.served(k, 1)
	c.refused(auth.DayBound, 12*time.Hour, k, 1)
}

func reloaded(t *testing.T, c *counting) {
	slow := func(perSecond float64, burst int, perDay int64) *auth.Key {
		return keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: perSecond, Burst: burst}, PerDay: perDay})
	}
	for range 4 {
		c.served(slow(0.01, 4, 4), 1)
	}
	left := func(k *auth.Key) (left [2]int64) {
		t.Helper()
		s := c.take(k, 1)
		return [2]int64{s.Rooms[auth.RateBound].Left, s.Rooms[auth.DayBound].Left}
	}
	require.Equal(t, [2]int64{}, left(slow(0.01, 4, 4)), "unchanged")
	require.Equal(t, [2]int64{1, 3}, left(slow(0.01, 6, 8)), "wider, and one taken")

	c.refused(auth.DayBound, 12*time.Hour, slow(0.005, 1, 3), 1)
	narrow := slow(0.005, 1, 0)
	c.refused(auth.RateBound, 1000*time.Second, narrow, 1) // as long as others may have wider ones
	require.Equal(t, [2]int64{0, 3}, left(keyOf("shop", auth.Bounds{PerDay: 9})), "the day's were kept")
	c.now = c.now.Add(61 * time.Second)
	c.refused(auth.RateBound, 200*time.Second, narrow, 1) // and no longer than for one
	c.now = c.now.Add(200 * time.Second)
	c.served(narrow, 1)
}

// differing sends requests to gateways that have not all read a new configuration yet.
func differing(t *testing.T, c *counting) {
	served := func(seconds int, at ...auth.Rate) (served int) {
		began := c.now
		for n := range seconds * 20 {
			k := keyOf(fmt.Sprint("shop at ", began), auth.Bounds{Rate: at[n%len(at)]})
			if s := c.take(k, 1); s.Refused == auth.NoBound {
				served++
			}
			c.now = c.now.Add(time.Second / 20)
		}
		return served
	}
	wide, narrow := auth.Rate{PerSecond: 0.5, Burst: 30}, auth.Rate{PerSecond: 0.5, Burst: 2}
	require.LessOrEqual(t, served(150, wide, narrow, wide), 30+75+1, "bursts")
	fast, slow := auth.Rate{PerSecond: 9, Burst: 5}, auth.Rate{PerSecond: 0.5, Burst: 5}
	require.LessOrEqual(t, served(100, fast, slow), 5+50+1, "rates")
	require.GreaterOrEqual(t, served(100, fast), 5+899, "one rate")
}

func boundsComeAndGo(t *testing.T, c *counting) {
	free, bound := keyOf("shop", auth.Bounds{PerDay: 100}), keyOf("shop", auth.Bounds{Concurrent: 1})
	require.Zero(t, c.served(free, 1).Slot)
	slot := c.served(bound, 1).Slot
	require.NotZero(t, slot)
	c.served(free, 1)
	c.refused(auth.ConcurrentBound, time.Second, bound, 1)
	c.limits.Done(t.Context(), "shop", 1, slot)
	require.NotZero(t, c.served(bound, 1).Slot)
}

func backwards(_ *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 2}})
	c.served(k, 1)
	c.now = c.now.Add(-time.Minute)
	c.served(k, 1)
	c.refused(auth.RateBound, time.Second, k, 1)
	c.now = c.now.Add(time.Minute)
	c.refused(auth.RateBound, time.Second, k, 1)
}

func debt(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{
		Rate: auth.Rate{PerSecond: 2, Burst: 10}, Concurrent: 5, PerDay: 1000,
	})
	s := c.served(k, 1)
	slot := s.Slot
	require.NoError(t, c.limits.Charge(t.Context(), k, 1, 49, c.now, &s))
	require.Equal(t, slot, s.Slot)
	require.EqualValues(t, 0, s.Rooms[auth.RateBound].Left)
	require.InDelta(t, 20.5, s.Rooms[auth.RateBound].More.Seconds(), 0.001)
	require.EqualValues(t, 4, s.Rooms[auth.ConcurrentBound].Left)
	require.EqualValues(t, 950, s.Rooms[auth.DayBound].Left)
	c.refused(auth.RateBound, 20500*time.Millisecond, k, 1)
	require.EqualValues(t, 9, c.served(k, 2).Rooms[auth.RateBound].Left) // another client has no debt
	c.now = c.now.Add(20 * time.Second)
	c.refused(auth.RateBound, 500*time.Millisecond, k, 1)
	c.now = c.now.Add(500 * time.Millisecond)
	s = c.served(k, 1)
	c.refused(auth.RateBound, 500*time.Millisecond, k, 1)
	require.NoError(t, c.limits.Charge(t.Context(), k, 1, 2000, c.now, &s))
	require.EqualValues(t, 0, s.Rooms[auth.DayBound].Left)
	c.now = c.now.Add(2000 * time.Second)
	c.refused(auth.DayBound, 12*time.Hour-2020500*time.Millisecond, k, 1)
	few := keyOf("few", auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 5}})
	s = c.served(few, 1)
	require.NoError(t, c.limits.Charge(t.Context(), few, 1, 2, c.now, &s))
	require.EqualValues(t, 2, s.Rooms[auth.RateBound].Left)
}

func concurrentTake(t *testing.T, c *counting) {
	k := keyOf("shop", auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 60}, Concurrent: 4, PerDay: 100})
	var served, under [2]atomic.Int64
	var all sync.WaitGroup
	for n := range int64(16) {
		client := n % 2
		all.Go(func() {
			for range 30 {
				s, err := c.limits.Take(t.Context(), k, client, c.now)
				if err != nil {
					t.Errorf("take: %v", err)
				}
				if s.Refused != auth.NoBound {
					continue
				}
				if n := under[client].Add(1); n > 4 {
					t.Error(fmt.Sprint(n, " at once"))
				}
				served[client].Add(1)
				under[client].Add(-1)
				c.limits.Done(t.Context(), k.Name, client, s.Slot)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, [2]int64{60, 60}, [2]int64{served[0].Load(), served[1].Load()})
}
