package backend

import (
	"cmp"
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// section is what guards the calls of one resource. Writes may fail where reads do not,
// on a full disk, and then refuse no reads.
type section struct{ reads, writes *lane }

// lane is what guards the calls of one resource that read, or that write.
type lane struct {
	resource, kind string
	circuit        *circuit
	room           *shares
	group          *group
}

// The kinds of calls that have circuits of their own.
const (
	reads  = "reads"
	writes = "writes"
)

// Circuit is a circuit breaker and its state: closed, half-open or open.
type Circuit struct {
	Resource string // "" for what is of no resource
	Calls    string // reads or writes
	State    string
}

// rooms are the slots of calls, those of writes the last: as many as the driver can do at
// once, so that who has to wait does so here, where it goes by shares.
func rooms(d Driver, o Options) []*shares {
	var pool Pool
	if p, ok := optional[Pooler](d); ok {
		pool = p.Pool()
	}
	room := func(most int) *shares {
		return newShares(min(o.MaxConcurrent, cmp.Or(most, o.MaxConcurrent)), o.MaxQueue)
	}
	if pool.Writes == 0 {
		return []*shares{room(pool.Calls)}
	}
	return []*shares{room(pool.Calls), room(pool.Writes)}
}

func (c *Client) newSection(resource string) section {
	last := len(c.rooms) - 1
	s := section{reads: c.newLane(resource, reads, c.rooms[0], new(group))}
	s.writes = c.newLane(resource, writes, c.rooms[last], s.reads.group)
	if last > 0 {
		s.writes.group = new(group)
	}
	return s
}

func (c *Client) newLane(resource, kind string, room *shares, of *group) *lane {
	o := c.o
	changed := func(from, to string) {
		if o.OnState != nil {
			o.OnState(Circuit{resource, kind, to}, from)
		}
	}
	return &lane{resource: resource, kind: kind, room: room, group: of, circuit: &circuit{most: o.CircuitFailures, pause: o.CircuitPause, changed: changed, state: stateClosed}}
}

// State names the worst state that a circuit is in: closed, half-open or open.
func (c *Client) State() string {
	worst := stateClosed
	for _, circuit := range c.Circuits() {
		switch circuit.State {
		case stateOpen:
			return circuit.State
		case stateHalfOpen:
			worst = circuit.State
		}
	}
	return worst
}

// Circuits tells the state of every circuit.
func (c *Client) Circuits() []Circuit {
	all := make([]Circuit, 0, 2*len(c.sections))
	for _, s := range c.sections {
		for _, l := range [...]*lane{s.reads, s.writes} {
			if l != nil {
				all = append(all, Circuit{l.resource, l.kind, l.circuit.State()})
			}
		}
	}
	return all
}

// Load tells how many calls there are, and how many there may be.
type Load struct {
	Running, Most int // under way
	Waiting       int // for room
	Clients       int // whose calls wait
}

// Load tells how busy the administration is kept.
func (c *Client) Load() (now Load) {
	waiting := map[int64]bool{}
	for _, room := range c.rooms {
		room.count(&now, waiting)
	}
	now.Clients = len(waiting)
	return now
}

// Busiest tells how many calls are under way, and how many there may be, of those for which most
// of the room is taken: reads, or writes where these have room of their own.
func (c *Client) Busiest() (running, most int) {
	for _, room := range c.rooms {
		var now Load
		if room.count(&now, map[int64]bool{}); now.Running*most >= running*now.Most {
			running, most = now.Running, now.Most
		}
	}
	return running, most
}

// Queue is how many calls may wait for room.
func (c *Client) Queue() (most int) {
	for _, room := range c.rooms {
		most += room.maxQueue
	}
	return most
}

// tells is the verdict of how a call ended.
func tells(err error) verdict {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrOwnStore), errors.Is(err, ErrBusy), errors.As(err, new(ownAnswer)):
		return nothing
	case err == nil, isAnswer(err), errors.Is(err, ErrUnexpected):
		return answers
	default:
		return fails
	}
}

