package desk

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// endLister is implemented by accounts whose users may be blocked, or given passwords, by other
// programs and other gateways.
type endLister interface {
	// EndedSessions are the users who are blocked, and those whose sessions were ended
	// within that time. It is asked often.
	EndedSessions(ctx context.Context, within time.Duration) ([]auth.UserEnd, error)
}

// How often the administration is asked whose sessions have ended, how messages name that time,
// and how long it may fail to answer before /readyz says so.
const (
	BlockedEvery = 5 * time.Second
	BlockedEnds  = "within 5 seconds"
	endsUnread   = 30 * time.Second
)

// Before it serves, a gateway asks up to firstLooks times, each for at most firstPatience,
// with LookAgain between them.
const (
	firstLooks    = 3
	firstPatience = 2 * time.Second
	LookAgain     = 500 * time.Millisecond
)

// endedSessions are the sessions of a store without those that have ended according to the
// administration: the store may not have been told, or may have forgotten it in a failover.
type endedSessions struct {
	auth.Sessions
	known atomic.Pointer[knownEnds]
}

// knownEnds are the ends of sessions by username, as they were read last.
type knownEnds struct {
	read  time.Time // when that began; zero where they never were
	of    map[string]knownEnd
	fault error // why they cannot be read since
}

// knownEnd is an end, and when a look last found the user blocked without one: a
// statement by hand writes none. Sessions from before stay ended when the user is unblocked.
type knownEnd struct {
	auth.UserEnd
	block time.Time
}

func newEndedSessions(of auth.Sessions) *endedSessions {
	e := &endedSessions{Sessions: of}
	e.known.Store(&knownEnds{})
	return e
}

// know replaces what is known.
func (e *endedSessions) know(read time.Time, all []auth.UserEnd) {
	before := e.known.Load()
	known := &knownEnds{read: read, of: make(map[string]knownEnd, len(all))}
	for username, end := range before.of {
		if read.Sub(end.block) < auth.MaxTTL {
			known.of[username] = knownEnd{auth.UserEnd{Username: username}, end.block}
		}
	}
	for _, end := range all {
		last, seen := before.of[end.Username]
		now := knownEnd{end, known.of[end.Username].block}
		if blockedWithoutEnd(end, last, seen) {
			now.block = read
		}
		known.of[end.Username] = now
	}
	e.known.Store(known)
}

// blockedWithoutEnd reports whether something that writes no end has blocked the user, judging by
// what the look before saw.
func blockedWithoutEnd(now auth.UserEnd, last knownEnd, seen bool) bool {
	switch {
	case !now.Blocked:
		return false
	case last.Blocked:
		return !last.block.IsZero()
	default:
		return now.Why != auth.CauseUserBlocked || seen && last.End.Equal(now.End)
	}
}

// lost records why the ends cannot be read. What is known stays.
func (e *endedSessions) lost(fault error) {
	known := *e.known.Load()
	known.fault = fault
	e.known.Store(&known)
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
	end, ok := k.of[s.User.Username]
	switch {
	case !ok:
		return ""
	case s.OpenedBefore(end.End):
		return end.Why
	case end.Blocked && s.Issued.Before(k.read): // by hand, without an end; who logged in since, is blocked no more
		return auth.CauseUserBlocked
	case s.Issued.Before(end.block):
		return auth.CauseUserBlocked
	default:
		return ""
	}
}

// watchEnded asks whose sessions have ended, unless starting ends before, and returns a function
// that goes on asking until ctx ends. It does neither if the administration cannot tell.
func (h *Desk) watchEnded(starting, ctx context.Context) (watch func()) {
	accounts, ok := h.system.accounts.(endLister)
	if !ok {
		return func() {}
	}
	h.lookBeforeServing(starting, accounts)
	return func() {
		first := true // which was looked for before
		every(ctx, h.after, BlockedEvery, func() {
			if !first {
				h.lookForEnded(ctx, accounts, h.config.Backend.Timeout)
			}
			first = false
		})
	}
}

// lookBeforeServing asks until there is an answer, but not for long: a gateway that cannot know
// whose sessions have ended serves all the same, and says so.
func (h *Desk) lookBeforeServing(ctx context.Context, accounts endLister) {
	for n := range firstLooks {
		if n > 0 {
			select {
			case <-ctx.Done():
				return
			case <-h.after(LookAgain):
			}
		}
		h.lookForEnded(ctx, accounts, min(firstPatience, h.config.Backend.Timeout))
		if h.common.sessions.known.Load().fault == nil {
			return
		}
	}
}

// lookForEnded asks for all ends that may concern a live session. It logs when that begins to
// fail, and when it works again.
func (h *Desk) lookForEnded(ctx context.Context, accounts endLister, patience time.Duration) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	read := h.now()
	all, err := accounts.EndedSessions(bounded, 2*auth.MaxTTL)
	failing := h.common.sessions.known.Load().fault != nil
	switch {
	case err == nil:
		h.common.sessions.know(read, all)
		if failing {
			h.log.Info("whose sessions have ended can be read again")
		}
	case ctx.Err() == nil:
		h.common.sessions.lost(err)
		if !failing {
			h.log.Warn("whose sessions have ended cannot be read: those of users who were blocked, or have a new password, may live on", zap.Error(err))
		}
	}
}

// judgeEnds reports in /readyz that the ends of sessions cannot be read: at once if they never
// were.
func (h *Desk) judgeEnds(now *Health) {
	known := h.common.sessions.known.Load()
	if known.fault == nil || h.now().Sub(known.read) <= endsUnread {
		return
	}
	since := "the start"
	if !known.read.IsZero() {
		since = known.read.UTC().Format(time.RFC3339)
	}
	now.degraded("whose sessions have ended cannot be read since %s: those of users who were blocked, or have a new password, may live on; the log says why", since)
}
