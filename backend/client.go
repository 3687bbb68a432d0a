package backend

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"frontdesk/mapping"
)

// Client is the portable administration: any Driver, with the rules that hold
// whatever it is, a deadline for every call and a circuit breaker. It is safe
// for concurrent use.
//
// Its errors are violations (mapping.AsViolations) that a client of the
// interface may see, Replay excepted.
type Client struct {
	driver  Driver
	model   *mapping.Model
	timeout time.Duration
	breaker *gobreaker.CircuitBreaker[struct{}]
	rules   map[*mapping.Resource][]step
}

// Options tune a Client.
type Options struct {
	// Timeout bounds every call; it must be positive.
	Timeout time.Duration
	// OnState is told of every change of the circuit breaker; may be nil. It
	// must return at once.
	OnState func(from, to string)
}

// The circuit opens after this many failures in a row, and lets a call through
// again after this long.
const (
	breakerFailures = 10
	breakerPause    = 5 * time.Second
)

// NewClient puts a Client around a driver. It fails when the model lacks what
// the interface or its rules work with.
func NewClient(driver Driver, model *mapping.Model, o Options) (*Client, error) {
	c := &Client{driver: driver, model: model, timeout: o.Timeout, rules: map[*mapping.Resource][]step{}}
	if err := checkModel(model); err != nil {
		return nil, err
	}
	known := ruleSteps()
	for _, r := range model.Resources {
		for _, name := range r.Rules {
			c.rules[r] = append(c.rules[r], known[name])
		}
	}
	c.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         driver.Capabilities().Name,
		Timeout:      breakerPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerFailures },
		IsSuccessful: func(err error) bool { return err == nil || isAnswer(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if o.OnState != nil {
				o.OnState(from.String(), to.String())
			}
		},
	})
	return c, nil
}

// Capabilities tells what the driver is.
func (c *Client) Capabilities() Capabilities { return c.driver.Capabilities() }

// Model returns the model whose records the client keeps.
func (c *Client) Model() *mapping.Model { return c.model }

// State names the state of the circuit: closed, half-open or open.
func (c *Client) State() string { return c.breaker.State().String() }

// Ready tells whether the administration answers. It asks even while the
// circuit is open.
func (c *Client) Ready(ctx context.Context) error {
	p, ok := c.driver.(Pinger)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return p.Ping(ctx)
}

// isAnswer tells whether an error is what a working administration says, rather
// than its failure.
func isAnswer(err error) bool {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrConstraint) {
		return true
	}
	var replay *Replay
	if errors.As(err, &replay) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// call runs f under the deadline and the breaker, and turns what is not an
// answer into the violation that stands for it.
func (c *Client) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	_, err := c.breaker.Execute(func() (struct{}, error) { return struct{}{}, f(ctx) })
	switch {
	case err == nil || isAnswer(err) && !errors.Is(err, ErrConstraint):
		return err
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		e := mapping.Fail(mapping.BackendUnavailable).Because(err)
		e.RetryAfter = breakerPause
		return e
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return mapping.Fail(mapping.BackendTimeout).Because(err)
	default:
		return mapping.Fail(mapping.BackendUnavailable).Because(err)
	}
}

// notFound words a missing record.
func notFound(id int32) error { return mapping.Fail(mapping.RecordNotFound, mapping.Literal("id"), id) }

// Get returns one record.
func (c *Client) Get(ctx context.Context, r *mapping.Resource, q Query) (rec mapping.Record, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
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
	err = c.call(ctx, func(ctx context.Context) error {
		page, err = c.driver.List(ctx, r, q)
		return err
	})
	return page, err
}

// DescribeModel returns a resource's description by the administration itself,
// nil where it leaves that to the model.
func (c *Client) DescribeModel(ctx context.Context, name string) (answer []byte, err error) {
	d, ok := c.driver.(ModelDescriber)
	if !ok {
		return nil, nil
	}
	err = c.call(ctx, func(ctx context.Context) error {
		answer, err = d.DescribeModel(ctx, name)
		return err
	})
	return answer, err
}

// FindAddress completes an address as far as the administration knows places.
func (c *Client) FindAddress(ctx context.Context, a Address) (found Address, known bool, err error) {
	book, ok := c.driver.(AddressBook)
	if !ok {
		return a, false, nil
	}
	err = c.call(ctx, func(ctx context.Context) error {
		found, known, err = book.FindAddress(ctx, a)
		return err
	})
	return found, known, err
}
