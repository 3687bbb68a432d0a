package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
)

// Progress is the stage of a write whose answer an AnswerStore keeps:
//
//	      taking       sending      answering
//	Idle ───────▶ Taken ───────▶ Sent ───────▶ Done
//	                ▲             │└──losing──▶ Lost
//	                └───undoing───┘
//
// When a write succeeds, its answer is kept. When a Taken write fails, its key is given back. In
// all other cases the key stays taken, because something may have been done.
type Progress int

// The stages of an Attempt.
const (
	Idle  Progress = iota // the key is free, as far as is known
	Taken                 // the key is taken, and nothing was done
	Sent                  // the write went out
	Done                  // the write was done
	Lost                  // nobody knows whether the write was done
)

// progressEvent is what happens to an Attempt.
type progressEvent int

const (
	taking     progressEvent = iota // the write is about to go out
	sending                         // the write goes out
	undoing                         // the write had no effect
	answering                       // the write was done
	losing                          // no answer came
	succeeding                      // the call ends without an error
	failing                         // the call ends with an error
)

// progressEffect is what is to be done in the AnswerStore.
type progressEffect int

const (
	nothing progressEffect = iota
	begin
	finish
	abandon
)

// errSent refuses to send a write a second time.
var errSent = fmt.Errorf("%w: it is not sent again", ErrUnsettled)

// after is the state machine of an Attempt: it returns the next stage, and what to do in the AnswerStore.
// A write goes out only once its key is taken, and a second time only if the first had no effect.
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
// taken right before the write goes out, so a write that fails, or a process that dies, before that
// leaves no trace. The zero value, with Answers set, is a write without a key.
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

// Recall returns the answer stored under the key, nil if there is none.
func (a *Attempt) Recall(ctx context.Context, client auth.Client, key string) (*StoredAnswer, error) {
	if a.client, a.key = client, key; a.at != Idle {
		return nil, nil
	}
	return a.Answers.Recall(ctx, client, key)
}

// Take takes the key, once. It fails if the context of the write has ended by then.
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

// Send notes that the write goes out. It fails if the write must not go out (again).
func (a *Attempt) Send() error { return a.happens(sending) }

// Undone notes that what went out had no effect.
func (a *Attempt) Undone() { _ = a.happens(undoing) }

// Ended notes how the write that went out has ended, and returns its error. undone says that by this
// error nothing was done.
func (a *Attempt) Ended(err error, undone bool) error {
	switch {
	case err == nil:
		return a.happens(answering)
	case undone:
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

// settleTimeout bounds Settle.
const settleTimeout = 2 * time.Second

// Settle is called once, at the end of the write, with the write's error. It keeps the answer, or gives
// the key back, even if the client has gone. unkept is why that failed; then the key stays in use.
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
