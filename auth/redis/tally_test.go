package redis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
)

func TestTally(t *testing.T) {
	t.Parallel()
	authtest.Tally(t, func(t *testing.T) auth.Tally {
		return redis.NewTally(open(t, redis.Options{URL: redistest.Start(t).URL()}))
	})
}

// TestTallyIsShared: guesses that are spread over gateways are counted together.
func TestTallyIsShared(t *testing.T) {
	t.Parallel()
	server, clock := redistest.Start(t), authtest.NewClock()
	tallies := []*redis.Tally{
		redis.NewTally(open(t, redis.Options{URL: server.URL()})), redis.NewTally(open(t, redis.Options{URL: server.URL()})),
	}
	for n := range auth.GuessesPerUser {
		r, err := tallies[n%2].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
		require.NoError(t, err)
		require.True(t, r.Admitted)
		_, err = tallies[(n+1)%2].Settle(t.Context(), r, auth.Failed, clock.Now())
		require.NoError(t, err)
	}
	for _, tally := range tallies {
		r, err := tally.Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
		require.NoError(t, err)
		require.Positive(t, r.Refused)
	}
	server.Kill()
	_, err := tallies[0].Reserve(t.Context(), "192.0.2.1", auth.Account{1}, clock.Now())
	require.Error(t, err, "guesses that cannot be counted are not made")
}

func TestTallyInACluster(t *testing.T) {
	t.Parallel()
	authtest.Tally(t, func(t *testing.T) auth.Tally {
		return redis.NewTally(open(t, redis.Options{URL: redistest.StartCluster(t)}))
	})
}
