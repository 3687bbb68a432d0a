package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

const usersSheet = `
source:
  http:
    url: ${SERVICE_URL}
    retries: 0
    secrets: {app: s3cret}
    log_on:
      request: {path: /token, body: "{app: .secret.app, tenant: .client.name}"}
      token: access
      expires_in: seconds
      accounts_client: desk
      headers: {Authorization: "Bearer {token}"}
      renew_on: {jq: .body.error == "expired"}
accounts:
  clients: kept
  verify: {path: /login, body: "{user: .username, password}"}
  token: token
  who: {path: /me, headers: {X-User: "{token}"}, result: user}
  find: {path: /users, query: {name: {jq: '"eq \u0027\(.username)\u0027"'}}, result: users}
  refused: {jq: .body.ok == false}
  result: {username: name, email: mail, client_id: org.id, client_name: org.name, external: {path: kind, codes: {ext: 1, int: 0}}, blocked: locked}
resources:
  contact:
    path: /contacts
    key: {path: id, id: kept}
    client: org
    operations: {only: [get, list]}
    walk: {result: items, paging: {style: none}, query: {tenant: "{client.name}"}}
    fields: {kind: {constant: person}, name: name}
`

// staff is a service whose users log in, and whose callers have tokens for a time.
type staff struct {
	mu     sync.Mutex
	tokens int
	asked  []string
	expire bool   // the next call finds its token expired
	me     object // what /me says
	login  string // what /login answers; "" for a token
}

func (s *staff) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent object
	_ = json.NewDecoder(r.Body).Decode(&sent)
	s.asked = append(s.asked, r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-User"))
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/token":
		s.tokens++
		tell(w, object{"access": fmt.Sprint(sent["tenant"], s.tokens), "seconds": "3600"})
	case s.expire:
		s.expire = false
		tell(w, object{"error": "expired"})
	case r.URL.Path == "/login" && s.login != "":
		_, _ = w.Write([]byte(s.login))
	case r.URL.Path == "/login":
		tell(w, object{"ok": sent["password"] == "right", "token": "U"})
	case r.URL.Path == "/me":
		tell(w, object{"user": s.me})
	case r.URL.Path == "/users":
		users := []any{}
		if r.URL.Query().Get("name") == "eq 'piet'" {
			users = append(users, s.me)
		}
		tell(w, object{"users": users})
	default:
		tell(w, object{"items": []any{object{"id": 1, "org": "g-1", "name": "Anna"}}, "id": 1, "org": "g-1", "name": "Anna"})
	}
}

func (s *staff) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func piet() object {
	return object{"name": "piet", "mail": "p@example.com", "org": object{"id": "g-1", "name": "North"}, "kind": "ext", "locked": false, "password": "hunter2"}
}

func TestVerify(t *testing.T) {
	s := &staff{me: piet()}
	c := speaking(t, usersSheet, s)
	user, err := c.verify(bg(), auth.Credentials{Username: "piet", Password: "right"})
	require.NoError(t, err)
	require.Equal(t, []string{"/token ", "/login Bearer desk1", "/me Bearer desk1U"}, s.take())
	require.Equal(t, auth.User{Username: "piet", Email: "p@example.com", External: true, Client: auth.Client{ID: user.Client.ID, Name: "North"}}, user)
	contacts, err := c.walked(bg(), "contact", user.Client)
	require.NoError(t, err)
	require.Equal(t, user.Client.ID, contacts[0].client, "the client of a user is that of the records")
	require.Equal(t, []string{"/token ", "/contacts Bearer North2"}, s.take(), "every client has a token")

	var refused *auth.Refused
	_, err = c.verify(bg(), auth.Credentials{Username: "piet", Password: "wrong"}) // told with 200
	require.ErrorAs(t, err, &refused)
	require.Equal(t, auth.CauseWrongPassword, refused.Why)
	_, err = c.verify(bg(), auth.Credentials{Password: "right"})
	require.ErrorAs(t, err, &refused)
	s.me["locked"] = true
	_, err = c.verify(bg(), auth.Credentials{Username: "piet", Password: "right"})
	require.ErrorAs(t, err, &refused)
	require.Equal(t, auth.CauseUserBlocked, refused.Why)
}

// TestVerifyFails: what is neither a user nor a refusal is a failure, which shows nothing of the
// answer.
func TestVerifyFails(t *testing.T) {
	for name, change := range map[string]func(*staff){
		"no token":          func(s *staff) { s.login = `{"password":"hunter2"}` },
		"no JSON":           func(s *staff) { s.login = `{"password":"hunter2"` },
		"nobody":            func(s *staff) { s.me = nil },
		"no client":         func(s *staff) { s.me["org"] = "hunter2" },
		"no name":           func(s *staff) { s.me["name"] = "" },
		"an unknown code":   func(s *staff) { s.me["kind"] = "hunter2" },
		"blocked or not":    func(s *staff) { s.me["locked"] = "hunter2" },
		"an empty client":   func(s *staff) { s.me["org"] = object{"id": " "} },
		"a page for people": func(s *staff) { s.login = `<!doctype html>hunter2` },
		"jq that fails":     func(s *staff) { s.login = `["hunter2"]` },
	} {
		t.Run(name, func(t *testing.T) {
			s := &staff{me: piet()}
			change(s)
			_, err := speaking(t, usersSheet, s).verify(bg(), auth.Credentials{Username: "piet", Password: "right"})
			require.Error(t, err)
			require.NotErrorIs(t, err, auth.ErrCredentials)
			require.False(t, strings.Contains(err.Error(), "hunter2"), "%v", err)
		})
	}
}

func TestFind(t *testing.T) {
	s := &staff{me: piet()}
	c := speaking(t, usersSheet, s)
	user, err := c.find(bg(), "piet")
	require.NoError(t, err)
	require.Equal(t, "North", user.Client.Name)
	for _, name := range []string{"jan", "", "x' or name ne '", `x\`, "a\nb"} {
		_, err = c.find(bg(), name)
		require.ErrorIs(t, err, auth.ErrUnknownUser, name)
	}
}

// TestRenew: a token that has expired is renewed once, whatever the status of the answer that says
// so.
func TestRenew(t *testing.T) {
	s := &staff{me: piet(), expire: true}
	c := speaking(t, usersSheet, s)
	user, err := c.verify(bg(), auth.Credentials{Username: "piet", Password: "right"})
	require.ErrorIs(t, err, backend.ErrUnexpected, "credentials are sent once")
	user, err = c.verify(bg(), auth.Credentials{Username: "piet", Password: "right"})
	require.NoError(t, err)
	s.take()
	s.expire = true
	_, err = c.walked(bg(), "contact", user.Client)
	require.NoError(t, err)
	require.Equal(t, []string{"/token ", "/contacts Bearer North3", "/token ", "/contacts Bearer North4"}, s.take())
}

// TestListedUsers: users in the sheet have the clients of the records, too.
func TestListedUsers(t *testing.T) {
	c := speaking(t, deskSheet, &desk{})
	user, err := c.find(bg(), "a")
	require.NoError(t, err)
	numbers, err := c.clientNumbers(bg(), []string{"north"})
	require.NoError(t, err)
	require.Equal(t, numbers["north"], user.Client.ID)
	_, err = c.find(bg(), "b")
	require.ErrorIs(t, err, auth.ErrUnknownUser)
}
