package webhook

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/sony/gobreaker/v2"
)

// The circuit of a target opens after this many failures in a row, and lets one
// call through again after this long.
const (
	breakerFailures = 5
	breakerPause    = 30 * time.Second
)

// How long to stay away from a host that has its maximum of calls under way.
const busyPause = 5 * time.Second

// Errors of hosts.call: the call was not made.
var (
	errOpen = errors.New("circuit open")
	errBusy = errors.New("too many calls under way")
)

// Errors that the call itself may report to its circuit.
var (
	errFailing   = errors.New("the host fails")
	errAbandoned = errors.New("the call was abandoned, which says nothing about the host")
)

// hosts has a circuit breaker for each client at each host that was called recently, and
// counts the calls under way there. Many clients have their receivers at one host: if
// those of one client fail or hang, calls for other clients go on. It is safe for
// concurrent use.
type hosts struct {
	kept     int // targets at most, besides those with calls under way
	parallel int // calls at most, for each target

	mu     sync.Mutex
	recent *simplelru.LRU[target, *circuit]
}

// target is what has a circuit: a host, as one client calls it.
type target struct {
	client int64
	host   string
}

type circuit struct {
	calls   int // under hosts.mu
	breaker *gobreaker.CircuitBreaker[struct{}]
}

func newHosts(kept, parallel int) *hosts {
	recent, _ := simplelru.NewLRU[target, *circuit](math.MaxInt, nil) // unbounded, because forget keeps those with calls under way
	return &hosts{kept: kept, parallel: parallel, recent: recent}
}

// call runs f unless the target's circuit is open (errOpen) or the target has its maximum of
// calls under way (errBusy). It returns what f returns: nil, errFailing or errAbandoned.
func (h *hosts) call(at target, f func() error) error {
	t := h.enter(at)
	if t == nil {
		return errBusy
	}
	defer h.leave(t)
	_, err := t.breaker.Execute(func() (struct{}, error) { return struct{}{}, f() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return errOpen
	}
	return err
}

func (h *hosts) enter(at target) *circuit {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, known := h.recent.Get(at)
	if !known {
		t = &circuit{breaker: newBreaker(at.host)}
		h.recent.Add(at, t)
	}
	if t.calls >= h.parallel {
		return nil
	}
	t.calls++
	h.forget()
	return t
}

func (h *hosts) leave(t *circuit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.calls--
	h.forget()
}

// forget drops the targets that were not called for longest.
func (h *hosts) forget() {
	for range h.recent.Len() - h.kept {
		if at, oldest, _ := h.recent.GetOldest(); oldest.calls == 0 {
			h.recent.Remove(at)
		} else {
			h.recent.Get(at)
		}
	}
}

func newBreaker(name string) *gobreaker.CircuitBreaker[struct{}] {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        name,
		Timeout:     breakerPause,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerFailures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errAbandoned) },
	})
}
