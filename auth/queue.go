package auth

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"frontdesk/mapping"
)

// The bounds of a LoginQueue.
const (
	// LoginsAtOnce is how many logins are verified at once if that includes computing a
	// password hash: enough to keep the Hasher busy while others are looked up.
	LoginsAtOnce = 2 * hashesAtOnce

	// LoginsWaiting is how many logins may wait, in two lines.
	LoginsWaiting = 2 * queueLength

	queueLength   = 128             // of each line
	loginPatience = 5 * time.Second // how long a login waits for others
	loginRetry    = 2 * time.Second // until a login that found no place should be tried again
	provenInARow  = 3               // turns of the line of proven logins while others wait
	provenFor     = 24 * time.Hour
	provenKept    = 16384
	provenOfUser  = 16 // addresses, so that a user with many of them pushes no other user out
)

// errLoginsBusy is the cause of TooManyRequests for a login that was not verified because
// of other logins.
var errLoginsBusy = errors.New("auth: too many logins at once")

func loginsBusy() error {
	return mapping.Fail(mapping.TooManyRequests).Because(errLoginsBusy).After(loginRetry)
}

// LoginQueue bounds how many logins are verified at once, and decides who is next. A
// username that logged in correctly from an address within the last day goes before all
// other logins from that address, three times out of four: a flood of guesses hardly
// delays it. The remaining turns are shared: each block of addresses gets a turn before
// any of them gets a second one, and within a block each username does. So guessing
// somebody's password from a few blocks keeps nobody out elsewhere. A full line drops the
// login whose turn would come last.
//
// It works in the same way whether or not the user exists. It is safe for concurrent use.
type LoginQueue struct {
	clock func() time.Time

	mu     sync.Mutex
	free   int // places; nobody waits while there is one
	proven provenLogins
	first  line // proven logins: from an address where this username logged in correctly
	others line
	inARow int // turns that first has had in a row
}

// NewLoginQueue returns a queue that verifies so many at once.
func NewLoginQueue(atOnce int, clock func() time.Time) *LoginQueue {
	return &LoginQueue{
		clock: clock, free: atOnce, proven: newProvenLogins(),
		first: line{shares: map[share]*turns{}}, others: line{shares: map[share]*turns{}},
	}
}

// enter waits for a slot; the caller must leave it. Its errors are TooManyRequests and
// that of a context that ended.
func (q *LoginQueue) enter(ctx context.Context, username, address string) (leave func(), err error) {
	who := accountOf(username)
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return q.leave, nil
	}
	of, shares := &q.others, []share{{block: blockOf(address)}, {who: who}}
	if own := (share{block: string(OriginOf(address)), who: who}); q.proven.has(own, q.clock()) {
		of, shares = &q.first, []share{{who: who}} // all addresses of a username share its turns
	}
	l := of.join(shares)
	q.mu.Unlock()
	if l == nil {
		return nil, loginsBusy()
	}

	enough := time.NewTimer(loginPatience)
	defer enough.Stop()
	select {
	case admitted := <-l.called:
		return q.turn(admitted)
	case <-enough.C:
		err = loginsBusy()
	case <-ctx.Done():
		err = ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !of.remove(l) { // its turn came in the last moment
		return q.turn(<-l.called)
	}
	return nil, err
}

func (q *LoginQueue) turn(admitted bool) (leave func(), err error) {
	if !admitted {
		return nil, loginsBusy()
	}
	return q.leave, nil
}

// leave gives the slot to the next login.
func (q *LoginQueue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := &q.others
	if len(q.first.waiting) > 0 && (q.inARow < provenInARow || len(q.others.waiting) == 0) {
		next = &q.first
	}
	if len(next.waiting) == 0 {
		q.free++
		return
	}
	q.inARow++
	if next == &q.others {
		q.inARow = 0
	}
	next.call()
}

// prove remembers that a login was correct.
func (q *LoginQueue) prove(username, address string) {
	own := share{block: string(OriginOf(address)), who: accountOf(username)}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.proven.add(own, q.clock())
}

// Waiting returns how many logins wait.
func (q *LoginQueue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.first.waiting) + len(q.others.waiting)
}

// share is what turns are counted by: a block of addresses, a username, or a username at
// an address.
type share struct {
	block string
	who   Account
}

// turns are the turns of a share whose logins wait.
type turns struct{ last, waiting int }

// line is a line of waiting logins.
type line struct {
	waiting []*login // in the order that they came
	now     int      // the turn of the one that was called last, by its first share
	shares  map[share]*turns
}

// login is a login that waits.
type login struct {
	turn   []int // by its first share, and in case of a tie by the next
	shares []share
	called chan bool // true: its turn has come; false: another login displaced it
}

// join puts a login in line, after those of its shares. It returns nil if the line is
// full of logins that come before it.
func (l *line) join(shares []share) *login {
	turn := make([]int, len(shares))
	for i, s := range shares {
		if i == 0 {
			turn[i] = l.now
		}
		if t := l.shares[s]; t != nil {
			turn[i] = max(turn[i], t.last+1)
		}
	}
	if len(l.waiting) >= queueLength && !l.displace(turn) {
		return nil
	}
	for i, s := range shares {
		t := l.shares[s]
		if t == nil {
			t = new(turns)
			l.shares[s] = t
		}
		t.last = turn[i]
		t.waiting++
	}
	joined := &login{turn: turn, shares: shares, called: make(chan bool, 1)}
	l.waiting = append(l.waiting, joined)
	return joined
}

// displace drops the last login in line if its turn comes after this one's.
func (l *line) displace(turn []int) bool {
	last := l.waiting[0]
	for _, w := range l.waiting {
		if slices.Compare(w.turn, last.turn) >= 0 {
			last = w
		}
	}
	if slices.Compare(last.turn, turn) <= 0 {
		return false
	}
	l.remove(last)
	last.called <- false
	return true
}

// call lets the next login continue.
func (l *line) call() {
	next := slices.MinFunc(l.waiting, func(a, b *login) int { return slices.Compare(a.turn, b.turn) })
	l.now = next.turn[0]
	l.remove(next)
	next.called <- true
}

// remove takes a login out of the line; false if it does not wait any more.
func (l *line) remove(of *login) bool {
	place := slices.Index(l.waiting, of)
	if place < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, place, place+1)
	for _, s := range of.shares {
		if t := l.shares[s]; t.waiting > 1 {
			t.waiting--
		} else {
			delete(l.shares, s)
		}
	}
	return true
}

// provenLogins are the usernames that logged in correctly, each with its addresses. Only
// correct credentials add one. The oldest is forgotten if there are too many, per username
// and in all.
type provenLogins struct {
	latest *simplelru.LRU[share, time.Time]
	byUser map[Account][]share // the oldest first
}

func newProvenLogins() provenLogins {
	byUser := map[Account][]share{}
	latest, _ := simplelru.NewLRU(provenKept, func(s share, _ time.Time) {
		byUser[s.who] = slices.DeleteFunc(byUser[s.who], func(other share) bool { return other == s })
		if len(byUser[s.who]) == 0 {
			delete(byUser, s.who)
		}
	})
	return provenLogins{latest, byUser}
}

func (p *provenLogins) has(s share, now time.Time) bool {
	at, ok := p.latest.Peek(s)
	return ok && now.Sub(at) < provenFor
}

func (p *provenLogins) add(s share, now time.Time) {
	p.latest.Remove(s)
	if own := p.byUser[s.who]; len(own) >= provenOfUser {
		p.latest.Remove(own[0])
	}
	p.latest.Add(s, now)
	p.byUser[s.who] = append(p.byUser[s.who], s)
}
