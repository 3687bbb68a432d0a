package desk

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// blockLister is what accounts can tell besides, where users are blocked by a
// program beside this one.
type blockLister interface {
	// BlockedUsers names all users that are blocked. It is asked often.
	BlockedUsers(ctx context.Context) ([]string, error)
}

// How often the administration is asked who is blocked, and how people are told.
const (
	BlockedEvery = 5 * time.Second
	BlockedEnds  = "within 5 seconds"
)

// blockedSessions knows whose sessions were ended because they are blocked. A login
// passes through it: who was let in is no longer one of them, even if he is blocked
// again before anybody looks.
type blockedSessions struct {
	auth.Sessions
	mu    sync.Mutex
	ended map[string]bool
}

func newBlockedSessions(s auth.Sessions) *blockedSessions {
	return &blockedSessions{Sessions: s, ended: map[string]bool{}}
}

// Put implements auth.Sessions.
func (b *blockedSessions) Put(ctx context.Context, s *auth.Session) error {
	b.forget(s.User.Username)
	return b.Sessions.Put(ctx, s)
}

func (b *blockedSessions) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ended, name)
}

// fresh notes who is blocked, and returns those who were not noted before.
func (b *blockedSessions) fresh(names []string) (fresh []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.ended
	b.ended = make(map[string]bool, len(names))
	for _, name := range names {
		b.ended[name] = true
		if !before[name] {
			fresh = append(fresh, name)
		}
	}
	return fresh
}

// watchBlocked ends the sessions of users who are blocked, for as long as ctx
// lives. An administration that cannot tell is not asked.
func (h *Desk) watchBlocked(ctx context.Context) {
	accounts, ok := h.system.accounts.(blockLister)
	if !ok {
		return
	}
	for {
		h.endBlocked(ctx, accounts)
		select {
		case <-ctx.Done():
			return
		case <-h.after(BlockedEvery):
		}
	}
}

// endBlocked ends the sessions of those who were not blocked before.
func (h *Desk) endBlocked(ctx context.Context, accounts blockLister) {
	bounded, cancel := context.WithTimeout(ctx, h.config.Backend.Timeout)
	defer cancel()
	names, err := accounts.BlockedUsers(bounded)
	if err != nil {
		if ctx.Err() == nil {
			h.log.Warn("blocked users cannot be read: their sessions live on", zap.Error(err))
		}
		return
	}
	for _, name := range h.blocked.fresh(names) {
		if err := h.blocked.EndUser(bounded, name, auth.CauseUserBlocked); err != nil {
			h.log.Error("end the sessions of a blocked user", zap.Error(err))
			h.blocked.forget(name) // the next time it is tried again
		}
	}
}
