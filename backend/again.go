package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"frontdesk/auth"
)

// transactionTries is how often a transaction is run if the store keeps ending it in favour
// of others. Each round lets at least one transaction through, so of n transactions that
// want the same rows, the last one gets through in round n.
const transactionTries = 24

// RunAgain runs a transaction. As long as collided says of its error that another transaction
// ended it and nothing was done, RunAgain pauses and runs it again; ctx bounds all runs
// together. If ctx ends a run, the error is that of the collision before: a row that others
// hold for too long is not a failure of the store.
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

// letAhead pauses so that the transaction that this one collided with can go on first:
// longer each time, and never equally long for two. Without a pause, this one would take
// its first lock again before the other has woken up, and both would collide again.
func letAhead(ctx context.Context, try int) bool {
	step := time.Duration(min(try, 8)) * 5 * time.Millisecond
	return auth.Sleep(ctx, step+rand.N(step)) == nil
}
