package gateway

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// login is the target that logs in.
func login(key, username, password string) string {
	return "/authenticate?" + url.Values{"api_key": {key}, "organization_name": {""}, "username": {username}, "password": {password}}.Encode()
}

type tokenAnswer struct{ Token string }

func TestLogin(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	nobody := visitor{h: h}
	a := nobody.ask("GET", login(keyAll, "demo", "demo"), "", "Token", "stale")
	require.Equal(t, 200, a.status, a.body)
	token := decode[tokenAnswer](t, a).Token
	require.Equal(t, `{"token":"`+token+`"}`, a.body)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, token)
	demo := visitor{h, token}
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	require.Equal(t, a.body, demo.ask("GET", "/authenticate", "").body, "whether the session lives")

	second := decode[tokenAnswer](t, nobody.ask("GET", login(keyAll, "demo", "demo"), "")).Token
	require.NotEqual(t, token, second)
	out := demo.ask("GET", "/authenticate/logout", "")
	require.Equal(t, `{"successCode":200}`, out.body)
	require.Equal(t, 200, out.status)
	require.Equal(t, 200, visitor{h, second}.ask("GET", "/order/1", "").status, "several tokens live at once")
	refused(t, demo.ask("GET", "/authenticate", ""), fault{401, "Not authorized", "token_invalid", ""})
	for _, line := range h.lines.All() {
		for name, value := range line.ContextMap() {
			require.NotContains(t, fmt.Sprint(value), token, name)
			require.NotContains(t, fmt.Sprint(value), keyAll, name)
		}
	}
}

func TestLoginIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	wrong := fault{401, "Not authorized", "credentials_invalid", ""}
	for target, want := range map[string]fault{
		"/authenticate": {400, "These parameter(s): api_key , username , password are required", "parameters_required", ""},
		"/authenticate?api_key=" + keyAll + "&username=&password=x":                                    {400, "These parameter(s): username are required", "parameters_required", ""},
		"/authenticate?username=demo":                                                                  {400, "These parameter(s): api_key , password are required", "parameters_required", ""},
		login(keyAll, "demo", "demo") + "&colour=1":                                                    {400, "Invalid request, query parameter is not supported: colour", "query_parameter_unsupported", ""},
		login(keyAll, "demo", "demo") + "&username=x":                                                  {400, "Invalid request, query parameter is provided more than once: username", "query_parameter_repeated", ""},
		login(keyAll, "demo", "") + "s3cr&t1":                                                          {400, "Invalid request, query parameter is not supported: …", "query_parameter_unsupported", ""},
		login(keyAll, "demo", "Demo"):                                                                  wrong,
		login(keyAll, "nobody", "demo"):                                                                wrong,
		login("malformed", "demo", "demo"):                                                             wrong,
		login("99999999-9999-4999-8999-999999999999", "demo", "demo"):                                  wrong,
		login(keyAll, "external", "external"):                                                          {403, "An external user cannot login, contact the Example servicedesk", "external_user", ""},
		login(keyAll, "noemail", "noemail"):                                                            {400, "Er is geen e-mailadres bekend voor gebruiker: noemail", "email_missing", ""},
		login(keyAll, "bademail", "bademail"):                                                          {403, "Field: emailaddress value: bademail at example not valid", "email_invalid", "emailaddress"},
		strings.Replace(login(keyAll, "demo", "demo"), "organization_name=", "organization_name=x", 1): {400, "Invalid request, query parameter is not supported: organization_name", "query_parameter_unsupported", ""},
	} {
		refused(t, visitor{h: h}.ask("GET", target, ""), want)
	}
}

// TestGuessesAreStopped from the tenth on, for that user only.
func TestGuessesAreStopped(t *testing.T) {
	t.Parallel()
	nobody := visitor{h: newFixture(t)}
	for range 9 {
		refused(t, nobody.ask("GET", login(keyAll, "demo", "guess"), ""), fault{401, "Not authorized", "credentials_invalid", ""})
	}
	for _, password := range []string{"guess", "demo"} {
		a := nobody.ask("GET", login(keyAll, "demo", password), "")
		refused(t, a, fault{429, "Too many requests", "too_many_requests", ""})
		require.Regexp(t, `^[1-9][0-9]*$`, a.head("Retry-After"))
	}
	require.Equal(t, 200, nobody.ask("GET", login(keyAll, "other", "other"), "").status)
}

// TestRowsOfSessions are those of the endpoints below /authenticate.
func TestRowsOfSessions(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, c := range []struct {
		target, method       string
		missing, invalid     string
		whenMissing, whenBad int
	}{
		{"/authenticate/acces", "GET", "Not authorized", "Not authorized", 401, 401},
		{"/authenticate/component", "GET", "Not authorized", "Not authorized", 401, 401},
		{"/authenticate/logout", "GET", "Not authorized", "Not authorized", 401, 200},
		{"/authenticate/modules", "GET", "Not authorized", "Not authorized", 401, 401},
		{"/authenticate/fingerprint", "GET", "Missing authorization", "Not authorized", 401, 401},
		{"/authenticate/forgotpassword", "POST", "Token invalid", "Token invalid", 401, 401},
	} {
		for _, token := range []string{"99999999-9999-4999-8999-999999999999", "x"} {
			refused(t, visitor{h, token}.ask(c.method, c.target, ""), fault{c.whenBad, c.invalid, "token_invalid", ""})
		}
		refused(t, visitor{h: h}.ask(c.method, c.target, ""), fault{c.whenMissing, c.missing, "not_logged_in", ""})
	}
}

