package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
	page   chan struct{} // a slot for the one who asks for a page
	wake   chan struct{} // it is to walk now
	seen   atomic.Int64  // records that the walk under way, or the last, has found

	mu      sync.Mutex
	ended   chan struct{} // closed when the walk under way, or the next, has ended
	failure error         // of the last walk
	always  membership    // of the last walk
	tries   int           // that failed since
	wanted  time.Time     // a walk is wanted that begins after it
	next    *flight       // that has not begun
	unasked error         // since what has changed could not be asked last
	again   time.Time     // nothing that has failed is tried before it, but for who insists
}

// flight is one question of what has changed, for all who wait for it.
type flight struct {
	done chan struct{}
	err  error
}

const (
	// walkEvery is how long a walk rests where the sheet does not say.
	walkEvery = 10 * time.Minute
	// retryFirst is how soon a walk that has failed is tried again; the wait doubles.
	retryFirst = 5 * time.Second
	// askAgain is how long it is not asked again what has changed after that has failed.
	askAgain = time.Second
	// firstWalk is how soon a client is told to come back before the copy is whole.
	firstWalk = 5 * time.Second
)

// of returns the walk of a client, and begins it where that is the first that is heard of it.
func (s *source) of(c *copied, client auth.Client) *walked {
	if !s.r.Service.PerClient {
		client = auth.Client{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.all[client.ID]
	if p == nil {
		p = &walked{
			r: s.r, client: client, every: cmp.Or(s.r.Service.Walk.Every, walkEvery),
			page: make(chan struct{}, 1), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		}
		s.all[client.ID] = p
		c.running.Go(func() { c.follow(c.done, p) })
	}
	return p
}

// follow walks again and again.
func (c *copied) follow(ctx context.Context, p *walked) {
	wait := time.Duration(0)
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-p.wake:
			timer.Stop()
		}
		var err error
		if wait, err = c.due(ctx, p); err == nil && wait <= 0 {
			if err = c.slot(ctx, p); err == nil {
				wait = p.every
			}
		}
		if err != nil {
			wait = c.fail(ctx, p, err)
		}
	}
}

// due is how long there is to the next walk. One that is asked for is due.
func (c *copied) due(ctx context.Context, p *walked) (time.Duration, error) {
	s, err := c.state(ctx, p)
	if err == nil && s.now.IsZero() {
		err = c.begin(ctx, p)
	}
	if err != nil || s.walked.IsZero() || s.changed {
		return 0, err
	}
	if p.isWanted(s) || s.walked.After(s.now) { // or the clock was set back since
		return 0, nil
	}
	return p.every - s.now.Sub(s.walked), nil
}

// slot walks as soon as there is room, and what its records belong to is known.
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

// parents waits until the records are known that tell whose those of a resource are.
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
	return c.until(ctx, p, func(s state) bool { return !s.walked.IsZero() }, func() error { return p.tryNow(c.Now()) })
}

// until has walks begun, and waits for their ends, until what is known is enough or one has failed.
func (c *copied) until(ctx context.Context, p *walked, isEnough func(state) bool, begin func() error) error {
	for {
		p.mu.Lock()
		ended := p.ended
		p.mu.Unlock()
		s, err := c.state(ctx, p)
		if err != nil || isEnough(s) {
			return err
		}
		if err := begin(); err != nil {
			return err
		}
		if err := p.await(ctx, ended); err != nil {
			return err
		}
	}
}

// tryNow has a walk that rests since it has failed tried again, unless that was just now.
func (p *walked) tryNow(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil && now.Before(p.again) {
		return p.failure
	}
	p.wakeUp()
	return nil
}

func (p *walked) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// await waits until the walk under way, or the next, has ended, in this gateway or perhaps in
// another. It fails if the walk has.
func (p *walked) await(ctx context.Context, ended <-chan struct{}) error {
	again := time.NewTimer(time.Second)
	defer again.Stop()
	select {
	case <-ended:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.failure
	case <-again.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// walkEnded tells those who wait that a walk has ended well, failed that it has not.
func (p *walked) walkEnded(always membership) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ended)
	p.ended, p.always, p.tries, p.failure = make(chan struct{}), always, 0, nil
}

