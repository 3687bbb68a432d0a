package sheet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// loadAccounts compiles the section accounts, which must have either users or one way to find them.
func (l *loader) loadAccounts(f *usersFile, others []choice) {
	all := append([]choice{{"users", l.doc.Has("accounts.users")}}, others...)
	switch keys := given(all...); {
	case len(keys) == 0:
		var names []string
		for _, c := range all {
			names = append(names, c.key)
		}
		l.fail("accounts", "missing, expected %s", strictyaml.OneOf(names))
	case len(keys) > 1:
		slices.Sort(keys)
		l.fail("accounts", "found %s, expected one of them", strings.Join(keys, " and "))
	}
	l.sheet.Accounts.ForgotPassword = f.ForgotPassword
	l.loadUsers(f.Users)
	l.found()
}

func (l *loader) loadUsers(users []userFile) {
	seen := map[string]bool{}
	for i, u := range users {
		path := fmt.Sprintf("accounts.users[%d]", i)
		if at := path + ".username"; seen[strings.ToLower(u.Username)] {
			l.fail(at, "found %s again", l.doc.Found(at, u.Username))
		}
		seen[strings.ToLower(u.Username)] = true
		client, key, expected := auth.Client{Name: u.Client.Name}, "", "{id: NUMBER, name: TEXT}, a number from 1"
		if l.sheet.ClientsKept {
			key, expected = u.Client.ID, "{id: TEXT, name: TEXT}"
		} else {
			client.ID, _ = strconv.ParseInt(u.Client.ID, 10, 64) // 0 is reported
		}
		if client.ID < 1 && key == "" || client.Name == "" {
			l.fail(path+".client", "expected %s", expected)
		}
		l.sheet.Accounts.Users = append(l.sheet.Accounts.Users, User{PasswordHash: u.PasswordHash, ClientKey: key, User: auth.User{
			Username: u.Username, Email: u.Email, External: u.External, Blocked: u.Blocked, Client: client,
		}})
	}
}

// fact compiles what the facts of a user have in both kinds of systems: a constant, and codes.
func (l *loader) fact(at string, of *mapping.Field, isNeeded, isPlaced bool, f factFile) (how Conversion) {
	path, words := strictyaml.Child(at, of.Name), l.words()
	switch keys := given(choice{words.place, isPlaced}, choice{"read", f.Read.given()}, choice{"constant", f.Constant.given}); {
	case !l.doc.Has(path) && isNeeded:
		l.fail(at, "%s is missing, expected where it is found", of.Name)
	case l.doc.Has(path) && len(keys) != 1:
		l.fail(path, "expected one of a %s, {read: %s} and {constant: …}", words.place, strings.ToUpper(words.language))
	case f.Constant.given:
		how.Constant = l.constant(strictyaml.Child(path, "constant"), f.Constant, of)
	}
	how.Codes = l.codes(strictyaml.Child(path, "codes"), f.Codes, of)
	return how
}
