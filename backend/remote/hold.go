package remote

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// heldRecord names a record that a write holds.
type heldRecord struct {
	client   int64
	resource string
	id       int32
}

// holds are the records that writes under way hold. Other gateways, and whoever
// else works in the service, are not kept from them: for that a service has
// versions.
type holds struct {
	mu   sync.Mutex
	held map[heldRecord]chan struct{} // closed when it is let go
}

// hold waits until no other write holds the record.
func (t *transaction) hold(ctx context.Context, r heldRecord) error {
	if slices.Contains(t.held, r) {
		return nil
	}
	h := &t.holds
	for {
		h.mu.Lock()
		free, taken := h.held[r]
		if !taken {
			if h.held == nil {
				h.held = map[heldRecord]chan struct{}{}
			}
			h.held[r] = make(chan struct{})
			h.mu.Unlock()
			t.held = append(t.held, r)
			return nil
		}
		h.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return fmt.Errorf("wait for another write of %s %d: %w", r.resource, r.id, ctx.Err())
		}
	}
}

// letGo lets go of all that the write holds.
func (t *transaction) letGo() {
	if len(t.held) == 0 {
		return
	}
	h := &t.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range t.held {
		close(h.held[r])
		delete(h.held, r)
	}
	t.held = nil
}
