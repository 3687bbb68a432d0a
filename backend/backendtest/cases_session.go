package backendtest

import (
	"regexp"

	"frontdesk/mapping"
)

// staleToken is the token of a session that was logged out, the same each time.
func (t *T) staleToken() string {
	if t.stale == "" {
		token := t.again()
		t.ok(t.send(token, "GET", "/authenticate/logout", ""))
		t.stale = token
	}
	return t.stale
}

// sessionCases are the rows of /authenticate and what lies under it.
func sessionCases() []Case {
	cases := []Case{
		row("GET /authenticate", mapping.NotLoggedIn, func(t *T) { t.refused(t.send("", "GET", "/authenticate", "", "token", "")) }),
		row("GET /authenticate", mapping.TokenInvalid, func(t *T) {
			t.refused(t.send(t.staleToken(), "GET", "/authenticate", ""))
			t.refused(t.send(t.staleToken(), "GET", "/authenticate?organization_name=", ""))
		}),
		row("GET /authenticate", mapping.ExternalUser, func(t *T) {
			a := t.asUser(t.External, "the login of an external user (--external-username)")
			f, err := a.failure()
			vendor := regexp.MustCompile(`^An external user cannot login, contact the .+ servicedesk$`)
			t.check(err == nil && a.status == 403 && vendor.MatchString(f.Message) && f.Reason == string(mapping.ExternalUser), "the refusal", t.c.Row, string(a.body))
			t.counts(f)
		}),
		row("GET /authenticate", mapping.EmailMissing, func(t *T) {
			t.refused(t.asUser(t.NoEmail, "the login of a user without an e-mail address (--noemail-username)"), t.NoEmail.Username)
		}),
		row("GET /authenticate", mapping.EmailInvalid, func(t *T) {
			a := t.asUser(t.BadEmail, "the login of a user with an invalid e-mail address (--bademail-username)")
			f, err := a.failure()
			address := regexp.MustCompile(`^Field: emailaddress value: .+ not valid$`)
			t.check(err == nil && a.status == 403 && address.MatchString(f.Message) && f.Field == "emailaddress", "the refusal", t.c.Row, string(a.body))
			t.counts(f)
		}),
		row("GET /authenticate", mapping.CredentialsInvalid, func(t *T) {
			stranger := Login{"conform-" + t.unique(12), "wrong"}
			for _, path := range []string{
				t.loginPath(t.APIKey, stranger), t.loginPath("nonsense", t.Login), t.loginPath("00000000-0000-4000-8000-000000000000", t.Login),
				t.loginPath(t.APIKey, Login{t.Login.Username, "not-the-password"}),
			} {
				t.refused(t.send("", "GET", path, ""))
			}
		}),
	}
	for _, endpoint := range []string{"acces", "component", "logout", "modules", "fingerprint", "forgotpassword"} {
		method := "GET"
		if endpoint == "forgotpassword" {
			method = "POST"
		}
		scope, path := mapping.Scope(method+" /authenticate/"+endpoint), "/authenticate/"+endpoint
		cases = append(cases,
			row(scope, mapping.NotLoggedIn, func(t *T) { t.refused(t.send("", method, path, "")) }),
			row(scope, mapping.TokenInvalid, func(t *T) { t.refused(t.send(t.staleToken(), method, path, "")) }))
	}
	return cases
}

// asUser logs in as somebody who was given, and is to be refused.
func (t *T) asUser(l Login, what string) answer {
	if !l.given() {
		t.needs("%s", what)
	}
	return t.send("", "GET", t.loginPath(t.APIKey, l), "")
}
