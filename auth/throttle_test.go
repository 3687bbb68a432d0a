package auth_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/mapping"
)

// throttle is a Throttle on a clock that stands still, that notes how long it
// would have slept.
type throttle struct {
	*auth.Throttle
	counter *auth.MemoryGuessCounter
	clock   *authtest.Clock
	slept   []time.Duration
}

func newThrottle() *throttle {
	t := &throttle{clock: authtest.NewClock(), counter: auth.NewMemoryGuessCounter()}
	t.Throttle = auth.NewThrottle(t.counter, t.clock.Now, func(_ context.Context, d time.Duration) error {
		t.slept = append(t.slept, d)
		return nil
	})
	return t
}

func (th *throttle) wrong(t *testing.T, username, address string) error {
	t.Helper()
	g, err := th.Begin(t.Context(), username, address)
	if err != nil {
		return err
	}
	return g.Wrong(t.Context())
}

func (th *throttle) right(t *testing.T, username, address string) error {
	t.Helper()
	g, err := th.Begin(t.Context(), username, address)
	if err == nil {
		err = g.Right(t.Context())
	}
	return err
}

func reason(t *testing.T, err error) mapping.Reason {
	t.Helper()
	var e *mapping.Error
	require.ErrorAs(t, err, &e)
	return e.Reason
}

func TestThrottleTenthFailureIsTooMany(t *testing.T) {
	th := newThrottle()
	began := th.clock.Now()
	for n := 1; n <= 9; n++ {
		require.Equal(t, mapping.CredentialsInvalid, reason(t, th.wrong(t, "anna", "192.0.2.1")), n)
		th.clock.Advance(time.Second)
	}
	tenth := th.wrong(t, "anna", "192.0.2.1")
	require.Equal(t, mapping.TooManyRequests, reason(t, tenth))

	_, err := th.Begin(t.Context(), "anna", "192.0.2.1")
	require.Equal(t, mapping.TooManyRequests, reason(t, err))
	var e *mapping.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, began.Add(15*time.Minute).Sub(th.clock.Now()).Round(0), e.RetryAfter)

	_, err = th.Begin(t.Context(), "ANNA", "192.0.2.1")
	require.Error(t, err, "case makes no other user")
	require.NoError(t, th.right(t, "anna", "192.0.2.2"), "from elsewhere")
	require.NoError(t, th.right(t, "bert", "192.0.2.1"), "another user from there")

	th.clock.Advance(e.RetryAfter - 1)
	require.Error(t, th.right(t, "anna", "192.0.2.1"))
	th.clock.Advance(1)
	require.NoError(t, th.right(t, "anna", "192.0.2.1"), "once RetryAfter is over")
}

func TestThrottleSuccessClearsItsOwnCountOnly(t *testing.T) {
	th := newThrottle()
	for range 9 {
		_ = th.wrong(t, "anna", "192.0.2.1")
		_ = th.wrong(t, "bert", "192.0.2.1")
		_ = th.wrong(t, "anna", "192.0.2.2")
	}
	require.NoError(t, th.right(t, "anna", "192.0.2.1"))
	require.Equal(t, mapping.CredentialsInvalid, reason(t, th.wrong(t, "anna", "192.0.2.1")))
	require.Equal(t, mapping.TooManyRequests, reason(t, th.wrong(t, "bert", "192.0.2.1")))
	require.Equal(t, mapping.TooManyRequests, reason(t, th.wrong(t, "anna", "192.0.2.2")))
}

func TestThrottleSlowsMoreAndMoreButNeverOverTwoSeconds(t *testing.T) {
	th := newThrottle()
	for range 10 {
		_ = th.wrong(t, "anna", "192.0.2.1")
	}
	require.IsNonDecreasing(t, th.slept)
	require.Positive(t, th.slept[0])
	require.Equal(t, 2*time.Second, th.slept[9])

	th = newThrottle()
	for n := range auth.GuessesPerAddress {
		_ = th.wrong(t, fmt.Sprint("user", n), "192.0.2.1")
	}
	require.IsNonDecreasing(t, th.slept)
	require.Equal(t, 2*time.Second, th.slept[auth.GuessesPerAddress-1], "spraying usernames is slowed as well")
}

