package sheet

import (
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

func (l *httpLoader) accounts() (*usersFile, []choice) {
	f := &l.file.Accounts
	return &f.usersFile, []choice{{"verify", f.Verify != nil}}
}

// found compiles how users are found.
func (l *httpLoader) found() {
	f, s := &l.file.Accounts, l.service
	l.sheet.Accounts.FoldNames = f.UsernameCase == "ignore"
	if f.Verify == nil {
		for _, key := range given(choice{"username_case", f.UsernameCase != ""}, choice{"find", f.Find != nil}, choice{"who", f.Who != nil}, choice{"token", f.Token.given()}) {
			l.fail("accounts."+key, "found where frontdesk looks names up itself, expected it with verify")
		}
		return
	}
	s.Verify = l.userFound("accounts.verify", f.Verify, "POST", l.knows("username", "password"))
	s.Find = l.userFound("accounts.find", f.Find, "GET", l.knows("username"))
	s.WhoAmI = l.userFound("accounts.who", f.Who, "GET", append(known{"username", "token"}, l.secrets...))
	if s.Token = l.spot(f.Token); (f.Who != nil) != f.Token.given() {
		l.fail("accounts", "found one of token and who, expected both or none: who asks whose the token is")
	}
	s.Refused = l.match("accounts.refused", f.Refused, "401")
	for i, of := range factFields(l.sheet.ClientsKept) {
		s.Facts = append(s.Facts, l.fact(i, &of))
	}
}

// userFound compiles a call that answers a user; nil for none.
func (l *httpLoader) userFound(at string, f *userFoundFile, method string, k known) *ServiceCall {
	if f == nil {
		return nil
	}
	c := l.call(at, f.callFile, method, k)
	c.Result = l.spot(f.Result)
	return &c.ServiceCall
}

// fact compiles where a fact of a user is.
func (l *httpLoader) fact(i int, of *mapping.Field) (out ServiceField) {
	f := &l.file.Accounts.Result
	ff := []httpFactFile{f.ID, f.Username, {}, f.Email, f.ClientID, f.ClientName, f.External, f.Blocked}[i]
	path := strictyaml.Child("accounts.result", of.Name)
	switch keys := given(choice{"path", ff.Path.given()}, choice{"read", ff.Read.given()}, choice{"constant", ff.Constant.given}); {
	case !ff.given:
		if i == FactClientID {
			l.fail("accounts.result", "%s is missing, expected where it is found", of.Name)
		}
	case len(keys) != 1:
		l.fail(path, "expected one of a path, {read: JQ} and {constant: …}")
	case ff.Constant.given:
		out.Constant = l.constant(strictyaml.Child(path, "constant"), ff.Constant, of)
	default:
		out.Path = l.path(ff.Path)
		out.Read = l.spot(spotFile{ff.Path, readFile{ff.Read}})
		out.Codes = serviceCodes(l.codes(strictyaml.Child(path, "codes"), ff.Codes, of))
	}
	return out
}
