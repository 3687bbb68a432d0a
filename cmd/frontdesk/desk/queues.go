package desk

import (
	"context"
	"fmt"
	"sync"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway"
)

// Queues are checked every QueuesEvery. A queue is reported once it was full at fullLooks checks in a row
// (half a minute), until it was not full at easedLooks in a row (a minute). So a short burst is not
// reported, and a report does not flicker.
const (
	QueuesEvery = 6 * time.Second
	fullLooks   = 5
	easedLooks  = 10
)

// queue is a resource that fills up before requests are refused.
type queue struct {
	load  func() (used, most int)
	full  func(used, most int) bool
	words func(worst, most, now int) string

	over, eased int // consecutive checks at which it was full, and at which it was not
	worst       int // the highest use since it began to be full
	reported    bool
}

// look checks the queue once.
func (q *queue) look() {
	used, most := q.load()
	if q.full(used, most) {
		q.over, q.eased = q.over+1, 0
	} else {
		q.over, q.eased = 0, q.eased+1
	}
	q.reported = q.over >= fullLooks || q.reported && q.eased < easedLooks
	if q.worst = max(q.worst, used); q.over == 0 && !q.reported {
		q.worst = 0
	}
}

// halfFull reports whether at least half is used.
func halfFull(used, most int) bool { return most > 0 && 2*used >= most }

// allTaken reports whether no slot is left. Half of the slots are often taken, and that is well; but
// neither one client nor one resource alone can take all.
func allTaken(used, most int) bool { return most > 0 && used >= most }

// queues checks the queues of a desk. It is safe for concurrent use.
type queues struct {
	mu  sync.Mutex
	all []*queue
}

func newQueues(client *backend.Client, logins *auth.LoginQueue, server *gateway.Server) *queues {
	of := func(format string) func(worst, most, now int) string {
		return func(worst, most, now int) string { return fmt.Sprintf(format, worst, most, now) }
	}
	all := []*queue{
		{full: halfFull, words: of("the queue for the administration fills: up to %d calls waited, and %d may; %d wait now"), load: func() (int, int) { return client.Load().Waiting, client.Queue() }},
		{full: halfFull, words: of("the queue of logins fills: up to %d waited, and %d may; %d wait now"), load: func() (int, int) { return logins.Waiting(), auth.LoginsWaiting }},
		{full: halfFull, load: func() (int, int) {
			taken, most, _ := server.Bodies()
			return taken, most
		}, words: func(worst, most, now int) string {
			return fmt.Sprintf("the memory for bodies and answers fills: up to %s of %s was taken, and %s is now", readable(int64(worst)), readable(int64(most)), readable(int64(now)))
		}},
		{full: allTaken, words: of("all places for calls of the administration were taken for long: up to %d of %d, and %d are now"), load: func() (int, int) { return client.Busiest() }},
	}
	return &queues{all: all}
}

// watchQueues checks the queues until ctx ends.
func (h *Desk) watchQueues(ctx context.Context) {
	every(ctx, h.after, QueuesEvery, h.queues.look)
}

func (q *queues) look() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.all {
		one.look()
	}
}

// judge reports the queues that have been full for a while.
func (q *queues) judge(now *Health) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.all {
		if one.reported {
			used, most := one.load()
			now.degraded("%s", one.words(max(one.worst, used), most, used))
		}
	}
}
