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

// settleTimeout bounds what is done in the id store once the write has ended. What is not
// released by then expires.
const settleTimeout = 2 * time.Second

// settling is the context in which a key is released or completed, and what was held released,
// even if its client has gone.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// tellsUndone reports whether an error is the service's answer that it did not carry out the
// write.
func tellsUndone(err error) bool {
	if errors.Is(err, backend.ErrStale) || errors.Is(err, backend.ErrNotFound) {
		return true
	}
	_, ok := mapping.AsViolations(err)
	return ok
}

// attempt is one write. It notes that a byte of it may have been sent, and what the service is sent of its key.
type attempt struct {
	backend.Attempt
	sent string // a hash of the key, which fits anywhere; "" for none
}

// Recall returns the answer that was given under the key before.
func (a *attempt) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	sum := sha256.Sum256([]byte(key))
	a.sent = hex.EncodeToString(sum[:])
	return a.Attempt.Recall(ctx, client, key)
}

// Remember has the answer kept under the key, which is taken now where nothing was sent.
func (a *attempt) Remember(ctx context.Context, _ auth.Client, _ string, m backend.StoredAnswer) error {
	a.Attempt.Remember(m)
	_, err := a.Take(ctx)
	return err
}
