package auth

import (
	"context"
	"errors"
	"time"
)

// ErrNoSession says that a token stands for no live session: it was never
// issued, has expired or was ended.
var ErrNoSession = errors.New("auth: no such session")

// MaxTTL is the longest a session may live, counted from its issue.
const MaxTTL = 30 * time.Minute

// Remembered is how long it is told why a session is no more, from when it ended.
const Remembered = MaxTTL

// Session is one login: a user of a client, by way of an api_key. A Session
// that a store returned is shared and must not be changed.
type Session struct {
	Token   TokenHash
	Key     [32]byte // SHA-256 of the api_key it was issued under
	KeyName string   // of that api_key then; "" where a version that did not note it opened the session
	User    User

	// Issued is when the login began, not when it ended: a store tells by it
	// whether the password was still the one that was verified.
	Issued  time.Time
	Expires time.Time
}

// Live tells whether the session is still valid at now: up to Expires, not at
// it.
func (s *Session) Live(now time.Time) bool { return now.Before(s.Expires) }

// Ended is what is told of the session when it has ended.
func (s *Session) Ended(why Cause) *Ended {
	return &Ended{KeyName: s.KeyName, Client: s.User.Client.Name, Why: why}
}

// Expired is what is told at now of the session, which has expired.
func (s *Session) Expired(now time.Time) error {
	if now.Before(s.Expires.Add(Remembered)) {
		return s.Ended(CauseExpired)
	}
	return ErrNoSession
}

// OpenedBefore tells whether the session was opened before its user's sessions were ended.
// It goes by what the login read of the user, and by no clock, but for the sessions of a
// version that did not note it.
func (s *Session) OpenedBefore(end time.Time) bool {
	if s.KeyName == "" {
		return s.Issued.Before(end)
	}
	return s.User.SessionsEnd.Before(end)
}

// Sessions keeps sessions. All methods are safe for concurrent use. An error that
// is not ErrNoSession is a failure of the store and is answered as one: a
// store that is down must not look like a token that is wrong.
type Sessions interface {
	// Put keeps a copy of the session until it expires. It returns
	// ErrNoSession, and keeps nothing, when the user's sessions were ended
	// after s.Issued: the login was overtaken by a new password.
	Put(ctx context.Context, s *Session) error

	// Get returns the session, or ErrNoSession when it is unknown, expired or
	// ended: as *Ended where it is remembered, which no promise is made of. Expiry
	// is judged on every call by the store's clock.
	Get(ctx context.Context, token TokenHash) (*Session, error)

	// End ends one session, and remembers why. One that is not there is no error.
	End(ctx context.Context, s *Session, why Cause) error

	// EndUser ends all sessions of the user of exactly this name, also those
	// issued before now whose Put is still to come, and remembers why.
	EndUser(ctx context.Context, username string, why Cause) error
}
