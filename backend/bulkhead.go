package backend

import (
	"context"
	"errors"
	"sync/atomic"
)

// errBusy says that a bulkhead has neither room nor a place to wait.
var errBusy = errors.New("too many calls of the backend are under way")

// bulkhead bounds how many calls are under way at once, and how many may wait
// for their turn; past both, it refuses at once.
type bulkhead struct {
	slots    chan struct{}
	waiting  atomic.Int64
	maxQueue int64
}

func newBulkhead(concurrent, queue int) *bulkhead {
	return &bulkhead{slots: make(chan struct{}, concurrent), maxQueue: int64(queue)}
}

// enter waits for room. Whoever entered must leave.
func (b *bulkhead) enter(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	default:
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > b.maxQueue {
		return errBusy
	}
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bulkhead) leave() { <-b.slots }
