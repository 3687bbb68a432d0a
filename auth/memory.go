package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patrickmn/go-cache"
)

var (
	_ Sessions      = (*Memory)(nil)
	_ SessionLister = (*Memory)(nil)
)

// sweepEvery is how often expired sessions are deleted. They are refused before that;
// this only frees their memory.
const sweepEvery = time.Minute

// Memory keeps sessions in this process, gone when it ends. It has no bound of
// its own: only a correct login puts a session, and the Hasher's pace bounds
// those (some 80 a second, for 30 minutes, at most, and what is remembered of
// them for as long again).
type Memory struct {
	cache  *cache.Cache // *keptSession by token
	causes *cache.Cache // *Ended by token
	clock  func() time.Time

	mu      sync.Mutex   // orders Put against EndUser
	endedAt *cache.Cache // when the sessions of a username were last ended

	stop context.CancelFunc
	done chan struct{}
}

// keptSession is a session, and when it was used last.
type keptSession struct {
	Session
	used atomic.Int64 // in seconds since 1970
}

// note records a use.
func (k *keptSession) note(now time.Time) {
	if second := now.Unix(); k.used.Load() != second { // a store at each request would have processors contend for its cache line
		k.used.Store(second)
	}
}

// NewMemory returns an empty store that judges expiry by clock. The caller
// closes it.
func NewMemory(clock func() time.Time) *Memory {
	ctx, stop := context.WithCancel(context.Background())
	m := &Memory{
		// Without the cache's own janitor: it is stopped by a finalizer only,
		// so nobody could wait for it.
		cache:   cache.New(cache.NoExpiration, 0),
		causes:  cache.New(Remembered, 0),
		clock:   clock,
		endedAt: cache.New(MaxTTL, 0), // the session of a login that took longer has expired
		stop:    stop,
		done:    make(chan struct{}),
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
	if ended, ok := m.endedAt.Get(s.User.Username); ok && s.Issued.Before(ended.(time.Time)) {
		return ErrNoSession
	}
	kept := &keptSession{Session: *s}
	kept.note(s.Issued)
	m.cache.Set(string(s.Token[:]), kept, cache.NoExpiration) // the cache would expire it by the wall clock, not by m.clock
	return nil
}

// Get implements Sessions. It allocates nothing.
func (m *Memory) Get(_ context.Context, token TokenHash) (*Session, error) {
	found, ok := m.cache.Get(string(token[:]))
	if !ok {
		return nil, m.noSession(token)
	}
	k, now := found.(*keptSession), m.clock()
	if !k.Live(now) {
		return nil, k.Expired(now)
	}
	k.note(now)
	return &k.Session, nil
}

// noSession returns the error for a token without a session.
func (m *Memory) noSession(token TokenHash) error {
	if found, ok := m.causes.Get(string(token[:])); ok {
		return found.(*Ended)
	}
	return ErrNoSession
}

// End implements Sessions.
func (m *Memory) End(_ context.Context, s *Session, why Cause) error {
	m.end(string(s.Token[:]), s, why, m.clock())
	return nil
}

// end replaces a session, which ended at that moment, by the cause of its end.
func (m *Memory) end(token string, s *Session, why Cause, at time.Time) {
	m.causes.Set(token, s.Ended(why), max(at.Add(Remembered).Sub(m.clock()), 1)) // 0 or less would keep it for ever
	m.cache.Delete(token)
}

// Count returns how many sessions are stored; expired ones count for at most a minute
// longer.
func (m *Memory) Count() int { return m.cache.ItemCount() }

// EachSession implements SessionLister.
func (m *Memory) EachSession(_ context.Context, f func(*Session, time.Time) error) error {
	now := m.clock()
	for _, item := range m.cache.Items() {
		k := item.Object.(*keptSession)
		if !k.Live(now) {
			continue
		}
		if err := f(&k.Session, time.Unix(k.used.Load(), 0)); err != nil {
			return err
		}
	}
	return nil
}

// EndUser implements Sessions. It walks all sessions; a new password is rare.
func (m *Memory) EndUser(_ context.Context, username string, why Cause) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.endedAt.SetDefault(username, now)
	for token, item := range m.cache.Items() {
		if s := &item.Object.(*keptSession).Session; s.User.Username == username && s.Live(now) {
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
			m.causes.DeleteExpired()
			m.endedAt.DeleteExpired()
		case <-ctx.Done():
			return
		}
	}
}

// endExpired ends the sessions that have expired, to free their memory.
func (m *Memory) endExpired() {
	now := m.clock()
	for token, item := range m.cache.Items() {
		if s := &item.Object.(*keptSession).Session; !s.Live(now) {
			m.end(token, s, CauseExpired, s.Expires)
		}
	}
}
