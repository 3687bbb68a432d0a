package backend

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patrickmn/go-cache"
	"github.com/sony/gobreaker/v2"
)

type breaker = gobreaker.CircuitBreaker[struct{}]

// circuit is the circuit breakers of a lane. One, for all clients, opens after a number of
// failures in a row, if they are of several clients. Failures of one client may be caused
// by its own requests, so each client whose calls failed lately also has a breaker of its own.
// It is safe for concurrent use.
type circuit struct {
	guards  Circuit // with State closed
	o       Options
	all     *breaker
	failing *cache.Cache                  // of breakers, by client
	adding  sync.Mutex                    // to failing
	opened  atomic.Bool                   // by a call that has not ended yet
	turned  atomic.Pointer[chan struct{}] // the channel is closed when a breaker changes its state

	// Of the failures in a row, under the lock of all:
	last, first failed
	several     bool
}

// failed is the failure of a call of a client.
type failed int64

func (failed) Error() string { return "the administration failed" }

// errInconclusive is the end of a call that shows neither that the administration works nor that it fails.
var errInconclusive = errors.New("the call says nothing about the administration")

func newCircuit(guards Circuit, o Options) *circuit {
	remembered := o.Timeout + o.CircuitPause + time.Minute // the next call may come after a pause and take a timeout
	c := &circuit{guards: guards, o: o, failing: cache.New(remembered, 0)}
	c.turned.Store(new(make(chan struct{})))
	c.all = c.newBreaker(0, gobreaker.Settings{
		IsExcluded: func(err error) bool {
			client, fails := err.(failed)
			if !fails {
				return err != nil
			}
			// A failed trial of the client's own breaker does not count: or a client that always fails would use up every trial.
			own := c.own(int64(client))
			return own != nil && own.State() != gobreaker.StateClosed
		},
		IsSuccessful: func(err error) bool {
			c.last, _ = err.(failed)
			return err == nil
		},
		ReadyToTrip: func(n gobreaker.Counts) bool {
			if n.ConsecutiveFailures == 1 {
				c.first, c.several = c.last, false
			}
			c.several = c.several || c.last != c.first
			return c.several && c.enough(n)
		},
	})
	return c
}

func (c *circuit) newBreaker(client int64, s gobreaker.Settings) *breaker {
	s.Timeout = c.o.CircuitPause
	s.OnStateChange = func(_ string, from, to gobreaker.State) {
		if to == gobreaker.StateOpen {
			c.opened.Store(true)
		}
		close(*c.turned.Swap(new(make(chan struct{}))))
		changed := c.guards
		changed.State, changed.Client = to.String(), client
		c.o.OnState(changed, from.String())
	}
	return gobreaker.NewCircuitBreaker[struct{}](s)
}

func (c *circuit) enough(n gobreaker.Counts) bool {
	return int(n.ConsecutiveFailures) >= c.o.CircuitFailures
}

// trialWait is how long a call waits for another's trial to end. After a quiet pause several calls may arrive
// at once, and only one of them is the trial.
const trialWait = time.Second

// run makes a client's call, which ends with nil, failed or errInconclusive. If a breaker refuses
// the call, run fails with gobreaker.ErrOpenState. opened reports whether the call's failure opened a breaker.
func (c *circuit) run(ctx context.Context, client int64, call func() (struct{}, error)) (opened bool, err error) {
	counted, fails := false, true // what holds if the call panics
	defer func() {
		if fails {
			c.remember(client, counted)
			opened = c.opened.CompareAndSwap(true, false)
		}
	}()
	for wait := (<-chan time.Time)(nil); ; {
		turned, own := *c.turned.Load(), c.own(client)
		if own == nil {
			_, err = c.all.Execute(call)
		} else {
			_, err = own.Execute(func() (struct{}, error) { return c.all.Execute(call) })
		}
		counted = own != nil
		if err != gobreaker.ErrTooManyRequests {
			break
		}
		if wait == nil {
			wait = time.After(trialWait)
		}
		select {
		case <-turned:
			continue
		case <-wait:
		case <-ctx.Done():
		}
		err = gobreaker.ErrOpenState
		break
	}
	_, fails = err.(failed)
	if err != gobreaker.ErrOpenState {
		err = nil
	}
	return false, err
}

// own is the breaker of a client; nil if none of its calls failed lately.
func (c *circuit) own(client int64) *breaker {
	found, _ := c.failing.Get(keyOf(client))
	own, _ := found.(*breaker)
	return own
}

func keyOf(client int64) string {
	return string(binary.NativeEndian.AppendUint64(nil, uint64(client)))
}

// remember keeps the breaker of a client whose call failed. The breaker counts the failure,
// unless counted says that it already has.
func (c *circuit) remember(client int64, counted bool) {
	c.adding.Lock()
	defer c.adding.Unlock()
	own := c.own(client)
	if own == nil {
		c.failing.DeleteExpired()
		own = c.newBreaker(client, gobreaker.Settings{
			IsExcluded: func(err error) bool {
				_, fails := err.(failed)
				return err != nil && !fails
			},
			ReadyToTrip: c.enough,
		})
	}
	if !counted {
		_, _ = own.Execute(func() (struct{}, error) { return struct{}{}, failed(client) })
	}
	c.failing.SetDefault(keyOf(client), own)
}

// State is the state of the breaker for all clients. If all recent calls failed, but only one
// client made them, State is that of the client's own breaker.
func (c *circuit) State() gobreaker.State {
	worst := c.all.State()
	if worst == gobreaker.StateClosed && c.enough(c.all.Counts()) {
		for _, own := range c.failing.Items() {
			worst = max(worst, own.Object.(*breaker).State())
		}
	}
	return worst
}
