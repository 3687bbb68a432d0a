package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"frontdesk/auth"
)

// transactionTries is how often a transaction is run that a store ends because of
// others. They are ended in favour of one that goes on, so that of n transactions that
// all want the same the last comes through in the n-th round.
const transactionTries = 24

// RunAgain runs a transaction, and again after a pause while collided tells of its error
// that another one ended it and nothing was done; ctx bounds all of it. Where ctx cuts off
// a run, it is the collision before it that the transaction failed by: whoever holds a row
// for longer than everybody waits is no failure of the store.
func RunAgain(ctx context.Context, once func() error, collided func(error) bool) error {
	var collision error
	for try := 1; ; try++ {
		err := once()
		switch {
		case err == nil:
			return nil
		case collided(err):
			collision = err
		case collision != nil && ctx.Err() != nil && !isAnswer(err) && !errors.Is(err, ErrUnsettled):
			return errors.Join(collision, err)
		default:
			return err
		}
		if try == transactionTries || !letAhead(ctx, try) {
			return collision
		}
	}
}

// letAhead lets the transaction that this one collided with go on first, longer each
// time and never equally long for two. Run again at once, this one would have its first
// lock again before the other has woken up, and both would be where they were.
func letAhead(ctx context.Context, try int) bool {
	step := time.Duration(min(try, 8)) * 5 * time.Millisecond
	return auth.Sleep(ctx, step+rand.N(step)) == nil
}
