package main

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// blockLister is what accounts can tell besides, where users are blocked by a
// program beside this one.
type blockLister interface {
	// BlockedUsers names all users that are blocked. It is asked often.
	BlockedUsers(ctx context.Context) ([]string, error)
}

// How often the administration is asked who is blocked, and how people are told.
const (
	blockedEvery = 5 * time.Second
	blockedEnds  = "within 5 seconds"
)

// watchBlocked ends the sessions of users who are blocked, for as long as ctx
// lives. An administration that cannot tell is not asked.
func (h *house) watchBlocked(ctx context.Context) {
	accounts, ok := h.system.accounts.(blockLister)
	if !ok {
		return
	}
	known := map[string]bool{}
	for {
		known = h.endBlocked(ctx, accounts, known)
		select {
		case <-ctx.Done():
			return
		case <-h.after(blockedEvery):
		}
	}
}

// endBlocked ends the sessions of those who were not blocked before, and returns
// who is now.
func (h *house) endBlocked(ctx context.Context, accounts blockLister, before map[string]bool) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, h.config.Backend.Timeout)
	defer cancel()
	names, err := accounts.BlockedUsers(ctx)
	if err != nil {
		if ctx.Err() == nil {
			h.log.Warn("blocked users cannot be read: their sessions live on", zap.Error(err))
		}
		return before
	}
	now := make(map[string]bool, len(names))
	for _, name := range names {
		if !before[name] {
			if err := h.common.sessions.EndUser(ctx, name); err != nil {
				h.log.Error("end the sessions of a blocked user", zap.Error(err))
				continue // the next time it is tried again
			}
		}
		now[name] = true
	}
	return now
}
