package auth_test

import (
	"context"
	"sync"
	"time"

	"frontdesk/auth"
)

var _ auth.Accounts = (*accounts)(nil)

// accounts are users in memory, verified by a real Hasher.
type accounts struct {
	hasher *auth.Hasher

	mu     sync.Mutex
	users  map[string]auth.User
	hashes map[string]string
	resets map[[32]byte]reset
	fail   error // answered instead of everything
}

type reset struct {
	username string
	expires  time.Time
}

func newAccounts() *accounts {
	a := &accounts{
		hasher: auth.NewHasher(),
		users:  make(map[string]auth.User),
		hashes: make(map[string]string),
		resets: make(map[[32]byte]reset),
	}
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

// enroll gives every user its name as password.
func (a *accounts) enroll(ctx context.Context) error {
	for name := range a.users {
		hash, err := a.hasher.Hash(ctx, name)
		if err != nil {
			return err
		}
		a.hashes[name] = hash
	}
	return nil
}

func (a *accounts) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	a.mu.Lock()
	user, hash, fail := a.users[c.Username], a.hashes[c.Username], a.fail
	a.mu.Unlock()
	if fail != nil {
		return auth.User{}, fail
	}
	ok, err := a.hasher.Verify(ctx, c.Password, hash)
	if err != nil {
		return auth.User{}, err
	}
	if !ok || user.Blocked {
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword, Client: user.Client}
	}
	return user, nil
}

func (a *accounts) FindUser(_ context.Context, username string) (auth.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return auth.User{}, a.fail
	}
	user, ok := a.users[username]
	if !ok {
		return auth.User{}, auth.ErrUnknownUser
	}
	return user, nil
}

func (a *accounts) SetPassword(_ context.Context, username, encodedHash string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes[username] = encodedHash
	return nil
}

func (a *accounts) KeepReset(_ context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resets[tokenHash] = reset{username, expires}
	return nil
}

func (a *accounts) FindReset(_ context.Context, tokenHash [32]byte, now time.Time) (auth.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.resets[tokenHash]
	if !ok || !now.Before(found.expires) {
		return auth.User{}, auth.ErrUnknownReset
	}
	return a.users[found.username], nil
}

func (a *accounts) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	user, err := a.FindReset(ctx, tokenHash, now)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return a.fail
	}
	for hash, r := range a.resets {
		if r.username == user.Username {
			delete(a.resets, hash)
		}
	}
	a.hashes[user.Username] = encodedHash
	return nil
}
