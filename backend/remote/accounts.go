package remote

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/auth"
)

// Verify asks the service, or the sheet's list, whose the credentials are.
func (s *Store) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	if len(s.Sheet.Accounts.Users) > 0 {
		return s.verifyListed(ctx, c)
	}
	return s.verify(ctx, c)
}

// FoldsNames implements auth.NameFolder.
func (s *Store) FoldsNames() bool { return s.Sheet.Accounts.FoldNames }

// FindUser asks the service, or the sheet's list, for a user.
func (s *Store) FindUser(ctx context.Context, username string) (auth.User, error) {
	if len(s.Sheet.Accounts.Users) == 0 {
		return s.findUser(ctx, username)
	}
	if u := s.Sheet.Accounts.Listed(username); u != nil {
		return u.User, nil
	}
	return auth.User{}, auth.ErrUnknownUser
}

func (s *Store) verifyListed(ctx context.Context, c auth.Credentials) (auth.User, error) {
	if s.Hasher == nil {
		return auth.User{}, errors.New("no hasher for the users of the sheet")
	}
	u := s.Sheet.Accounts.Listed(c.Username)
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
		return auth.User{}, &auth.Refused{Why: auth.CauseUserBlocked, Client: u.Client}
	case !ok:
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword, Client: u.Client}
	default:
		return u.User, nil
	}
}
