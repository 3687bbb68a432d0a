package desk

import (
	"context"
	"time"
)

// every calls look at once, and again after each pause until ctx ends. after is the timer, such as
// time.After.
func every(ctx context.Context, after func(time.Duration) <-chan time.Time, pause time.Duration, look func()) {
	for {
		look()
		select {
		case <-ctx.Done():
			return
		case <-after(pause):
		}
	}
}
