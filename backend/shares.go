package backend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// shares bound how many calls run at once (the slots), and distribute the slots among
// clients and resources. All calls of a client at one resource may hang together, for
// example because a row is locked. So they get half of all slots at most, those of a second
// client half of the rest, and so on. In addition, all calls of one client, and all calls
// at one resource, leave some last slots to others. So neither a client that floods all
// resources nor the lock of a whole table stops the others.
//
// A call that gets no slot waits. The client with the fewest calls under way goes first;
// among equals, the one that has waited longest. shares are safe for concurrent use.
type shares struct {
	mu    sync.Mutex
	most  int
	free  int
	taken map[party]int // slots; under party{client: …} those of a client at all resources

	// forClients is how many slots a client with calls under way leaves to clients that
	// have none; forResources is the same for resources.
	forClients, forResources int

	maxQueue int
	waiting  int
	waits    map[int64]int // waiting calls of each client
	clock    uint64        // a logical clock: orders the arrivals and ends of calls
	lines    []*line
	pool     sync.Pool // of *claim
}

// group counts the calls of one resource.
type group struct{ taken int }

// party is a client at a resource.
type party struct {
	client int64
	at     *group
}

// line is the waiting calls of a party, oldest first.
type line struct {
	party
	claims []*claim
	ended  uint64 // when a call of the client last ended
}

// waits is since when the client has waited for its first call, or since its last call
// ended, whichever is later.
func (l *line) waits() uint64 { return max(l.ended, l.claims[0].came) }

// claim is a call that waits.
type claim struct {
	came uint64
	done chan error // receives nil when the call may begin, ErrBusy if another call takes its place in the queue
}

// maxIdle is how many parties without a call are kept in taken: deleting many at a time is
// cheaper than deleting each at once.
const maxIdle = 1024

func newShares(slots, queue int) *shares {
	clients := max(1, slots/8)
	resources := min(2*clients, max(1, slots-3)) // 1 if there are so few slots that a second client would get none
	return &shares{most: slots, free: slots, taken: map[party]int{}, waits: map[int64]int{}, maxQueue: queue, forClients: clients, forResources: resources,
		pool: sync.Pool{New: func() any { return &claim{done: make(chan error, 1)} }}}
}

// enter takes a slot, and waits for one until a time; the caller must call leave. It fails
// with ErrBusy.
func (s *shares) enter(ctx context.Context, p party, until time.Time) (waited time.Duration, err error) {
	s.mu.Lock()
	if s.fits(p) { // no waiting call fits, or it would run already
		s.take(p)
		s.mu.Unlock()
		return 0, nil
	}
	began := time.Now() // the clock is read only for calls that wait
	c := s.queue(p)
	s.mu.Unlock()
	if c == nil {
		return time.Since(began), ErrBusy
	}
	waits := within(ctx, until)
	defer waits.end()
	err = s.await(waits, p, c)
	return time.Since(began), err
}

// await waits for the end of a claim.
func (s *shares) await(ctx context.Context, p party, c *claim) error {
	defer s.pool.Put(c)
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unqueue(p, c) && <-c.done == nil { // the slot came in the last moment
		s.give(p)
	}
	return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
}

// leave gives a slot back, and passes it to a waiting call.
func (s *shares) leave(p party) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(p)
}

// fits reports whether a party may take one more slot.
func (s *shares) fits(p party) bool {
	has := s.taken[p]
	return s.free > 0 && (has == 0 || has+1 < s.free) &&
		(s.free > s.forResources || p.at.taken == 0) &&
		(s.free > s.forClients || s.taken[party{client: p.client}] == 0)
}

func (s *shares) take(p party) {
	s.free--
	p.at.taken++
	s.taken[p]++
	s.taken[party{client: p.client}]++
}

