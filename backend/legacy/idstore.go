package legacy

import (
	"context"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// IDStore stores what the existing database has no column for; backend/idstore is one. It
// is safe for concurrent use, and what it returns without an error is on disk.
type IDStore interface {
	// IDs returns the ID of every key. A key without one is given the next of its
	// resource, which is never given to another.
	IDs(ctx context.Context, refs []sheet.KeyRef) (sheet.IDs, error)
	// Keys returns the key of every ID; those never given out, or for a record of
	// another client, are left out.
	Keys(ctx context.Context, client auth.Client, refs []sheet.IDRef) (sheet.Keys, error)

	// IgnoreCase makes the keys of a resource one that differ in case alone. It is called
	// before any ID of it is asked for.
	IgnoreCase(ctx context.Context, resource string) error

	// Recall returns the answer that is kept under an idempotency key, nil where there
	// is none. It fails with the violation IdempotencyInUse while the key is taken.
	Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error)
	// Begin takes a key. It fails with ErrStale where there is something under it by now.
	Begin(ctx context.Context, client auth.Client, key string) error
	// Finish keeps the answer under a key that was taken, for 24 hours, or for
	// m.Life where that is longer.
	Finish(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error
	// Abandon gives a key back whose write did not happen. One that is neither
	// finished nor abandoned stays taken for 24 hours.
	Abandon(ctx context.Context, client auth.Client, key string) error
}
