package instrument

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/backend"
	"frontdesk/gateway"
)

// slowestKept is how many calls of each operation of a resource are kept of this hour, and of
// the one before.
const slowestKept = 5

// slowest are the slowest calls of each kind.
type slowest struct{ kinds sync.Map } // [2]string of resource and operation to *slowestOf

// slowestOf are those of one kind: of this hour and of the one before, slowest first.
type slowestOf struct {
	mu          sync.Mutex
	hour        int64
	now, before []SlowCall
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

func (s *slowest) note(ctx context.Context, clock func() time.Time, c *backend.Call) {
	kind := [2]string{c.Resource, c.Operation}
	found, ok := s.kinds.Load(kind)
	if !ok {
		found, _ = s.kinds.LoadOrStore(kind, new(slowestOf))
	}
	of := found.(*slowestOf)
	of.mu.Lock()
	defer of.mu.Unlock()
	if len(of.now) == slowestKept && c.Took <= of.now[slowestKept-1].Took && of.hour == clock().Unix()/3600 {
		return
	}
	of.turn(clock())
	asked := c.Asked()
	of.now = append(of.now, SlowCall{
		At: clock(), Took: c.Took, Waited: c.Waited, Resource: c.Resource, Operation: c.Operation, Outcome: c.Outcome, RequestID: gateway.RequestIDOf(ctx),
		Asked: shortened(asked.Text), AskedTook: asked.Took, Of: asked.Of,
	})
	slices.SortFunc(of.now, slower)
	of.now = of.now[:min(slowestKept, len(of.now))]
}

// turn begins a new hour if it is time.
func (s *slowestOf) turn(now time.Time) {
	switch hour := now.Unix() / 3600; {
	case hour == s.hour:
	case hour == s.hour+1:
		s.hour, s.before, s.now = hour, s.now, nil
	default:
		s.hour, s.before, s.now = hour, nil, nil
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

// SlowestCalls are the slowest calls of this hour and the one before, slowest first.
func (i *Instrument) SlowestCalls() (all []SlowCall) {
	i.slowest.kinds.Range(func(_, found any) bool {
		of := found.(*slowestOf)
		of.mu.Lock()
		defer of.mu.Unlock()
		of.turn(i.clock())
		all = append(append(all, of.now...), of.before...)
		return true
	})
	slices.SortFunc(all, slower)
	return all
}
