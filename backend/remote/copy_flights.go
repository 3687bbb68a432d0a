package remote

import (
	"context"
	"errors"
	"sync"
	"time"
)

// flights are a piece of work that is done once for all who wait for it, again and again.
type flights struct {
	do func() error

	mu     sync.Mutex
	newest *flight
	now    *flight // that is under way
	next   *flight // that has not begun
	failed error   // of the last one
	again  time.Time
}

type flight struct {
	done chan struct{}
	err  error
}

// againAfter is how long what has failed is not tried again, but for who insists.
const againAfter = time.Second

// fly has the work done after what is under way.
func (c *copied) fly(of *flights) *flight {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.next == nil {
		f, before := &flight{done: make(chan struct{})}, of.newest
		of.next, of.newest = f, f
		c.running.Go(func() {
			defer close(f.done)
			if before != nil {
				<-before.done
			}
			of.begun(f)
			f.err = of.do()
			of.begun(nil)
			of.ended(c.Now(), f.err)
		})
	}
	return of.next
}

// begun notes which flight is under way.
func (of *flights) begun(f *flight) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.now = f; f != nil {
		of.next = nil
	}
}

// underWay is the flight under way; where there is none the work begins.
func (c *copied) underWay(of *flights) *flight {
	of.mu.Lock()
	f := of.now
	of.mu.Unlock()
	if f == nil {
		f = c.fly(of)
	}
	return f
}

// flown waits until a flight has ended.
func flown(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended notes how the work has ended, or that it takes too long. What another gateway does has not failed.
func (of *flights) ended(now time.Time, err error) {
	if errors.Is(err, errOthers) {
		err = nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.failed, of.again = err, now.Add(againAfter)
}

// last is why the work has failed, nil if it has not, and from when it is tried again.
func (of *flights) last() (again time.Time, failed error) {
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.again, of.failed
}
