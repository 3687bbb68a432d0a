package webhook

import "sync"

// slots bound how many calls, or how much work, may be under way at once, and share
// that out between clients. A client gets one more slot as long as it has fewer than
// are free. So one client alone gets half of them, and a second one half of the rest:
// even if everything that one client started hangs, others still find a slot. It is
// safe for concurrent use.
type slots struct {
	mu    sync.Mutex
	free  int
	taken map[int64]int // by client
}

func newSlots(n int) *slots { return &slots{free: n, taken: map[int64]int{}} }

// enter takes a slot for a client; false if the client has its share.
func (p *slots) enter(client int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[client] >= p.free {
		return false
	}
	p.taken[client]++
	p.free--
	return true
}

// leave gives a slot back.
func (p *slots) leave(client int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.taken[client]--; p.taken[client] == 0 {
		delete(p.taken, client)
	}
}

// left returns how many slots are free, and the clients that have their share.
func (p *slots) left() (free int, full []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, n := range p.taken {
		if n >= p.free {
			full = append(full, client)
		}
	}
	return p.free, full
}
