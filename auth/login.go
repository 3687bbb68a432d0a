package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/mapping"
)

// Attempt is one try to log in.
type Attempt struct {
	Key      *Key     // of the api_key; nil for one that may not be used
	KeyHash  [32]byte // SHA-256 of the api_key, where Key is given
	Username string
	Password string
	Address  string // where it comes from: an IP address without port
}

// Format hides an attempt from every verb of fmt.
func (Attempt) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "attempt(hidden)") }

// LoginOutcome is how an attempt to log in ended.
type LoginOutcome string

// The outcomes.
const (
	LoginDone        LoginOutcome = "done"
	LoginWrong       LoginOutcome = "wrong"     // api_key, username or password
	LoginThrottled   LoginOutcome = "throttled" // not judged: too many were wrong before
	LoginBusy        LoginOutcome = "busy"      // not judged: too many others at once
	LoginRefused     LoginOutcome = "refused"   // right credentials of a user who may not
	LoginUnavailable LoginOutcome = "failed"    // the administration or the session store did not answer
)

// LoginOutcomes returns all outcomes.
func LoginOutcomes() []LoginOutcome {
	return []LoginOutcome{LoginDone, LoginWrong, LoginThrottled, LoginBusy, LoginRefused, LoginUnavailable}
}

func outcomeOf(err error) LoginOutcome {
	switch _, answer := mapping.AsViolations(err); {
	case err == nil:
		return LoginDone
	case mapping.Is(err, mapping.CredentialsInvalid):
		return LoginWrong
	case errors.Is(err, errLoginsBusy):
		return LoginBusy
	case mapping.Is(err, mapping.TooManyRequests):
		return LoginThrottled
	case mapping.Is(err, mapping.BackendUnavailable), mapping.Is(err, mapping.BackendTimeout), mapping.Is(err, mapping.BackendChanged), mapping.Is(err, mapping.InternalError), mapping.Is(err, mapping.Overloaded), !answer:
		return LoginUnavailable
	default:
		return LoginRefused
	}
}

// LoginConfig is what a Login is made of. All of it is required, but Observe.
type LoginConfig struct {
	Verifier Verifier
	Sessions Sessions
	Throttle *Throttle
	Queue    *LoginQueue
	TTL      time.Duration // more than 0, at most MaxTTL
	Vendor   string        // named to external users
	Clock    func() time.Time
	Random   io.Reader // cryptographically secure
	Log      *zap.Logger
	Observe  func(LoginOutcome) // called after every attempt; may be nil
}

// Login turns credentials into sessions (interface: GET /authenticate). It has no state
// of its own. Safe for concurrent use.
type Login struct {
	config LoginConfig
}

// NewLogin returns a Login, or an error when the sessions' lifetime is out of
// bounds.
func NewLogin(c LoginConfig) (*Login, error) {
	if c.TTL <= 0 || c.TTL > MaxTTL {
		return nil, fmt.Errorf("auth: session lifetime %v: must be more than 0 and at most %v", c.TTL, MaxTTL)
	}
	return &Login{config: c}, nil
}

// Authenticate returns a new token and its session. Errors of the client are violations:
// TooManyRequests, before the password is verified, also if too many others log in;
// CredentialsInvalid, the same for a wrong api_key, username and password (the cause, a
// *Refused, is only for the log); and for right credentials ExternalUser, EmailMissing
// and EmailInvalid. Any other error is a failure of the server and does not count as a
// guess.
func (l *Login) Authenticate(ctx context.Context, a Attempt) (string, Session, error) {
	token, session, err := l.authenticate(ctx, a)
	if l.config.Observe != nil {
		l.config.Observe(outcomeOf(err))
	}
	return token, session, err
}

