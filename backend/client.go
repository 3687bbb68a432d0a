package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"frontdesk/mapping"
)

// Client is the portable administration: any Driver, with the rules that hold
// whatever it is, and with guards around every call: a deadline, a circuit
// breaker for each resource, and a bulkhead that bounds how many calls are under
// way, of one resource no more than half of them. So neither a resource that
// fails nor one that hangs takes the others with it. It is safe for concurrent
// use.
//
// Its errors are violations (mapping.AsViolations) that a client of the
// interface may see, Replay excepted.
type Client struct {
	driver   Driver // checked
	model    *mapping.Model
	o        Options
	all      *bulkhead
	sections map[*mapping.Resource]*section // nil for what is of no resource
	rules    map[*mapping.Resource][]step
	// ownRecord are those of the rules that look at no other record.
	ownRecord map[*mapping.Resource][]step
	writes    func(*mapping.Resource, *mapping.Field) bool // of a Supporter; nil for all
}

// section is what guards the calls of one resource.
type section struct {
	name    string
	breaker *gobreaker.CircuitBreaker[struct{}]
	share   *bulkhead
}

// Options tune a Client. All but Timeout have defaults.
type Options struct {
	// Timeout bounds every call, its wait for room included; it must be positive.
	Timeout time.Duration
	// MaxConcurrent is how many calls may be under way at once, MaxQueue how
	// many more may wait; the next is refused at once. Default 256 and 1024.
	MaxConcurrent, MaxQueue int
	// CircuitFailures in a row open the circuit of a resource; after CircuitPause
	// one call is let through to see. Default 10 and 5 s.
	CircuitFailures int
	CircuitPause    time.Duration
	// Now is the clock that derived fields are set by; nil for time.Now.
	Now func() time.Time
	// OnState is told of every change of a circuit breaker; may be nil. It must
	// return at once.
	OnState func(resource, from, to string)
	// Trace is told of every call before it begins; may be nil. It returns the
	// context to make the call in, and what is to be told how it ended.
	Trace func(ctx context.Context, resource, operation string) (context.Context, func(Outcome))
	// Observe is told of every call once it has ended; may be nil. It must return
	// at once and may run concurrently.
	Observe func(Call)
}

// Call is a call of the backend that has ended.
type Call struct {
	Resource  string // "" for what is of no resource
	Operation string // get, list, create, update, delete, …
	Outcome   Outcome
	Took      time.Duration
}

// Outcome is how a call ended.
type Outcome string

// The outcomes. Only failed and timeout count for the circuit breaker.
const (
	Answered   Outcome = "answered" // also with a refusal
	Unexpected Outcome = "unexpected"
	Failed     Outcome = "failed"
	TimedOut   Outcome = "timeout"
	Cancelled  Outcome = "cancelled"
	OwnStore   Outcome = "store"   // the gateway's own store failed: IDs, idempotency keys, turns
	Busy       Outcome = "busy"    // refused: the bulkhead is full, or others kept changing the same records
	Open       Outcome = "circuit" // refused: the circuit is open
	Kept       Outcome = "kept"    // answered by what the gateway keeps under the idempotency key: the backend was not asked
)

func (o Options) withDefaults() Options {
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 256)
	o.MaxQueue = cmp.Or(o.MaxQueue, 1024)
	o.CircuitFailures = cmp.Or(o.CircuitFailures, 10)
	o.CircuitPause = cmp.Or(o.CircuitPause, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// NewClient puts a Client around a driver. It fails when the model lacks what
// the interface or its rules work with.
func NewClient(driver Driver, model *mapping.Model, o Options) (*Client, error) {
	if err := checkModel(model); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c := &Client{
		driver: checked{driver}, model: model, o: o, all: newBulkhead(o.MaxConcurrent, o.MaxQueue),
		sections: map[*mapping.Resource]*section{nil: newSection("", o)}, rules: map[*mapping.Resource][]step{}, ownRecord: map[*mapping.Resource][]step{},
	}
	if s, ok := optional[Supporter](c.driver); ok {
		c.writes = s.Writes
	}
	known := rules()
	for _, r := range model.Resources {
		c.sections[r] = newSection(r.Name, o)
		for _, name := range r.Rules {
			c.rules[r] = append(c.rules[r], known[name].judge)
			if step := known[name].ownRecord; step != nil {
				c.ownRecord[r] = append(c.ownRecord[r], step)
			}
		}
	}
	return c, nil
}

func newSection(name string, o Options) *section {
	share := max(1, o.MaxConcurrent/2)
	return &section{name: name, share: newBulkhead(share, o.MaxQueue), breaker: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         name,
		Timeout:      o.CircuitPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= uint32(o.CircuitFailures) },
		IsSuccessful: func(err error) bool { return err == nil || isAnswer(err) || errors.Is(err, ErrUnexpected) },
		IsExcluded: func(err error) bool {
			return errors.Is(err, context.Canceled) || errors.Is(err, ErrOwnStore) || errors.As(err, new(ownAnswer))
		},
		OnStateChange: func(name string, from, to gobreaker.State) {
			if o.OnState != nil {
				o.OnState(name, from.String(), to.String())
			}
		},
	})}
}

