package remote

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

// Verify asks the service, or the sheet's list, whose the credentials are.
func (s *Store) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	if users := s.Sheet.Accounts.Users; len(users) > 0 {
		return s.verifyListed(ctx, users, c)
	}
	return s.verify(ctx, c)
}

// FoldsNames implements auth.NameFolder.
func (s *Store) FoldsNames() bool { return s.Sheet.Accounts.FoldNames }

// FindUser asks the service, or the sheet's list, for a user.
func (s *Store) FindUser(ctx context.Context, username string) (auth.User, error) {
	if users := s.Sheet.Accounts.Users; len(users) > 0 {
		if u := listed(users, username); u != nil {
			return userOf(u), nil
		}
		return auth.User{}, auth.ErrUnknownUser
	}
	return s.findUser(ctx, username)
}

func (s *Store) verifyListed(ctx context.Context, users []sheet.User, c auth.Credentials) (auth.User, error) {
	if s.Hasher == nil {
		return auth.User{}, errors.New("no hasher for the users of the sheet")
	}
	u := listed(users, c.Username)
	hash := ""
	if u != nil && !u.Blocked {
		hash = string(u.PasswordHash)
	}
	ok, err := s.Hasher.Verify(ctx, c.Password, hash)
	switch {
	case err != nil:
		return auth.User{}, fmt.Errorf("verify the password: %w", err)
	case u == nil:
		return auth.User{}, &auth.Refused{Why: auth.CauseUnknownUser}
	case u.Blocked:
		return auth.User{}, &auth.Refused{Why: auth.CauseUserBlocked, Client: userOf(u).Client}
	case !ok:
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword, Client: userOf(u).Client}
	default:
		return userOf(u), nil
	}
}

func listed(users []sheet.User, username string) *sheet.User {
	for i := range users {
		if users[i].Username == username {
			return &users[i]
		}
	}
	return nil
}

func userOf(u *sheet.User) auth.User {
	return auth.User{
		Username: u.Username, Email: u.Email, External: u.External, Blocked: u.Blocked,
		Client: auth.Client{ID: u.ClientID, Name: u.ClientName},
	}
}
