package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
)

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
		r, err := counters[n%2].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
		require.NoError(t, err)
		require.True(t, r.Admitted)
		_, err = counters[(n+1)%2].Settle(t.Context(), r, auth.Failed, clock.Now())
		require.NoError(t, err)
	}
	for _, counter := range counters {
		r, err := counter.Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
		require.NoError(t, err)
		require.Positive(t, r.Refused)
	}
	server.Kill()
	_, err := counters[0].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
	require.Error(t, err, "guesses that cannot be counted are not made")
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
