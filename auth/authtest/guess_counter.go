package authtest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// GuessCounter is the suite that every counter of wrong credentials passes. Open returns an
// empty one, closed by t.Cleanup.
func GuessCounter(t *testing.T, open func(t *testing.T) auth.GuessCounter) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, c guessing)
	}{
		{"failures of a user from one address reach their bound", boundsUser},
		{"failures from one address reach their bound", boundsAddress},
		{"failures are forgotten after the window", forgets},
		{"success forgets the failures of that user from there, and no other", pardons},
		{"a guess that is abandoned counts for nothing", abandons},
		{"a guess under way counts against the bound", reserves},
		{"no more are admitted together than the bound lets", together},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, guessing{open(t), NewClock()}) })
	}
}

// guessing is a counter with a clock.
type guessing struct {
	auth.GuessCounter
	clock *Clock
}

const here, there = auth.Origin("192.0.2.1"), auth.Origin("2001:db8::/64")

func (c guessing) reserve(t *testing.T, from auth.Origin, who byte) auth.Reservation {
	t.Helper()
	r, err := c.Reserve(t.Context(), from, auth.Account{who}, c.clock.Now())
	require.NoError(t, err)
	return r
}

func (c guessing) settle(t *testing.T, r auth.Reservation, o auth.Outcome) auth.GuessCount {
	t.Helper()
	s, err := c.Settle(t.Context(), r, o, c.clock.Now())
	require.NoError(t, err)
	return s
}

func (c guessing) fail(t *testing.T, from auth.Origin, who byte) auth.GuessCount {
	t.Helper()
	r := c.reserve(t, from, who)
	require.True(t, r.Admitted)
	return c.settle(t, r, auth.Failed)
}

func boundsUser(t *testing.T, c guessing) {
	for n := 1; n < auth.GuessesPerUser; n++ {
		require.Equal(t, auth.GuessCount{OfUser: n, OfAddress: n}, c.fail(t, here, 1))
		c.clock.Advance(time.Second)
	}
	last := c.fail(t, here, 1)
	refused := auth.GuessWindow - (auth.GuessesPerUser-1)*time.Second
	require.Equal(t, auth.GuessesPerUser, last.OfUser)
	require.InDelta(t, refused, last.Refused, float64(time.Millisecond))
	r := c.reserve(t, here, 1)
	require.False(t, r.Admitted)
	require.InDelta(t, refused, r.Refused, float64(time.Millisecond))
	require.True(t, c.reserve(t, there, 1).Admitted, "from elsewhere")
	require.True(t, c.reserve(t, here, 2).Admitted, "another user")
}

func boundsAddress(t *testing.T, c guessing) {
	for n := range auth.GuessesPerAddress - 1 {
		require.Zero(t, c.fail(t, here, byte(n)).Refused)
	}
	last := c.fail(t, here, 200)
	require.Equal(t, auth.GuessesPerAddress, last.OfAddress)
	require.Equal(t, 1, last.OfUser)
	require.Positive(t, last.Refused)
	require.Positive(t, c.reserve(t, here, 201).Refused)
	require.True(t, c.reserve(t, there, 200).Admitted)
}

func forgets(t *testing.T, c guessing) {
	for range auth.GuessesPerUser {
		c.fail(t, here, 1)
	}
	c.clock.Advance(auth.GuessWindow - time.Second)
	require.Positive(t, c.reserve(t, here, 1).Refused)
	c.clock.Advance(time.Second)
	require.Equal(t, 1, c.fail(t, here, 1).OfUser)
}

func pardons(t *testing.T, c guessing) {
	for range 3 {
		c.fail(t, here, 1)
		c.fail(t, here, 2)
		c.fail(t, there, 1)
	}
	require.Equal(t, auth.GuessCount{OfUser: 0, OfAddress: 3}, c.settle(t, c.reserve(t, here, 1), auth.Succeeded))
	require.Equal(t, 4, c.fail(t, here, 2).OfUser)
	require.Equal(t, 4, c.fail(t, there, 1).OfUser)
}

func abandons(t *testing.T, c guessing) {
	for range 2 * auth.GuessesPerUser {
		r := c.reserve(t, here, 1)
		require.True(t, r.Admitted)
		require.Zero(t, c.settle(t, r, auth.Abandoned))
	}
}

func reserves(t *testing.T, c guessing) {
	var held []auth.Reservation
	for range auth.GuessesPerUser {
		held = append(held, c.reserve(t, here, 1))
		require.True(t, held[len(held)-1].Admitted)
	}
	waiting := c.reserve(t, here, 1)
	require.False(t, waiting.Admitted)
	require.Zero(t, waiting.Refused, "it may be correct, like the others")
	require.True(t, c.reserve(t, here, 2).Admitted)
	c.settle(t, held[0], auth.Succeeded)
	if waiting.Settled != nil {
		<-waiting.Settled
	}
	require.True(t, c.reserve(t, here, 1).Admitted)
}

func together(t *testing.T, c guessing) {
	var admitted atomic.Int32
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			r, err := c.Reserve(t.Context(), here, auth.Account{1}, c.clock.Now())
			if err != nil {
				t.Error(err)
			}
			if !r.Admitted {
				return
			}
			admitted.Add(1)
			if _, err := c.Settle(t.Context(), r, auth.Failed, c.clock.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, auth.GuessesPerUser, admitted.Load())
}
