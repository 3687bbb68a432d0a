package remotetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// Options configure a service. The zero value is good.
type Options struct {
	Now    func() time.Time // nil for time.Now
	TTL    time.Duration    // of tokens and tickets; 0 for 5 minutes
	Orders int              // of each of the two large tenants, and the rest to scale; 0 for 120
}

// service is what both services have: an administration, and the log-ons of the
// programs that ask it.
type service struct {
	admin *administration
	ttl   time.Duration
	now   func() time.Time

	mu     sync.Mutex
	logOns map[string]logOn
	calls  map[string]int
}

// logOn is what a token or a ticket stands for.
type logOn struct {
	tenant  string // that it is for; "" where a call says which
	expires time.Time
}

// newService makes a service whose administration is so, with its sample data.
func newService(o Options, v variant, tenants ...string) service {
	v.now = o.Now
	if v.now == nil {
		v.now = time.Now
	}
	admin := newAdministration(v)
	admin.fill(tenants, cmp.Or(o.Orders, 120))
	return service{admin: admin, ttl: cmp.Or(o.TTL, 5*time.Minute), now: v.now, logOns: map[string]logOn{}, calls: map[string]int{}}
}

// Calls returns how often an endpoint was called, whatever the answer: "POST /oauth/token",
// "GET /v3/{collection}".
func (s *service) Calls(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[name]
}

func (s *service) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
}

// logOn gives out a token or a ticket.
func (s *service) logOn(prefix, tenant string) (id string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256(fmt.Append(nil, prefix, len(s.logOns)))
	id, expires = prefix+hex.EncodeToString(sum[:16]), s.now().Add(s.ttl)
	s.logOns[id] = logOn{tenant, expires}
	return id, expires
}

// known returns what a token or a ticket stands for, and whether it is still valid.
func (s *service) known(id string) (l logOn, given, holds bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, given = s.logOns[id]
	return l, given, s.now().Before(l.expires)
}

// expire ends every log-on.
func (s *service) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.logOns {
		l.expires = time.Time{}
		s.logOns[id] = l
	}
}