func (l *Login) authenticate(ctx context.Context, a Attempt) (string, Session, error) {
	guess, err := l.config.Throttle.Begin(ctx, a.Username, a.Address)
	if err != nil {
		l.noteRefusal(a, err)
		return "", Session{}, err
	}
	defer guess.Abandon(ctx)

	user, began, err := l.verify(ctx, a)
	switch {
	case errors.Is(err, errLoginsBusy):
		return "", Session{}, err
	case err != nil && !errors.Is(err, ErrCredentials):
		return "", Session{}, fmt.Errorf("auth: verify credentials: %w", err)
	case err != nil || a.Key == nil || user.Blocked:
		return "", Session{}, l.refuse(ctx, guess, a, refusedAs(err, user))
	}
	if err := guess.Right(ctx); err != nil {
		return "", Session{}, err
	}
	if err := l.admit(user); err != nil {
		return "", Session{}, err
	}
	l.config.Queue.prove(a.Username, a.Address)
	return l.open(ctx, a, user, began)
}

// refuse ends a guess that was wrong, and returns the answer.
func (l *Login) refuse(ctx context.Context, guess *Guess, a Attempt, as *Refused) error {
	err := guess.Wrong(ctx)
	if mapping.Is(err, mapping.CredentialsInvalid) {
		return mapping.Fail(mapping.CredentialsInvalid).Because(as)
	}
	l.noteRefusal(a, err)
	return err
}

// refusedAs returns the cause of a refused login: from the error of its verification, or,
// without one, from the user that was found.
func refusedAs(err error, user User) *Refused {
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return refused
	case user.Blocked:
		return &Refused{Why: CauseUserBlocked, Client: user.Client}
	default:
		return &Refused{Client: user.Client}
	}
}

// verify judges the credentials when it is their turn, and returns when that began. It
// does so even without a valid key, so that the answer takes as long.
func (l *Login) verify(ctx context.Context, a Attempt) (user User, began time.Time, err error) {
	leave, err := l.config.Queue.enter(ctx, a.Username, a.Address)
	if err != nil {
		return User{}, time.Time{}, err
	}
	defer leave()
	began = l.config.Clock()
	user, err = l.config.Verifier.Verify(ctx, Credentials{Username: a.Username, Password: a.Password})
	return user, began, err
}

// admit judges a user whose credentials are right.
func (l *Login) admit(user User) error {
	switch {
	case user.External:
		return mapping.Fail(mapping.ExternalUser, l.config.Vendor)
	case strings.TrimSpace(user.Email) == "":
		return mapping.Fail(mapping.EmailMissing, user.Username)
	case !mapping.IsEmail(user.Email):
		return mapping.Fail(mapping.EmailInvalid, user.Email)
	}
	return nil
}

func (l *Login) open(ctx context.Context, a Attempt, user User, began time.Time) (string, Session, error) {
	text, hash, err := newToken(l.config.Random)
	if err != nil {
		return "", Session{}, err
	}
	s := Session{Token: hash, Key: a.KeyHash, KeyName: a.Key.Name, User: user, Issued: began, Expires: began.Add(l.config.TTL)}
	err = l.config.Sessions.Put(ctx, &s)
	if errors.Is(err, ErrNoSession) {
		// The password was changed, or the user blocked, while it was being verified.
		overtaken := &Refused{Why: CauseNewPassword, Client: user.Client}
		if ended := (*Ended)(nil); errors.As(err, &ended) {
			overtaken.Why = ended.Why
		}
		return "", Session{}, mapping.Fail(mapping.CredentialsInvalid).Because(overtaken)
	}
	if err != nil {
		return "", Session{}, fmt.Errorf("auth: keep session: %w", err)
	}
	return text, s, nil
}

// noteRefusal logs the guess for the operator. It omits the username: people type their
// password there by mistake.
func (l *Login) noteRefusal(a Attempt, err error) {
	if errors.Is(err, errLoginsBusy) {
		return // no password was guessed, and a crowd would flood the log
	}
	if mapping.Is(err, mapping.TooManyRequests) {
		l.config.Log.Warn("login refused: too many wrong credentials", zap.String("address", a.Address))
	}
}
