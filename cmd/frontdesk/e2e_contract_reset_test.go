package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// letter waits for the only mail there is to be, asking the desk something else
// meanwhile.
func (p *practice) letter() string {
	p.t.Helper()
	for range 100000 {
		files, err := filepath.Glob(filepath.Join(p.mail, "*.eml"))
		require.NoError(p.t, err)
		if len(files) == 0 {
			p.call("GET", "/authenticate", p.token, "")
			continue
		}
		require.Len(p.t, files, 1)
		mail, err := os.ReadFile(files[0])
		require.NoError(p.t, err)
		return string(mail)
	}
	p.t.Fatal("no mail was written")
	return ""
}

// submit sends the form of the reset page.
func (p *practice) submit(reset, password, repeat string) answer {
	form := url.Values{"reset": {reset}, "password": {password}, "repeat": {repeat}}
	a := p.call("POST", "/authenticate/resetpassword", "", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(p.t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
	return a
}

// TestContractForgotPassword goes from the forgotten password to the new one,
// and looks for secrets in the log afterwards.
func TestContractForgotPassword(t *testing.T) {
	onPractice(t, func(t *testing.T, p *practice) {
		desk := p.token
		p.token = p.login(fullKey, "other")
		old := p.login(fullKey, "demo")
		const done = `{"successCode":200}`
		p.holds(t, []wire{
			{ask: `POST /authenticate/forgotpassword`, status: 400, message: `Empty body`},
			{ask: `POST /authenticate/forgotpassword {}`, status: 403, message: `Field: username is required and not supplied in request`},
			{ask: `POST /authenticate/forgotpassword {"username":1}`, status: 403, message: `Field: username has an invalid value: 1 for datatype: varchar`},
			{ask: `POST /authenticate/forgotpassword {"username":"a\u0000"}`, status: 403, message: "Field: username has an invalid value: a\x00 for datatype: varchar"},
			{ask: `POST /authenticate/forgotpassword {"username":"demo","password":"x"}`, status: 403, message: `Field: password not found in model`},
			{ask: `POST /authenticate/forgotpassword?x {"username":"demo"}`, status: 400, message: `Invalid request, query parameter is not supported: x`},
			{ask: `POST /authenticate/forgotpassword {"username":"nobody"}`, status: 200, body: done},
			{ask: `POST /authenticate/forgotpassword {"username":"external"}`, status: 200, body: done},
			{ask: `POST /authenticate/forgotpassword {"username":"noemail"}`, status: 200, body: done},
			{ask: `POST /authenticate/forgotpassword {"username":"demo"}`, status: 200, body: done},
		})
		mail := p.letter()
		require.Contains(t, mail, "demo@example.nl")
		link := regexp.MustCompile(`http://\S+/authenticate/resetpassword\?reset=([A-Za-z0-9_-]+)`).FindStringSubmatch(mail)
		require.NotNil(t, link, mail)
		require.True(t, strings.HasPrefix(link[0], p.base), link[0])
		reset := link[1]

		form := p.call("GET", "/authenticate/resetpassword?reset="+reset, "", "")
		require.Equal(t, 200, form.Status)
		require.Contains(t, string(form.Body), `value="`+reset+`"`)
		require.Equal(t, "no-referrer", form.Header.Get("Referrer-Policy"))
		require.Contains(t, string(p.call("GET", "/authenticate/resetpassword?reset=%22%3E%3Cscript%3E", "", "").Body), "&lt;script&gt;")
		require.Equal(t, 200, p.call("GET", "/authenticate/resetpassword", "", "").Status)

		const password = "correct horse é"
		require.Equal(t, 400, p.submit(reset, password, "another one").Status)
		require.Equal(t, 400, p.submit(reset, "short", "short").Status)
		require.Equal(t, 400, p.submit(reset+"x", password, password).Status)
		require.Equal(t, 400, p.submit(strings.Repeat("A", len(reset)), password, password).Status)
		require.Equal(t, 200, p.call("GET", "/contact/1", old, "").Status, "nothing has changed yet")
		require.Equal(t, 200, p.submit(reset, password, password).Status)
		require.Equal(t, 400, p.submit(reset, password, password).Status, "the link works once")

		for _, token := range []string{old, desk} {
			require.Equal(t, 401, p.call("GET", "/contact/1", token, "").Status, "old sessions have ended")
		}
		require.Equal(t, 200, p.call("GET", "/authenticate", p.token, "").Status, "those of others have not")
		require.Equal(t, 401, p.call("GET", loginPath(fullKey, "demo", "demo"), "", "").Status)
		renewed := p.call("GET", loginPath(fullKey, "demo", url.QueryEscape(password)), "", "")
		require.Equal(t, 200, renewed.Status)

		p.desk.shutdown()
		log := p.log.String()
		require.Contains(t, log, "/authenticate/resetpassword")
		for what, secret := range map[string]string{
			"token": old, "token ended": desk, "token of other": p.token, "api_key": fullKey, "reset": reset,
			"password": password, "escaped password": url.QueryEscape(password), "form": "correct+horse",
		} {
			require.NotContains(t, log, secret, what)
		}
	})
}

// TestContractFailures keeps the cause of a failure from the client, and finds
// it in the log under the request's id.
func TestContractFailures(t *testing.T) {
	onPractice(t, func(t *testing.T, p *practice) {
		p.faults.set(fails)
		a := p.call("GET", "/contact/1", p.token, "", "X-Request-Id", "broken-one")
		require.Equal(t, 500, a.Status)
		require.Equal(t, "backend_unavailable", a.failure(t).Reason)
		require.NotContains(t, fmt.Sprint(a.Header)+string(a.Body), "secret cause")
		for range 9 { // ten in a row open the circuit
			p.call("GET", "/contact/1", p.token, "")
		}
		p.faults.none()
		a = p.call("GET", "/contact/1", p.token, "")
		require.Equal(t, 500, a.Status)
		require.Equal(t, "backend_unavailable", a.failure(t).Reason)
		require.Regexp(t, `^[1-9][0-9]*$`, a.Header.Get("Retry-After"))
		p.holds(t, []wire{
			{what: "components", ask: `GET /authenticate/component`, status: 200},
			{what: "no 401 for it", ask: `PUT /contact/1 {"name":"A"}`, status: 500, message: `Internal server error`},
			{what: "what needs no backend", ask: `GET /authenticate/acces`, status: 200},
		})
		require.Contains(t, string(p.call("GET", "/authenticate/component", p.token, "").Body), `"unavailable"`)
		p.desk.shutdown()
		found := false
		for line := range strings.Lines(p.log.String()) {
			found = found || strings.Contains(line, "broken-one") && strings.Contains(line, errBroken.Error())
		}
		require.True(t, found, "the cause is in the log")
	})
}
