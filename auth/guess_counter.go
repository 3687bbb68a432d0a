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
// Failures are stored per address, each with a digest of its username. An address at its
// bound is refused before anything is stored. So an address has at most 100 failures of
// 24 bytes each, and cannot push out any count by trying many usernames. The number of
// addresses is bounded, too: the one that failed longest ago is forgotten. To make that
// happen an attacker needs failures from 16,384 other addresses, and gains nothing by it:
// each of these addresses allows ten guesses anyway.
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
	case len(o.failuresOf(who))+o.underWayOf(who) >= GuessesPerUser || len(o.failures)+len(o.underWay) >= GuessesPerAddress:
		r.Settled = o.whenSettled()
	default:
		r.Admitted = true
		o.underWay = append(o.underWay, who)
	}
	return r, nil
}

// Settle implements GuessCounter.
func (t *MemoryGuessCounter) Settle(_ context.Context, r Reservation, outcome Outcome, now time.Time) (GuessCount, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.origins.find(r.From, now.Add(-GuessWindow))
	o.endGuess(r.Who)
	switch outcome {
	case Failed:
		o.fail(r.Who, now)
	case Succeeded:
		o.pardon(r.Who)
	}
	t.origins.settle(r.From, o)
	return GuessCount{OfUser: len(o.failuresOf(r.Who)), OfAddress: len(o.failures), Refused: o.refusedFor(r.Who, now)}, nil
}
