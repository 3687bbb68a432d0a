package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

func (c *connector) verify(ctx context.Context, credentials auth.Credentials) (auth.User, error) {
	if len(c.Sheet.Accounts.Users) > 0 {
		return c.verifyListed(ctx, credentials)
	}
	if c.source.Verify == nil {
		return auth.User{}, errors.New("the sheet does not tell how credentials are verified")
	}
	k := &known{source: c.source, username: credentials.Username, password: credentials.Password}
	user, is, err := c.user(ctx, c.calls[c.source.Verify], k)
	switch {
	case err != nil:
		return auth.User{}, err
	case !is: // or there is no such user: the answer does not distinguish
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword}
	case user.Blocked:
		return auth.User{}, blocked(user, credentials.Username)
	default:
		return user, nil
	}
}

func (c *connector) find(ctx context.Context, username string) (auth.User, error) {
	if len(c.Sheet.Accounts.Users) > 0 {
		u, _, err := c.listed(ctx, username)
		return u, err
	}
	if c.source.Find == nil {
		return auth.User{}, errors.New("the sheet does not tell how a user is found (accounts.find)")
	}
	user, is, err := c.user(ctx, c.calls[c.source.Find], &known{source: c.source, username: username})
	if err == nil && !is {
		return auth.User{}, auth.ErrUnknownUser
	}
	return user, err
}

// user makes the calls whose answer is a user. No error quotes an answer, which may repeat a
// password.
func (c *connector) user(ctx context.Context, on *call, k *known) (user auth.User, is bool, err error) {
	if k.username == "" { // a search would find anybody
		return auth.User{}, false, nil
	}
	p, err := c.send(ctx, on, k)
	if errors.Is(err, errUnsendable) {
		return auth.User{}, false, nil // there is no such user
	}
	if err != nil {
		return auth.User{}, false, hidden(err)
	}
	defer c.wire.conclude(p.answer, &err)
	asks := on.secret
	switch {
	case asks && p.fits(ctx, c.refusal()), !asks && p.status == http.StatusNotFound && p.isOwn():
		return auth.User{}, false, nil
	case !isSuccess(p.status):
		return auth.User{}, false, fmt.Errorf("the service answered %d", p.status)
	case ctx.Err() != nil: // the sheet's conditions could not run to their end
		return auth.User{}, false, ctx.Err()
	}
	if asks && c.source.WhoAmI != nil {
		if p, err = c.whoAmI(ctx, p, k); err != nil {
			return auth.User{}, false, err
		}
		defer c.wire.conclude(p.answer, &err)
	}
	found, err := c.recordIn(ctx, p)
	switch {
	case errors.Is(err, backend.ErrNotFound) && !asks:
		return auth.User{}, false, nil
	case err != nil: // the error may show what was found
		return auth.User{}, false, unexpected(errors.New("the answer about the user cannot be read, or does not have one user"))
	}
	user, err = c.userOf(ctx, found, k.username)
	return user, err == nil, err
}

// refusal is the answer to wrong credentials, whatever its status.
func (c *connector) refusal() sheet.Match {
	if c.source.Refused == (sheet.Match{}) {
		return sheet.Match{Status: "401"}
	}
	return c.source.Refused
}

// whoAmI requests the user that a token was given to.
func (c *connector) whoAmI(ctx context.Context, p *reply, k *known) (*reply, error) {
	body, err := p.body()
	token := ""
	if err == nil {
		token, err = textAt(ctx, c.source.Token, body)
	}
	if err != nil || token == "" {
		return nil, unexpected(errors.New("the answer to the credentials has no token"))
	}
	who, err := c.send(ctx, c.calls[c.source.WhoAmI], &known{source: c.source, username: k.username, token: token})
	if err != nil {
		return nil, hidden(err)
	}
	if !isSuccess(who.status) {
		c.wire.release(who.answer)
		return nil, fmt.Errorf("the service answered %d to whose the token is", who.status)
	}
	return who, nil
}

// hidden is why a call with credentials could not be made, without the credentials that jq's error may
// show.
func hidden(err error) error {
	if errors.Is(err, backend.ErrUnexpected) {
		return unexpected(errors.New("the call of the accounts cannot be made: its jq fails"))
	}
	return err
}

func (c *connector) userOf(ctx context.Context, found sheet.JSON, username string) (auth.User, error) {
	user, client, err := c.source.User(ctx, found, username, c.Sheet.ClientsKept)
	if err != nil {
		return auth.User{}, unexpected(fmt.Errorf("the answer about the user: %w", err))
	}
	if c.Sheet.ClientsKept {
		user.Client.ID, err = c.clientID(ctx, client)
	}
	return user, err
}

// blocked is the refusal of a user whom the service reports as blocked. If the answer is about another
// user, the refusal does not name that user's client.
func blocked(user auth.User, requested string) *auth.Refused {
	refused := &auth.Refused{Why: auth.CauseUserBlocked}
	if strings.EqualFold(user.Username, requested) {
		refused.Client = user.Client
	}
	return refused
}

// listed is a user of the sheet's list, and the hash of its password.
func (c *connector) listed(ctx context.Context, username string) (u auth.User, hash string, err error) {
	of := c.Sheet.Accounts.Listed(username)
	if of == nil {
		return u, "", auth.ErrUnknownUser
	}
	u = of.User
	if c.Sheet.ClientsKept {
		u.Client.ID, err = c.clientID(ctx, of.ClientKey)
	}
	return u, string(of.PasswordHash), err
}

// verifyListed checks credentials against the sheet's list of users.
func (c *connector) verifyListed(ctx context.Context, of auth.Credentials) (auth.User, error) {
	if c.Hasher == nil {
		return auth.User{}, errors.New("no hasher for the users of the sheet")
	}
	u, hash, err := c.listed(ctx, of.Username)
	isUnknown := errors.Is(err, auth.ErrUnknownUser)
	if err != nil && !isUnknown {
		return auth.User{}, err
	}
	if u.Blocked {
		hash = ""
	}
	ok, err := c.Hasher.Verify(ctx, of.Password, hash) // an unknown user takes as long
	switch {
	case err != nil:
		return auth.User{}, fmt.Errorf("verify the password: %w", err)
	case isUnknown:
		return auth.User{}, &auth.Refused{Why: auth.CauseUnknownUser}
	case u.Blocked:
		return auth.User{}, &auth.Refused{Why: auth.CauseUserBlocked, Client: u.Client}
	case !ok:
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword, Client: u.Client}
	default:
		return u, nil
	}
}
