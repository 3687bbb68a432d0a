package redis_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/rig/must"
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
	s := must.Have(one.Take(t.Context(), key, 1, now))(t)
	refused := must.Have(other.Take(t.Context(), key, 1, now))(t)
	require.Equal(t, auth.ConcurrentBound, refused.Refused)
	other.Done(t.Context(), key.Name, 1, s.Slot)
	s = must.Have(other.Take(t.Context(), key, 1, now))(t)
	require.EqualValues(t, 1, s.Rooms[auth.DayBound].Left)

	s = must.Have(one.Take(t.Context(), key, 1, now.Add(time.Minute)))(t)
	require.Equal(t, auth.NoBound, s.Refused, "the slot of a gateway that died comes back")
}

func BenchmarkTake(b *testing.B) {
	client := must.Have(redis.Open(redis.Options{URL: redistest.Start(b).URL()}))(b)
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

func TestGuessCounter(t *testing.T) {
	t.Parallel()
	authtest.GuessCounter(t, func(t *testing.T) auth.GuessCounter {
		return redis.NewGuessCounter(open(t, redis.Options{URL: redistest.Start(t).URL()}))
	})
}

// TestGuessCounterIsShared: guesses that are spread over gateways are counted together.
func TestGuessCounterIsShared(t *testing.T) {
	t.Parallel()
	server, clock := redistest.Start(t), authtest.NewClock()
	counters := []*redis.GuessCounter{
		redis.NewGuessCounter(open(t, redis.Options{URL: server.URL()})), redis.NewGuessCounter(open(t, redis.Options{URL: server.URL()})),
	}
	for n := range auth.GuessesPerUser {
		r := must.Have(counters[n%2].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now()))(t)
		require.True(t, r.Admitted)
		must.Have(counters[(n+1)%2].Settle(t.Context(), r, auth.Failed, clock.Now()))(t)
	}
	for _, counter := range counters {
		r := must.Have(counter.Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now()))(t)
		require.Positive(t, r.Refused)
	}
	server.Kill()
	require.Error(t, must.Fail(counters[0].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())), "guesses that cannot be counted are not made")
}

// apart is a counter of addresses that no other one knows.
type apart struct {
	auth.GuessCounter
	of auth.Origin
}

func (a apart) Reserve(ctx context.Context, from auth.Origin, who auth.Account, now time.Time) (auth.Reservation, error) {
	return a.GuessCounter.Reserve(ctx, a.of+from, who, now)
}

func TestGuessCounterInACluster(t *testing.T) {
	t.Parallel()
	counter := redis.NewGuessCounter(open(t, redis.Options{URL: redistest.StartCluster(t)}))
	authtest.GuessCounter(t, func(t *testing.T) auth.GuessCounter { return apart{counter, auth.Origin(t.Name())} })
}

// TestIdentity is the same for all who share a database of a server, and another for
// those of another.
func TestIdentity(t *testing.T) {
	t.Parallel()
	server, other := redistest.Start(t), redistest.Start(t)
	identity := func(url string) string {
		t.Helper()
		client := open(t, redis.Options{URL: url})
		name := must.Have(client.Identity(t.Context()))(t)
		require.NotEmpty(t, name)
		again := must.Have(client.Identity(t.Context()))(t)
		require.Equal(t, name, again)
		return name
	}
	first := identity(server.URL())
	require.Equal(t, first, identity(server.URL()))
	require.NotEqual(t, first, identity(other.URL()))
	require.NotEqual(t, first, identity(server.URL()+"/1"))

	client := open(t, redis.Options{URL: server.URL()})
	server.Command("FLUSHALL")
	var asked sync.WaitGroup
	drawn := make([]string, 32)
	for n := range drawn {
		asked.Go(func() { drawn[n], _ = client.Identity(t.Context()) })
	}
	asked.Wait()
	slices.Sort(drawn)
	require.Len(t, slices.Compact(drawn), 1, "the first who asks draws it")
	require.NotEmpty(t, drawn[0])
	server.Command("FLUSHALL")
	server.Command("REPLICAOF", "127.0.0.1", "1")
	require.Error(t, must.Fail(client.Identity(t.Context())), "a replica has none to give")
}

// TestDemotedServer: connections to a server that was made a replica are closed by
// whoever finds out, and the request that did is done by the new primary.
func TestDemotedServer(t *testing.T) {
	t.Parallel()
	for what, asks := range map[string]func(t *testing.T, c *redis.Client, s *redis.Sessions, clock *authtest.Clock) error{
		"a probe": func(t *testing.T, c *redis.Client, _ *redis.Sessions, _ *authtest.Clock) error {
			return c.Ready(t.Context())
		},
		"a login": func(t *testing.T, _ *redis.Client, s *redis.Sessions, clock *authtest.Clock) error {
			return s.Put(t.Context(), session(clock))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			old, promoted, clock := redistest.Start(t), redistest.Start(t), authtest.NewClock()
			address := redistest.Float(t, old)
			client := open(t, redis.Options{URL: address.URL()})
			sessions := redis.NewSessions(client, clock.Now)
			require.NoError(t, sessions.Put(t.Context(), session(clock)))
			old.Follow(promoted)
			address.Move(promoted)
			require.NoError(t, asks(t, client, sessions, clock))
			keepsSessions(t, sessions, clock)
		})
	}
}

// TestDemotedServerAmongMany: who finds out closes the connections of all others, whose
// questions are put again.
func TestDemotedServerAmongMany(t *testing.T) {
	t.Parallel()
	old, promoted, clock := redistest.Start(t), redistest.Start(t), authtest.NewClock()
	address := redistest.Float(t, old)
	limits := redis.NewLimits(open(t, redis.Options{URL: address.URL()}), time.UTC, time.Minute)
	key := &auth.Key{Name: "webshop", Bounds: auth.Bounds{PerDay: 1e9}}
	moved, began := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for n, left := 0, 50; left > 0; n++ {
				if _, err := limits.Take(t.Context(), key, 1, clock.Now()); !assert.NoError(t, err) {
					return
				}
				if n == 0 {
					began <- struct{}{}
				}
				select {
				case <-moved:
					left--
				default:
				}
			}
		})
	}
	for range 32 {
		<-began
	}
	address.Move(promoted)
	old.Follow(promoted)
	close(moved)
	all.Wait()
}

// TestLostAnswerIsNotAskedForAgain: what may have been done, by the new primary, is not done again.
func TestLostAnswerIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	old, promoted, clock := redistest.Start(t), redistest.Start(t), authtest.NewClock()
	address := redistest.Float(t, old)
	limits := redis.NewLimits(open(t, redis.Options{URL: address.URL()}), time.UTC, time.Minute)
	key := &auth.Key{Name: "webshop", Bounds: auth.Bounds{PerDay: 10, Concurrent: 10}}
	take := func() (auth.Standing, error) { return limits.Take(t.Context(), key, 1, clock.Now()) }
	old.Follow(promoted)
	address.Move(promoted)
	s := must.Have(take())(t)
	require.EqualValues(t, 9, s.Rooms[auth.DayBound].Left)

	address.LoseAnswer("*8\r\n") // of the script: it has run
	require.Error(t, must.Fail(take()))
	s = must.Have(take())(t)
	require.EqualValues(t, 7, s.Rooms[auth.DayBound].Left)
	require.EqualValues(t, 7, s.Rooms[auth.ConcurrentBound].Left)
}