// Capabilities tells what the driver is.
func (c *Client) Capabilities() Capabilities { return c.driver.Capabilities() }

// Model returns the model whose records the client keeps.
func (c *Client) Model() *mapping.Model { return c.model }

// Offer tells what of the interface the administration has.
func (c *Client) Offer() Offer {
	o := Offer{Model: c.model, Until: c.Capabilities().Until}
	if s, ok := optional[Supporter](c.driver); ok {
		o.Supports, o.Writes = s.Supports, s.Writes
	}
	_, o.Exports = optional[Exporter](c.driver)
	return o
}

// State names the worst state that a circuit is in: closed, half-open or open.
func (c *Client) State() string {
	worst := gobreaker.StateClosed
	for _, s := range c.sections {
		switch s.breaker.State() {
		case gobreaker.StateOpen:
			return gobreaker.StateOpen.String()
		case gobreaker.StateHalfOpen:
			worst = gobreaker.StateHalfOpen
		}
	}
	return worst.String()
}

// States names the state of every circuit, by resource.
func (c *Client) States() map[string]string {
	states := make(map[string]string, len(c.sections))
	for _, s := range c.sections {
		states[s.name] = s.breaker.State().String()
	}
	return states
}

// Load tells how many calls are under way, and how many wait for room.
func (c *Client) Load() (running, waiting int) {
	waiting = int(c.all.waiting.Load())
	for _, s := range c.sections {
		waiting += int(s.share.waiting.Load())
	}
	return len(c.all.slots), waiting
}

// Ready tells whether the administration answers. It asks even while the
// circuit is open.
func (c *Client) Ready(ctx context.Context) error {
	p, ok := optional[Pinger](c.driver)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	return p.Ping(ctx)
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

// call runs f under the guards of a resource (nil for what is of none), and
// turns what is not an answer into the violation that stands for it.
func (c *Client) call(ctx context.Context, r *mapping.Resource, operation string, f func(context.Context) error) error {
	began := time.Now()
	bounded := within(ctx, began.Add(c.o.Timeout))
	defer bounded.end()
	s := c.sections[r]
	var traced context.Context = bounded
	ended := func(Outcome) {}
	if c.o.Trace != nil {
		traced, ended = c.o.Trace(bounded, s.name, operation)
	}
	err := s.guarded(traced, c.all, f)
	outcome, violation := c.judgeCall(bounded, err)
	ended(outcome)
	if c.o.Observe != nil {
		c.o.Observe(Call{Resource: s.name, Operation: operation, Outcome: outcome, Took: time.Since(began)})
	}
	return violation
}

// guarded waits for room, in the resource's share first, and runs f behind the
// breaker. Calls that wait are not held against the resource.
func (s *section) guarded(ctx context.Context, all *bulkhead, f func(context.Context) error) error {
	if err := s.share.enter(ctx); err != nil {
		return noRoom(err)
	}
	defer s.share.leave()
	if err := all.enter(ctx); err != nil {
		return noRoom(err)
	}
	defer all.leave()
	_, err := s.breaker.Execute(func() (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

func noRoom(err error) error { return fmt.Errorf("wait for room at the backend: %w", err) }

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
	case errors.Is(err, errBusy), isContention(err):
		return unavailable(Busy, busyPause)
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
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

// notFound words a missing record.
func notFound(id int32) error { return mapping.Fail(mapping.RecordNotFound, mapping.Literal("id"), id) }

// Get returns one record.
func (c *Client) Get(ctx context.Context, r *mapping.Resource, q Query) (rec mapping.Record, err error) {
	err = c.call(ctx, r, "get", func(ctx context.Context) error {
		rec, err = c.driver.Get(ctx, r, q)
		if errors.Is(err, ErrNotFound) {
			return notFound(q.ID)
		}
		return err
	})
	return rec, err
}

// List returns a page of records.
func (c *Client) List(ctx context.Context, r *mapping.Resource, q Query) (page Page, err error) {
	if q.None && !(q.ModifiedSince.IsSet() && c.Capabilities().Until) {
		return Page{Records: []mapping.Record{}}, nil
	}
	err = c.call(ctx, r, "list", func(ctx context.Context) error {
		page, err = c.driver.List(ctx, r, q)
		if err != nil || q.Room == nil {
			return err
		}
		return page.fit(q)
	})
	return page, err
}

// DescribeModel returns a resource's description by the administration itself,
// nil where it leaves that to the model.
func (c *Client) DescribeModel(ctx context.Context, name string) (answer []byte, err error) {
	d, ok := optional[ModelDescriber](c.driver)
	if !ok {
		return nil, nil
	}
	err = c.call(ctx, nil, "model", func(ctx context.Context) error {
		answer, err = d.DescribeModel(ctx, name)
		return err
	})
	return answer, err
}

// FindAddress completes an address as far as the administration knows places.
func (c *Client) FindAddress(ctx context.Context, a Address) (found Address, known bool, err error) {
	book, ok := optional[AddressBook](c.driver)
	if !ok {
		return a, false, nil
	}
	err = c.call(ctx, nil, "address", func(ctx context.Context) error {
		found, known, err = book.FindAddress(ctx, a)
		return err
	})
	return found, known, err
}
