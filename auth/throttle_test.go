package auth_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/cmd/frontdesk/rig/must"
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

// TestThrottle takes ten wrong passwords of anna from one /64. How counts follow from that is the
// suite's: authtest.GuessCounter.
func TestThrottle(t *testing.T) {
	th := newThrottle()
	const here, beside, elsewhere = "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"
	for range 9 {
		require.Equal(t, mapping.CredentialsInvalid, reason(t, th.wrong(t, "anna", here)))
	}
	require.NoError(t, th.right(t, "anna", here), "which clears the count")
	began := th.clock.Now()
	for n := 1; n <= 9; n++ {
		require.Equal(t, mapping.CredentialsInvalid, reason(t, th.wrong(t, "anna", here)), n)
		th.clock.Advance(time.Second)
	}
	require.Equal(t, mapping.TooManyRequests, reason(t, th.wrong(t, "anna", beside)))
	require.Equal(t, 2*time.Second, th.slept[len(th.slept)-1])

	var e *mapping.Error
	require.ErrorAs(t, th.right(t, "ANNA", here), &e, "case makes no other user")
	require.Equal(t, mapping.TooManyRequests, e.Reason)
	require.Equal(t, began.Add(15*time.Minute).Sub(th.clock.Now()).Round(0), e.RetryAfter)
	require.NoError(t, th.right(t, "anna", elsewhere))
	require.NoError(t, th.right(t, "bert", here))
	th.clock.Advance(e.RetryAfter - 1)
	require.Error(t, th.right(t, "anna", here))
	th.clock.Advance(1)
	require.NoError(t, th.right(t, "anna", here), "once RetryAfter is over")
}

func TestThrottleSlowsMoreAndMoreButNeverOverTwoSeconds(t *testing.T) {
	for tries, usernames := range map[int]int{auth.GuessesPerUser: 1, auth.GuessesPerAddress: auth.GuessesPerAddress} {
		th := newThrottle()
		for n := range tries {
			_ = th.wrong(t, fmt.Sprint("user", n%usernames), "192.0.2.1")
		}
		require.IsNonDecreasing(t, th.slept)
		require.Positive(t, th.slept[0])
		require.Equal(t, 2*time.Second, th.slept[tries-1])
	}
}

func TestOrigin(t *testing.T) {
	for name, c := range map[string]struct{ address, same, other string }{
		"IPv4":              {"192.0.2.1", "192.0.2.1", "192.0.2.2"},
		"IPv4 in IPv6":      {"192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.2"},
		"IPv6 by its /64":   {"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"},
		"no address at all": {"pipe", "pipe", "@"},
	} {
		require.Equal(t, auth.OriginOf(c.address), auth.OriginOf(c.same), name)
		require.NotEqual(t, auth.OriginOf(c.address), auth.OriginOf(c.other), name)
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

// TestThrottleTogether: of many wrong ones at once ten are looked at, and one program that logs in
// often, and correctly, is never refused.
func TestThrottleTogether(t *testing.T) {
	for _, c := range []struct {
		end                        func(*auth.Guess, context.Context) error
		tries, verified, allowedIn int32
	}{{(*auth.Guess).Wrong, 60, 10, 0}, {(*auth.Guess).Right, 300, 300, 300}} {
		synctest.Test(t, func(t *testing.T) {
			th := auth.NewThrottle(auth.NewMemoryGuessCounter(), time.Now, auth.Sleep)
			var verified, in atomic.Int32
			var all sync.WaitGroup
			for range c.tries {
				all.Go(func() {
					g, err := th.Begin(t.Context(), "anna", "192.0.2.1")
					if err != nil {
						return
					}
					verified.Add(1)
					time.Sleep(25 * time.Millisecond)
					if c.end(g, t.Context()) == nil {
						in.Add(1)
					}
				})
			}
			all.Wait()
			require.Equal(t, c.verified, verified.Load())
			require.Equal(t, c.allowedIn, in.Load())
		})
	}
}

// TestThrottleWaits for what becomes of others, as long as its context and not for ever.
func TestThrottleWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := auth.NewMemoryGuessCounter()
		th := auth.NewThrottle(counter, time.Now, auth.Sleep)
		var held []*auth.Guess
		for range 10 {
			g := must.Have(th.Begin(t.Context(), "anna", "192.0.2.1"))(t)
			held = append(held, g)
		}
		require.Error(t, held[0].Wrong(t.Context()))
		held[0].Abandon(t.Context()) // which it is not: it has ended
		began := time.Now()
		_, err := th.Begin(t.Context(), "anna", "192.0.2.1")
		require.Equal(t, mapping.TooManyRequests, reason(t, err))
		require.Equal(t, 5*time.Second, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, must.Fail(th.Begin(ctx, "anna", "192.0.2.1")), context.DeadlineExceeded)

		for _, g := range held[1:9] {
			g.Abandon(t.Context())
		}
		began = time.Now()
		err = held[9].Wrong(ctx)
		require.Equal(t, mapping.CredentialsInvalid, reason(t, err), "an abandoned guess counts for nothing")
		require.Zero(t, time.Since(began), "a wait nobody waits for is not waited")
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		addresses, failures := auth.GuessCounterSize(counter)
		require.Equal(t, [2]int{1, 2}, [2]int{addresses, failures})
	})
}

func TestMemoryGuessCounter(t *testing.T) {
	authtest.GuessCounter(t, func(*testing.T) auth.GuessCounter { return auth.NewMemoryGuessCounter() })
}
