package instrument

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

// slowestKept is how many calls of each operation of a resource are kept for this hour, and for
// the one before.
const slowestKept = 5

// slowest are the slowest calls of one kind, of this hour and of the one before. All other calls only
// compare their time with floor.
type slowest struct {
	floor       atomic.Int64 // a call must take longer than this to be kept
	mu          sync.Mutex
	hour        int64
	now, before []SlowCall // slowest first
}

// SlowCall is a call of the backend that took long. It holds no values of clients.
type SlowCall struct {
	At        time.Time       `json:"at"` // when it ended
	Took      time.Duration   `json:"took_ns"`
	Waited    time.Duration   `json:"waited_ns"` // the part of Took that it waited for a slot
	Resource  string          `json:"resource"`
	Operation string          `json:"operation"`
	Outcome   backend.Outcome `json:"outcome"`
	RequestID string          `json:"request_id"`
	Asked     string          `json:"asked"`    // its longest statement or request
	AskedTook time.Duration   `json:"asked_ns"` // how long that took
	Of        int             `json:"asked_of"` // how many statements or requests it made
}

func (s *slowest) note(ctx context.Context, clock func() time.Time, c *backend.Call) {
	if int64(c.Took) <= s.floor.Load() {
		return
	}
	asked, now := c.Slowest(), clock()
	s.turn(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = append(s.now, SlowCall{
		At: now, Took: c.Took, Waited: c.Waited, Resource: c.Resource, Operation: c.Operation, Outcome: c.Outcome, RequestID: gateway.RequestIDOf(ctx),
		Asked: shortened(asked.Text), AskedTook: asked.Took, Of: asked.Of,
	})
	slices.SortFunc(s.now, slower)
	if s.now = s.now[:min(slowestKept, len(s.now))]; len(s.now) == slowestKept {
		s.floor.Store(int64(s.now[slowestKept-1].Took))
	}
}

// turn begins a new hour if it is time.
func (s *slowest) turn(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hour := now.Unix() / 3600
	if hour == s.hour {
		return
	}
	if s.before = s.now; hour != s.hour+1 {
		s.before = nil
	}
	s.hour, s.now = hour, nil
	s.floor.Store(0)
}

func slower(a, b SlowCall) int { return cmp.Or(cmp.Compare(b.Took, a.Took), a.At.Compare(b.At)) }

// mostAsked bounds what is kept of a statement, in bytes; one for many records is long.
const mostAsked = 1000

func shortened(text string) string {
	if len(text) <= mostAsked {
		return strings.Clone(text) // text may be a part of a larger string, which is to be freed
	}
	return strings.ToValidUTF8(text[:mostAsked], "") + " …"
}

// SlowestCalls returns the slowest calls of this hour and the one before, slowest first.
func (i *Instrument) SlowestCalls() (all []SlowCall) {
	i.called.Range(func(_, of any) bool {
		s := &of.(*callMeters).slowest
		s.turn(i.clock())
		s.mu.Lock()
		defer s.mu.Unlock()
		all = append(append(all, s.now...), s.before...)
		return true
	})
	slices.SortFunc(all, slower)
	return all
}
