package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Write runs f once. An HTTP service has no transactions: what f did stays done. Two things
// stand in for one. The idempotency key makes a write happen at most once. And no two writes
// through this gateway, or through others with the same id store, judge and change the same
// record at once.
func (s *Store) Write(ctx context.Context, f func(backend.Tx) error) error {
	return s.Telling(ctx, f, func(f func(backend.Tx) error) error { return s.write(ctx, f) })
}

func (s *Store) write(ctx context.Context, f func(backend.Tx) error) error {
	t := &transaction{Store: s}
	defer t.letGo(ctx)
	err := f(t)
	if err != nil && t.taken && t.nothingDone {
		ctx, cancel := settling(ctx)
		defer cancel()
		if err := s.IDStore.Abandon(ctx, t.client, t.key); err != nil {
			s.Log.Error("an idempotency key was not given back; it stays in use", zap.Error(err))
		}
	}
	return err
}

// settleTimeout bounds what is done in the id store once the write has ended. What is not
// released by then expires.
const settleTimeout = 2 * time.Second

// settling is the context in which a key is released or completed, and what was held released,
// even if its client has gone.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// transaction is the Store during one write.
type transaction struct {
	*Store
	client auth.Client
	key    string // of the request; "" for none
	sent   string // what the service is sent of it: a hash fits anywhere
	// taken tells that the key was reserved in the gateway's own store before the write was sent,
	// nothingDone that no record has been written under it.
	taken, nothingDone bool
	held               map[heldRecord]*held
}

// Get returns one record, and with q.ForUpdate holds it.
func (t *transaction) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if !q.ForUpdate {
		return t.Store.Get(ctx, r, q)
	}
	held, err := t.hold(ctx, t.heldBy(q.Client, r, q.ID))
	if err != nil {
		return mapping.Record{}, err
	}
	rec, row, err := t.get(ctx, r, q)
	held.row = row
	return rec, err
}

// Create stores a record.
func (t *transaction) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	w := &leaving{Context: ctx, write: t}
	stored, err := t.create(w, client, rec, t.sent)
	return stored, t.wrote(w, err)
}

// Update changes a record.
func (t *transaction) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	w := &leaving{Context: ctx, write: t}
	var row []sheet.Raw
	if held := t.held[t.heldBy(client, before.Resource, before.ID())]; held != nil {
		row = held.row
	}
	stored, err := t.update(w, client, before, patch, row)
	return stored, t.wrote(w, err)
}

// Delete removes a record.
func (t *transaction) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	w := &leaving{Context: ctx, write: t}
	return t.wrote(w, t.delete(w, client, before))
}

// wrote notes how a write ended.
func (t *transaction) wrote(w *leaving, err error) error {
	t.nothingDone = err != nil && (!w.begun || tellsUndone(err))
	if err != nil && !t.nothingDone {
		return fmt.Errorf("%w: %w", backend.ErrUnsettled, err)
	}
	return err
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
	write *transaction
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

// Recall returns the answer that was given under the key before.
func (t *transaction) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	sum := sha256.Sum256([]byte(key))
	t.client, t.key, t.sent = client, key, hex.EncodeToString(sum[:])
	if t.taken {
		return nil, nil
	}
	return t.IDStore.Recall(ctx, client, key)
}

// takeKey takes the key of the request, if it has one, once. A write whose time is up by then
// is not sent.
func (t *transaction) takeKey(ctx context.Context) (took bool, err error) {
	if t.taken || t.key == "" {
		return false, nil
	}
	err = t.IDStore.Begin(ctx, t.client, t.key)
	t.taken, t.nothingDone = err == nil, true
	return t.taken, cmp.Or(err, ctx.Err())
}

// Remember stores the answer under the key.
func (t *transaction) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	if _, err := t.takeKey(ctx); err != nil { // nothing was sent
		return err
	}
	// The record is there: the client hears of it, even if storing the answer fails.
	ctx, cancel := settling(ctx)
	defer cancel()
	if err := t.IDStore.Finish(ctx, client, key, m); err != nil {
		t.Log.Error("the answer under an idempotency key was not kept; the key stays in use", zap.Error(err))
	}
	return nil
}
