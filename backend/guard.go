package backend

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// section guards the calls of one resource. Reads and writes are guarded separately: if
// writes fail, on a full disk for example, reads go on. Lists that come from a copy have a lane of
// their own, too, and go on while the administration does not answer.
type section struct{ reads, lists, writes *lane }

// lane guards the reads, or the writes, of one resource.
type lane struct {
	*circuit
	name  string // as Circuit.String
	room  *shares
	group *group
}

// The kinds of calls. Each has its own circuit.
const (
	reads  = "reads"
	lists  = "lists" // from a copy
	writes = "writes"
)

// Circuit is a circuit breaker and its state: closed, half-open or open.
type Circuit struct {
	Resource string // "" for calls that concern no resource
	Calls    string // reads, writes, or lists that come from a copy
	State    string
	Client   int64 // the only client whose calls it guards; 0 for all clients
}

// CircuitClosed is the State of a circuit that lets all calls through.
const CircuitClosed = "closed"

// String names what the circuit guards: writes of order.
func (c Circuit) String() string { return c.Calls + " of " + cmp.Or(c.Resource, "no resource") }

// rooms are the slots for calls, as many as the driver has connections for. So calls wait here,
// where slots are shared fairly, and not in the driver.
type rooms struct {
	all    []*shares
	calls  *shares
	writes *shares // equals calls, unless writes have connections of their own
	lists  *shares // equals calls, unless lists come from a copy, which takes no connection
}

func newRooms(d Driver, o Options) (r rooms) {
	var pool Pool
	if p, ok := optional[Pooler](d); ok {
		pool = p.Pool()
	}
	room := func(most int) *shares {
		r.all = append(r.all, newShares(min(o.MaxConcurrent, cmp.Or(most, o.MaxConcurrent)), *o.MaxQueue))
		return r.all[len(r.all)-1]
	}
	r.calls = room(pool.Calls)
	r.writes, r.lists = r.calls, r.calls
	if pool.Writes > 0 {
		r.writes = room(pool.Writes)
	}
	if d.Capabilities().Copied {
		r.lists = room(0)
	}
	return r
}

// newSection makes the lanes of a resource. Lanes that share slots are in one group.
func (c *Client) newSection(resource string) section {
	s := c.readSection(resource)
	s.writes = c.newLane(resource, writes, c.rooms.writes, s.reads.group)
	if c.rooms.writes != c.rooms.calls {
		s.writes.group = new(group)
	}
	return s
}

// readSection is a section without writes.
func (c *Client) readSection(resource string) section {
	s := section{reads: c.newLane(resource, reads, c.rooms.calls, new(group))}
	if s.lists = s.reads; c.rooms.lists != c.rooms.calls {
		s.lists = c.newLane(resource, lists, c.rooms.lists, new(group))
	}
	return s
}

func (c *Client) newLane(resource, kind string, room *shares, of *group) *lane {
	guards := Circuit{Resource: resource, Calls: kind, State: CircuitClosed}
	l := &lane{circuit: newCircuit(guards, c.o), name: guards.String(), room: room, group: of}
	c.lanes = append(c.lanes, l)
	return l
}

// State is the worst state of all circuits: closed, half-open or open.
func (c *Client) State() string {
	worst := gobreaker.StateClosed
	for _, l := range c.lanes {
		worst = max(worst, l.State())
	}
	return worst.String()
}

// Circuits returns the state of every circuit.
func (c *Client) Circuits() []Circuit {
	all := make([]Circuit, len(c.lanes))
	for i, l := range c.lanes {
		all[i] = l.guards
		all[i].State = l.State().String()
	}
	return all
}

// Load counts the calls that run and wait.
type Load struct {
	Running, Most int // calls that run, and how many may
	Waiting       int // calls that wait for a slot
	Clients       int // clients whose calls wait
}

// Load returns how busy the administration is.
func (c *Client) Load() (now Load) {
	waiting := map[int64]bool{}
	for _, room := range c.rooms.all {
		room.count(&now, waiting)
	}
	now.Clients = len(waiting)
	return now
}

// Busiest returns the load of the slots of reads, or of those of writes if they have their own and
// a larger part of them is taken.
func (c *Client) Busiest() (running, most int) {
	for _, room := range c.rooms.all {
		var now Load
		if room.count(&now, map[int64]bool{}); now.Running*most >= running*now.Most {
			running, most = now.Running, now.Most
		}
	}
	return running, most
}

// Queue is how many calls may wait for a slot.
func (c *Client) Queue() (most int) {
	for _, room := range c.rooms.all {
		most += room.maxQueue
	}
	return most
}

// verdict is what an outcome shows about the administration, as an error for the circuit.
func (o Outcome) verdict(client int64) error {
	switch o {
	case Answered, Unexpected:
		return nil
	case Failed, TimedOut:
		return failed(client)
	default:
		return errInconclusive
	}
}

