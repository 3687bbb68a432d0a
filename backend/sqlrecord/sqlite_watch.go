package sqlrecord

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// watchEvery is how late a statement may be interrupted after its context has ended.
// One watcher that polls for all costs a call nothing; a watcher of its own would cost
// more than reading a record.
const watchEvery = 20 * time.Millisecond

// idleLooks is after how many idle looks the watcher goes to sleep: in less than a second, or the
// program's own statement once a second would keep it awake.
const idleLooks = 5

// watcher interrupts the statements of connections whose context has ended. It
// sleeps while no connection is at work.
type watcher struct {
	mu     sync.Mutex
	conns  []*sqliteConn
	asleep atomic.Bool
	wake   chan struct{}
	stop   chan struct{}
	ended  chan struct{}
}

func newWatcher() *watcher {
	w := &watcher{wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	w.asleep.Store(true)
	go w.run()
	return w
}

func (w *watcher) add(c *sqliteConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
}

func (w *watcher) remove(c *sqliteConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = slices.DeleteFunc(w.conns, func(other *sqliteConn) bool { return other == c })
}

// nudge is called after a connection has gone to work.
func (w *watcher) nudge() {
	if w.asleep.Load() {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (w *watcher) close() {
	close(w.stop)
	<-w.ended
}

func (w *watcher) run() {
	defer close(w.ended)
	for {
		select {
		case <-w.wake:
		case <-w.stop:
			return
		}
		w.asleep.Store(false)
		if !w.watch() {
			return
		}
	}
}

// watch looks until nothing has been at work for idleLooks. It is false when
// the watcher was stopped.
func (w *watcher) watch() bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for idle := 0; ; idle++ {
		select {
		case <-tick.C:
		case <-w.stop:
			return false
		}
		if w.look() {
			idle = 0
		}
		if idle < idleLooks {
			continue
		}
		w.asleep.Store(true)
		if !w.look() { // a connection that began before asleep was set did not nudge
			return true
		}
		w.asleep.Store(false)
		idle = 0
	}
}

func (w *watcher) look() (busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		if c.interruptIfOver() {
			busy = true
		}
	}
	return busy
}
