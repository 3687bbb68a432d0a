package redis_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
	"frontdesk/mapping"
)

// refusals are what a server that takes no writes says, and a way to bring it there and back.
var refusals = map[string]func(server *redistest.Redis) (back func()){
	"READONLY": func(server *redistest.Redis) func() {
		server.Command("REPLICAOF", "127.0.0.1", "1") // where nobody is: it keeps what it has
		return func() { server.Command("REPLICAOF", "NO", "ONE") }
	},
	"OOM": func(server *redistest.Redis) func() {
		server.Command("CONFIG", "SET", "maxmemory", "1")
		return func() { server.Command("CONFIG", "SET", "maxmemory", "0") }
	},
	"NOREPLICAS": func(server *redistest.Redis) func() {
		server.Command("CONFIG", "SET", "min-replicas-to-write", "1")
		return func() { server.Command("CONFIG", "SET", "min-replicas-to-write", "0") }
	},
}

// TestServerWithoutWrites: a server that answers and takes no writes is named, whoever needs a
// write is told to come back, and once it takes them again all is well.
func TestServerWithoutWrites(t *testing.T) {
	t.Parallel()
	for code, bring := range refusals {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			server, clock := redistest.Start(t), authtest.NewClock()
			client := open(t, redis.Options{URL: server.URL()})
			sessions, counter := redis.NewSessions(client, clock.Now), redis.NewGuessCounter(client)
			limits := redis.NewLimits(client, time.UTC, time.Minute)
			key := &auth.Key{Name: "webshop", Bounds: auth.Bounds{PerDay: 10}}
			ask := map[string]func() error{
				"login": func() error { return sessions.Put(t.Context(), session(clock)) },
				"guess": func() error {
					_, err := counter.Reserve(t.Context(), auth.OriginOf("192.0.2.1"), auth.Account{1}, clock.Now())
					return err
				},
				"limited request": func() error {
					_, err := limits.Take(t.Context(), key, 1, clock.Now())
					return err
				},
			}
			if code == "OOM" { // which takes what makes room, and whatever a script does that made some
				delete(ask, "guess")
			} else {
				ask["logout"] = func() error {
					return sessions.End(t.Context(), &auth.Session{Token: auth.TokenHash{1}}, auth.CauseLoggedOut)
				}
			}
			require.NoError(t, client.Ready(t.Context()))
			back := bring(server)
			var refusal *redis.WriteRefusal
			require.ErrorAs(t, client.Ready(t.Context()), &refusal)
			require.Equal(t, code, refusal.Code)
			for what, f := range ask {
				err := f()
				require.ErrorAs(t, err, &refusal, what)
				require.True(t, mapping.Is(err, mapping.Overloaded), what)
				v, _ := mapping.AsViolations(err)
				require.NotZero(t, v[0].RetryAfter, what)
				require.False(t, errors.Is(err, auth.ErrNoSession), what)
			}
			back()
			require.NoError(t, client.Ready(t.Context()))
			for what, f := range ask {
				require.NoError(t, f(), what)
			}
		})
	}
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

// TestLostAnswerIsNotAskedForAgain: what may have been done, by the new primary, is not done
// again. Before, for a second after connections were closed, whatever was lost with its connection
// was: a request counted twice, and took two slots.
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

	address.LoseAnswer("*10\r\n") // of the script: it has run
	_, err = take()
	require.Error(t, err)
	s, err = take()
	require.NoError(t, err)
	require.EqualValues(t, 7, s.Rooms[auth.DayBound].Left)
	require.EqualValues(t, 7, s.Rooms[auth.ConcurrentBound].Left)
}

// TestReadyOfAFrozenServer: one that hangs is told of in time.
func TestReadyOfAFrozenServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := open(t, redis.Options{URL: server.URL()})
	require.NoError(t, client.Ready(t.Context()))
	thaw := server.Freeze()
	ended := make(chan error, 1)
	go func() { ended <- client.Ready(t.Context()) }()
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(time.Minute):
		t.Error("it still waits")
	}
	thaw()
	require.Eventually(t, func() bool { return client.Ready(t.Context()) == nil }, time.Minute, time.Millisecond, "it does not come back")
}
