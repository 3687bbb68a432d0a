package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/auth"
)

// Accounts adds to the calls of an administration's accounts a deadline, the translation
// of failures, and a check that an answer is about the user that was asked for. These
// calls do not use the circuit breaker: they may be slow only because of the password
// hashes.
func (c *Client) Accounts(of auth.Accounts) auth.Accounts {
	guarded := &accounts{of: of, timeout: c.o.Timeout, observe: c.o.Observe, isName: func(a, b string) bool { return a == b }}
	if f, ok := of.(auth.NameFolder); ok && f.FoldsNames() {
		guarded.isName = strings.EqualFold
	}
	if e, ok := of.(auth.PasswordsElsewhere); ok {
		return struct {
			*accounts
			auth.PasswordsElsewhere
		}{guarded, e}
	}
	return guarded
}

// AccountsLane is the Lane of calls for users and their passwords, which no circuit guards.
const AccountsLane = "accounts"

type accounts struct {
	of      auth.Accounts
	timeout time.Duration
	observe func(context.Context, Call) // may be nil
	isName  func(name, requested string) bool
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

// isTimeout reports whether a call took too long, by its deadline or by one that
// the driver sets itself.
func isTimeout(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func (a *accounts) Verify(ctx context.Context, c auth.Credentials) (user auth.User, err error) {
	err = a.call(ctx, func(ctx context.Context) error {
		user, err = a.named(c.Username)(a.of.Verify(ctx, c))
		return err
	})
	return user, err
}

// named checks an answer about the user of a name. It logs no names: people type their
// password there by mistake.
func (a *accounts) named(requested string) func(auth.User, error) (auth.User, error) {
	return func(user auth.User, err error) (auth.User, error) {
		switch {
		case err != nil:
			return auth.User{}, err
		case !a.isName(user.Username, requested):
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
		user, err = a.named(username)(a.of.FindUser(ctx, username))
		return err
	})
	return user, err
}

func (a *accounts) SetPassword(ctx context.Context, username, encodedHash string) error {
	return a.call(ctx, func(ctx context.Context) error { return a.of.SetPassword(ctx, username, encodedHash) })
}

func (a *accounts) KeepReset(ctx context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	return a.call(ctx, func(ctx context.Context) error { return a.of.KeepReset(ctx, tokenHash, username, expires) })
}

func (a *accounts) FindReset(ctx context.Context, tokenHash [32]byte, now time.Time) (user auth.User, err error) {
	err = a.call(ctx, func(ctx context.Context) error {
		user, err = a.of.FindReset(ctx, tokenHash, now)
		return err
	})
	return user, err
}

func (a *accounts) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	return a.call(ctx, func(ctx context.Context) error { return a.of.Redeem(ctx, tokenHash, encodedHash, now) })
}
