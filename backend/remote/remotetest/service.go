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
	TTL    time.Duration    // of tokens; 0 for 5 minutes
	Orders int              // of each of the two large tenants, and the rest to scale; 0 for 120
}

// service is an administration, the tokens it gave out, and how often its endpoints
// were called.
type service struct {
	admin *administration
	ttl   time.Duration
	now   func() time.Time

	mu     sync.Mutex
	tokens map[string]time.Time // when each expires
	calls  map[string]int
}

// newService makes a service with sample data for these tenants.
func newService(o Options, v variant, tenants ...string) service {
	v.now = o.Now
	if v.now == nil {
		v.now = time.Now
	}
	admin := newAdministration(v)
	admin.fill(tenants, cmp.Or(o.Orders, 120))
	return service{admin: admin, ttl: cmp.Or(o.TTL, 5*time.Minute), now: v.now, tokens: map[string]time.Time{}, calls: map[string]int{}}
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

// logOn gives out a token.
func (s *service) logOn(prefix string) (token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256(fmt.Append(nil, prefix, len(s.tokens)))
	token = prefix + hex.EncodeToString(sum[:16])
	s.tokens[token] = s.now().Add(s.ttl)
	return token
}

// known reports whether a token was given out, and whether it is still valid.
func (s *service) known(token string) (given, valid bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expires, given := s.tokens[token]
	return given, s.now().Before(expires)
}

// expire ends every token.
func (s *service) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token := range s.tokens {
		s.tokens[token] = time.Time{}
	}
}
