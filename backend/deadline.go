package backend

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadline is a context that ends at a time, or with its parent. Unlike
// context.WithTimeout it starts a timer only when Done is called; a driver that passes
// the deadline to its connection never calls it.
type deadline struct {
	context.Context
	at      time.Time
	slot    slot
	profile profile

	ended  atomic.Bool
	mu     sync.Mutex
	waited atomic.Pointer[waited]
}

// waited is the context with a timer, made by the first call of Done.
type waited struct {
	context.Context
	cancel context.CancelFunc
}

// within returns a context that ends no later than at; the caller must call end.
func within(ctx context.Context, at time.Time) *deadline {
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(at) {
		at = earlier
	}
	return &deadline{Context: ctx, at: at}
}

// Unbounded returns the parent without the deadline, for a driver that enforces the
// deadline itself.
func (d *deadline) Unbounded() context.Context { return d.Context }

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} {
	if w := d.waited.Load(); w != nil {
		return w.Done()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.waited.Load()
	if w == nil {
		w = new(waited)
		w.Context, w.cancel = context.WithDeadline(d.Context, d.at)
		d.waited.Store(w)
		if d.ended.Load() {
			w.cancel()
		}
	}
	return w.Done()
}

// Err implements context.Context.
func (d *deadline) Err() error {
	if w := d.waited.Load(); w != nil {
		return w.Err()
	}
	switch err := d.Context.Err(); {
	case err != nil:
		return err
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	case d.ended.Load():
		return context.Canceled
	default:
		return nil
	}
}

// Value implements context.Context. The standard library finds the timer's context by it, for
// contexts that are derived from this one.
func (d *deadline) Value(key any) any {
	if key == (profileKey{}) {
		return &d.profile
	}
	if w := d.waited.Load(); w != nil {
		return w.Value(key)
	}
	return d.Context.Value(key)
}

// end ends the context, and releases its timer.
func (d *deadline) end() {
	d.ended.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.waited.Load(); w != nil {
		w.cancel()
	}
}
