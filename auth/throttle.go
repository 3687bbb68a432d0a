package auth

import (
	"context"
	"sync"
	"time"

	"frontdesk/mapping"
)

// The bounds on wrong credentials, counted over the last guessWindow.
const (
	guessWindow       = 15 * time.Minute
	guessesPerUser    = 10  // per username and address
	guessesPerAddress = 100 // whatever the usernames
	addressesKept     = 16384
)

// How a wrong answer is slowed.
const (
	slowestAnswer  = 2 * time.Second
	slowPerUser    = 25 * time.Millisecond // doubled with each failure
	slowPerAddress = 20 * time.Millisecond // times the failures
)

// Throttle bounds the guessing of passwords. Wrong credentials are counted per
// username and address, and per address; an answer to them is slowed by both
// counts. The tenth within 15 minutes for one username and address, and the
// hundredth for one address, is answered 429, and until the oldest of them is
// 15 minutes old so is every further try, before any work is done for it. Who
// logs in correctly from elsewhere is not hindered: a username is never locked
// as such, or anyone could lock out anyone.
//
// Memory. Failures are kept per address, each with a digest of its username, and
// an address beyond its bound is refused before anything is kept, so it holds
// 100 failures of 24 bytes at most and cannot push out any count by trying many
// usernames, least of all its own. Addresses are bounded by forgetting the one
// that failed longest ago. To be forgotten that way takes failures from 16,384
// other addresses, and whoever has those gains nothing by it: each of them is
// worth ten guesses of its own.
//
// A Throttle is safe for concurrent use and has to outlive every reload of the
// configuration.
type Throttle struct {
	clock func() time.Time
	sleep func(context.Context, time.Duration) error

	mu      sync.Mutex
	origins originTable
}

// NewThrottle returns a Throttle that has counted nothing. sleep waits for a
// duration or until the context ends, as Sleep does.
func NewThrottle(clock func() time.Time, sleep func(context.Context, time.Duration) error) *Throttle {
	return &Throttle{clock: clock, sleep: sleep, origins: newOriginTable(addressesKept)}
}

// Sleep waits for d, or until the context ends and then returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Guess is one try that Begin admitted. It ends by Right, Wrong or Abandon;
// only the first of them counts.
type Guess struct {
	throttle *Throttle
	origin   *origin
	who      account
	settled  bool
}

// Begin admits a try, or refuses it with TooManyRequests before its password is
// looked at. A try counts against the bound while it is under way, so that many
// at the same time get no further than one after the other; one that would go
// beyond the bound only if all of those fail waits for them, as they may well be
// one program's correct logins. Its only other error is the context's.
func (t *Throttle) Begin(ctx context.Context, username, address string) (*Guess, error) {
	who, from := accountOf(username), originName(address)
	for {
		guess, settled, err := t.reserve(who, from)
		if err != nil || guess != nil {
			return guess, err
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reserve returns the guess, or an error, or else what to wait for.
func (t *Throttle) reserve(who account, from string) (*Guess, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	o := t.origins.find(from, now.Add(-guessWindow))
	if wait := o.refusedFor(who, now); wait > 0 {
		return nil, nil, tooManyGuesses(wait)
	}
	if o.failed(who)+o.underWay(who) >= guessesPerUser || len(o.failures)+len(o.guesses) >= guessesPerAddress {
		return nil, o.whenSettled(), nil
	}
	o.guesses = append(o.guesses, who)
	return &Guess{throttle: t, origin: o, who: who}, nil, nil
}

// Right ends a guess whose credentials were correct, and forgets the failures of
// this username from this address.
func (g *Guess) Right() {
	g.settle(func(o *origin, _ time.Time) { o.pardon(g.who) })
}

// Abandon ends a guess that nothing became known by. After Right or Wrong it
// does nothing, so it can be deferred.
func (g *Guess) Abandon() {
	g.settle(func(*origin, time.Time) {})
}

// Wrong ends a guess whose credentials were not correct. It returns after a
// while, with what to answer: CredentialsInvalid or, where this failure reached
// a bound, TooManyRequests.
func (g *Guess) Wrong(ctx context.Context) error {
	var slow, refused time.Duration
	g.settle(func(o *origin, now time.Time) {
		o.fail(g.who, now)
		slow = slowness(o.failed(g.who), len(o.failures))
		refused = o.refusedFor(g.who, now)
	})
	// The failure is counted before the wait, so that giving up early, on
	// either side, gains nothing; the answer stays the same.
	_ = g.throttle.sleep(ctx, slow)
	if refused > 0 {
		return tooManyGuesses(refused)
	}
	return mapping.Fail(mapping.CredentialsInvalid)
}

func (g *Guess) settle(count func(o *origin, now time.Time)) {
	g.throttle.mu.Lock()
	defer g.throttle.mu.Unlock()
	if g.settled {
		return
	}
	g.settled = true
	g.origin.land(g.who)
	count(g.origin, g.throttle.clock())
	g.throttle.origins.settle(g.origin)
}

func slowness(ofUser, ofAddress int) time.Duration {
	byUser := slowestAnswer
	if ofUser < 8 { // beyond, doubling is over the bound anyway
		byUser = slowPerUser << (ofUser - 1)
	}
	return min(slowestAnswer, max(byUser, slowPerAddress*time.Duration(ofAddress)))
}

func tooManyGuesses(wait time.Duration) error {
	e := mapping.Fail(mapping.TooManyRequests)
	e.RetryAfter = wait
	return e
}
