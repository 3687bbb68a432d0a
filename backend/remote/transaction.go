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

// Write runs f once. An HTTP service has no transaction: what f does stays done.
// What is one here is the idempotency key and the write under it, and that of the
// writes that pass this gateway, or another with the same id store, no two judge and change the same record at once.
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

// settleTimeout bounds what is done with a key once the write has ended.
const settleTimeout = 2 * time.Second

// settling is what a key is given back or finished in: its client may have gone away.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// transaction is the Store during one write.
type transaction struct {
	*Store
	client auth.Client
	key    string // of the request; "" for none
	sent   string // what the service is sent of it: a hash fits anywhere
	// taken tells that the key was taken in the gateway's own store, as the write left,
	// nothingDone that no record has been written under it.
	taken, nothingDone bool
	replayed           bool
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
	stored, replayed, err := t.create(w, client, rec, t.sent)
	t.replayed = replayed
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

// tellsUndone tells whether an error is an answer that a write was not done.
func tellsUndone(err error) bool {
	if errors.Is(err, backend.ErrStale) || errors.Is(err, backend.ErrNotFound) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// leaving is the context of a write, which takes its idempotency key before its request
// goes out, and notes that a byte of it may have. Whatever fails before, be it a log-on or
// the look at a parent, has done nothing; and who is killed before leaves no key.
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

// aboutToLeave takes the key of a write whose request is sent next. took tells that this
// took its time.
func aboutToLeave(ctx context.Context) (took bool, err error) {
	if w, ok := ctx.Value(leavingKey{}).(*leaving); ok {
		return w.write.takeKey(w)
	}
	return false, nil
}

// noteLeft notes whether the request of a write has begun to go out. One that was
// refused for its log-on alone, and is sent again, has not.
func noteLeft(ctx context.Context, begun bool) {
	if w, ok := ctx.Value(leavingKey{}).(*leaving); ok {
		w.begun = begun
	}
}

// Recall returns the answer that was given under the key before. A service that
// keeps keys itself says so when it is sent the write again.
func (t *transaction) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	sum := sha256.Sum256([]byte(key))
	t.client, t.key, t.sent = client, key, hex.EncodeToString(sum[:])
	if t.keepsKeys() {
		return nil, nil
	}
	if t.taken {
		return nil, nil
	}
	return t.IDStore.Recall(ctx, client, key)
}

// takeKey takes the key of the request where it has one, once. What has run out of time
// by then is not sent.
func (t *transaction) takeKey(ctx context.Context) (took bool, err error) {
	if t.taken || t.key == "" || t.keepsKeys() {
		return false, nil
	}
	err = t.IDStore.Begin(ctx, t.client, t.key)
	t.taken, t.nothingDone = err == nil, true
	return t.taken, cmp.Or(err, ctx.Err())
}

// Remember keeps the answer under the key.
func (t *transaction) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	switch {
	case t.keepsKeys() && t.replayed:
		// The record is the one that the service made the first time, so that the
		// answer made of it is the first answer.
		return &backend.Replay{Answer: m.Answer}
	case t.keepsKeys():
		return nil
	default:
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
}