// isAnswer reports whether an error is the answer of a working administration, rather than
// its failure.
func isAnswer(err error) bool {
	if errors.Is(err, ErrNotFound) || isContention(err) {
		return true
	}
	if _, ok := mapping.AsViolations(err); ok {
		return true
	}
	return err != nil && errors.As(err, new(*Replay))
}

// ownAnswer is an answer from the gateway's own store: the administration was not involved.
type ownAnswer struct{ error }

func (o ownAnswer) Unwrap() error { return o.error }

// isContention reports whether a write failed only because others kept changing the same
// records.
func isContention(err error) bool { return errors.Is(err, ErrStale) || errors.Is(err, ErrCollision) }

// call runs f under the guards of a lane, and translates failures into violations.
func (c *Client) call(ctx context.Context, l *lane, client auth.Client, operation string, f func(context.Context) error) error {
	began := time.Now()
	bounded := within(ctx, began.Add(c.o.Timeout))
	defer bounded.end()
	bounded.slot = slot{of: l.room, party: party{client.ID, l.group}}
	var traced context.Context = bounded
	ended := func(Outcome) {}
	if c.o.Trace != nil {
		traced, ended = c.o.Trace(bounded, l.guards.Resource, operation)
	}
	bounded.profile.since = began
	var outcome Outcome
	var violation error
	opened, refused := l.guarded(traced, bounded, began.Add(c.o.Timeout/2), func() (struct{}, error) {
		outcome, violation = c.judgeCall(bounded, f(traced))
		return struct{}{}, outcome.verdict(client.ID)
	})
	if refused != nil {
		outcome, violation = c.judgeCall(bounded, refused)
	}
	ended(outcome)
	if c.o.Observe != nil {
		c.o.Observe(ctx, Call{
			Resource: l.guards.Resource, Operation: operation, Lane: l.name, Outcome: outcome, Took: time.Since(began), Waited: bounded.slot.waited, Opened: opened, profile: &bounded.profile,
		})
	}
	return violation
}

// guarded waits for a slot until a time, and makes a call unless the circuit is open. A wait in
// vain does not count as a failure of the resource: until leaves a call enough time to show whether
// the resource works. opened reports whether this call opened the circuit.
func (l *lane) guarded(ctx context.Context, of *deadline, until time.Time, call func() (struct{}, error)) (opened bool, refused error) {
	at := &of.slot
	if err := at.enter(ctx, until); err != nil {
		return false, err
	}
	defer at.leave()
	of.profile.since = of.profile.since.Add(at.waited)
	return l.run(ctx, at.client, call)
}

// busyPause is the Retry-After when no slot became free.
const busyPause = time.Second

// changedPause is the Retry-After when the administration has changed. It is checked as often.
const changedPause = time.Minute

// judgeCall returns the outcome of a call, and the error that the client of the interface
// gets.
func (c *Client) judgeCall(ctx context.Context, err error) (Outcome, error) {
	if err == nil {
		return Answered, nil
	}
	unavailable := func(o Outcome, pause time.Duration) (Outcome, error) {
		return o, mapping.Fail(mapping.BackendUnavailable).Because(err).After(pause)
	}
	if own := (ownAnswer{}); errors.As(err, &own) {
		return Kept, own.error
	}
	switch {
	case isAnswer(err) && !isContention(err):
		return Answered, err
	case errors.Is(err, ErrBusy) && isTimeout(ctx, err):
		return Busy, mapping.Fail(mapping.BackendTimeout).Because(err).After(busyPause)
	case errors.Is(err, ErrBusy) && !errors.Is(err, context.Canceled), isContention(err):
		return unavailable(Busy, busyPause)
	case errors.Is(err, gobreaker.ErrOpenState):
		return unavailable(Open, c.o.CircuitPause)
	case errors.Is(err, ErrOwnStore) && !errors.Is(err, context.Canceled):
		return unavailable(OwnStore, 0)
	default:
		return judgeFailure(ctx, err)
	}
}

// judgeFailure is judgeCall for errors that are neither an answer nor contention.
func judgeFailure(ctx context.Context, err error) (Outcome, error) {
	switch {
	case errors.Is(err, ErrChanged):
		return Unexpected, mapping.Fail(mapping.BackendChanged).Because(err).After(changedPause)
	case errors.Is(err, ErrUnexpected):
		return Unexpected, mapping.Fail(mapping.InternalError).Because(err)
	case isTimeout(ctx, err):
		return TimedOut, mapping.Fail(mapping.BackendTimeout).Because(err)
	case errors.Is(err, context.Canceled):
		return Cancelled, mapping.Fail(mapping.BackendUnavailable).Because(err)
	default:
		return Failed, mapping.Fail(mapping.BackendUnavailable).Because(err)
	}
}

// isTimeout reports whether a call took too long, by its deadline or by one that
// the driver sets itself.
func isTimeout(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
