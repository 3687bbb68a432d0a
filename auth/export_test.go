package auth

import (
	"context"
	"time"
)

// MemorySize returns how many sessions and how many marks of ended users are
// kept, dead ones included, and how many sessions are remembered.
func MemorySize(m *Memory) [3]int {
	return [3]int{m.cache.ItemCount(), m.endedAt.ItemCount(), m.causes.ItemCount()}
}

// GuessCounterSize returns how many addresses and how many failures are kept.
func GuessCounterSize(t *MemoryGuessCounter) (addresses, failures int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.origins.recent.Values() {
		failures += len(o.failures)
	}
	return t.origins.recent.Len(), failures
}

// AddressesKept bounds the addresses that a MemoryGuessCounter counts.
const (
	AddressesKept = addressesKept
)

// FillHasher takes all places of a hasher, until the returned func.
func FillHasher(h *Hasher) func() {
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	return func() {
		for range cap(h.slots) {
			<-h.slots
		}
	}
}

// CountWork has f count the work of the hashes that it computes from now on.
func CountWork(f *ForeignHashes) *time.Duration {
	var done time.Duration
	counted := func(h parsedHash) parsedHash {
		matches := h.matches
		h.matches = func(password []byte) (bool, error) {
			done += h.work
			return matches(password)
		}
		return h
	}
	for i := range f.kinds {
		read := f.kinds[i].read
		f.kinds[i].read = func(stored string, salts map[string]string) (parsedHash, error) {
			h, err := read(stored, salts)
			return counted(h), err
		}
	}
	nobody := counted(*f.nobody.Load())
	f.nobody.Store(&nobody)
	return &done
}

// LimitsSize returns how many clients of keys are counted.
func LimitsSize(m *MemoryLimits) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.used)
}

// ProvenKept bounds the logins that a LoginQueue remembers, ProvenOfUser those of one
// username.
const (
	ProvenKept   = provenKept
	ProvenOfUser = provenOfUser
)

// EnterQueue waits for a place in a queue.
func EnterQueue(ctx context.Context, q *LoginQueue, username, address string) (leave func(), err error) {
	return q.enter(ctx, username, address)
}

// ProveLogin has a queue remember a login.
func ProveLogin(q *LoginQueue, username, address string) { q.prove(username, address) }

// QueueProven returns how many logins a queue remembers.
func QueueProven(q *LoginQueue) int { return q.proven.latest.Len() }

// QueueKnows reports whether a queue remembers a login.
func QueueKnows(q *LoginQueue, username, address string) bool {
	return q.proven.has(share{block: string(OriginOf(address)), who: accountOf(username)}, q.clock())
}

// QueueShares are what the logins that wait share.
func QueueShares(q *LoginQueue) (all []string) {
	for _, l := range []*line{&q.first, &q.others} {
		for s := range l.shares {
			all = append(all, s.block)
		}
	}
	return all
}

// Find returns the key that this api_key text belongs to at now; nil when it
// does not have the form of a UUID, is unknown or has expired. The text is
// hashed as given: upper and lower case differ.
func (r *Keyring) Find(apiKey string, now time.Time) *Key {
	hash, ok := HashKey(apiKey)
	if !ok {
		return nil
	}
	return r.ByHash(hash, now)
}
