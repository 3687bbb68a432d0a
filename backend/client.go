package backend

import (
	"cmp"
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Client is the portable administration: any Driver, with the business rules that hold
// for every driver, and with guards around every call: a deadline, a circuit breaker for
// the reads and one for the writes of each resource, and fair slots for concurrent calls.
// So a resource that fails or hangs does not affect the others, and a client that asks
// for much takes nothing from others. It is safe for concurrent use.
//
// Its errors are violations (mapping.AsViolations) that a client of the interface may
// see, except Replay.
type Client struct {
	driver   Driver // checked
	model    *mapping.Model
	o        Options
	rooms    rooms
	sections map[*mapping.Resource]section // under nil: calls that concern no resource
	lanes    []*lane                       // of all sections
	rules    map[*mapping.Resource][]step
	// ownRecord are the parts of the rules that need no other record.
	ownRecord map[*mapping.Resource][]step
	writes    func(*mapping.Resource, *mapping.Field) bool // of a Supporter; nil for all
}

// Options tune a Client. All but Timeout have defaults.
type Options struct {
	// Timeout bounds every call, including its wait for a slot, which may take half of
	// it; it must be positive.
	Timeout time.Duration
	// MaxConcurrent is how many calls may be under way at once; it is also limited by the
	// driver's connections (Pooler). MaxQueue is how many more may wait, 0 for none; a further
	// one is refused at once. Default 256, and 1024 where MaxQueue is nil.
	MaxConcurrent int
	MaxQueue      *int
	// CircuitFailures is how many failures in a row open the circuit of a resource's
	// reads, or writes, for all clients or for one. After CircuitPause a trial call is
	// let through. Default 10 and 5 s.
	CircuitFailures int
	CircuitPause    time.Duration
	// Now is the clock that derived fields are set by; nil for time.Now.
	Now func() time.Time
	// OnState is called with every change of a circuit breaker; may be nil. It must
	// return at once.
	OnState func(c Circuit, from string)
	// Trace is called before every call; may be nil. It returns the context for the call,
	// and a function that is called with its outcome.
	Trace func(ctx context.Context, resource, operation string) (context.Context, func(Outcome))
	// Observe is called after every call, with the context of the call; may be nil. It
	// must return at once and may run concurrently.
	Observe func(context.Context, Call)
}

// Call is a call of the backend that has ended.
type Call struct {
	Resource  string // "" if the call concerns no resource
	Operation string // get, list, create, update, delete, …; account for all of Accounts
	Lane      string // what its circuit guards, as Circuit.String; AccountsLane
	Outcome   Outcome
	Took      time.Duration
	Waited    time.Duration // for a slot; part of Took
	Opened    bool          // the call's failure opened the circuit
	profile   *profile
}

// Slowest returns the statement or request of the call that took longest; none for calls of accounts,
// which spend most of their time on password hashes. Slowest reads the clock, so it is for few calls.
func (c Call) Slowest() Slowest {
	if c.profile == nil {
		return Slowest{}
	}
	slowest := c.profile.slowest()
	slowest.Took = min(slowest.Took, c.Took)
	return slowest
}

// Outcome is how a call ended.
type Outcome string

// The outcomes. Only failed and timeout count for the circuit breaker.
const (
	Answered   Outcome = "answered" // a refusal is an answer, too
	Unexpected Outcome = "unexpected"
	Failed     Outcome = "failed"
	TimedOut   Outcome = "timeout"
	Cancelled  Outcome = "cancelled"
	OwnStore   Outcome = "store"   // the gateway's own store failed: IDs, idempotency keys, turns
	Busy       Outcome = "busy"    // there was no room, or others kept changing the same records
	Open       Outcome = "circuit" // refused: the circuit is open
	Kept       Outcome = "kept"    // answered from what the gateway keeps under the idempotency key; no call reached the backend
)

// withDefaults is for clients that leave bounds out, as tests do; the program sets them in desk/bounds.go.
func (o Options) withDefaults() Options {
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 256)
	o.MaxQueue = cmp.Or(o.MaxQueue, new(1024))
	o.CircuitFailures = cmp.Or(o.CircuitFailures, 10)
	o.CircuitPause = cmp.Or(o.CircuitPause, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnState == nil {
		o.OnState = func(Circuit, string) {}
	}
	return o
}

// NewClient puts a Client around a driver. It fails if the model lacks fields that the
// interface or its rules need.
func NewClient(driver Driver, model *mapping.Model, o Options) (*Client, error) {
	if err := JudgeModel(model); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c := &Client{
		driver: checked{driver}, model: model, o: o, rooms: newRooms(driver, o),
		sections: map[*mapping.Resource]section{}, rules: map[*mapping.Resource][]step{}, ownRecord: map[*mapping.Resource][]step{},
	}
	c.sections[nil] = c.readSection("")
	if s, ok := optional[Supporter](c.driver); ok {
		c.writes = s.Writes
	}
	known := rules()
	for _, r := range model.Resources {
		c.sections[r] = c.newSection(r.Name)
		for _, name := range r.Rules {
			c.rules[r] = append(c.rules[r], known[name].judge)
			if step := known[name].ownRecord; step != nil {
				c.ownRecord[r] = append(c.ownRecord[r], step)
			}
		}
	}
	return c, nil
}

// Capabilities describes the driver.
func (c *Client) Capabilities() Capabilities { return c.driver.Capabilities() }

// Model returns the model whose records the client keeps.
func (c *Client) Model() *mapping.Model { return c.model }

// Offer says which parts of the interface the administration supports.
func (c *Client) Offer() Offer {
	o := Offer{Model: c.model, Until: c.Capabilities().Until, Distant: c.Capabilities().Distant, Copied: c.Capabilities().Copied, OwnRules: c.Capabilities().OwnRules}
	if s, ok := optional[Supporter](c.driver); ok {
		o.Supports, o.Writes = s.Supports, s.Writes
	}
	_, o.Exports = optional[Exporter](c.driver)
	if d, ok := optional[Collator](c.driver); ok {
		o.Collation = d.Collation
	}
	if t, ok := optional[ChangeFeed](c.driver); ok {
		o.Feeds = t.Feed
	}
	return o
}

// Ready returns an error if the administration does not answer. It tries even while the
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

// notFound makes a violation of ErrNotFound, and returns any other error as it is. A write, too, may find
// that the record is gone after it was read: over HTTP nothing locks the record.
func notFound(id int32, err error) error {
	if errors.Is(err, ErrNotFound) {
		return mapping.Fail(mapping.RecordNotFound, mapping.Literal("id"), id)
	}
	return err
}

// Get returns one record.
func (c *Client) Get(ctx context.Context, r *mapping.Resource, q Query) (rec mapping.Record, err error) {
	err = c.call(ctx, c.sections[r].reads, q.Client, "get", func(ctx context.Context) error {
		rec, err = c.driver.Get(ctx, r, q)
		return notFound(q.ID, err)
	})
	if q.Copy == nil || q.Copy.StaleIfError == 0 || !mapping.Is(err, mapping.BackendUnavailable) && !mapping.Is(err, mapping.BackendTimeout) {
		return rec, err
	}
	old, has := optional[StaleReader](c.driver)
	if !has {
		return rec, err
	}
	away := err
	err = c.call(ctx, c.sections[r].lists, q.Client, "get", func(ctx context.Context) error {
		if rec, err = old.Stale(ctx, r, q); err == nil {
			err = Believe(r, rec, q.Client, q.ID)
		}
		return notFound(q.ID, err)
	})
	if err != nil {
		return mapping.Record{}, away
	}
	return rec, nil
}

// List returns a page of records.
func (c *Client) List(ctx context.Context, r *mapping.Resource, q Query) (page Page, err error) {
	if q.None && !(q.ModifiedSince.IsSet() && c.Capabilities().Until) {
		return Page{Records: []mapping.Record{}}, nil
	}
	err = c.call(ctx, c.sections[r].lists, q.Client, "list", func(ctx context.Context) error {
		page, err = c.driver.List(ctx, r, q)
		if err != nil || q.Room == nil {
			return err
		}
		return page.fit(q)
	})
	return page, err
}

// DescribeModel returns the administration's own description of a resource, nil if it has
// none and the model is the description.
func (c *Client) DescribeModel(ctx context.Context, name string) (answer []byte, err error) {
	d, ok := optional[ModelDescriber](c.driver)
	if !ok {
		return nil, nil
	}
	err = c.call(ctx, c.sections[nil].reads, auth.Client{}, "model", func(ctx context.Context) error {
		answer, err = d.DescribeModel(ctx, name)
		return err
	})
	return answer, err
}

// FindAddress completes an address from the administration's address book. known is false
// if it has none, or no entry for the place.
func (c *Client) FindAddress(ctx context.Context, a Address) (found Address, known bool, err error) {
	book, ok := optional[AddressBook](c.driver)
	if !ok {
		return a, false, nil
	}
	err = c.call(ctx, c.sections[nil].reads, auth.Client{}, "address", func(ctx context.Context) error {
		found, known, err = book.FindAddress(ctx, a)
		return err
	})
	return found, known, err
}
