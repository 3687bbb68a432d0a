package desk

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// endLister is implemented by accounts whose users may be blocked, or get new passwords, through other
// programs and other gateways.
type endLister interface {
	// EndedSessions returns the users who are blocked, and those whose sessions were ended
	// within that time. It is called every BlockedEvery.
	EndedSessions(ctx context.Context, within time.Duration) ([]auth.UserEnd, error)
}

// How often the administration is asked whose sessions have ended, how messages name that interval,
// and how long it may fail to answer before /readyz reports it.
const (
	BlockedEvery = 5 * time.Second
	BlockedEnds  = "within 5 seconds"
	endsUnread   = 30 * time.Second
)

// endedSessions hides the sessions of a store that have ended according to the administration: the
// end may not have reached the store, or a failover may have lost it.
type endedSessions struct {
	auth.Sessions
	known atomic.Pointer[knownEnds]
	look  atomic.Pointer[endsLook]
}

// endsLook is the last look for ends.
type endsLook struct {
	sound time.Time // when a look last succeeded
	fault error     // why the last one failed; nil if it did not
}

// knownEnds are the ends of sessions by username, as they were read last.
type knownEnds struct {
	read time.Time // when the reading began; zero before the first
	of   map[string]auth.UserEnd
}

func newEndedSessions(of auth.Sessions) *endedSessions {
	e := &endedSessions{Sessions: of}
	e.known.Store(&knownEnds{})
	e.look.Store(&endsLook{})
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
	if why := e.known.Load().why(s); why != "" {
		return nil, s.Ended(why)
	}
	return s, nil
}

// Put implements auth.Sessions.
func (e *endedSessions) Put(ctx context.Context, s *auth.Session) error {
	if why := e.known.Load().why(s); why != "" {
		return s.Ended(why)
	}
	return e.Sessions.Put(ctx, s)
}

// why returns the cause by which a session has ended; "" if it has not.
func (k *knownEnds) why(s *auth.Session) auth.Cause {
	end := k.of[s.User.Username]
	switch {
	case s.OpenedBefore(end.End):
		return end.Why
	case end.Blocked && s.Issued.Before(k.read): // blocked by hand, so no end was stored; a login after the reading proves that the block is over
		return auth.CauseUserBlocked
	default:
		return ""
	}
}

// watchEnded reads the ends every BlockedEvery until ctx ends, and at once when a reload has ended an api_key.
func (h *Desk) watchEnded(ctx context.Context) {
	var logged []string
	look := func() {
		h.lookForEnded(ctx, h.config.Backend.Timeout)
		known := h.letIn()
		for _, one := range known {
			if !slices.Contains(logged, one) {
				h.log.Warn(one)
			}
		}
		logged = known
	}
	for ctx.Err() == nil {
		look()
		for due, waiting := h.after(BlockedEvery), true; waiting; {
			select {
			case <-ctx.Done():
				waiting = false
			case <-due:
				waiting = false
			case <-h.keyEnds.wake:
				look()
			}
		}
	}
}

// readEnds reads all ends that may concern a live session. If that fails, the ends known before still hold.
func (h *Desk) readEnds(ctx context.Context, patience time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	read, look := h.now(), *h.common.sessions.look.Load()
	look.fault = h.keyEnds.exchange(bounded)
	if accounts, ok := h.system.accounts.(endLister); ok {
		all, err := accounts.EndedSessions(bounded, 2*auth.MaxTTL)
		if err == nil {
			h.common.sessions.know(read, all)
		}
		look.fault = errors.Join(look.fault, err)
	}
	if look.fault == nil {
		look.sound = read
	}
	if ctx.Err() == nil {
		h.common.sessions.look.Store(&look)
	}
	return look.fault
}

// lookForEnded reads the ends, and logs when reading begins to fail and when it works again.
func (h *Desk) lookForEnded(ctx context.Context, patience time.Duration) {
	failing := h.common.sessions.look.Load().fault != nil
	err := h.readEnds(ctx, patience)
	switch {
	case err == nil && failing:
		h.log.Info("whose sessions have ended can be read again")
	case err != nil && ctx.Err() == nil && !failing:
		h.log.Warn("whose sessions have ended cannot be read, or told: those of users who were blocked or have a new password, and of api_keys that were ended elsewhere, may live on", zap.Error(err))
	}
}

// judgeEnds reports in /readyz the ends that this gateway's files do not have, and that ends cannot be read.
func (h *Desk) judgeEnds(now *Health) {
	for _, one := range h.letIn() {
		now.degraded("%s", one)
	}
	look := h.common.sessions.look.Load()
	if look.fault == nil || h.now().Sub(look.sound) <= endsUnread {
		return
	}
	now.degraded("whose sessions have ended cannot be read since %s: those of users who were blocked or have a new password, and of api_keys that were ended elsewhere, may live on; the log says why", look.sound.UTC().Format(time.RFC3339))
}
