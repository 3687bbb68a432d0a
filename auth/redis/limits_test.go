package redis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	authtest.Limits(t, func(t *testing.T, zone *time.Location) auth.Limits {
		return redis.NewLimits(open(t, redis.Options{URL: redistest.Start(t).URL()}), zone, time.Minute)
	})
}

// TestLimitsAreShared: what one instance lets through, another one counts.
func TestLimitsAreShared(t *testing.T) {
	t.Parallel()
	url := redistest.StartCluster(t)
	one, other := redis.NewLimits(open(t, redis.Options{URL: url}), time.UTC, time.Minute), redis.NewLimits(open(t, redis.Options{URL: url}), time.UTC, time.Minute)
	key, now := &auth.Key{Name: "shop", Bounds: auth.Bounds{Concurrent: 1, PerDay: 3}}, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s, err := one.Take(t.Context(), key, 1, now)
	require.NoError(t, err)
	refused, err := other.Take(t.Context(), key, 1, now)
	require.NoError(t, err)
	require.Equal(t, auth.ConcurrentBound, refused.Refused)
	other.Done(t.Context(), key.Name, 1, s.Slot)
	s, err = other.Take(t.Context(), key, 1, now)
	require.NoError(t, err)
	require.EqualValues(t, 1, s.Rooms[auth.DayBound].Left)

	s, err = one.Take(t.Context(), key, 1, now.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, auth.NoBound, s.Refused, "the slot of a gateway that died comes back")
}

func BenchmarkTake(b *testing.B) {
	client, err := redis.Open(redis.Options{URL: redistest.Start(b).URL()})
	require.NoError(b, err)
	defer client.Close()
	limits := redis.NewLimits(client, time.UTC, time.Minute)
	key := &auth.Key{Name: "shop", Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 1e6, Burst: 1e6}, PerDay: 1e12}}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if s, err := limits.Take(b.Context(), key, 1, time.Now()); err != nil || s.Refused != auth.NoBound {
				b.Error(s, err)
			}
		}
	})
}
