package remote

import (
	"context"
	"errors"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// settleTimeout bounds what is done in the id store once the write has ended. What is not
// released by then expires.
const settleTimeout = 2 * time.Second

// settling is the context in which a key is released or completed, and what was held released,
// even if its client has gone.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// tellsUndone tells whether an error is the service's answer that it did not carry out the
// write.
func tellsUndone(err error) bool {
	if errors.Is(err, backend.ErrStale) || errors.Is(err, backend.ErrNotFound) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// leaving is the context of a write. It takes the idempotency key just before the request is
// sent, and notes whether a byte of it may have been sent. So a failure before that, such as
// of a log-on or of reading a parent, leaves no trace, nor does a crash.
type leaving struct {
	context.Context
	write interface {
		takeKey(ctx context.Context) (took bool, err error)
		// once is what the service is sent of the key.
		once() string
	}
	begun bool
}

type leavingKey struct{}

// Value implements context.Context.
func (w *leaving) Value(key any) any {
	if key == (leavingKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// Unbounded implements bounded.
func (w *leaving) Unbounded() context.Context {
	if b, ok := w.Context.(bounded); ok {
		return b.Unbounded()
	}
	return w.Context
}

// aboutToLeave takes the key of a write whose request is sent next. took says that this took
// time.
func aboutToLeave(ctx context.Context) (took bool, err error) {
	if w, ok := ctx.Value(leavingKey{}).(*leaving); ok {
		return w.write.takeKey(w)
	}
	return false, nil
}

// noteLeft notes whether the request of a write has begun to go out. A request that was
// refused only because its token had expired does not count: it is sent again.
func noteLeft(ctx context.Context, begun bool) {
	if w, ok := ctx.Value(leavingKey{}).(*leaving); ok {
		w.begun = begun
	}
}
