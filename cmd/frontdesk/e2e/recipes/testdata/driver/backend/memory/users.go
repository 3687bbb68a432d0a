package memory

import (
	"context"

	"frontdesk/auth"
)

// users are who may log in. They keep no resets of passwords, which auth.Elsewhere says.
type users struct {
	auth.Elsewhere
	hasher *auth.Hasher
	byName map[string]account // does not change once the store is made
}

type account struct {
	auth.User
	hash string
}

func newUsers(ctx context.Context, hasher *auth.Hasher) (u users, err error) {
	demo := account{User: auth.User{ID: 1, Username: "demo", Email: "demo@example.nl", Client: auth.Client{ID: 1, Name: "Demo"}}}
	demo.hash, err = hasher.Hash(ctx, "demo")
	return users{hasher: hasher, byName: map[string]account{demo.Username: demo}}, err
}

// Verify implements auth.Verifier. It takes the same time where there is no such user.
func (u *users) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	a, known := u.byName[c.Username]
	switch right, err := u.hasher.Verify(ctx, c.Password, a.hash); {
	case err != nil:
		return auth.User{}, err
	case !known:
		return auth.User{}, &auth.Refused{Why: auth.CauseUnknownUser}
	case !right:
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword}
	default:
		return a.User, nil
	}
}

// FindUser implements auth.Accounts.
func (u *users) FindUser(_ context.Context, username string) (auth.User, error) {
	if a, ok := u.byName[username]; ok {
		return a.User, nil
	}
	return auth.User{}, auth.ErrUnknownUser
}
