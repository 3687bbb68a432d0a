package remote

import (
	"context"
	"fmt"
	"sync"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// heldRecord names a record that a write holds; client is 0 if all share it.
type heldRecord struct {
	client   int64
	resource string
	id       int32
}

// heldBy names a record to those who may write it.
func (c *core) heldBy(client auth.Client, r *mapping.Resource, id int32) heldRecord {
	if known := c.Sheet.Resources[r]; known != nil && known.IsShared() {
		return heldRecord{0, r.Name, id}
	}
	return heldRecord{client.ID, r.Name, id}
}

// holds are the records that writes in progress lock. The locks hold against other gateways, if
// they share the id store, but not against other programs that use the service: versions
// protect against those.
type holds struct {
	held sync.Map // channels by heldRecord, closed on release
}

// holding are the records that one write holds.
type holding struct {
	of   *core
	held map[heldRecord]func(context.Context) // functions that release the record for other gateways
}

// hold waits until no other write holds the record.
func (t *holding) hold(ctx context.Context, r heldRecord) (err error) {
	if t.held[r] != nil {
		return nil
	}
	if err := t.of.holds.take(ctx, r); err != nil {
		return err
	}
	if t.held == nil {
		t.held = map[heldRecord]func(context.Context){}
	}
	t.held[r] = func(context.Context) {}
	if t.of.IDStore == nil {
		return nil
	}
	release, err := t.of.IDStore.Take(ctx, r.resource, r.client, r.id)
	if err == nil {
		t.held[r] = release
	}
	return err
}

// letGo releases all that the write holds, even if its client has gone.
func (t *holding) letGo(ctx context.Context) {
	if len(t.held) == 0 {
		return
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	for r, release := range t.held {
		release(ctx)
		t.of.holds.free(r)
	}
	t.held = nil
}

// take waits until no other write of this gateway holds the record.
func (h *holds) take(ctx context.Context, r heldRecord) error {
	own := make(chan struct{})
	for {
		other, taken := h.held.LoadOrStore(r, own)
		if !taken {
			return nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return fmt.Errorf("%w: wait for another write of %s %d: %w", backend.ErrCollision, r.resource, r.id, ctx.Err())
		}
	}
}

func (h *holds) free(r heldRecord) {
	own, _ := h.held.LoadAndDelete(r)
	close(own.(chan struct{}))
}
