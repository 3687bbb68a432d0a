package check

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

// directory knows users.
type directory interface {
	auth.Verifier
	FindUser(ctx context.Context, username string) (auth.User, error)
}

// login logs in as clients do, and once with a wrong password. Without a password it only
// looks for the user. It returns the client that the user works for; the zero Client if there is
// none. No finding contains the user's name or password.
func (r *Report) login(ctx context.Context, driver any, o Options) auth.Client {
	users, is := driver.(directory)
	if o.Login.Username == "" || o.Login.Password == "" {
		r.Looked = append(r.Looked, "nobody logged in: give --username, and the password by FRONTDESK_PASSWORD")
	}
	service := o.Sheet.Source.Service
	if service != nil && service.Verify != nil && service.Facts[sheet.FactUsername].Read.IsZero() {
		r.add(Warning, "login.unnamed", "accounts.result", "nothing says which user an answer to a log-in is about: an answer about another one would let that one in", "name the place of the username")
	}
	if o.Login.Username == "" || !is || !saysUsers(o.Sheet) {
		return auth.Client{}
	}
	o.show("map check: logging in")
	at := r.ofAccounts()
	if o.Login.Password == "" {
		user, err := users.FindUser(ctx, o.Login.Username)
		if err != nil {
			r.add(Error, "login.find", r.ofAccounts("find"), "the user cannot be found by name: "+hidden(err), "mend it as the message says, or name another user")
		}
		return user.Client
	}
	user, err := users.Verify(ctx, o.Login)
	if err == nil && o.User != nil {
		*o.User = user
	}
	if refused := (*auth.Refused)(nil); errors.As(err, &refused) {
		r.add(Error, "login.refused", at, "the user cannot log in: "+refusals[refused.Why][0], refusals[refused.Why][1])
		return auth.Client{}
	}
	if err != nil {
		r.add(Error, "login.fails", at, "a log-in fails: "+hidden(err), "mend it as the message says: nobody can log in")
		return auth.Client{}
	}
	r.Looked = append(r.Looked, fmt.Sprintf("the user logs in, and works for client %d", user.Client.ID))
	switch {
	case user.External:
		r.add(Error, "login.external", at, "the system says that the user's login is for another application: the interface lets nobody like that log in", "mend what external reads, or log in as a user of this one")
	case user.Email == "":
		r.add(Warning, "login.email", at, "the user has no e-mail address, without which the interface lets nobody log in", "name the place of the e-mail address, or give the user one")
	}
	wrong := o.Login
	wrong.Password += "-zq"
	const known = "say by what the system's answer to wrong credentials is known (refused), or name the column of the hash"
	if _, err := users.Verify(ctx, wrong); err == nil {
		r.add(Error, "login.any-password", at, "the user logs in with a wrong password too", known)
	} else if refused := (*auth.Refused)(nil); !errors.As(err, &refused) {
		r.add(Error, "login.unrefused", at, "a wrong password is not refused, but fails: "+hidden(err), known+": clients get 500, and guesses are not counted")
	}
	r.foundByName(ctx, users, user, o)
	return user.Client
}

// saysUsers reports whether a sheet says how users are found.
func saysUsers(s *sheet.Sheet) bool {
	a := s.Accounts
	return len(a.Users) > 0 || a.Table != "" || a.Query != "" || s.Source.Service != nil && s.Source.Service.Verify != nil
}

// foundByName looks for the user by name alone, as for a forgotten password.
func (r *Report) foundByName(ctx context.Context, users directory, user auth.User, o Options) {
	if s := o.Sheet.Source.Service; s != nil && s.Verify != nil && s.Find == nil {
		r.add(Note, "login.find", "accounts", "users cannot be found by name: forgotten passwords are answered with 200, and nobody gets mail", "say how under find")
		return
	}
	by, err := users.FindUser(ctx, o.Login.Username)
	switch {
	case errors.Is(err, auth.ErrUnknownUser):
		r.add(Error, "login.find", r.ofAccounts("find"), "the user who logs in is not found by name", "mend it: forgotten passwords are answered with 200, and nobody gets mail")
	case err != nil:
		r.add(Error, "login.find", r.ofAccounts("find"), "the user who logs in cannot be found by name: "+hidden(err), "mend it as the message says")
	case by.ID != user.ID || by.Client.ID != user.Client.ID:
		r.add(Error, "login.find", r.ofAccounts("find"), "found by name the user is another one, or of another client, than logs in", "have both read the same places")
	}
}

// refusals say why a user was refused, and what to do.
var refusals = map[auth.Cause][2]string{
	auth.CauseUnknownUser:   {"there is no such user", "name the column of the username; its case counts"},
	auth.CauseWrongPassword: {"user or password is wrong, as far as the system says", "compare hash, or what verify sends, with how the system checks passwords"},
	auth.CauseUserBlocked:   {"the system says that the user is blocked", "log in as a user who is not, or mend the codes of blocked"},
	auth.CauseUserUnusable:  {"there is such a user, and what the system has of it cannot be read", "name the column of the stored hash, list its form under hash, and see that client_id is there"},
}

// ofAccounts is where the sheet says how users are found: at one of these keys, where it has it.
func (r *Report) ofAccounts(keys ...string) string {
	for _, key := range append(keys, "verify", "table", "query", "users") {
		if path := "accounts." + key; r.doc.Has(path) {
			return path
		}
	}
	return "accounts"
}

// listed looks at the users that the sheet lists.
func (r *Report) listed(s *sheet.Sheet) {
	mailless := 0
	for _, u := range s.Accounts.Users {
		if u.Email == "" && !u.Blocked && !u.External {
			mailless++
		}
	}
	if mailless > 0 {
		r.add(Warning, "accounts.email", "accounts.users", fmt.Sprintf("%d of %d user(s) have no e-mail address, without which the interface lets nobody log in", mailless, len(s.Accounts.Users)), "say their email")
	}
}
