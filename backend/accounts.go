package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/auth"
)

// Accounts wraps the accounts of an administration: calls have a deadline, failures are
// translated, and an answer about another user than the one asked for is an error. No
// circuit breaker guards these calls: password hashes alone can make them slow.
func (c *Client) Accounts(inner auth.Accounts) auth.Accounts {
	guarded := &accounts{inner: inner, timeout: c.o.Timeout, observe: c.o.Observe, sameName: func(a, b string) bool { return a == b }}
	if f, ok := inner.(auth.NameFolder); ok && f.FoldsNames() {
		guarded.sameName = strings.EqualFold
	}
	if e, ok := inner.(auth.PasswordsElsewhere); ok {
		return struct {
			*accounts
			auth.PasswordsElsewhere
		}{guarded, e}
	}
	return guarded
}

// AccountsLane is the Lane of calls for users and their passwords. It has no circuit breaker.
const AccountsLane = "accounts"

type accounts struct {
	inner    auth.Accounts
	timeout  time.Duration
	observe  func(context.Context, Call) // may be nil
	sameName func(name, requested string) bool
}

var _ auth.Accounts = (*accounts)(nil)

func (a *accounts) call(ctx context.Context, f func(context.Context) error) error {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	outcome, err := judgeAccount(bounded, f(bounded))
	if a.observe != nil {
		a.observe(ctx, Call{Operation: "account", Lane: AccountsLane, Outcome: outcome, Took: time.Since(began)})
	}
	return err
}

// judgeAccount is judgeCall for calls of accounts.
func judgeAccount(ctx context.Context, err error) (Outcome, error) {
	switch {
	case err == nil, errors.Is(err, auth.ErrCredentials), errors.Is(err, auth.ErrUnknownUser), errors.Is(err, auth.ErrUnknownReset):
		return Answered, err
	default:
		return judgeFailure(ctx, err)
	}
}

func (a *accounts) Verify(ctx context.Context, c auth.Credentials) (user auth.User, err error) {
	err = a.call(ctx, func(ctx context.Context) error {
		user, err = a.check(c.Username)(a.inner.Verify(ctx, c))
		return err
	})
	return user, err
}

// check returns a check that an answer is about the requested user. Its errors have no names:
// people type their password there by mistake.
func (a *accounts) check(requested string) func(auth.User, error) (auth.User, error) {
	return func(user auth.User, err error) (auth.User, error) {
		switch {
		case err != nil:
			return auth.User{}, err
		case !a.sameName(user.Username, requested):
			return auth.User{}, fmt.Errorf("%w: the service answers about another user (%d of client %d) than the one asked about", ErrUnexpected, user.ID, user.Client.ID)
		case user.Client.ID == 0:
			return auth.User{}, fmt.Errorf("%w: the service answers about a user of no client", ErrUnexpected)
		default:
			return user, nil
		}
	}
}

func (a *accounts) FindUser(ctx context.Context, username string) (user auth.User, err error) {
	err = a.call(ctx, func(ctx context.Context) error {
		user, err = a.check(username)(a.inner.FindUser(ctx, username))
		return err
	})
	return user, err
}

func (a *accounts) SetPassword(ctx context.Context, username, encodedHash string) error {
	return a.call(ctx, func(ctx context.Context) error { return a.inner.SetPassword(ctx, username, encodedHash) })
}

func (a *accounts) KeepReset(ctx context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	return a.call(ctx, func(ctx context.Context) error { return a.inner.KeepReset(ctx, tokenHash, username, expires) })
}

func (a *accounts) FindReset(ctx context.Context, tokenHash [32]byte, now time.Time) (user auth.User, err error) {
	err = a.call(ctx, func(ctx context.Context) error {
		user, err = a.inner.FindReset(ctx, tokenHash, now)
		return err
	})
	return user, err
}

func (a *accounts) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	return a.call(ctx, func(ctx context.Context) error { return a.inner.Redeem(ctx, tokenHash, encodedHash, now) })
}
