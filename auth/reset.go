package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/mapping"
)

// ErrWeakPassword says that a new password is shorter than MinPassword or longer
// than MaxPassword.
var ErrWeakPassword = fmt.Errorf("auth: password must be %d to %d bytes", MinPassword, MaxPassword)

// MinPassword is the shortest password, in bytes, that may be set.
const MinPassword = 8

const (
	resetLifetime   = time.Hour
	resetsPerUser   = 3 // mails within resetLifetime
	resetQueue      = 64
	resetRetryAfter = 30 * time.Second
	resetStepLimit  = 30 * time.Second // to look up, keep and mail one; to set one password
	resetTokenSize  = 32               // bytes
)

// ResetsConfig is what Resets are made of. All of it is required.
type ResetsConfig struct {
	Accounts Accounts
	Hasher   *Hasher
	Sessions Sessions
	Mailer   Mailer
	Base     string // where the interface is served, such as https://api.example.nl/webservice_v2
	Clock    func() time.Time
	Random   io.Reader // cryptographically secure
	Log      *zap.Logger
}

// Resets lets users who forgot their password set a new one by a link in a mail,
// or mails them where to do so, with Accounts that are PasswordsElsewhere. Safe for
// concurrent use; the caller closes it.
type Resets struct {
	config    ResetsConfig
	elsewhere PasswordsElsewhere // nil where passwords are reset here
	requests  chan string
	quota     *mailQuota // the worker's own

	ctx  context.Context // the worker's, ended by Close
	stop context.CancelFunc
	done chan struct{}
}

// NewResets returns Resets with its worker running, or an error when Base is no
// http or https URL.
func NewResets(c ResetsConfig) (*Resets, error) {
	if err := JudgeBase(c.Base); err != nil {
		return nil, err
	}
	c.Base = strings.TrimRight(c.Base, "/")
	r := &Resets{
		config:   c,
		requests: make(chan string, resetQueue),
		quota:    newMailQuota(resetsPerUser, resetLifetime),
		done:     make(chan struct{}),
	}
	r.elsewhere, _ = c.Accounts.(PasswordsElsewhere)
	r.ctx, r.stop = context.WithCancel(context.Background())
	go r.work()
	return r, nil
}

// JudgeBase returns what is wrong with a Base, if anything.
func JudgeBase(base string) error {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("auth: base of reset links %q: must be an absolute http or https URL without query", base)
	}
	return nil
}

// Close stops the worker, waits for it, and drops what it had not begun.
func (r *Resets) Close() error {
	r.stop()
	<-r.done
	return nil
}

// Request asks for a reset of the user's password. It only queues the request: whether
// the user exists is found out later, so that neither the answer nor its time reveals it.
// Its one violation is TooManyRequests, if the queue is full.
func (r *Resets) Request(ctx context.Context, username string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case r.requests <- username:
		return nil
	default:
		return mapping.Fail(mapping.TooManyRequests).After(resetRetryAfter)
	}
}

// Complete sets a new password by the token of a link, and ends the user's sessions.
// After ErrWeakPassword the link is still usable. ErrUnknownReset means that the link is
// unknown, used or expired, or that the user is blocked now. Any other error is a failure
// of the server, and the link stays usable. It also returns the user whose link it is, if
// a password was to be set.
func (r *Resets) Complete(ctx context.Context, token, newPassword string) (username string, err error) {
	if len(newPassword) < MinPassword || len(newPassword) > MaxPassword {
		return "", ErrWeakPassword
	}
	if r.elsewhere != nil || len(token) != base64.RawURLEncoding.EncodedLen(resetTokenSize) {
		return "", ErrUnknownReset
	}
	// The password is set even if the client disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resetStepLimit)
	defer cancel()
	reset := sha256.Sum256([]byte(token))
	user, err := r.config.Accounts.FindReset(ctx, reset, r.config.Clock())
	if err != nil {
		return "", fmt.Errorf("auth: find reset: %w", err)
	}
	if !mayReset(user) {
		return "", ErrUnknownReset
	}
	return user.Username, r.replace(ctx, reset, user.Username, newPassword)
}

func (r *Resets) replace(ctx context.Context, reset [32]byte, username, newPassword string) error {
	encoded, err := r.config.Hasher.Hash(ctx, newPassword)
	if err != nil {
		return err
	}
	if err := r.config.Accounts.Redeem(ctx, reset, encoded, r.config.Clock()); err != nil {
		return fmt.Errorf("auth: set password: %w", err)
	}
	// After the password, never before: a login in between would survive.
	if err := r.config.Sessions.EndUser(ctx, username, CauseNewPassword); err != nil {
		// The password is set: the accounts have noted that the sessions end, and every gateway soon reads that.
		r.config.Log.Warn("a password was set, and the store of sessions could not be told to end those of its user: gateways end them by what the administration says", zap.Error(err))
	}
	return nil
}

func (r *Resets) work() {
	defer close(r.done)
	for {
		// Checked first: select picks at random when both are ready.
		if r.ctx.Err() != nil {
			return
		}
		select {
		case username := <-r.requests:
			if err := r.serve(username); err != nil {
				// Not the username: people type their password there.
				r.config.Log.Error("password reset was not mailed", zap.Error(err))
			}
		case <-r.ctx.Done():
			return
		}
	}
}

// serve sends the mail if there is such a user and it may set a new password.
func (r *Resets) serve(username string) error {
	ctx, cancel := context.WithTimeout(r.ctx, resetStepLimit)
	defer cancel()
	user, err := r.config.Accounts.FindUser(ctx, username)
	if errors.Is(err, ErrUnknownUser) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find user: %w", err)
	}
	// Counted for users that exist only, so unknown names take no memory, and
	// only once mailed, so an outage of the mail server uses up nothing.
	place := r.quota.free(user.Username)
	if !mayReset(user) || place == "" {
		return nil
	}
	m, err := r.compose(ctx, user)
	if err != nil {
		return err
	}
	if err := r.config.Mailer.Send(ctx, m); err != nil {
		return err
	}
	r.quota.spend(place)
	return nil
}

func (r *Resets) compose(ctx context.Context, user User) (Mail, error) {
	if r.elsewhere != nil {
		return elsewhereLetter(user, r.elsewhere.ForgotPassword()), nil
	}
	token, err := r.keep(ctx, user)
	if err != nil {
		return Mail{}, err
	}
	return r.letter(user, token), nil
}

func (r *Resets) keep(ctx context.Context, user User) (token string, err error) {
	var bits [resetTokenSize]byte
	if _, err := io.ReadFull(r.config.Random, bits[:]); err != nil {
		return "", fmt.Errorf("random bits: %w", err)
	}
	token = base64.RawURLEncoding.EncodeToString(bits[:])
	err = r.config.Accounts.KeepReset(ctx, sha256.Sum256([]byte(token)), user.Username, r.config.Clock().Add(resetLifetime))
	if err != nil {
		return "", fmt.Errorf("keep reset: %w", err)
	}
	return token, nil
}

// mayReset reports whether a new password would let this user log in here. An
// external user's password belongs to another application.
func mayReset(u User) bool { return !u.Blocked && !u.External && mapping.IsEmail(u.Email) }
