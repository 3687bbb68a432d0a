package foreign

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

const successSheet = `
format: 2
time_zone: UTC
rules: backend
keep: keep.db
source:
  http:
    url: "${URL}"
    log_on: {request: {path: /token}, token: token, lifetime: 1h, headers: {Authorization: "{token}"}, renew_on: {jq: .body.error == "expired"}}
    walk: {result: items}
accounts:
  verify: {path: /login, body: "{user: .username, password}"}
  result: {id: nr, username: user, email: mail, client_id: org}
  refused: {jq: .body.ok == "no"}
resources:
  contact:
    path: /c
    key: id
    client: org
    operations: {only: [list]}
    fields: {kind: {constant: person}, name: name, created_at: {path: made, type: datetime, readonly: true}}
`

// TestFailuresToldBySuccess: a service that answers everything with 200 tells of wrong
// credentials and of an expired token by what the answer says. A wrong password is 401, and the
// token is got anew.
func TestFailuresToldBySuccess(t *testing.T) {
	t.Parallel()
	var tokens atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer := `{"items": [{"id": 1, "org": 1, "name": "expired", "made": "2026-01-01 10:00:00"}]}`
		switch {
		case r.URL.Path == "/token":
			answer = fmt.Sprintf(`{"token": "T%d"}`, tokens.Add(1))
		case r.URL.Path == "/login" && strings.Contains(string(body), `"right"`):
			answer = `{"ok": "yes", "nr": 5, "user": "anna", "mail": "a@example.nl", "org": 1}`
		case r.URL.Path == "/login":
			answer = `{"ok": "no"}`
		case r.Header.Get("Authorization") == "T1":
			answer = `{"error": "expired"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(service.Close)
	o, _ := rig.BySheet(t, "remote", successSheet, "${URL}", service.URL)
	o.Edit = strings.NewReplacer(`["GET /order", "GET /orderline", "GET /model/*"]`, `["GET /model/*"]`)
	o.Server = "  trusted_proxies: [127.0.0.1]" // so that guesses come from many addresses, and are not slowed
	d := rig.Start(t, o)

	token := d.LoginAs(rig.FullKey, "anna", "right")
	a := d.Call("GET", "/contact", token, "")
	require.Equal(t, 200, a.Status, "%s", a.Body)
	require.Contains(t, string(a.Body), `"name":"expired"`, "which is a record's")
	require.EqualValues(t, 2, tokens.Load(), "got once more")
	a, err := logIn(d, "anna", "wrong")
	require.NoError(t, err)
	require.Equal(t, 401, a.Status, "%s", a.Body)
	require.Contains(t, string(a.Body), `"reason":"credentials_invalid"`, "which is what counts as a guess")
}
