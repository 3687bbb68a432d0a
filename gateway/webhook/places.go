package webhook

import "sync"

// places are how much may be under way, calls or work, shared out between clients:
// a client may have one more as long as it has fewer than there are left. So one
// client alone gets half of them, a second one half of the rest, and however
// much of a client's hangs, others find a place. It is safe for concurrent use.
type places struct {
	mu    sync.Mutex
	free  int
	taken map[int64]int // by client
}

func newPlaces(n int) *places { return &places{free: n, taken: map[int64]int{}} }

// enter takes a place for a client; false where it has its share.
func (p *places) enter(client int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[client] >= p.free {
		return false
	}
	p.taken[client]++
	p.free--
	return true
}

// leave gives a place back.
func (p *places) leave(client int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.taken[client]--; p.taken[client] == 0 {
		delete(p.taken, client)
	}
}

// left tells how many places there are, and which clients have their share.
func (p *places) left() (free int, full []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, n := range p.taken {
		if n >= p.free {
			full = append(full, client)
		}
	}
	return p.free, full
}
