package remote

import (
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

// attempt is one write, perhaps under an idempotency key. It takes the key just before the request
// is sent, and notes whether a byte of it may have been sent. So a failure before that, such as of a
// log-on or of reading a parent, leaves no trace, nor does a crash.
type attempt struct {
	of     *core
	client auth.Client
	key    string // of the request; "" for none
	sent   string // what the service is sent of it: a hash fits anywhere
	// taken tells that the key was reserved in the gateway's own store before the write was sent,
	// nothingDone that no record has been written under it.
	taken, nothingDone bool
	begun              bool // the request has begun to go out
}

// ended notes how a write ended.
func (a *attempt) ended(err error) error {
	a.nothingDone = err != nil && (!a.begun || tellsUndone(err))
	if err != nil && !a.nothingDone {
		return fmt.Errorf("%w: %w", backend.ErrUnsettled, err)
	}
	return err
}

// Recall returns the answer that was given under the key before.
func (a *attempt) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	sum := sha256.Sum256([]byte(key))
	a.client, a.key, a.sent = client, key, hex.EncodeToString(sum[:])
	if a.taken {
		return nil, nil
	}
	return a.of.IDStore.Recall(ctx, client, key)
}

// takeKey takes the key of the request, if it has one, once. A write whose time is up by then
// is not sent.
func (a *attempt) takeKey(ctx context.Context) (took bool, err error) {
	if a.taken || a.key == "" {
		return false, nil
	}
	err = a.of.IDStore.Begin(ctx, a.client, a.key)
	a.taken, a.nothingDone = err == nil, true
	if err == nil {
		err = ctx.Err()
	}
	return a.taken, err
}

// Remember stores the answer under the key.
func (a *attempt) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	if _, err := a.takeKey(ctx); err != nil { // nothing was sent
		return err
	}
	// The record is there: the client hears of it, even if storing the answer fails.
	ctx, cancel := settling(ctx)
	defer cancel()
	if err := a.of.IDStore.Finish(ctx, client, key, m); err != nil {
		a.of.Log.Error("the answer under an idempotency key was not kept; the key stays in use", zap.Error(err))
	}
	return nil
}
