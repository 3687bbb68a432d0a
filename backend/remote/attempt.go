package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// settleTimeout bounds the calls of the id store after a write has ended. What is not released by
// then expires.
const settleTimeout = 2 * time.Second

// settling is the context for releasing or completing a key, and releasing held records, even if the
// client has gone.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// answering is the context for what the answer to a write needs once it is done: for as long as its
// request may take, and long enough to settle even if the client has gone.
func answering(ctx context.Context) (context.Context, context.CancelFunc) {
	until := time.Now().Add(settleTimeout)
	if end, bound := ctx.Deadline(); bound && end.After(until) {
		until = end
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// isUndone reports whether an error is the service's answer that it did not carry out the write.
func isUndone(err error) bool {
	if errors.Is(err, backend.ErrStale) || errors.Is(err, backend.ErrNotFound) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// attempt is one write. It notes whether a byte of it may have been sent, and the key that the service gets.
type attempt struct {
	backend.Attempt
	sent string // a hash of the key, short enough for any service; "" for none
}

// Recall returns the answer stored under the key, nil if there is none.
func (a *attempt) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	sum := sha256.Sum256([]byte(key))
	a.sent = hex.EncodeToString(sum[:])
	return a.Attempt.Recall(ctx, client, key)
}

// Remember has the answer kept under the key, which it takes if nothing was sent.
func (a *attempt) Remember(ctx context.Context, _ auth.Client, _ string, m backend.StoredAnswer) error {
	a.Attempt.Remember(m)
	_, err := a.Take(ctx)
	return err
}
