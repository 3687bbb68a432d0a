package callbacks

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// promises is what a client was promised, and what its receiver heard.
type promises struct {
	mu      sync.Mutex
	made    map[string]promise // by id
	sent    map[string]bool    // references of orders, answered or not
	heard   map[string]int     // calls by id
	trigger atomic.Pointer[killing]
}

// promise is what a job does.
type promise struct {
	method    string // "" for a backup
	reference string // of the order, or the name that the contact gets
}

// killing is when and how the program is ended next.
type killing struct {
	moment int
	after  atomic.Int64 // so many events of its kind
	wait   time.Duration
	end    func()
}

// event counts what happens; the last one ends it.
func (p *promises) event(moment int) {
	if k := p.trigger.Load(); k != nil && k.moment == moment && k.after.Add(-1) == 0 {
		if k.wait > 0 {
			<-time.After(k.wait)
		}
		k.end()
	}
}

// ServeHTTP is the receiver.
func (p *promises) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.heard[r.URL.Query().Get("id")]++
	p.mu.Unlock()
	p.event(killCalling)
	go p.event(killCalled)
}
