package sheet

import "frontdesk/mapping"

func (l *httpLoader) accounts() (*usersFile, []choice) {
	f := &l.file.Accounts
	return &f.usersFile, []choice{{"verify", f.Verify != nil}}
}

// found compiles the calls that find users.
func (l *httpLoader) found() {
	f, s := &l.file.Accounts, l.service
	l.sheet.Accounts.FoldNames = f.UsernameCase == "ignore"
	if f.Verify == nil {
		for _, key := range given(choice{"username_case", f.UsernameCase != ""}, choice{"find", f.Find != nil}, choice{"who", f.Who != nil}, choice{"token", !f.Token.IsZero()}) {
			l.fail("accounts."+key, "found where frontdesk looks names up itself, expected it with verify")
		}
		return
	}
	s.Verify = l.userFound("accounts.verify", f.Verify, "POST", l.knows("username", "password"))
	s.Find = l.userFound("accounts.find", f.Find, "GET", l.knows("username"))
	s.WhoAmI = l.userFound("accounts.who", f.Who, "GET", append(known{"username", "token"}, l.secrets...))
	if s.Token = f.Token; (f.Who != nil) != !f.Token.IsZero() {
		l.fail("accounts", "found one of token and who, expected both or none: who asks whose the token is")
	}
	s.Refused = l.match("accounts.refused", f.Refused, "401")
	fields := factFields(l.sheet.ClientsKept)
	for i, from := range f.Result.all(httpFactFile{}) {
		s.Facts = append(s.Facts, l.fact(i, from, &fields[i]))
	}
}

// userFound compiles a call that answers a user; nil for none.
func (l *httpLoader) userFound(at string, c *ServiceCall, method string, k known) *ServiceCall {
	if c != nil {
		l.call(&c.call, method, k, at)
	}
	return c
}

// fact compiles the place of a fact of a user.
func (l *httpLoader) fact(i int, f httpFactFile, of *mapping.Field) ServiceField {
	how := l.loader.fact("accounts.result", of, i == FactClientID, f.Path != nil, f.factFile)
	read := Spot{Path: f.Path}
	if f.Read.given() {
		read = l.spot(spotFile{readFile: readFile{f.Read}})
	}
	return ServiceField{Read: read, Path: f.Path, Conversion: how}
}
