package legacy

import (
	"context"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// IDStore is the gateway's own small store, for what the existing database cannot keep.
type IDStore interface {
	sheet.IDStore
	backend.AnswerStore
	// IgnoreCase makes the keys of a resource one that differ in case alone. It is called
	// before any ID of it is asked for.
	IgnoreCase(ctx context.Context, resource string) error
}
