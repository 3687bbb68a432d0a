package rows

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/play"
)

// TestContractForgotPassword goes from the forgotten password to the new one,
// and looks for secrets in the log afterwards.
func TestContractForgotPassword(t *testing.T) {
	t.Parallel()
	onPractice(t, func(t *testing.T, p *rig.Practice) {
		desk := p.Token
		p.Token = p.Login(rig.FullKey, "other")
		old := p.Login(rig.FullKey, "demo")
		play.New(p).Run([]string{
			`403 POST /authenticate/forgotpassword {"username":"a\u0000"} => Field: username has an invalid value: a«\x00» for datatype: varchar`,
			`200 POST /authenticate/forgotpassword {"username":"⟨external|noemail|demo⟩"} == {"successCode":200}`,
		})
		mail := p.Letter()
		require.Contains(t, mail, "demo@example.nl")
		link := regexp.MustCompile(`http://\S+/authenticate/resetpassword\?reset=([A-Za-z0-9_-]+)`).FindStringSubmatch(mail)
		require.NotNil(t, link, mail)
		require.True(t, strings.HasPrefix(link[0], p.Base), link[0])
		reset := link[1]

		form := p.Call("GET", "/authenticate/resetpassword?reset="+reset, "", "")
		require.Equal(t, 200, form.Status)
		require.Contains(t, string(form.Body), `value="`+reset+`"`)
		require.Equal(t, "no-referrer", form.Header.Get("Referrer-Policy"))
		require.Contains(t, form.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Contains(t, string(p.Call("GET", "/authenticate/resetpassword?reset=%22%3E%3Cscript%3E", "", "").Body), "&lt;script&gt;")
		require.Equal(t, 200, p.Call("GET", "/authenticate/resetpassword", "", "").Status)

		const password = "correct horse é"
		require.Equal(t, 400, p.Submit(reset, password, "another one").Status)
		require.Equal(t, 400, p.Submit(reset, "short", "short").Status)
		require.Equal(t, 400, p.Submit(reset+"x", password, password).Status)
		require.Equal(t, 400, p.Submit(strings.Repeat("A", len(reset)), password, password).Status)
		require.Equal(t, 200, p.Call("GET", "/contact/1", old, "").Status, "nothing has changed yet")
		require.Equal(t, 200, p.Submit(reset, password, password).Status)
		require.Equal(t, 400, p.Submit(reset, password, password).Status, "the link works once")

		for _, token := range []string{old, desk} {
			require.Equal(t, 401, p.Call("GET", "/contact/1", token, "").Status, "old sessions have ended")
		}
		require.Equal(t, 200, p.Call("GET", "/authenticate", p.Token, "").Status, "those of others have not")
		require.Equal(t, 401, p.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "").Status)
		renewed := p.Call("GET", rig.LoginPath(rig.FullKey, "demo", url.QueryEscape(password)), "", "")
		require.Equal(t, 200, renewed.Status)

		p.Desk.Shutdown()
		log := p.Log.String()
		require.Contains(t, log, "/authenticate/resetpassword")
		for what, secret := range map[string]string{
			"token": old, "token ended": desk, "token of other": p.Token, "api_key": rig.FullKey, "reset": reset,
			"password": password, "escaped password": url.QueryEscape(password), "form": "correct+horse",
		} {
			require.NotContains(t, log, secret, what)
		}
	})
}

// TestContractFailures keeps the cause of a failure from the client, and finds
// it in the log under the request's id.
func TestContractFailures(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		p := rig.NewPractice(t, dsn, rig.Circuit(0, time.Minute)) // longer than a test looks at it
		p.Faults.Set(rig.Fails)
		a := p.Call("GET", "/contact/1", p.Token, "", "X-Request-Id", "broken-one")
		require.Equal(t, 500, a.Status)
		require.Equal(t, "backend_unavailable", a.Failure(t).Reason)
		require.NotContains(t, fmt.Sprint(a.Header)+string(a.Body), "secret cause")
		for range 9 { // ten in a row open the circuit
			p.Call("GET", "/contact/1", p.Token, "")
		}
		p.Faults.None()
		a = p.Call("GET", "/contact/1", p.Token, "")
		require.Equal(t, 500, a.Status)
		require.Equal(t, "backend_unavailable", a.Failure(t).Reason)
		require.Regexp(t, `^[1-9][0-9]*$`, a.Header.Get("Retry-After"))
		play.New(p).Run([]string{
			`200 GET /authenticate/component`, `  has "unavailable"`,
			`500 GET /contact/2 => Internal server error`, // and no 401
			`200 PUT /contact/1 {"name":"A"}`,             // writes have their own circuit
			`200 GET /authenticate/acces`,                 // what needs no backend
		})
		p.Desk.Shutdown()
		found := false
		for line := range strings.Lines(p.Log.String()) {
			found = found || strings.Contains(line, "broken-one") && strings.Contains(line, rig.ErrBroken.Error())
		}
		require.True(t, found, "the cause is in the log")
	})
}
