package legacy

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// errFacts says that there is a user, but something about him cannot be read.
var errFacts = errors.New("find user")

// account is a user with the password's hash.
type account struct {
	auth.User
	hash  string
	salts map[string]string
}

// Verify implements auth.Verifier.
func (s *Store) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	a, err := s.account(ctx, c.Username)
	why := auth.CauseWrongPassword
	switch {
	case errors.Is(err, errFacts):
		s.log.Warn("a user cannot log in", zap.Error(err)) // as below
		why = auth.CauseUserUnusable
	case errors.Is(err, auth.ErrUnknownUser):
		why = auth.CauseUnknownUser
	case err != nil:
		return auth.User{}, err
	case a.Blocked:
		why = auth.CauseUserBlocked
	}
	match, err := s.passwords.Verify(ctx, c.Password, a.hash, a.salts)
	if errors.Is(err, auth.ErrStoredHash) {
		// To say so would tell that there is such a user. The name is in no log:
		// people type their password there.
		s.log.Warn("a user cannot log in", zap.Int64("client", a.Client.ID), zap.Int64("user", a.ID), zap.Error(err))
		return auth.User{}, &auth.Refused{Why: auth.CauseUserUnusable, Client: a.Client}
	}
	if err != nil {
		return auth.User{}, fmt.Errorf("verify password: %w", err)
	}
	if !match || a.Blocked {
		return auth.User{}, &auth.Refused{Why: why, Client: a.Client}
	}
	return a.User, nil
}

// FindUser implements auth.Accounts.
func (s *Store) FindUser(ctx context.Context, username string) (auth.User, error) {
	a, err := s.account(ctx, username)
	return a.User, err
}

// account finds a user. Names are compared to the byte, whatever the database
// thinks of upper and lower case.
func (s *Store) account(ctx context.Context, username string) (account, error) {
	from := s.sheet.Accounts
	if u := from.Listed(username); u != nil {
		return account{hash: string(u.PasswordHash), User: u.User}, nil
	}
	if from.Facts == nil || !sqlrecord.CanHold(username) || username == "" {
		return account{}, auth.ErrUnknownUser
	}
	var answer result
	err := session{Store: s, conn: s.reserved}.again(ctx, func(on session) (err error) {
		answer, err = queryAll(ctx, on.conn, s.accountText(username))
		return err
	})
	if s.lacksLetters(err, username) {
		return account{}, auth.ErrUnknownUser
	}
	if err != nil {
		return account{}, fmt.Errorf("find user: %w", err)
	}
	found := account{}
	for _, row := range answer.rows {
		aligned := row
		if from.Query != "" {
			aligned = make([]sheet.Raw, len(from.Facts.Places))
			for i, p := range from.Facts.Places {
				aligned[i], _ = answer.find(row, p.Name)
			}
		}
		facts, err := from.Facts.User(aligned, username)
		if err != nil {
			return account{}, fmt.Errorf("%w: %w", errFacts, err)
		}
		if facts.Username != username {
			continue
		}
		if found.Username != "" && found.ID == facts.ID && found.Client.ID == facts.ClientID {
			continue // a query that joins may answer a user several times
		}
		if found.Username != "" {
			return account{}, fmt.Errorf("%w: users %d and %d have one login name", errFacts, found.ID, facts.ID)
		}
		found = account{hash: facts.Password, salts: facts.Salts, User: auth.User{
			ID: facts.ID, Username: facts.Username, Email: facts.Email, External: facts.External, Blocked: facts.Blocked,
			Client: auth.Client{ID: facts.ClientID, Name: facts.ClientName},
		}}
	}
	if found.Username == "" {
		return account{}, auth.ErrUnknownUser
	}
	return found, nil
}

// warnOfSharedNames logs login names that several users share: none of these can log in.
func (s *Store) warnOfSharedNames(ctx context.Context) {
	from := s.sheet.Accounts
	if from.Facts == nil || from.Table == "" {
		return
	}
	name := s.d.quote(from.Facts.UsernamePlace())
	b := newStatement(s.d).add("SELECT COUNT(*) FROM (SELECT ", name, " FROM ", qualified(s.d, s.source.Schema, from.Table), " WHERE ", name, " IS NOT NULL AND ", name, " <> '' GROUP BY ", name, " HAVING COUNT(*) > 1) shared")
	row, err := queryOne(ctx, s.db, b)
	switch {
	case err != nil:
		s.log.Warn("login names that several users have could not be looked for", zap.String("table", from.Table), zap.Error(err))
	case len(row) == 1 && row[0].Int > 0:
		s.log.Warn("several users have one login name: none of them can log in", zap.String("table", from.Table), zap.Int64("names", row[0].Int))
	}
}

// usernameParameter stands for the name in the query of a sheet.
const usernameParameter = ":username"

// accountText is the statement that finds a user by name.
func (s *Store) accountText(username string) *statement {
	from, b := s.sheet.Accounts, newStatement(s.d)
	if from.Query != "" {
		return b.replaced(from.Query, usernameParameter, textRaw(username))
	}
	b.add("SELECT ")
	for i, p := range from.Facts.Places {
		b.add(comma(i))
		if p.SQL != "" {
			b.add("(", p.SQL, ")")
		} else {
			b.add(s.d.quote(p.Name))
		}
	}
	return b.add(" FROM ", qualified(s.d, s.source.Schema, from.Table), " WHERE ", s.d.quote(from.Facts.UsernamePlace()), " = ").arg(textRaw(username))
}
