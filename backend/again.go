package backend

import (
	"context"
	"math/rand/v2"
	"time"
)

// transactionTries is how often a transaction is run that a store ends because of
// others. They are ended in favour of one that goes on, so that of n transactions that
// all want the same the last comes through in the n-th round.
const transactionTries = 24

// RunAgain runs a transaction, and again after a pause while collided tells of its error
// that another one ended it and nothing was done; ctx bounds all of it.
func RunAgain(ctx context.Context, once func() error, collided func(error) bool) error {
	for try := 1; ; try++ {
		err := once()
		if err == nil || !collided(err) || try == transactionTries || !letAhead(ctx, try) {
			return err
		}
	}
}

// letAhead lets the transaction that this one collided with go on first, longer each
// time and never equally long for two. Run again at once, this one would have its first
// lock again before the other has woken up, and both would be where they were.
func letAhead(ctx context.Context, try int) bool {
	step := time.Duration(min(try, 8)) * 5 * time.Millisecond
	pause := time.NewTimer(step + rand.N(step))
	defer pause.Stop()
	select {
	case <-pause.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
