package desk

import (
	"context"
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
