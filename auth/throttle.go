package auth

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"frontdesk/mapping"
)

// The bounds on wrong credentials, counted over the last GuessWindow.
const (
	GuessWindow       = 15 * time.Minute
	GuessesPerUser    = 10  // per username and address
	GuessesPerAddress = 100 // whatever the usernames
)

// How a wrong answer is slowed.
const (
	slowestAnswer  = 2 * time.Second
	slowPerUser    = 25 * time.Millisecond // doubled with each failure
	slowPerAddress = 20 * time.Millisecond // times the failures
)

// retryReserve is how long a guess waits before it calls Reserve again, if the counter
// does not signal when other guesses are settled.
const retryReserve = 50 * time.Millisecond

// GuessCounter counts the wrong credentials of the last GuessWindow, for one gateway or
// for several. Safe for concurrent use. Its errors are failures of its store, and are
// answered as such: if guesses cannot be counted, nobody can log in.
type GuessCounter interface {
	// Reserve admits a guess unless a bound is reached. From then on the guess counts
	// against the bounds, until it is settled or its gateway is gone.
	Reserve(ctx context.Context, from Origin, who Account, now time.Time) (Reservation, error)

	// Settle ends an admitted guess and returns the new count.
	Settle(ctx context.Context, r Reservation, outcome Outcome, now time.Time) (GuessCount, error)
}

// Reservation is the answer to Reserve: the guess is admitted, refused for a while, or
// has to call Reserve again.
type Reservation struct {
	From     Origin
	Who      Account
	ID       string // of an admitted guess, as the counter knows it
	Admitted bool
	Refused  time.Duration   // until the next try may be made; 0 where it is not refused
	Settled  <-chan struct{} // closed when another Reserve may help; nil where the counter does not signal
}

// GuessCount is the number of failures of an address, and of a username from there.
type GuessCount struct {
	OfUser, OfAddress int
	Refused           time.Duration // until the next try may be made; 0 for now
}

// Outcome is how a guess ended.
type Outcome int

// The outcomes: unknown; wrong credentials; right credentials, which delete the failures
// of that username from that address.
const (
	Abandoned Outcome = iota
	Failed
	Succeeded
)

// Throttle limits the guessing of passwords. It counts wrong credentials per username and
// address, and per address, and slows the answer to them by both counts. The tenth within
// 15 minutes for one username and address, and the hundredth for one address, is answered
// 429. So is every further try, before any work is done for it, until the oldest of them
// is 15 minutes old. Correct logins from elsewhere still work: a username is never locked
// as such, or anyone could lock out anyone.
//
// A Throttle is safe for concurrent use and has to outlive every reload of the
// configuration.
type Throttle struct {
	counter GuessCounter
	clock   func() time.Time
	sleep   func(context.Context, time.Duration) error
}

// NewThrottle returns a Throttle that counts in counter. sleep waits for a duration
// or until the context ends, as Sleep does.
func NewThrottle(counter GuessCounter, clock func() time.Time, sleep func(context.Context, time.Duration) error) *Throttle {
	return &Throttle{counter: counter, clock: clock, sleep: sleep}
}

// Sleep waits for d, or until the context ends and then returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Guess is one try that Begin admitted. End it with Right, Wrong or Abandon; only the
// first of these calls counts.
type Guess struct {
	throttle    *Throttle
	reservation Reservation
	settled     bool
}

// Begin admits a try, or refuses it with TooManyRequests before its password is verified.
// A try counts against the bound while it is under way, so that parallel tries gain
// nothing. A try that would exceed the bound only if all tries under way fail waits for
// them, at most for loginPatience: they may well be one program's correct logins. Other
// errors are those of the context and of the counter.
func (t *Throttle) Begin(ctx context.Context, username, address string) (*Guess, error) {
	who, from := accountOf(username), OriginOf(address)
	waiting, enough := context.WithTimeoutCause(ctx, loginPatience, loginsBusy())
	defer enough()
	for {
		r, err := t.counter.Reserve(ctx, from, who, t.clock())
		switch {
		case err != nil:
			return nil, fmt.Errorf("auth: count logins: %w", err)
		case r.Admitted:
			return &Guess{throttle: t, reservation: r}, nil
		case r.Refused > 0:
			return nil, tooManyGuesses(r.Refused)
		case r.Settled == nil:
			if err := t.sleep(waiting, retryReserve); err != nil {
				return nil, cmp.Or(context.Cause(waiting), err)
			}
			continue
		}
		select {
		case <-r.Settled:
		case <-waiting.Done():
			return nil, context.Cause(waiting)
		}
	}
}

// Right ends a guess whose credentials were correct, and forgets the failures of
// this username from this address.
func (g *Guess) Right(ctx context.Context) error {
	_, err := g.settle(ctx, Succeeded)
	return err
}

// Abandon ends a guess whose outcome is unknown. After Right or Wrong it does nothing, so
// it can be deferred.
func (g *Guess) Abandon(ctx context.Context) {
	_, _ = g.settle(ctx, Abandoned) // a counter that fails forgets the guess by itself
}

// Wrong ends a guess whose credentials were wrong. It returns after a delay, with the
// answer: CredentialsInvalid or, if this failure reached a bound, TooManyRequests.
func (g *Guess) Wrong(ctx context.Context) error {
	now, err := g.settle(ctx, Failed)
	if err != nil {
		return err
	}
	// The failure is counted before the wait, so that giving up early, on
	// either side, gains nothing; the answer stays the same.
	_ = g.throttle.sleep(ctx, slowness(now.OfUser, now.OfAddress))
	if now.Refused > 0 {
		return tooManyGuesses(now.Refused)
	}
	return mapping.Fail(mapping.CredentialsInvalid)
}

// settle counts the outcome even if the client has gone.
func (g *Guess) settle(ctx context.Context, outcome Outcome) (GuessCount, error) {
	if g.settled {
		return GuessCount{}, nil
	}
	g.settled = true
	s, err := g.throttle.counter.Settle(context.WithoutCancel(ctx), g.reservation, outcome, g.throttle.clock())
	if err != nil {
		return s, fmt.Errorf("auth: count logins: %w", err)
	}
	return s, nil
}

func slowness(ofUser, ofAddress int) time.Duration {
	byUser := slowestAnswer
	if ofUser < 8 { // from there on doubling exceeds slowestAnswer
		byUser = slowPerUser << (ofUser - 1)
	}
	return min(slowestAnswer, max(byUser, slowPerAddress*time.Duration(ofAddress)))
}

func tooManyGuesses(wait time.Duration) error {
	return mapping.Fail(mapping.TooManyRequests).After(wait)
}
