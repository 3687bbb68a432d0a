package auth_test

import (
	"context"
	"errors"
	"maps"
	"time"

	"frontdesk/auth"
)

// accounts are users in memory, of whom nobody logs in.
type accounts struct {
	auth.Verifier
	users  map[string]auth.User
	hashes map[string]string
	resets map[[32]byte]reset
	fail   error // of Redeem
}

type reset struct {
	username string
	expires  time.Time
}

func newAccounts() *accounts {
	a := &accounts{users: map[string]auth.User{}, hashes: map[string]string{}, resets: map[[32]byte]reset{}}
	for i, u := range []auth.User{
		{Username: "anna", Email: "anna@example.nl"},
		{Username: "bert", Email: "bert@example.nl"},
		{Username: "blocked", Email: "blocked@example.nl", Blocked: true},
		{Username: "external", External: true},
		{Username: "noemail", Email: " "},
		{Username: "bademail", Email: "bad@"},
	} {
		u.ID, u.Client = int64(i+1), auth.Client{ID: 1, Name: "Garage"}
		a.users[u.Username] = u
	}
	return a
}

func (a *accounts) FindUser(_ context.Context, username string) (auth.User, error) {
	if user, ok := a.users[username]; ok {
		return user, nil
	}
	return auth.User{}, auth.ErrUnknownUser
}

func (a *accounts) SetPassword(_ context.Context, username, encodedHash string) error {
	a.hashes[username] = encodedHash
	return nil
}

func (a *accounts) KeepReset(_ context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	a.resets[tokenHash] = reset{username, expires}
	return nil
}

func (a *accounts) FindReset(_ context.Context, tokenHash [32]byte, now time.Time) (auth.User, error) {
	if found, ok := a.resets[tokenHash]; ok && now.Before(found.expires) {
		return a.users[found.username], nil
	}
	return auth.User{}, auth.ErrUnknownReset
}

func (a *accounts) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	user, err := a.FindReset(ctx, tokenHash, now)
	if err != nil || a.fail != nil {
		return errors.Join(err, a.fail)
	}
	maps.DeleteFunc(a.resets, func(_ [32]byte, r reset) bool { return r.username == user.Username })
	return a.SetPassword(ctx, user.Username, encodedHash)
}
