package gateway

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
)

func TestRateLimitHeaders(t *testing.T) {
	rooms := func(b auth.Bound, r auth.Room) (s auth.Standing) {
		s.Rooms[b] = r
		return s
	}
	all := rooms(auth.RateBound, auth.Room{Left: 99, More: 20 * time.Millisecond})
	all.Rooms[auth.ConcurrentBound] = auth.Room{Left: 3}
	all.Rooms[auth.DayBound] = auth.Room{Left: 9999, More: time.Hour + 1}
	for _, c := range []struct {
		bounds           auth.Bounds
		standing         auth.Standing
		policy, standsAt string
	}{
		{
			auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}}, rooms(auth.RateBound, auth.Room{Left: 0, More: 1}),
			`"rate";q=100;w=2`, `"rate";r=0;t=1`,
		},
		{
			auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}, Concurrent: 4, PerDay: 10000}, all,
			`"rate";q=100;w=2, "per_day";q=10000;w=86400, "concurrent";q=4;qu="concurrent-requests"`,
			`"rate";r=99;t=1, "per_day";r=9999;t=3601, "concurrent";r=3`,
		},
		{
			auth.Bounds{Concurrent: 1}, auth.Standing{},
			`"concurrent";q=1;qu="concurrent-requests"`, `"concurrent";r=0`,
		},
		{ // what a structured field cannot hold
			auth.Bounds{Rate: auth.Rate{PerSecond: math.SmallestNonzeroFloat64, Burst: 1}, PerDay: math.MaxInt64}, rooms(auth.DayBound, auth.Room{Left: math.MaxInt64}),
			`"rate";q=1;w=999999999999999, "per_day";q=999999999999999;w=86400`, `"rate";r=0, "per_day";r=999999999999999`,
		},
	} {
		require.Equal(t, c.policy, string(appendPolicy(nil, &c.bounds)))
		require.Equal(t, c.standsAt, string(appendStanding(nil, &c.bounds, &c.standing)))
	}
}

func TestTellLimitsDoesNotAllocate(t *testing.T) {
	var resp fasthttp.Response
	key := &auth.Key{Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}, PerDay: 1000, Concurrent: 4}}
	x := &Exchange{response: &resp, Key: key, counted: true}
	x.tellLimits()
	require.Contains(t, resp.Header.String(), "\r\nRateLimit: \"rate\";r=0, \"per_day\";r=0, \"concurrent\";r=0\r\n")
	require.Contains(t, resp.Header.String(), "\r\nRateLimit-Policy: \"rate\"")
	require.Zero(t, testing.AllocsPerRun(100, x.tellLimits))

	x = &Exchange{response: new(fasthttp.Response), Key: new(auth.Key)}
	x.tellLimits()
	require.NotContains(t, x.response.Header.String(), "RateLimit")
}

func TestRetryAfterRoundsUp(t *testing.T) {
	for wait, want := range map[time.Duration]string{1: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Minute: "5400"} {
		require.Equal(t, want, retryAfter(wait))
	}
}
