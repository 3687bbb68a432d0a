package auth_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
)

func TestMemoryLimits(t *testing.T) {
	authtest.Limits(t, func(_ *testing.T, zone *time.Location) auth.Limits { return auth.NewMemoryLimits(zone) })
}

// TestMemoryLimitsMidnight has clocks that are put forward and back at midnight.
func TestMemoryLimitsMidnight(t *testing.T) {
	for _, c := range []struct {
		zone, at string // local, before the change
		ends     string
	}{
		{"America/Sao_Paulo", "2018-11-03T12:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		{"America/Sao_Paulo", "2018-02-17T12:00:00-02:00", "2018-02-18T00:00:00-03:00"}, // 23:00 comes twice
		{"Asia/Beirut", "2022-03-26T12:00:00+02:00", "2022-03-27T01:00:00+03:00"},
		{"UTC", "2026-02-28T12:00:00Z", "2026-03-01T00:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		now, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		ends, err := time.Parse(time.RFC3339, c.ends)
		require.NoError(t, err)
		m, key := auth.NewMemoryLimits(zone), &auth.Key{Name: "shop", Bounds: auth.Bounds{PerDay: 1}}
		s, err := m.Take(t.Context(), key, 1, now)
		require.NoError(t, err)
		require.Equal(t, ends.Sub(now), s.Rooms[auth.DayBound].More, c.at)
		for _, moment := range []struct {
			time.Time
			refused auth.Bound
		}{{ends.Add(-1), auth.DayBound}, {ends, auth.NoBound}} {
			s, err = m.Take(t.Context(), key, 1, moment.Time)
			require.NoError(t, err)
			require.Equal(t, moment.refused, s.Refused, "%s %s", c.at, moment.Time)
		}
	}
}

// TestMemoryLimitsLetsGo has clients come and go, and keys that are no longer
// configured.
func TestMemoryLimitsLetsGo(t *testing.T) {
	m := auth.NewMemoryLimits(time.UTC)
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	take := func(name string, b auth.Bounds, client int64) auth.Standing {
		s, err := m.Take(context.Background(), &auth.Key{Name: name, Bounds: b}, client, now)
		require.NoError(t, err)
		return s
	}
	rate := auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 2}, Concurrent: 1}
	slot := take("running", rate, -1).Slot
	take("today", auth.Bounds{PerDay: 10}, 1)
	for n := range int64(20_000) { // a hundred at once are new
		if n%100 == 0 {
			now = now.Add(2 * time.Second)
		}
		b := rate
		b.Concurrent = 0
		take(fmt.Sprint("gone-", n), b, n)
	}
	require.Less(t, auth.LimitsSize(m), 1000)
	require.EqualValues(t, 8, take("today", auth.Bounds{PerDay: 10}, 1).Rooms[auth.DayBound].Left)
	require.Equal(t, auth.ConcurrentBound, take("running", rate, -1).Refused)
	m.Done(context.Background(), "running", -1, slot)
	require.Equal(t, auth.NoBound, take("running", rate, -1).Refused)
}

// everyBound is a key with all of them, none of which is ever reached.
func everyBound() *auth.Key {
	never := auth.Rate{PerSecond: 1e9, Burst: 1e9}
	return &auth.Key{Name: "shop", Bounds: auth.Bounds{Rate: never, Concurrent: 1e9, PerDay: 1e15}}
}

func TestMemoryLimitsDoesNotAllocate(t *testing.T) {
	m, key, now := auth.NewMemoryLimits(time.UTC), everyBound(), time.Now()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		s, err := m.Take(context.Background(), key, 1, now)
		if err != nil || s.Refused != auth.NoBound {
			t.Fatal("refused")
		}
		m.Done(context.Background(), key.Name, 1, s.Slot)
	}))
}

func BenchmarkTake(b *testing.B) {
	m, key := auth.NewMemoryLimits(time.UTC), everyBound()
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		s, err := m.Take(context.Background(), key, n%100_000, time.Now())
		if err != nil || s.Refused != auth.NoBound {
			b.Fatal("refused")
		}
		m.Done(context.Background(), key.Name, n%100_000, s.Slot)
	}
}
