package backend

import (
	"context"
	"sync"
	"time"
)

// asked is what a call has asked of the administration, one thing after the other.
type asked struct {
	mu      sync.Mutex
	n       int
	text    string // what it waits for now; "" before the first
	since   time.Time
	longest Asked
}

// Asked is what of a call took longest.
type Asked struct {
	Text string // "" for the wait before the first thing was asked, such as for a connection
	Took time.Duration
	Of   int // how many things the call asked in all
}

// askedKey is the key of what a call has asked in its context.
type askedKey struct{}

// Asking notes what is asked of the administration next: a statement with placeholders in
// place of values, or a method and the template of a path. Drivers tell it, so that a slow call
// can be shown with what took its time; the text must hold nothing that a client sent. It does
// nothing outside of a call of a Client.
func Asking(ctx context.Context, text string) {
	if a, ok := ctx.Value(askedKey{}).(*asked); ok {
		a.next(text)
	}
}

func (a *asked) next(text string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(now)
	a.n++
	a.text, a.since = text, now
}

// end counts what was asked last up to now.
func (a *asked) end(now time.Time) {
	if took := now.Sub(a.since); took > a.longest.Took {
		a.longest = Asked{Text: a.text, Took: took}
	}
}

// most is what took longest. It is asked when the call has ended.
func (a *asked) most() Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(time.Now())
	most := a.longest
	most.Of = a.n
	return most
}