func (s *shares) give(p party) {
	s.free++
	p.at.taken--
	s.taken[p]--
	s.taken[party{client: p.client}]--
	if len(s.taken) > maxIdle+2*s.most {
		maps.DeleteFunc(s.taken, func(_ party, n int) bool { return n == 0 })
	}
	if s.waiting == 0 {
		return
	}
	s.clock++
	for _, l := range s.lines {
		if l.client == p.client {
			l.ended = s.clock
		}
	}
	for l := s.next(); l != nil; l = s.next() {
		s.take(l.party)
		s.drop(l, 0).done <- nil
	}
}

// next is the line whose first call may begin; nil if there is none.
func (s *shares) next() (next *line) {
	if s.free == 0 {
		return nil
	}
	fewest := 0
	for _, l := range s.lines {
		has := s.taken[party{client: l.client}]
		if next != nil && (has > fewest || has == fewest && l.waits() > next.waits()) {
			continue
		}
		if s.fits(l.party) {
			next, fewest = l, has
		}
	}
	return next
}

// queue puts a call in line. If the queue is full, another call is refused instead: the last
// one in the longest line of the client with most waiting calls. If no client has more
// waiting calls than the new call's client, that client gives up one. If its longest line is
// no longer than the new call's own, the new call is refused: queue returns nil.
func (s *shares) queue(p party) *claim {
	if s.waiting >= s.maxQueue {
		gives := p.client
		for _, l := range s.lines {
			if s.waits[l.client] > max(s.waits[gives], s.waits[p.client]+1) {
				gives = l.client
			}
		}
		var longest *line
		for _, l := range s.lines {
			if l.client == gives && (longest == nil || len(l.claims) > len(longest.claims)) {
				longest = l
			}
		}
		if longest == nil || gives == p.client && len(longest.claims) <= s.length(p)+1 {
			return nil
		}
		s.drop(longest, len(longest.claims)-1).done <- ErrBusy
	}
	return s.join(p)
}

// length is how many calls of a party wait.
func (s *shares) length(p party) int {
	if l := s.lineOf(p); l != nil {
		return len(l.claims)
	}
	return 0
}

// join puts a call in line, even if the queue is full.
func (s *shares) join(p party) *claim {
	own := s.lineOf(p)
	if own == nil {
		own = &line{party: p}
		s.lines = append(s.lines, own)
	}
	c := s.pool.Get().(*claim)
	s.clock++
	c.came = s.clock
	own.claims = append(own.claims, c)
	s.waiting++
	s.waits[p.client]++
	return c
}

func (s *shares) lineOf(p party) *line {
	for _, l := range s.lines {
		if l.party == p {
			return l
		}
	}
	return nil
}

// unqueue takes a call out of its line; false if it is no longer there.
func (s *shares) unqueue(p party, c *claim) bool {
	l := s.lineOf(p)
	if l == nil {
		return false
	}
	at := slices.Index(l.claims, c)
	if at >= 0 {
		s.drop(l, at)
	}
	return at >= 0
}

// drop takes a call out of a line.
func (s *shares) drop(l *line, at int) *claim {
	c := l.claims[at]
	if l.claims = slices.Delete(l.claims, at, at+1); len(l.claims) == 0 {
		s.lines = slices.DeleteFunc(s.lines, func(other *line) bool { return other == l })
	}
	s.waiting--
	if s.waits[l.client]--; s.waits[l.client] == 0 {
		delete(s.waits, l.client)
	}
	return c
}

// count adds the slots' calls to a load, and marks the clients whose calls wait.
func (s *shares) count(to *Load, waiting map[int64]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Most += s.most
	to.Running += s.most - s.free
	to.Waiting += s.waiting
	for _, l := range s.lines {
		waiting[l.client] = true
	}
}

// slot is the slot of one call. It belongs to the call's goroutine.
type slot struct {
	of *shares
	party
	held   bool
	waited time.Duration // before the call began
}

func (p *slot) enter(ctx context.Context, until time.Time) (err error) {
	p.waited, err = p.of.enter(ctx, p.party, until)
	p.held = err == nil
	return err
}

func (p *slot) leave() {
	if p.held {
		p.of.leave(p.party)
		p.held = false
	}
}