// TestWhoIsAsking is told alike to every key, whatever its allowlist says.
func TestWhoIsAsking(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setKeys(keyOf(keyAll, "orders", Grant{"GET", "/order"}, Grant{"GET", "/orderline"}, Grant{"GET", "/vehicle"}, Grant{"PUT", "/employee"}, Grant{"GET", "/model/*"}))
	demo := h.as("demo")
	for target, want := range map[string]string{
		"/authenticate/acces": `{"data":{"username":"demo","client":"Demo Garage","api_key":"orders","endpoints":[
			{"method":"PUT","path":"/employee"},{"method":"GET","path":"/order"},{"method":"GET","path":"/orderline"},{"method":"GET","path":"/vehicle"},{"method":"GET","path":"/model/*"}]}}`,
		"/authenticate/modules": `{"data":[{"name":"sales","resources":["order","orderline"]},{"name":"vehicles","resources":["vehicle"]}]}`,
	} {
		a := demo.ask("GET", target, "")
		require.Equal(t, 200, a.status)
		require.JSONEq(t, want, a.body)
	}
	type components struct {
		Data []struct{ Name, Version, Status string }
	}
	got := decode[components](t, demo.ask("GET", "/authenticate/component", "")).Data
	require.Len(t, got, 3)
	for i, name := range []string{"gateway", "backend ", "store "} {
		require.True(t, strings.HasPrefix(got[i].Name, name), got[i].Name)
		require.NotEmpty(t, got[i].Version)
		require.Equal(t, "ok", got[i].Status)
	}

	print := demo.ask("GET", "/authenticate/fingerprint", "").body
	require.Regexp(t, `^\{"data":\{"fingerprint":"[0-9a-f]+"\}\}$`, print)
	require.Equal(t, print, h.as("demo").ask("GET", "/authenticate/fingerprint", "").body, "of another session")
	require.NotEqual(t, print, h.as("other").ask("GET", "/authenticate/fingerprint", "").body, "of another user")
}

var resetLink = regexp.MustCompile(`/authenticate/resetpassword\?reset=([A-Za-z0-9_-]{43})`)

// mailedReset waits for the mail with a link, and returns its code.
func (h *fixture) mailedReset() (code string) {
	require.Eventually(h.t, func() bool {
		mails, err := filepath.Glob(filepath.Join(h.mail, "*.eml"))
		if err != nil || len(mails) == 0 {
			return false
		}
		text, err := os.ReadFile(mails[0])
		if found := resetLink.FindSubmatch(text); err == nil && found != nil {
			code = string(found[1])
		}
		return code != ""
	}, time.Minute, time.Millisecond)
	return code
}

func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, nobody := h.as("demo"), visitor{h: h}
	refused(t, demo.ask("POST", "/authenticate/forgotpassword", ""), fault{400, "Empty body", "empty_body", ""})
	refused(t, demo.ask("POST", "/authenticate/forgotpassword", `{}`), fault{403, "Field: username is required and not supplied in request", "field_required", "username"})
	for _, name := range []string{"nobody", "demo"} {
		a := demo.ask("POST", "/authenticate/forgotpassword", `{"username":"`+name+`"}`)
		require.Equal(t, `{"successCode":200}`, a.body)
		require.Equal(t, 200, a.status)
	}
	code := h.mailedReset()
	const page = "/authenticate/resetpassword"
	form := nobody.ask("GET", page+"?reset="+code, "")
	require.Equal(t, 200, form.status)
	require.Equal(t, "text/html; charset=utf-8", form.head("Content-Type"))
	require.Equal(t, "no-referrer", form.head("Referrer-Policy"), "its address is a secret")
	require.Contains(t, form.head("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, form.body, `name="reset" value="`+code+`"`)
	require.NotContains(t, nobody.ask("GET", page, "").body, "<form", "without a code there is nothing to send")
	require.NotContains(t, nobody.ask("GET", page+"?reset=%22%3E%3Cscript%3E", "").body, "<script")

	send := func(code, password, repeat string) answered {
		return nobody.ask("POST", page, url.Values{"reset": {code}, "password": {password}, "repeat": {repeat}}.Encode())
	}
	for _, c := range []struct {
		a    answered
		says string
	}{
		{nobody.ask("POST", page, "reset=%zz"), "This form could not be read."},
		{send(code, "correct horse", "battery"), "The two passwords are not the same."},
		{send(code, "seven77", "seven77"), "A password has at least 8 characters"},
		{send("unknown", "correct horse", "correct horse"), "This link was used before or is older than one hour."},
	} {
		require.Equal(t, 400, c.a.status)
		require.Contains(t, c.a.body, c.says)
	}
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	done := send(code, "correct horse", "correct horse")
	require.Equal(t, 200, done.status)
	require.Contains(t, done.body, "Your new password is set.")
	require.Equal(t, 401, demo.ask("GET", "/order/1", "").status, "open sessions are ended")
	require.Equal(t, 400, send(code, "correct horse", "correct horse").status, "it works once")
	require.Equal(t, 401, nobody.ask("GET", login(keyAll, "demo", "demo"), "").status)
	require.Equal(t, 200, nobody.ask("GET", login(keyAll, "demo", "correct horse"), "").status)
}

// TestWithoutAccounts: where the administration keeps none, no password is reset.
func TestWithoutAccounts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *fixture, o *Options) { o.Resets = nil })
	refused(t, h.as("demo").ask("POST", "/authenticate/forgotpassword", `{"username":"demo"}`),
		fault{400, "Invalid endpoint: /authenticate/forgotpassword", mapping.EndpointUnknown, ""})
	refused(t, visitor{h: h}.ask("GET", "/authenticate/resetpassword", ""),
		fault{400, "Invalid endpoint: /authenticate/resetpassword", mapping.EndpointUnknown, ""})
}