// isWanted tells whether somebody waits for a walk that is later than the last.
func (p *walked) isWanted(s state) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = s.members
	return s.walked.Before(p.wanted)
}

// want asks for a walk that begins after a moment.
func (p *walked) want(moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted.Before(moment) {
		p.wanted = moment
	}
	p.wakeUp()
}

// has tells whether all records had a field when they were walked last.
func (p *walked) has(f *mapping.Field) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.always[f.Name]
}

// failed returns how long a walk rests that has failed.
func (p *walked) failed(why error, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again = now.Add(askAgain)
	close(p.ended)
	p.ended, p.failure = make(chan struct{}), why
	wait := min(retryFirst<<min(p.tries, 10), p.every)
	p.tries++
	return wait
}

// take waits until nobody else asks for a page of the walk, in this gateway or another.
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
	age, away, asked := s.now.Sub(s.known()), error(nil), false
	switch {
	case p.r.Service.Walk.Since != nil && wish != nil && wish.Within > 0 && age <= wish.Within: // fresh enough
	case p.r.Service.Walk.Since != nil:
		away, asked = c.joined(ctx, p, wish != nil && wish.Fresh), true
	case age > most, wish != nil && wish.Fresh && age > wish.Within:
		away = c.walkedSince(ctx, p, s.now)
	}
	if s, err = c.state(ctx, p); err != nil {
		return err
	}
	if age = s.now.Sub(s.known()); asked && away == nil {
		age = 0
	}
	if wish != nil {
		wish.Told, wish.Age = true, max(wish.Age, age)
	}
	if age > most {
		return tooOld(p, s, age, away)
	}
	return nil
}

// tooOld says why there is no list.
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

// asks notes what a request waits for, which is asked for others as well.
func (c *copied) asks(ctx context.Context, what *sheet.ServiceCall) {
	backend.Asking(ctx, c.conn.calls[what].asked)
}

// sooner is a context that leaves some of the time for the answer.
func sooner(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*3/4)
}

// joined asks what has changed, once for all that wait. What is asked already does not count: it
// may have been answered before. While that fails it is asked now and then, and nobody waits but who
// insists.
func (c *copied) joined(ctx context.Context, p *walked, insists bool) error {
	p.mu.Lock()
	f, failed := p.next, p.unasked
	if f == nil && (failed == nil || insists || c.Now().After(p.again)) {
		f = &flight{done: make(chan struct{})}
		p.next, p.again = f, c.Now().Add(askAgain)
		c.running.Go(func() { c.fly(p, f) })
	}
	p.mu.Unlock()
	if failed != nil && !insists {
		return failed
	}
	c.asks(ctx, &p.r.Service.Walk.Since.ServiceCall)
	wait, cancel := sooner(ctx)
	defer cancel()
	select {
	case <-f.done:
		return f.err
	case <-wait.Done():
		if errors.Is(wait.Err(), context.DeadlineExceeded) {
			p.couldAsk(c, wait.Err())
		}
		return wait.Err()
	}
}

// couldAsk notes whether it could be asked what has changed.
func (p *walked) couldAsk(c *copied, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unasked, p.again = failed, c.Now().Add(askAgain)
}

// fly makes a flight, after the one before.
func (c *copied) fly(p *walked, f *flight) {
	ctx, cancel := context.WithTimeout(c.done, c.Timeout)
	defer cancel()
	defer close(f.done)
	before, err := p.take(ctx, c)
	p.mu.Lock()
	p.next = nil
	p.mu.Unlock()
	if err != nil {
		f.err = err
		return
	}
	before()
	f.err = c.ask(ctx, p)
	p.couldAsk(c, f.err)
}

// walkedSince waits for a walk that began after a moment.
func (c *copied) walkedSince(ctx context.Context, p *walked, moment time.Time) error {
	c.asks(ctx, &p.r.Service.Walk.ServiceCall)
	wait, cancel := sooner(ctx)
	defer cancel()
	return c.until(wait, p, func(s state) bool { return !s.walked.Before(moment) }, func() error {
		p.want(moment)
		return nil
	})
}
