package authtest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is moved. Safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	bubble bool // shows the time of a synctest bubble
}

// NewClock returns a clock that shows the present, so that stores which also
// look at their own clock agree.
func NewClock() *Clock { return ClockAt(time.Now()) }

// ClockAt returns a clock that shows that time.
func ClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	if c.bubble {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	if c.bubble {
		time.Sleep(d)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
