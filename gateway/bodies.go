package gateway

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// bodyMemory is the memory for bodies and answers that are not small, shared out between
// clients: a client may take more as long as it then has no more than is left. So
// one client alone gets half of it, a second one half of the rest, and however many
// bodies of a client do not get on, those of others do. Room is taken for all of a
// body at once, so that each that has begun to come can end. It is safe for
// concurrent use.
type bodyMemory struct {
	mu      sync.Mutex
	most    int
	free    int
	lowest  int           // free, since memory was last released
	taken   map[int64]int // by client
	waiting []*bodyClaim  // those that came first in front
}

// bodyClaim is a body that waits for room.
type bodyClaim struct {
	client  int64
	size    int
	granted chan struct{} // closed once it has it
}

func newBodyMemory(most int) *bodyMemory {
	return &bodyMemory{most: most, free: most, lowest: most, taken: map[int64]int{}}
}

// take takes room for a body of a client, and tells whether it had to wait; false
// where there was none in time.
func (m *bodyMemory) take(ctx context.Context, client int64, size int, patience time.Duration) (waited, ok bool) {
	m.mu.Lock()
	// What comes later does not overtake what its own client has waiting.
	queues := slices.ContainsFunc(m.waiting, func(c *bodyClaim) bool { return c.client == client })
	if !queues && m.grant(client, size) {
		m.mu.Unlock()
		return false, true
	}
	claim := &bodyClaim{client, size, make(chan struct{})}
	m.waiting = append(m.waiting, claim)
	m.mu.Unlock()

	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-claim.granted:
		return true, true
	case <-enough.C:
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	place := slices.Index(m.waiting, claim)
	if place < 0 {
		return true, true // in the last moment
	}
	m.waiting = slices.Delete(m.waiting, place, place+1)
	return true, false
}

// takeNow takes room for a client where there is some at once, and nothing of its own
// waits for that.
func (m *bodyMemory) takeNow(client int64, size int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	queues := slices.ContainsFunc(m.waiting, func(c *bodyClaim) bool { return c.client == client })
	return !queues && m.grant(client, size)
}

// grant gives room to a client that stays within its share.
func (m *bodyMemory) grant(client int64, size int) bool {
	if m.taken[client]+size > m.free-size {
		return false
	}
	m.taken[client] += size
	m.free -= size
	m.lowest = min(m.lowest, m.free)
	return true
}

// force takes room for a client beyond its share.
func (m *bodyMemory) force(client int64, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[client] += size
	m.free -= size
	m.lowest = min(m.lowest, m.free)
}

// over tells whether a client has more than any could that kept to its share.
func (m *bodyMemory) over(client int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[client] > m.most/2
}

// give gives room back, to those that wait for it.
func (m *bodyMemory) give(client int64, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += size
	if m.taken[client] -= size; m.taken[client] == 0 {
		delete(m.taken, client)
	}
	queues := map[int64]bool{} // the clients whose first claim still waits
	m.waiting = slices.DeleteFunc(m.waiting, func(c *bodyClaim) bool {
		if queues[c.client] || !m.grant(c.client, c.size) {
			queues[c.client] = true
			return false
		}
		close(c.granted)
		return true
	})
}

// load tells how much is taken, and how many bodies wait.
func (m *bodyMemory) load() (taken, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most - m.free, len(m.waiting)
}

const (
	// releasePause is how often memory is given back to the system, if at all.
	releasePause = 10 * time.Second
	// worthReleasing is how much must have been given back for that.
	worthReleasing = 16 << 20
)

// spent tells whether so much was given back that the system should have it. The
// runtime by itself would keep it for minutes where nothing else happens.
func (m *bodyMemory) spent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.free-m.lowest < worthReleasing {
		return false
	}
	m.lowest = m.free
	return true
}

// release gives memory back to the system until ctx ends.
func (m *bodyMemory) release(ctx context.Context) {
	tick := time.NewTicker(releasePause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if m.spent() {
				debug.FreeOSMemory()
			}
		case <-ctx.Done():
			return
		}
	}
}
