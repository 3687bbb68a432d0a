package auth

import (
	"context"
	"errors"
	"math"
	"time"
)

// Bounds are how much each client (customer) with a key may use, by itself. The zero Bounds
// bound nothing.
type Bounds struct {
	Rate       Rate
	Concurrent int   // requests under way at once; 0 for any number
	PerDay     int64 // requests from midnight to midnight; 0 for any number
}

// Rate bounds how often something may be done: Burst times at once, and then
// PerSecond in the long run. The zero Rate bounds nothing.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Bound is one of Bounds.
type Bound int

// The bounds, in the order of Bounds.
const (
	NoBound Bound = iota
	RateBound
	ConcurrentBound
	DayBound
	boundCount
)

// String returns what the configuration calls the bound; "" of NoBound.
func (b Bound) String() string {
	return [...]string{"", "rate", "concurrent", "per_day"}[b]
}

// Room is how much of one bound is left.
type Room struct {
	Left int64         // requests
	More time.Duration // until there is more left; 0 where nobody can say, or nothing was taken
}

// Standing is how a client with a key stands after a request was counted, or refused.
type Standing struct {
	Refused Bound         // the bound without room, of several the one to wait longest for; NoBound where the request may go on
	Wait    time.Duration // until it is worth trying again, where it was refused; more than 0
	Slot    uint64        // one of its concurrent requests, for Limits.Done; 0 where none was taken
	Rooms   [boundCount]Room
}

// Limits counts the requests of each client with a key against the bounds of the key; clients do
// not share them. Counts are stored by the key's name and the client's ID, not in the Key: so they
// survive a reload, and the new bounds apply to them at once. All methods are safe for concurrent use.
type Limits interface {
	// Take counts a request against all bounds of the key, or, if one of them has no
	// room, against none; client is that of the session's user. It need not be called for
	// a key without bounds. Its error is a failure of the store of the counts.
	Take(ctx context.Context, key *Key, client int64, now time.Time) (Standing, error)

	// Charge counts that a request which Take has let through costs as much as that many
	// further ones, of the rate and of the day, and updates its standing. It refuses
	// nothing: what exceeds a bound is taken from the requests that follow.
	Charge(ctx context.Context, key *Key, client int64, further int, now time.Time, s *Standing) error

	// Done gives back the slot of a standing, which is not 0, once the request is
	// answered, even after ctx has ended.
	Done(ctx context.Context, key string, client int64, slot uint64)
}

// faults returns what is wrong with the bounds, for the operator.
func (b Bounds) faults() []error {
	var all []error
	fault := func(text string) { all = append(all, errors.New(text)) }
	if r := b.Rate; r != (Rate{}) {
		// The comparison is false for NaN as well.
		if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 1) {
			fault("rate per second must be a number above 0")
		}
		if r.Burst < 1 {
			fault("rate burst must be 1 or more")
		}
	}
	if b.Concurrent < 0 {
		fault("concurrent must be 0 or more")
	}
	if b.PerDay < 0 {
		fault("per_day must be 0 or more")
	}
	return all
}
