package reference

import (
	"context"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// Feed implements backend.ChangeFeed.
func (s *Store) Feed(*mapping.Resource) backend.Feed { return backend.FeedAll }

// Changes implements backend.ChangeFeed. It reads the primary: a standby does not know which
// transactions are under way.
func (s *Store) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	return s.changes.Page(ctx, q)
}

// Digest implements backend.ChangeFeed.
func (s *Store) Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	return s.changes.Digest(ctx, r, q)
}

// ChangesState returns about how many changes are kept and, on PostgreSQL, for how long the
// oldest transaction has been under way: only changes before it are reported.
func (s *Store) ChangesState(ctx context.Context) (kept int64, lag time.Duration, err error) {
	return s.changes.State(ctx)
}
