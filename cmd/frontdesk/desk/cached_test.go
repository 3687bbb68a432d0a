package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCountsAreNotWaitedFor: who asks for numbers that somebody else is counting, by a
// database that hangs, waits as long as he wants to. Before, /readyz waited for as long as
// the other one did.
func TestCountsAreNotWaitedFor(t *testing.T) {
	counting := make(chan struct{})
	c := newCached(func(ctx context.Context) (int, error) {
		close(counting)
		<-ctx.Done()
		return 0, ctx.Err()
	}, time.Now)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.now(ctx)
		ended <- err
	}()
	<-counting

	impatient, enough := context.WithCancel(t.Context())
	enough()
	_, err := c.now(impatient)
	require.ErrorIs(t, err, context.Canceled)
	end()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestCountThatWasBrokenOff: who hangs up, or is out of time, leaves it to the next one to
// count; that the database fails everybody is told for a while. Before, a probe that hung up left
// out the numbers of all scrapes for ten seconds.
func TestCountThatWasBrokenOff(t *testing.T) {
	now := time.Unix(0, 0).Add(time.Hour)
	var count func(context.Context) (int, error)
	c := newCached(func(ctx context.Context) (int, error) { return count(ctx) }, func() time.Time { return now })
	probe, hangUp := context.WithCancel(t.Context())
	count = func(ctx context.Context) (int, error) {
		hangUp()
		return 0, ctx.Err()
	}
	_, err := c.now(probe)
	require.ErrorIs(t, err, context.Canceled)

	broken := errors.New("broken")
	count = func(context.Context) (int, error) { return 0, broken }
	_, err = c.now(t.Context())
	require.ErrorIs(t, err, broken)
	count = func(context.Context) (int, error) { return 7, nil }
	_, err = c.now(t.Context())
	require.ErrorIs(t, err, broken)
	now = now.Add(countsLife)
	n, err := c.now(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, n)
}
