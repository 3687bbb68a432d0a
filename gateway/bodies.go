package gateway

import (
	"context"
	"slices"
	"sync"
	"time"
)

// bodyMemory is the memory for large bodies and answers, shared out between clients: a
// client may take more as long as it then has at most as much as is free. So one client
// alone gets half of it, and a second one half of the rest; however many bodies of one
// client are stuck, those of others find room. Room is taken for a whole body at once, so
// that each body that has begun to arrive can be completed. It is safe for concurrent
// use.
type bodyMemory struct {
	mu      sync.Mutex
	most    int
	free    int
	lowest  int           // lowest value of free since the last value was sent on spent
	spent   chan struct{} // has a value when memory can be given back to the system
	taken   map[int64]int // by client
	waiting []*bodyClaim  // in the order of arrival
}

// bodyClaim is a body that waits for room.
type bodyClaim struct {
	client  int64
	size    int
	granted chan struct{} // closed once it has it
}

func newBodyMemory(most int) *bodyMemory {
	return &bodyMemory{most: most, free: most, lowest: most, spent: make(chan struct{}, 1), taken: map[int64]int{}}
}

// take takes room for a body of a client. waited reports whether it had to wait; ok is
// false if there was no room in time.
func (m *bodyMemory) take(ctx context.Context, client int64, size int, patience time.Duration) (waited, ok bool) {
	m.mu.Lock()
	// A later body of a client does not overtake its waiting ones.
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
		return true, true // room was granted in the last moment
	}
	m.waiting = slices.Delete(m.waiting, place, place+1)
	return true, false
}

// takeNow takes room for a client if there is room at once and no earlier body of the
// client waits for it.
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

// force takes room for a client even if that exceeds its share.
func (m *bodyMemory) force(client int64, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[client] += size
	m.free -= size
	m.lowest = min(m.lowest, m.free)
}

// over reports whether a client has more than its share allows.
func (m *bodyMemory) over(client int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[client] > m.most/2
}

// give returns room, and hands it to bodies that wait.
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
	if m.free-m.lowest >= worthReleasing {
		m.lowest = m.free
		select {
		case m.spent <- struct{}{}:
		default:
		}
	}
}

// load returns how much is taken, and how many bodies wait.
func (m *bodyMemory) load() (taken, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most - m.free, len(m.waiting)
}

// worthReleasing is how much room must have been returned for memory to go back to the system.
const worthReleasing = 16 << 20
