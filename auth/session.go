package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"time"
)

// ErrNoSession says that there is no live session for a token: it was never issued, has
// expired or was ended.
var ErrNoSession = errors.New("auth: no such session")

// MaxTTL is the longest a session may live, counted from its issue.
const MaxTTL = 30 * time.Minute

// Remembered is how long the cause of a session's end is known, counted from its end.
const Remembered = MaxTTL

// Session is one login: a user of a client, by way of an api_key. A Session
// that a store returned is shared and must not be changed.
type Session struct {
	Token   TokenHash
	Key     [32]byte // SHA-256 of the api_key it was issued under
	KeyName string   // name of that api_key at the login
	User    User

	// Issued is when the login began, not when it ended: so a store can see
	// whether the password was changed after it was verified.
	Issued  time.Time
	Expires time.Time
}

// Live reports whether the session is still valid at now: up to Expires, not at
// it.
func (s *Session) Live(now time.Time) bool { return now.Before(s.Expires) }

// ID names the session to operators: it is short, stays the same, and opens nothing.
func (s *Session) ID() string { return hex.EncodeToString(s.Token[:6]) }

// Ended returns what is known of the session after it has ended.
func (s *Session) Ended(why Cause) *Ended {
	return &Ended{KeyName: s.KeyName, Client: s.User.Client.Name, Why: why}
}

// Expired returns the error for the session, which has expired, at now.
func (s *Session) Expired(now time.Time) error {
	if now.Before(s.Expires.Add(Remembered)) {
		return s.Ended(CauseExpired)
	}
	return ErrNoSession
}

// OpenedBefore reports whether the session was opened before its user's sessions were
// ended. It compares what the login read of the user, not clocks.
func (s *Session) OpenedBefore(end time.Time) bool { return s.User.SessionsEnd.Before(end) }

// Sessions stores sessions. All methods are safe for concurrent use. An error other than
// ErrNoSession is a failure of the store and is answered as one: a store that is down
// must not look like a wrong token.
type Sessions interface {
	// Put keeps a copy of the session until it expires. It returns
	// ErrNoSession, and keeps nothing, when the user's sessions were ended
	// after s.Issued: the login was overtaken by a new password.
	Put(ctx context.Context, s *Session) error

	// Get returns the session, or ErrNoSession if it is unknown, expired or ended: as
	// *Ended if the store remembers it, which is not guaranteed. The store's clock judges
	// expiry on every call.
	Get(ctx context.Context, token TokenHash) (*Session, error)

	// End ends one session, and remembers why. It is no error if there is no such
	// session.
	End(ctx context.Context, s *Session, why Cause) error

	// EndUser ends all sessions of the user of exactly this name, also those
	// issued before now whose Put is still to come, and remembers why.
	EndUser(ctx context.Context, username string, why Cause) error
}

// SessionLister is implemented by stores that can list their sessions.
type SessionLister interface {
	// EachSession calls f with the live sessions in any order, and when each was used last:
	// zero if the store does not note that. It ends with the first error of f.
	EachSession(ctx context.Context, f func(s *Session, used time.Time) error) error
}

// KeyEnder is implemented by stores of sessions that several gateways share.
type KeyEnder interface {
	// EndKey ends all sessions of the api_key of this hash, also those whose Put is still to come
	// within MaxTTL, for CauseKeyRevoked.
	EndKey(ctx context.Context, hash [32]byte) error
	// ReviveKey undoes EndKey for later logins.
	ReviveKey(ctx context.Context, hash [32]byte) error
	// KeyEnded reports whether the hash was ended within MaxTTL.
	KeyEnded(ctx context.Context, hash [32]byte) (bool, error)
}
