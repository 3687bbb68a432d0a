package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// walked is a walk over the records of a source: of all clients, or of one.
type walked struct {
	r      *sheet.Resource
	client auth.Client
	every  time.Duration
	page   chan struct{} // a lock: one caller at a time requests a page
	seen   atomic.Int64  // records that the current or last walk has found
	walks  flights
	asks   flights                    // polls of what has changed
	always atomic.Pointer[membership] // of the last walk, as far as is known
	polled atomic.Int64               // when this gateway last polled for changes, by the clock of the database
}

const (
	// walkEvery is the default of the sheet's every.
	walkEvery = 10 * time.Minute
	// retryFirst is how soon a walk that has failed is tried again; the wait doubles.
	retryFirst = 5 * time.Second
	// firstWalk is the Retry-After while the copy is not complete.
	firstWalk = 5 * time.Second
)

// of returns the walk of a client, and starts it for a new client.
func (s *source) of(c *copied, client auth.Client) *walked {
	if !s.r.Service.PerClient {
		client = auth.Client{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.all[client.ID]
	if p == nil {
		p = &walked{r: s.r, client: client, every: cmp.Or(s.r.Service.Walk.Every, walkEvery), page: make(chan struct{}, 1)}
		p.walks.do = func() error { return c.walkInTurn(c.done, p) }
		p.asks.do = func() error {
			ctx, cancel := context.WithTimeout(c.done, c.Timeout)
			defer cancel()
			return c.ask(ctx, p)
		}
		s.all[client.ID] = p
		c.running.Go(func() { c.follow(c.done, p) })
	}
	return p
}

// follow walks again and again.
func (c *copied) follow(ctx context.Context, p *walked) {
	for failures := 0; ctx.Err() == nil; {
		wait, err := c.due(ctx, p)
		if err != nil {
			c.fail(ctx, p, err)
		} else if wait <= 0 {
			wait, err = p.every, flown(ctx, c.underWay(&p.walks))
		}
		switch {
		case errors.Is(err, errOthers):
			wait = retryFirst
		case err != nil:
			wait = max(min(retryFirst<<min(failures, 10), p.every), pauseAfter(err))
			failures++
		default:
			failures = 0
		}
		c.tidy(ctx)
		_ = auth.Sleep(ctx, min(wait, tidyEvery))
	}
}

// tidyEvery is how often, at least, changes are removed that no valid cursor needs.
const tidyEvery = time.Hour

func (c *copied) tidy(ctx context.Context) {
	if err := c.changes.Prune(ctx); err != nil && ctx.Err() == nil {
		c.Log.Error("the copy of the service's records was not tidied up", zap.Error(err))
	}
}

// due is the time until the next walk.
func (c *copied) due(ctx context.Context, p *walked) (time.Duration, error) {
	s, err := c.state(ctx, p)
	if err != nil || s.walked.IsZero() || s.changed || s.walked.After(s.now) { // or the clock was set back since
		return 0, err
	}
	return p.every - s.now.Sub(s.walked), nil
}

// walkInTurn walks, and notes why that has failed.
func (c *copied) walkInTurn(ctx context.Context, p *walked) error {
	err := c.slot(ctx, p)
	if err != nil {
		c.fail(ctx, p, err)
	}
	return err
}

// slot walks as soon as there is a slot, and the records that its records belong to are known.
func (c *copied) slot(ctx context.Context, p *walked) error {
	if err := c.parents(ctx, p.r, p.client); err != nil {
		return err
	}
	select {
	case c.walking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.walking }()
	return c.walk(ctx, p)
}

// parents waits until the records from which those of a resource have their clients are known.
func (c *copied) parents(ctx context.Context, r *sheet.Resource, client auth.Client) error {
	if r.Through == nil {
		return nil
	}
	parent := c.sources[r.Through.Field.Target()]
	if parent == nil || parent.r == r {
		return nil
	}
	return c.whole(ctx, parent.of(c, client))
}

// whole waits until a walk has ended well once, or has failed.
func (c *copied) whole(ctx context.Context, p *walked) error {
	return c.until(ctx, p, false, func(s state) bool { return !s.walked.IsZero() })
}

// walkedSince waits for a walk that began after a moment.
func (c *copied) walkedSince(ctx context.Context, p *walked, moment time.Time) error {
	c.asks(ctx, &p.r.Service.Walk.ServiceCall)
	wait, cancel := sooner(ctx)
	defer cancel()
	return c.until(wait, p, true, func(s state) bool { return !s.walked.Before(moment) })
}

// until runs walks, or waits for another gateway's, until the state is enough or a walk fails. Unless the
// caller insists, it starts none right after a failure.
func (c *copied) until(ctx context.Context, p *walked, insists bool, isEnough func(state) bool) error {
	for {
		s, err := c.state(ctx, p)
		if err != nil || isEnough(s) {
			return err
		}
		if again, failed := p.walks.last(); failed != nil && !insists && c.Now().Before(again) {
			return failed
		}
		if err = flown(ctx, c.underWay(&p.walks)); errors.Is(err, errOthers) {
			err = auth.Sleep(ctx, time.Second)
		}
		if err != nil {
			return err
		}
	}
}

// has reports whether all records had a field at the last walk.
func (p *walked) has(f *mapping.Field) bool {
	always := p.always.Load()
	return always != nil && (*always)[f.Name]
}

// take waits until nobody else, in this gateway or another, requests a page of the walk.
func (p *walked) take(ctx context.Context, c *copied) (release func(), err error) {
	select {
	case p.page <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: wait for a page of %s: %w", backend.ErrBusy, p.r.Name, ctx.Err())
	}
	others, err := c.IDStore.Take(ctx, "copy of "+p.r.Name, p.client.ID, 0)
	if err != nil {
		<-p.page
		return nil, err
	}
	return func() {
		others(context.WithoutCancel(ctx))
		<-p.page
	}, nil
}

// fresh makes the copy as fresh as a request wants it, and notes how old it is.
func (c *copied) fresh(ctx context.Context, p *walked, wish *backend.Copy) error {
	s, err := c.state(ctx, p)
	if err != nil {
		return err
	}
	if s.walked.IsZero() {
		if err := c.first(ctx, p, s); err != nil {
			return err
		}
		if s, err = c.state(ctx, p); err != nil {
			return err
		}
	}
	most := max(c.Sheet.Source.Service.MaxAge, p.every*3/2)
	age, away, polled := s.now.Sub(s.known()), error(nil), false
	switch {
	case p.r.Service.Walk.Since != nil && wish != nil && wish.Within > 0 && age <= wish.Within: // fresh enough
	case p.r.Service.Walk.Since != nil:
		away, polled = c.joined(ctx, p, wish != nil && wish.Fresh), true
	case age > most, wish != nil && wish.Fresh && age > wish.Within:
		away = c.walkedSince(ctx, p, s.now)
	}
	if s, err = c.state(ctx, p); err != nil {
		return err
	}
	if age = s.now.Sub(s.known()); polled && away == nil && !s.isBlind() {
		age = 0
	}
	if wish != nil {
		wish.Used, wish.Age = true, max(wish.Age, age)
	}
	if age > most {
		return tooOld(p, s, age, away)
	}
	return nil
}

// tooOld is the error for a list that the copy is too old for.
func tooOld(p *walked, s state, age time.Duration, away error) error {
	if s.changed {
		return fmt.Errorf("%w: %s", backend.ErrChanged, s.failed)
	}
	if away != nil {
		return fmt.Errorf("the copy of %s is %s old: %w", p.r.Name, age.Round(time.Second), away)
	}
	return fmt.Errorf("the copy of %s is %s old: %s", p.r.Name, age.Round(time.Second), s.failed)
}

// first waits for the first walk, as far as there is time.
func (c *copied) first(ctx context.Context, p *walked, s state) error {
	if s.changed {
		return fmt.Errorf("%w: %s", backend.ErrChanged, s.failed)
	}
	c.asks(ctx, &p.r.Service.Walk.ServiceCall)
	wait, cancel := sooner(ctx)
	defer cancel()
	if err := c.whole(wait, p); err != nil {
		err = fmt.Errorf("the copy of %s is not whole yet: %w", p.r.Name, err)
		if errors.Is(err, backend.ErrChanged) || errors.Is(err, backend.ErrOwnStore) {
			return err
		}
		not := mapping.Fail(mapping.BackendUnavailable).Because(err)
		not.RetryAfter = firstWalk
		return not
	}
	return nil
}

// asks notes a call of the service that a request waits for, and that also serves others.
func (c *copied) asks(ctx context.Context, what *sheet.ServiceCall) {
	backend.Asking(ctx, c.conn.calls[what].endpoint)
}

// sooner is a context that ends early enough to leave time for the answer.
func sooner(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*3/4)
}

// joined polls what has changed. While polls fail they are made now and then, and only callers that
// insist wait for them.
func (c *copied) joined(ctx context.Context, p *walked, insists bool) error {
	if again, failed := p.asks.last(); failed != nil && !insists {
		if c.Now().After(again) {
			c.fly(&p.asks)
		}
		return failed
	}
	c.asks(ctx, &p.r.Service.Walk.Since.ServiceCall)
	wait, cancel := sooner(ctx)
	defer cancel()
	err := flown(wait, c.fly(&p.asks)) // a poll under way may have been answered before the change
	if errors.Is(wait.Err(), context.DeadlineExceeded) && errors.Is(err, wait.Err()) {
		p.asks.ended(c.Now(), err)
	}
	return err
}
