package backend

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// The states of a circuit.
const (
	stateClosed   = "closed"
	stateHalfOpen = "half-open"
	stateOpen     = "open"
)

// errOpen says that a call was refused, because the circuit is open.
var errOpen = errors.New("circuit breaker is open")

// verdict is what the outcome of a call says about the administration.
type verdict int

const (
	fails   verdict = iota
	answers         // be it a refusal
	nothing
)

// circuit is a circuit breaker. A number of failures in a row open it: calls are refused
// for a pause, then one trial call is let through; if it succeeds, the circuit closes.
// Failures of one client only may be caused by what that client asks for, so they refuse
// only its own calls: a success of another client then closes the circuit, and a failure
// of another client makes it refuse everybody. It is safe for concurrent use.
type circuit struct {
	most    int // failures in a row
	pause   time.Duration
	changed func(from, to string) // told under the lock
	clock   func() time.Time

	mu      sync.Mutex
	state   string // as of its last look at the clock
	failed  int    // in a row
	first   int64  // the client whose call failed first of them
	several bool   // others are among them
	until   time.Time
	trying  bool // half-open: the call that is let through is under way

	calm atomic.Bool // closed, without a failure since the last success: another success changes nothing
}

// enter asks for permission to make a call, and tells whether it is the trial call. The
// caller must report the end of the call to leave. It fails with errOpen.
func (c *circuit) enter(client int64) (trial bool, err error) {
	if c.calm.Load() {
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.now() == stateClosed, !c.several && client != c.first:
		return false, nil
	case c.state == stateOpen, c.trying:
		return false, errOpen
	}
	c.trying = true
	return true, nil
}

// leave records how a call ended, and tells whether that opened the circuit.
func (c *circuit) leave(client int64, trial bool, v verdict) (opened bool) {
	if v == answers && c.calm.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if trial {
		c.trying = false
	}
	switch v {
	case answers:
		c.failed, c.several = 0, false
		c.turn(stateClosed)
	case fails:
		if c.failed == 0 {
			c.first = client
		}
		c.failed++
		spread := !c.several && client != c.first
		c.several = c.several || spread
		if trial && c.state == stateHalfOpen || c.failed >= c.most && (c.state == stateClosed || spread) {
			c.until = c.clock().Add(c.pause)
			opened = c.state != stateOpen
			c.turn(stateOpen)
		}
	}
	c.calm.Store(c.state == stateClosed && c.failed == 0)
	return opened
}

// now is the state by the clock.
func (c *circuit) now() string {
	if c.state == stateOpen && c.clock().After(c.until) {
		c.turn(stateHalfOpen)
	}
	return c.state
}

func (c *circuit) turn(to string) {
	from := c.state
	if c.state = to; from != to {
		c.trying = false
		c.changed(from, to)
	}
}

// State is closed, half-open or open.
func (c *circuit) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}
