package follow

import (
	"context"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// Teller makes a driver that embeds it a backend.ChangeTeller. Its zero value tells nothing.
type Teller struct{ follower *Follower }

var _ backend.ChangeTeller = (*Teller)(nil)

// TellBy has a Follower tell, nil for nobody. It is called before the driver is used.
func (t *Teller) TellBy(f *Follower) { t.follower = f }

// Tells implements backend.ChangeTeller.
func (t *Teller) Tells(r *mapping.Resource) backend.Telling {
	if t.follower == nil {
		return backend.TellsNone
	}
	return t.follower.Tells(r)
}

// Changes implements backend.ChangeTeller.
func (t *Teller) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	return t.follower.Changes(ctx, q)
}

// Digest implements backend.ChangeTeller.
func (t *Teller) Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	return t.follower.Digest(ctx, r, q)
}

// Telling runs a write of the driver, and notes what it has changed as soon as that is done.
func (t *Teller) Telling(ctx context.Context, f func(backend.Tx) error, write func(func(backend.Tx) error) error) error {
	if t.follower == nil {
		return write(f)
	}
	return t.follower.write(ctx, f, write)
}