// isAnswer tells whether an error is what a working administration says, rather
// than its failure.
func isAnswer(err error) bool {
	if errors.Is(err, ErrNotFound) || isContention(err) {
		return true
	}
	var replay *Replay
	if errors.As(err, &replay) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// ownAnswer is what the gateway answers by what it keeps itself, which says nothing of
// the administration.
type ownAnswer struct{ error }

func (o ownAnswer) Unwrap() error { return o.error }

// isContention tells whether a write failed only because others changed the same
// records all the time.
func isContention(err error) bool { return errors.Is(err, ErrStale) || errors.Is(err, ErrCollision) }

// call runs f under the guards of a lane, and turns what is not an answer into the
// violation that stands for it.
func (c *Client) call(ctx context.Context, l *lane, client auth.Client, operation string, f func(context.Context) error) error {
	began := time.Now()
	bounded := within(ctx, began.Add(c.o.Timeout))
	defer bounded.end()
	bounded.slot = slot{of: l.room, party: party{client.ID, l.group}, writes: l.kind == writes}
	var traced context.Context = bounded
	ended := func(Outcome) {}
	if c.o.Trace != nil {
		traced, ended = c.o.Trace(bounded, l.resource, operation)
	}
	err := l.guarded(traced, &bounded.slot, began.Add(c.o.Timeout/2), f)
	outcome, violation := c.judgeCall(bounded, err)
	ended(outcome)
	if c.o.Observe != nil {
		c.o.Observe(ctx, Call{Resource: l.resource, Operation: operation, Outcome: outcome, Took: time.Since(began)})
	}
	return violation
}

// guarded waits for a slot, and runs f unless the circuit is open. Calls that wait are
// not held against the resource, nor is one asked for when there is too little time left
// to judge it by.
func (l *lane) guarded(ctx context.Context, at *slot, until time.Time, f func(context.Context) error) error {
	if err := at.enter(ctx, until); err != nil {
		return err
	}
	defer at.leave()
	trial, err := l.circuit.enter(at.client)
	if err != nil {
		return err
	}
	told := fails // by a panic
	defer func() { l.circuit.leave(at.client, trial, told) }()
	err = f(ctx)
	told = tells(err)
	return err
}

// busyPause is what a client is told to wait where there was no room.
const busyPause = time.Second

// judgeCall says how a call ended, and as what the client of the interface is
// told of it.
func (c *Client) judgeCall(ctx context.Context, err error) (Outcome, error) {
	unavailable := func(o Outcome, pause time.Duration) (Outcome, error) {
		e := mapping.Fail(mapping.BackendUnavailable).Because(err)
		e.RetryAfter = pause
		return o, e
	}
	if own := (ownAnswer{}); errors.As(err, &own) {
		return Kept, own.error
	}
	switch {
	case err == nil || isAnswer(err) && !isContention(err):
		return Answered, err
	case errors.Is(err, ErrBusy) && isTimeout(ctx, err):
		e := mapping.Fail(mapping.BackendTimeout).Because(err)
		e.RetryAfter = busyPause
		return Busy, e
	case errors.Is(err, ErrBusy) && !errors.Is(err, context.Canceled), isContention(err):
		return unavailable(Busy, busyPause)
	case errors.Is(err, errOpen):
		return unavailable(Open, c.o.CircuitPause)
	case errors.Is(err, ErrOwnStore) && !errors.Is(err, context.Canceled):
		return unavailable(OwnStore, 0)
	case errors.Is(err, ErrUnexpected):
		return Unexpected, mapping.Fail(mapping.InternalError).Because(err)
	case isTimeout(ctx, err):
		return TimedOut, mapping.Fail(mapping.BackendTimeout).Because(err)
	case errors.Is(err, context.Canceled):
		return unavailable(Cancelled, 0)
	default:
		return unavailable(Failed, 0)
	}
}
