package auth

import (
	"context"
	"sync"
	"time"

	"github.com/patrickmn/go-cache"
)

var _ Sessions = (*Memory)(nil)

// sweepEvery is how often expired sessions are let go of. They are refused
// before that; this only gives back their memory.
const sweepEvery = time.Minute

// Memory keeps sessions in this process, gone when it ends. It has no bound of
// its own: only a correct login puts a session, and the Hasher's pace bounds
// those (some 80 a second, for 30 minutes, at most).
type Memory struct {
	cache *cache.Cache
	clock func() time.Time

	mu    sync.Mutex           // orders Put against EndUser
	ended map[string]time.Time // username → when its sessions were last ended

	stop context.CancelFunc
	done chan struct{}
}

// NewMemory returns an empty store that judges expiry by clock. The caller
// closes it.
func NewMemory(clock func() time.Time) *Memory {
	ctx, stop := context.WithCancel(context.Background())
	m := &Memory{
		// Without the cache's own janitor: it is stopped by a finalizer only,
		// so nobody could wait for it.
		cache: cache.New(cache.NoExpiration, 0),
		clock: clock,
		ended: make(map[string]time.Time),
		stop:  stop,
		done:  make(chan struct{}),
	}
	go m.sweep(ctx)
	return m
}

// Close stops the sweeping and waits for it. The sessions stay readable.
func (m *Memory) Close() error {
	m.stop()
	<-m.done
	return nil
}

// Put implements Sessions.
func (m *Memory) Put(_ context.Context, s *Session) error {
	left := s.Expires.Sub(m.clock())
	if left <= 0 {
		// The cache would take this to mean "for ever".
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ended, ok := m.ended[s.User.Username]; ok && s.Issued.Before(ended) {
		return ErrNoSession
	}
	kept := *s
	m.cache.Set(string(s.Token[:]), &kept, left)
	return nil
}

// Get implements Sessions. It allocates nothing.
func (m *Memory) Get(_ context.Context, token TokenHash) (*Session, error) {
	found, ok := m.cache.Get(string(token[:]))
	if !ok {
		return nil, ErrNoSession
	}
	// The cache knows the wall clock only; ours decides.
	s := found.(*Session)
	if !s.Live(m.clock()) {
		return nil, ErrNoSession
	}
	return s, nil
}

// Delete implements Sessions.
func (m *Memory) Delete(_ context.Context, token TokenHash) error {
	m.cache.Delete(string(token[:]))
	return nil
}

// Count tells how many sessions are kept; those that expired count for at most a
// minute longer.
func (m *Memory) Count() int { return m.cache.ItemCount() }

// EndUser implements Sessions. It walks all sessions; a new password is rare.
func (m *Memory) EndUser(_ context.Context, username string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[username] = m.clock()
	for token, item := range m.cache.Items() {
		if item.Object.(*Session).User.Username == username {
			m.cache.Delete(token)
		}
	}
	return nil
}

func (m *Memory) sweep(ctx context.Context) {
	defer close(m.done)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.cache.DeleteExpired()
			m.forgetEnded()
		case <-ctx.Done():
			return
		}
	}
}

// forgetEnded drops the marks that no login can still be overtaken by.
func (m *Memory) forgetEnded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.clock().Add(-MaxTTL)
	for username, ended := range m.ended {
		if ended.Before(before) {
			delete(m.ended, username)
		}
	}
}
