package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

func (s *service) verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	if s.verifying == nil {
		return auth.User{}, errors.New("the sheet does not tell how credentials are verified")
	}
	user, known, err := s.user(ctx, s.verifying, &values{username: c.Username, password: c.Password})
	switch {
	case err != nil:
		return auth.User{}, err
	case !known: // or nobody is called so: it only says no
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword}
	case user.Blocked:
		return auth.User{}, blocked(user, c.Username)
	default:
		return user, nil
	}
}

// blocked reports a user whom the service says is blocked. If the answer is about another
// user, it does not say which client that user belongs to.
func blocked(user auth.User, asked string) *auth.Refused {
	refused := &auth.Refused{Why: auth.CauseUserBlocked}
	if strings.EqualFold(user.Username, asked) {
		refused.Client = user.Client
	}
	return refused
}

func (s *service) findUser(ctx context.Context, username string) (auth.User, error) {
	if s.finding == nil {
		return auth.User{}, errors.New("the sheet does not tell how a user is found (accounts.find)")
	}
	user, known, err := s.user(ctx, s.finding, &values{username: username})
	if err == nil && !known {
		return auth.User{}, auth.ErrUnknownUser
	}
	return user, err
}

// user makes a call whose answer is a user. No error quotes the answer, which may repeat a
// password.
func (s *service) user(ctx context.Context, op *operation, v *values) (user auth.User, known bool, err error) {
	if v.username == "" { // a search would be for anybody
		return auth.User{}, false, nil
	}
	a, err := s.call(ctx, op, v)
	if sheet.IsUnsendable(err) {
		return auth.User{}, false, nil // nobody is called so
	}
	if err != nil {
		return auth.User{}, false, err
	}
	defer s.wire.conclude(a, &err)
	accounts := s.o.Sheet.Accounts
	switch {
	case accounts.Refused.Match(s.failure(a)), op == s.finding && a.status == 404:
		return auth.User{}, false, nil
	case !isSuccess(a.status):
		return auth.User{}, false, fmt.Errorf("the service answered %d", a.status)
	}
	top, err := s.scan(op.answer, a.body)
	if err != nil {
		return auth.User{}, false, unexpected(errors.New("the answer about the user cannot be read"))
	}
	if op.Result != "" {
		users := top.lists[0]
		if op == s.finding && users.there && len(users.rows) == 0 {
			return auth.User{}, false, nil
		}
		if len(users.rows) != 1 {
			return auth.User{}, false, unexpected(fmt.Errorf("the answer about the user has %d users in place of one", len(users.rows)))
		}
		top = users.rows[0]
	}
	facts, err := accounts.Facts.User(top.values, v.username)
	if err != nil {
		return auth.User{}, false, unexpected(fmt.Errorf("the answer about the user: %w", err))
	}
	return auth.User{
		ID: facts.ID, Username: facts.Username, Email: facts.Email, External: facts.External, Blocked: facts.Blocked,
		Client: auth.Client{ID: facts.ClientID, Name: facts.ClientName},
	}, true, nil
}
