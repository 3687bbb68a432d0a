package desk

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// endLister is what accounts can tell besides, where users are blocked, and given
// passwords, by other programs and other gateways.
type endLister interface {
	// EndedSessions are the users who are blocked, and those whose sessions were ended
	// after that moment. It is asked often.
	EndedSessions(ctx context.Context, after time.Time) ([]auth.UserEnd, error)
}

// How often the administration is asked whose sessions have ended, and how people are
// told.
const (
	BlockedEvery = 5 * time.Second
	BlockedEnds  = "within 5 seconds"
)

// endedSessions are the sessions of a store, but for those that have ended by what the
// administration says, whatever the store says: it may not have been told, or have
// forgotten it in a failover.
type endedSessions struct {
	auth.Sessions
	known atomic.Pointer[knownEnds]
}

// knownEnds are the ends of sessions by username, as they were read last.
type knownEnds struct {
	read time.Time // when that began
	of   map[string]auth.UserEnd
}

func newEndedSessions(of auth.Sessions) *endedSessions {
	e := &endedSessions{Sessions: of}
	e.known.Store(&knownEnds{})
	return e
}

// know replaces what is known.
func (e *endedSessions) know(read time.Time, all []auth.UserEnd) {
	known := &knownEnds{read: read, of: make(map[string]auth.UserEnd, len(all))}
	for _, end := range all {
		known.of[end.Username] = end
	}
	e.known.Store(known)
}

// Get implements auth.Sessions.
func (e *endedSessions) Get(ctx context.Context, token auth.TokenHash) (*auth.Session, error) {
	s, err := e.Sessions.Get(ctx, token)
	if err != nil {
		return nil, err
	}
	if err := e.known.Load().judge(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Put implements auth.Sessions.
func (e *endedSessions) Put(ctx context.Context, s *auth.Session) error {
	if err := e.known.Load().judge(s); err != nil {
		return err
	}
	return e.Sessions.Put(ctx, s)
}

// judge tells of a session whether it has ended.
func (k *knownEnds) judge(s *auth.Session) error {
	end, ok := k.of[s.User.Username]
	switch {
	case !ok:
		return nil
	case s.OpenedBefore(end.End):
		return s.Ended(end.Why)
	case end.Blocked && s.Issued.Before(k.read): // by a program that notes no end; who logged in since, is blocked no more
		return s.Ended(auth.CauseUserBlocked)
	default:
		return nil
	}
}

// watchEnded asks whose sessions have ended, and returns what asks again and again for as
// long as ctx lives. An administration that cannot tell is not asked.
func (h *Desk) watchEnded(ctx context.Context) (watch func()) {
	accounts, ok := h.system.accounts.(endLister)
	if !ok {
		return func() {}
	}
	h.lookForEnded(ctx, accounts)
	return func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-h.after(BlockedEvery):
			}
			h.lookForEnded(ctx, accounts)
		}
	}
}

// lookForEnded asks whose sessions have ended while any that is live was opened.
func (h *Desk) lookForEnded(ctx context.Context, accounts endLister) {
	bounded, cancel := context.WithTimeout(ctx, h.config.Backend.Timeout)
	defer cancel()
	read := time.Now()
	all, err := accounts.EndedSessions(bounded, read.Add(-2*auth.MaxTTL)) // the clocks need not agree
	if err != nil {
		if ctx.Err() == nil {
			h.log.Warn("whose sessions have ended cannot be read: those of users who were blocked, or have a new password, may live on", zap.Error(err))
		}
		return
	}
	h.sessions.know(read, all)
}
