package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/backend"
	"frontdesk/gateway"
)

// slowestKept is how many calls of each operation of a resource are kept of this hour, and of
// the one before.
const slowestKept = 5

// slowest are the slowest calls of one kind. Only a call that gets a place here pays for it:
// of the others each reads one number.
type slowest struct {
	floor atomic.Int64 // a call that took no longer gets no place

	mu          sync.Mutex
	now, before []SlowCall // of this hour and of the one before, slowest first
}

// SlowCall is a call of the backend that took long. What it asked has no values of clients.
type SlowCall struct {
	At        time.Time       `json:"at"` // when it ended
	Took      time.Duration   `json:"took_ns"`
	Waited    time.Duration   `json:"waited_ns"` // of it for a place among the calls
	Resource  string          `json:"resource"`
	Operation string          `json:"operation"`
	Outcome   backend.Outcome `json:"outcome"`
	RequestID string          `json:"request_id"`
	Asked     string          `json:"asked"`    // what of it took longest
	AskedTook time.Duration   `json:"asked_ns"` // and how long that took
	Of        int             `json:"asked_of"` // how many things it asked
}

func (s *slowest) note(ctx context.Context, c *backend.Call) {
	if int64(c.Took) <= s.floor.Load() {
		return
	}
	asked := c.Asked()
	one := SlowCall{
		At: time.Now(), Took: c.Took, Waited: c.Waited, Resource: c.Resource, Operation: c.Operation, Outcome: c.Outcome, RequestID: gateway.RequestIDOf(ctx),
		Asked: shortened(asked.Text), AskedTook: asked.Took, Of: asked.Of,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = append(s.now, one)
	slices.SortFunc(s.now, slower)
	if len(s.now) > slowestKept {
		s.now = slices.Delete(s.now, slowestKept, len(s.now))
	}
	if len(s.now) == slowestKept {
		s.floor.Store(int64(s.now[slowestKept-1].Took))
	}
}

func slower(a, b SlowCall) int { return cmp.Or(cmp.Compare(b.Took, a.Took), a.At.Compare(b.At)) }

// mostAsked bounds what is kept of a statement, in bytes: one for many records is long.
const mostAsked = 1000

func shortened(text string) string {
	if len(text) <= mostAsked {
		return strings.Clone(text) // and not what it may be a part of
	}
	return strings.ToValidUTF8(text[:mostAsked], "") + " …"
}

// nextHour begins a new hour.
func (s *slowest) nextHour() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.before = nil, s.now
	s.floor.Store(0)
}

func (s *slowest) all() []SlowCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.now, s.before)
}

// slowestCalls are those of all kinds that want lets through, slowest first.
func (m *metrics) slowestCalls(want func(*SlowCall) bool) (all []SlowCall) {
	for _, meters := range m.called.all() {
		for _, c := range meters.slowest.all() {
			if want(&c) {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, slower)
	return all
}

// turnSlowest begins a new hour of the slowest calls of each kind.
func (m *metrics) turnSlowest() {
	for _, meters := range m.called.all() {
		meters.slowest.nextHour()
	}
}

// circuitOpening is what opened a circuit last.
type circuitOpening struct {
	At        time.Time       `json:"at"`
	Operation string          `json:"operation"`
	Outcome   backend.Outcome `json:"outcome"` // of the call whose failure was one too many
	RequestID string          `json:"request_id"`
}

// firstOf is the beginning of what was asked, for a list.
func firstOf(asked string) string {
	const most = 60
	if from := strings.Index(asked, " FROM "); strings.HasPrefix(asked, "SELECT ") && from > most/2 {
		asked = "SELECT …" + asked[from:]
	}
	switch {
	case asked == "":
		return "the wait for a connection"
	case len(asked) <= most:
		return asked
	default:
		return strings.ToValidUTF8(asked[:most], "") + " …"
	}
}
