package backendtest

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

const sessionHint = "Sessions are the gateway's own. When this fails, look for something in between that keeps answers, or that drops the header token."

// sessionCases are the contract's rules about sessions that are not rows.
func sessionCases() []Case {
	return append(sessionFacts(),
		rule("authenticate.token", `GET /authenticate answers {"token": "<uuid v4>"}; several tokens may live at once`, sessionHint, func(t *T) {
			first, second := t.again(), t.again()
			t.check(first != second, "another session", "another token", "the same")
			form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
			t.check(form.MatchString(first), "the form of the token", "a UUID v4", "another text")
			for _, token := range []string{first, second} {
				t.equal("the answer to it", `{"token":"`+token+`"}`, string(t.ok(t.send(token, "GET", "/authenticate", "")).body))
				t.ok(t.send(token, "GET", "/authenticate/logout", ""))
			}
		}),
		rule("authenticate.organization_name", "organization_name must be left empty: 400 Invalid request, query parameter is not supported: organization_name", sessionHint, func(t *T) {
			path := strings.Replace(t.loginPath(t.APIKey, t.Login), "organization_name=", "organization_name=x", 1)
			t.refusal(t.send("", "GET", path, ""), mapping.QueryUnsupported, "organization_name")
		}),
		rule("authenticate.parameters_required", "Without api_key, username or password: 400 These parameter(s): … are required", sessionHint, func(t *T) {
			t.refusal(t.send("", "GET", "/authenticate", ""), mapping.ParametersRequired, "api_key", "username", "password")
		}),
		rule("authenticate.stale_token", "Given credentials decide alone, whatever token header comes along", sessionHint, func(t *T) {
			t.ok(t.send(t.staleToken(), "GET", t.loginPath(t.APIKey, t.Login), ""))
		}),
		rule("authenticate.logout", `GET /authenticate/logout ends one session: 200 {"successCode": 200}`, sessionHint, func(t *T) {
			t.equal("the answer", `{"successCode":200}`, string(t.ok(t.send(t.again(), "GET", "/authenticate/logout", "")).body))
			t.ok(t.send(t.session(), "GET", "/authenticate", ""))
		}),
		rule("authenticate.forgotpassword", "forgotpassword answers 200 whether or not the user exists", sessionHint, func(t *T) {
			a := t.ok(t.call("POST", "/authenticate/forgotpassword", values{"username": "conform-" + t.unique(12)}.json()))
			t.equal("the answer", `{"successCode":200}`, string(a.body))
		}),
		rule("authenticate.allowlist", "An endpoint that the api_key may not use answers like one that does not exist: 400 Invalid endpoint", sessionHint, func(t *T) {
			for _, path := range []string{"/util/environment", "/empoyee/email", "/document/info", "/order", "/contact", "/vehicle"} {
				if !t.can("GET", path) && !t.can("POST", path) && !t.can("PUT", path) && !t.can("DELETE", path) {
					t.refusal(t.send(t.session(), "GET", path, ""), mapping.EndpointUnknown, path)
					return
				}
			}
			t.impossible("the api_key may call everything")
		}),
	)
}

// sessionFacts are what a session can learn of itself.
func sessionFacts() []Case {
	return []Case{
		rule("authenticate.acces", `acces answers {"data": {"username","client","api_key","endpoints":[{"method","path"}]}}`, sessionHint, func(t *T) {
			t.equal("the members", []string{"username", "client", "api_key", "endpoints"}, t.ok(t.call("GET", "/authenticate/acces", "")).order())
		}),
		rule("authenticate.component", `component answers {"data":[{"name","version","status"}]}`, "The status comes from the driver's Ping: a backend that is not ok is shown here.", func(t *T) {
			var body struct{ Data []map[string]string }
			t.read(t.call("GET", "/authenticate/component", ""), &body)
			t.check(len(body.Data) > 0, "the components", "some", "none")
			for _, part := range body.Data {
				t.equal("the status of "+part["name"], "ok", part["status"])
			}
		}),
		rule("authenticate.modules", `modules answers {"data":[{"name","resources":[…]}]} of what this key may read`, sessionHint, func(t *T) {
			var body struct {
				Data []struct{ Resources []string }
			}
			t.read(t.call("GET", "/authenticate/modules", ""), &body)
			var want, got []string
			for _, r := range t.resources {
				if t.can("GET", "/"+r.Name) {
					want = append(want, r.Name)
				}
			}
			for _, module := range body.Data {
				got = append(got, module.Resources...)
			}
			t.equal("the resources", slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got)))
		}),
		rule("authenticate.fingerprint", `fingerprint answers {"data":{"fingerprint": hex}}, stable for key, user, client and model version`, sessionHint, func(t *T) {
			first := t.ok(t.call("GET", "/authenticate/fingerprint", "")).data()["fingerprint"]
			t.check(regexp.MustCompile(`^[0-9a-f]{16,}$`).MatchString(plainText(first)), "the form", "hexadecimal digits", text(first))
			token := t.again()
			t.equal("of another session", first, t.ok(t.send(token, "GET", "/authenticate/fingerprint", "")).data()["fingerprint"])
			t.ok(t.send(token, "GET", "/authenticate/logout", ""))
		}),
	}
}

// again is the token of a second session.
func (t *T) again() string {
	token, err := t.login(t.Login)
	t.check(err == nil, "a second session", "a token", text(err))
	return token
}

// staleToken is the token of a session that was logged out, the same each time.
func (t *T) staleToken() string {
	if t.stale == "" {
		token := t.again()
		t.ok(t.send(token, "GET", "/authenticate/logout", ""))
		t.stale = token
	}
	return t.stale
}

// asUser logs in as a given user, who must be refused.
func (t *T) asUser(l Login, what string) answer {
	if !l.given() {
		t.needs("%s", what)
	}
	return t.send("", "GET", t.loginPath(t.APIKey, l), "")
}

// worded asserts that an answer is the case's own row, whose message has a part that is not known.
func (t *T) worded(a answer, pattern string) {
	row := t.catalogue.Lookup(t.c.reason, t.c.scope)
	f, err := a.failure()
	ok := err == nil && a.status == row.Status && regexp.MustCompile(pattern).MatchString(f.Message) && f.Reason == string(t.c.reason) && f.Field == row.Field(nil)
	t.check(ok, "the refusal", t.c.Row, string(a.body))
	t.counts(f)
}
