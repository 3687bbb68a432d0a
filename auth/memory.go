package auth

import (
	"context"
	"sync"
	"time"

	"github.com/patrickmn/go-cache"
)

var _ Sessions = (*Memory)(nil)

// sweepEvery is how often expired sessions are deleted. They are refused before that;
// this only frees their memory.
const sweepEvery = time.Minute

// Memory keeps sessions in this process, gone when it ends. It has no bound of
// its own: only a correct login puts a session, and the Hasher's pace bounds
// those (some 80 a second, for 30 minutes, at most, and what is remembered of
// them for as long again).
type Memory struct {
	cache *cache.Cache // *Session by token
	was   *cache.Cache // remembered by token
	clock func() time.Time

	mu    sync.Mutex           // orders Put against EndUser
	ended map[string]time.Time // username → when its sessions were last ended

	stop context.CancelFunc
	done chan struct{}
}

// remembered is what is stored of a session that has ended.
type remembered struct {
	*Ended
	until time.Time
}

// NewMemory returns an empty store that judges expiry by clock. The caller
// closes it.
func NewMemory(clock func() time.Time) *Memory {
	ctx, stop := context.WithCancel(context.Background())
	m := &Memory{
		// Without the cache's own janitor: it is stopped by a finalizer only,
		// so nobody could wait for it.
		cache: cache.New(cache.NoExpiration, 0),
		was:   cache.New(cache.NoExpiration, 0),
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
	if !s.Live(m.clock()) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ended, ok := m.ended[s.User.Username]; ok && s.Issued.Before(ended) {
		return ErrNoSession
	}
	kept := *s
	m.cache.Set(string(s.Token[:]), &kept, cache.NoExpiration) // it knows the wall clock only; ours decides
	return nil
}

// Get implements Sessions. It allocates nothing.
func (m *Memory) Get(_ context.Context, token TokenHash) (*Session, error) {
	found, ok := m.cache.Get(string(token[:]))
	if !ok {
		return nil, m.told(token)
	}
	s := found.(*Session)
	if now := m.clock(); !s.Live(now) {
		return nil, s.Expired(now)
	}
	return s, nil
}

// told is the error for a token without a session.
func (m *Memory) told(token TokenHash) error {
	if found, ok := m.was.Get(string(token[:])); ok {
		if r := found.(remembered); m.clock().Before(r.until) {
			return r.Ended
		}
	}
	return ErrNoSession
}

// End implements Sessions.
func (m *Memory) End(_ context.Context, s *Session, why Cause) error {
	m.end(string(s.Token[:]), s, why, m.clock())
	return nil
}

// end ends a session that did so at that moment.
func (m *Memory) end(token string, s *Session, why Cause, at time.Time) {
	m.was.Set(token, remembered{s.Ended(why), at.Add(Remembered)}, cache.NoExpiration)
	m.cache.Delete(token)
}

// Count returns how many sessions are stored; expired ones count for at most a minute
// longer.
func (m *Memory) Count() int { return m.cache.ItemCount() }

// EndUser implements Sessions. It walks all sessions; a new password is rare.
func (m *Memory) EndUser(_ context.Context, username string, why Cause) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.ended[username] = now
	for token, item := range m.cache.Items() {
		if s := item.Object.(*Session); s.User.Username == username && s.Live(now) {
			m.end(token, s, why, now)
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
			m.endExpired()
			m.forgetEnded()
		case <-ctx.Done():
			return
		}
	}
}

// endExpired gives back what sessions take that have expired.
func (m *Memory) endExpired() {
	now := m.clock()
	for token, item := range m.cache.Items() {
		if s := item.Object.(*Session); !s.Live(now) {
			m.end(token, s, CauseExpired, s.Expires)
		}
	}
}

// forgetEnded drops what is remembered no longer, and the marks that no login can still
// be overtaken by.
func (m *Memory) forgetEnded() {
	now := m.clock()
	for token, item := range m.was.Items() {
		if !now.Before(item.Object.(remembered).until) {
			m.was.Delete(token)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := now.Add(-MaxTTL)
	for username, ended := range m.ended {
		if ended.Before(before) {
			delete(m.ended, username)
		}
	}
}
