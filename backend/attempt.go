package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
)

// Progress is how far a write is whose answer an AnswerStore keeps:
//
//	      taking       sending      answering
//	Idle ───────▶ Taken ───────▶ Sent ───────▶ Done
//	                ▲             │└──losing──▶ Lost
//	                └───undoing───┘
//
// At its end a Taken or Done write that is answered keeps its answer, and one that failed and is
// Taken gives its key back. In all other cases the key stays taken: something may have been done.
type Progress int

// The stages of an Attempt.
const (
	Idle  Progress = iota // its key is free, for all that it knows
	Taken                 // its key is taken, and nothing was done
	Sent                  // something went out
	Done                  // it was done
	Lost                  // nobody knows whether it was done
)

// progressEvent is what happens to an Attempt.
type progressEvent int

const (
	taking     progressEvent = iota // something is about to go out
	sending                         // it goes out
	undoing                         // what went out, if anything did, had no effect
	answering                       // it has been done
	losing                          // there is no answer
	succeeding                      // all has ended well
	failing                         // or not
)

// progressEffect is what is to be done in the AnswerStore.
type progressEffect int

const (
	nothing progressEffect = iota
	begin
	finish
	abandon
)

// errSent is the error of a write that would go out again.
var errSent = fmt.Errorf("%w: it is not sent again", ErrUnsettled)

// after is all that may happen to an Attempt, and what is then to be done. Nothing goes out before its
// key is taken, nor again before it is known that nothing was done.
func (p Progress) after(e progressEvent) (Progress, progressEffect, error) {
	switch {
	case e == taking && p == Idle:
		return Taken, begin, nil
	case e == sending && p != Taken:
		return p, nothing, errSent
	case e == sending:
		return Sent, nothing, nil
	case e == undoing && p == Sent:
		return Taken, nothing, nil
	case e == answering && p == Sent:
		return Done, nothing, nil
	case e == losing && p == Sent:
		return Lost, nothing, nil
	case e == succeeding && (p == Taken || p == Done):
		return Done, finish, nil
	case e == failing && p == Taken:
		return Idle, abandon, nil
	}
	return p, nothing, nil
}

// Attempt is one write, perhaps under an idempotency key, of a driver that is not Atomic. Its key is
// taken right before the write goes out, so that nothing that fails, or dies, before that leaves a
// trace. The zero value, with Answers, is one without a key.
type Attempt struct {
	Answers AnswerStore

	client auth.Client
	key    string // "" for none
	mark   int64
	answer *StoredAnswer
	at     Progress
}

// Answered reports whether there is an answer to keep.
func (a *Attempt) Answered() bool { return a.answer != nil }

// Recall returns the answer that was given under the key before.
func (a *Attempt) Recall(ctx context.Context, client auth.Client, key string) (*StoredAnswer, error) {
	if a.client, a.key = client, key; a.at != Idle {
		return nil, nil
	}
	return a.Answers.Recall(ctx, client, key)
}

// Take takes the key, once. It fails where the time of the write is up by then.
func (a *Attempt) Take(ctx context.Context) (took bool, err error) {
	to, does, _ := a.at.after(taking)
	if does == begin && a.key != "" {
		if a.mark, err = a.Answers.Begin(ctx, a.client, a.key); err != nil {
			return false, err
		}
		took, err = true, ctx.Err()
	}
	a.at = to
	return took, err
}

// Send notes that the write goes out. It fails where it must not.
func (a *Attempt) Send() error { return a.happens(sending) }

// Undone notes that what went out had no effect.
func (a *Attempt) Undone() { _ = a.happens(undoing) }

// Ended notes how what went out has ended, and returns its error. told tells that this says that
// nothing was done.
func (a *Attempt) Ended(err error, told bool) error {
	switch {
	case err == nil:
		return a.happens(answering)
	case told:
		a.Undone()
	default:
		_ = a.happens(losing)
	}
	if a.at == Lost && !errors.Is(err, ErrUnsettled) {
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	return err
}

func (a *Attempt) happens(e progressEvent) (err error) {
	a.at, _, err = a.at.after(e)
	return err
}

// Remember has Settle keep the answer.
func (a *Attempt) Remember(m StoredAnswer) { a.answer = &m }

// settleTimeout bounds what is left to do in the AnswerStore once a write has ended.
const settleTimeout = 2 * time.Second

// Settle is called once, at the end of the write, with its error: it keeps the answer, or gives the
// key back, even if the client has gone. unkept is why it could not; then the key stays in use.
func (a *Attempt) Settle(ctx context.Context, err error) (unkept error) {
	e := succeeding
	if err != nil {
		e = failing
	}
	to, does, _ := a.at.after(e)
	if a.at = to; a.key == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	switch {
	case does == finish && a.answer != nil:
		unkept = a.Answers.Finish(ctx, a.client, a.key, a.mark, *a.answer)
	case does == abandon:
		unkept = a.Answers.Abandon(ctx, a.client, a.key, a.mark)
	}
	if unkept != nil {
		unkept = fmt.Errorf("an idempotency key stays in use for 24 hours: %w", unkept)
	}
	return unkept
}