func TestThrottleBoundsAnAddress(t *testing.T) {
	tests := []struct {
		name, spraying, same, other string
	}{
		{"IPv4", "192.0.2.1", "192.0.2.1", "192.0.2.2"},
		{"IPv4 in IPv6", "192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.2"},
		{"IPv6 by its /64", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"},
		{"no address at all", "pipe", "pipe", "@"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			th := newThrottle()
			for n := range auth.GuessesPerAddress - 1 {
				require.Equal(t, mapping.CredentialsInvalid, reason(t, th.wrong(t, fmt.Sprint("user", n), test.spraying)))
			}
			require.NoError(t, th.right(t, "anna", test.same))
			require.Equal(t, mapping.TooManyRequests, reason(t, th.wrong(t, "last", test.same)))
			require.Equal(t, mapping.TooManyRequests, reason(t, th.right(t, "anna", test.same)))
			require.NoError(t, th.right(t, "anna", test.other))
			th.clock.Advance(15 * time.Minute)
			require.NoError(t, th.right(t, "anna", test.same))
		})
	}
}

func TestThrottleMemoryIsBounded(t *testing.T) {
	th := newThrottle()
	for n := range 5000 {
		_ = th.wrong(t, fmt.Sprint("user", n), "192.0.2.1")
	}
	addresses, failures := auth.GuessCounterSize(th.counter)
	require.Equal(t, 1, addresses)
	require.Equal(t, auth.GuessesPerAddress, failures)
	require.Error(t, th.right(t, "user0", "192.0.2.1"), "its own count is still there")

	for n := range auth.AddressesKept + 500 {
		_ = th.wrong(t, "anna", fmt.Sprintf("10.%d.%d.%d", n>>16, n>>8&255, n&255))
	}
	addresses, _ = auth.GuessCounterSize(th.counter)
	require.Equal(t, auth.AddressesKept, addresses)

	th = newThrottle()
	for n := range 50 {
		require.NoError(t, th.right(t, fmt.Sprint("user", n), fmt.Sprint("192.0.2.", n)))
	}
	addresses, _ = auth.GuessCounterSize(th.counter)
	require.Zero(t, addresses, "who logs in correctly leaves nothing")
}

// Sixty at once: of the wrong ones ten are looked at, one after another or not.
func TestThrottleIsNotOutrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := auth.NewMemoryGuessCounter()
		th := auth.NewThrottle(counter, time.Now, auth.Sleep)
		var verified, tooMany atomic.Int32
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				g, err := th.Begin(t.Context(), "anna", "192.0.2.1")
				if err != nil {
					tooMany.Add(1)
					return
				}
				defer g.Abandon(t.Context())
				verified.Add(1)
				time.Sleep(25 * time.Millisecond)
				_ = g.Wrong(t.Context())
			})
		}
		all.Wait()
		require.EqualValues(t, 10, verified.Load())
		require.EqualValues(t, 50, tooMany.Load())
	})
}

// One program that logs in often, and correctly, is never refused.
func TestThrottleLetsCorrectLoginsThroughTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := auth.NewMemoryGuessCounter()
		th := auth.NewThrottle(counter, time.Now, auth.Sleep)
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() {
				g, err := th.Begin(t.Context(), "anna", "192.0.2.1")
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(25 * time.Millisecond)
				if err := g.Right(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// TestThrottleIsPatientSoLong: who waits for what becomes of others does not do so for
// ever.
func TestThrottleIsPatientSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := auth.NewThrottle(auth.NewMemoryGuessCounter(), time.Now, auth.Sleep)
		for range 10 {
			_, err := th.Begin(t.Context(), "anna", "192.0.2.1")
			require.NoError(t, err)
		}
		began := time.Now()
		_, err := th.Begin(t.Context(), "anna", "192.0.2.1")
		require.Equal(t, mapping.TooManyRequests, reason(t, err))
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestThrottleHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := auth.NewMemoryGuessCounter()
		th := auth.NewThrottle(counter, time.Now, auth.Sleep)
		var held []*auth.Guess
		for range 10 {
			g, err := th.Begin(t.Context(), "anna", "192.0.2.1")
			require.NoError(t, err)
			held = append(held, g)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := th.Begin(ctx, "anna", "192.0.2.1")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		for _, g := range held[:9] {
			g.Abandon(t.Context())
			g.Abandon(t.Context())
		}
		began := time.Now()
		err = held[9].Wrong(ctx)
		require.Equal(t, mapping.CredentialsInvalid, reason(t, err), "an abandoned guess counts for nothing")
		require.Zero(t, time.Since(began), "a wait nobody waits for is not waited")
		require.False(t, errors.Is(err, context.DeadlineExceeded))
		addresses, failures := auth.GuessCounterSize(counter)
		require.Equal(t, [2]int{1, 1}, [2]int{addresses, failures})
	})
}
