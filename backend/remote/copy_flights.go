package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/mapping"
)

// flights is a repeated piece of work; each run (flight) serves all who wait for it.
type flights struct {
	do func() error

	mu     sync.Mutex
	newest *flight
	now    *flight // under way
	next   *flight // not begun
	failed error   // of the last flight
	again  time.Time
}

type flight struct {
	done chan struct{}
	err  error
}

// againAfter is the pause after a failed flight, except for callers that insist.
const againAfter = time.Second

// pauseAfter is againAfter, or longer if the service has asked for that.
func pauseAfter(err error) time.Duration {
	var refused *mapping.Error
	if errors.As(err, &refused) {
		return max(againAfter, refused.RetryAfter)
	}
	return againAfter
}

// fly starts a flight after the one under way.
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

// underWay is the flight under way, or a new one if there is none.
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

// ended notes how a flight has ended, or that it takes too long. Work that another gateway does has not failed.
func (of *flights) ended(now time.Time, err error) {
	if errors.Is(err, errOthers) {
		err = nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.failed, of.again = err, now.Add(pauseAfter(err))
}

// last is why the last flight failed, nil if it did not, and when the next may begin.
func (of *flights) last() (again time.Time, failed error) {
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.again, of.failed
}
