package redis_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
)

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
	s, err := take()
	require.NoError(t, err)
	require.EqualValues(t, 9, s.Rooms[auth.DayBound].Left)

	address.LoseAnswer("*8\r\n") // of the script: it has run
	_, err = take()
	require.Error(t, err)
	s, err = take()
	require.NoError(t, err)
	require.EqualValues(t, 7, s.Rooms[auth.DayBound].Left)
	require.EqualValues(t, 7, s.Rooms[auth.ConcurrentBound].Left)
}
