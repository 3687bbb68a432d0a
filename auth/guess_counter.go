package auth

import (
	"context"
	"sync"
	"time"
)

var _ GuessCounter = (*MemoryGuessCounter)(nil)

// addressesKept bounds the addresses that a MemoryGuessCounter counts.
const addressesKept = 16384

// MemoryGuessCounter counts in this process, for one gateway.
//
// Failures are kept per address, each with a digest of its username, and an
// address beyond its bound is refused before anything is kept, so it holds 100
// failures of 24 bytes at most and cannot push out any count by trying many
// usernames, least of all its own. Addresses are bounded by forgetting the one
// that failed longest ago. To be forgotten that way takes failures from 16,384
// other addresses, and whoever has those gains nothing by it: each of them is
// worth ten guesses of its own.
type MemoryGuessCounter struct {
	mu      sync.Mutex
	origins originTable
}

// NewMemoryGuessCounter returns a counter that has counted nothing.
func NewMemoryGuessCounter() *MemoryGuessCounter {
	return &MemoryGuessCounter{origins: newOriginTable(addressesKept)}
}

// Reserve implements GuessCounter.
func (t *MemoryGuessCounter) Reserve(_ context.Context, from Origin, who Account, now time.Time) (Reservation, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.origins.find(from, now.Add(-GuessWindow))
	r := Reservation{From: from, Who: who}
	switch {
	case o.refusedFor(who, now) > 0:
		r.Refused = o.refusedFor(who, now)
	case o.failed(who)+o.underWay(who) >= GuessesPerUser || len(o.failures)+len(o.guesses) >= GuessesPerAddress:
		r.Settled = o.whenSettled()
	default:
		r.Admitted = true
		o.guesses = append(o.guesses, who)
	}
	return r, nil
}

// Settle implements GuessCounter.
func (t *MemoryGuessCounter) Settle(_ context.Context, r Reservation, outcome Outcome, now time.Time) (GuessCount, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.origins.find(r.From, now.Add(-GuessWindow))
	o.land(r.Who)
	switch outcome {
	case Failed:
		o.fail(r.Who, now)
	case Succeeded:
		o.pardon(r.Who)
	}
	t.origins.settle(o)
	return GuessCount{OfUser: o.failed(r.Who), OfAddress: len(o.failures), Refused: o.refusedFor(r.Who, now)}, nil
}
