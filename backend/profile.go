package backend

import (
	"context"
	"sync"
	"time"
)

// profile times what a call asks of the administration, one statement or request after the other.
type profile struct {
	mu      sync.Mutex
	n       int
	text    string // of the one under way; "" before the first
	since   time.Time
	longest Slowest
}

// Slowest is the statement or request of a call that took longest.
type Slowest struct {
	Text string // "" for the wait before the first, such as for a connection
	Took time.Duration
	Of   int // how many there were in all
}

// profileKey is the key of a call's profile in its context.
type profileKey struct{}

// Asking notes what a driver asks of the administration next: a statement with placeholders in
// place of values, or a method and the template of a path. A slow call is then logged with what
// took its time, so the text must hold nothing that a client sent. Outside of a call of a Client,
// Asking does nothing.
func Asking(ctx context.Context, text string) {
	if p, ok := ctx.Value(profileKey{}).(*profile); ok {
		p.next(text)
	}
}

func (p *profile) next(text string) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(now)
	p.n++
	p.text, p.since = text, now
}

// end times the statement or request that was under way.
func (p *profile) end(now time.Time) {
	if took := now.Sub(p.since); took > p.longest.Took {
		p.longest = Slowest{Text: p.text, Took: took}
	}
}

// slowest is for a call that has ended.
func (p *profile) slowest() Slowest {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(time.Now())
	slowest := p.longest
	slowest.Of = p.n
	return slowest
}
