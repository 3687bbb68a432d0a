package foreign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestAnswerOfAnother: what is not about the record that was asked is 500, changes
// nothing, is in the log, and ends the connection that it came over. Lists are those of the copy.
func TestAnswerOfAnother(t *testing.T) {
	t.Parallel()
	for _, form := range strangerForms() {
		t.Run(form.name, func(t *testing.T) {
			s := newStranger(t, form)
			d := s.desk(t)
			anna := d.Login(rig.FullKey, "anna")
			one, two, three := s.contacts[1], s.contacts[2], s.contacts[3]
			require.Len(t, namesOf(t, d.Call("GET", "/contact", anna, "")), 2, "the copy is whole")
			const get, patch, post, list = "GET /v1/records/contact/1", "PATCH /v1/records/contact/1", "POST /v1/records/contact", "GET /v1/records/contact"
			asks := map[string][2]string{
				get: {"GET", "/contact/1"}, patch: {"PUT", "/contact/1"}, post: {"POST", "/contact"}, list: {"GET", "/contact"},
			}
			for _, test := range []struct {
				name, of string
				status   int
				body     string
			}{
				{"another client's", get, 200, form.record(2, two, "")},
				{"another of the client's", get, 200, form.record(3, three, "")},
				{"without its key", get, 200, form.record(1, one, "id")},
				{"another of the client's after a change", patch, 200, form.record(3, three, "")},
				{"without its key after a change", patch, 200, form.record(1, one, "id")},
				{"another client's after a create", post, 201, form.record(2, two, "")},
				{"without its key after a create", post, 201, form.record(4, one, "id")},
				{"a row without its key", list, 200, form.page([]string{form.record(1, one, ""), form.record(3, three, "id")})},
			} {
				s.answering(test.of, test.status, test.body)
				ask := asks[test.of]
				bodies := map[string]string{
					"PUT":  fmt.Sprintf(`{"note":%q}`, test.name), // another one each time: what is not changed is not written
					"POST": `{"kind":"person","name":"new"}`,
				}
				a := d.Call(ask[0], ask[1], anna, bodies[ask[0]], "Cache-Control", "no-cache")
				came := s.requests(test.of)
				if test.of == list {
					require.Equal(t, []string{"anna 1", "anna 3"}, namesOf(t, a), test.name)
					require.NotEmpty(t, came, test.name)
				} else {
					require.Equal(t, 500, a.Status, "%s: %s", test.name, a.Body)
					require.Contains(t, []string{"internal_error", "backend_changed"}, a.Failure(t).Reason, test.name)
					require.Len(t, came, 1, test.name)
				}
				await.True(t, func() bool { return !s.isOpen(came[0].conn) }, test.name)
				if test.of != get {
					continue
				}
				for _, ask := range [][2]string{{"PUT", `{"note":"for 1"}`}, {"DELETE", ""}} {
					a := d.Call(ask[0], "/contact/1", anna, ask[1])
					require.Equal(t, 500, a.Status, "%s: %s: %s", test.name, ask[0], a.Body)
				}
				for _, a := range s.asked {
					require.Equal(t, "GET", a.method, "%s: nothing is changed", test.name)
				}
			}
			require.Equal(t, two, s.contacts[2])
			require.Equal(t, three, s.contacts[3])
			requireLogged(t, d, `contact \"1\" was asked for, \"3\" came`)
			require.NotContains(t, d.Log.String(), "bert 2")

			// Another client's under the number that was asked: there is none.
			s.answering(get, 200, form.record(1, strangerContact{client: 2, name: "bert 1"}, ""))
			require.Equal(t, 404, d.Call("GET", "/contact/1", anna, "").Status)
			s.twisted(nil)
			require.Equal(t, 200, d.Call("GET", "/contact/1", anna, "").Status)
		})
	}
}

// namesOf are the names in a list.
func namesOf(t *testing.T, a rig.Answer) (names []string) {
	t.Helper()
	for _, c := range data[[]struct{ Name string }](t, a) {
		names = append(names, c.Name)
	}
	return names
}

// requireLogged waits for the log, which comes a little late.
func requireLogged(t *testing.T, d *rig.Desk, text string) {
	t.Helper()
	await.True(t, func() bool { return strings.Contains(d.Log.String(), text) }, "%s", text)
}

// TestLogOnOfAnother: credentials go out once, over a connection of their own, and
// only an answer about who asked lets anybody in.
func TestLogOnOfAnother(t *testing.T) {
	t.Parallel()
	for _, form := range strangerForms() {
		t.Run(form.name, func(t *testing.T) {
			s := newStranger(t, form)
			d := s.desk(t)
			const login = "POST /v1/login"
			twice := func(a ask, honest string) (string, bool) {
				if a.is(login) {
					return honest + honest, false
				}
				return honest, false
			}
			s.twisted(twice)
			in := func(name, password string) rig.Answer {
				a, err := logIn(d, name, password)
				require.NoError(t, err)
				return a
			}
			for range 10 {
				require.Equal(t, 200, in("bert", "bert").Status)
				require.Equal(t, 401, in("anna", "wrong").Status)
			}
			came := s.requests(login)
			require.Len(t, came, 20, "wrong passwords go out once, too")
			for _, a := range came {
				require.Equal(t, 1, a.nth, "nothing was asked on the connection before")
				await.True(t, func() bool { return !s.isOpen(a.conn) })
			}

			for _, other := range []string{form.user("bert", 2), form.user("Anna", 1), form.user("", 1)} {
				s.answering(login, 200, other)
				a := in("anna", "anna")
				require.Equal(t, 500, a.Status, "%s", a.Body)
				if form.user("", 1) != other {
					require.Equal(t, "internal_error", a.Failure(t).Reason)
				}
			}
			requireLogged(t, d, "the service answers about another user")
			require.NotContains(t, d.Log.String(), "bert", "names may be passwords")

			unavailable := s.http(503, "")
			for name, sent := range map[string]string{"503": unavailable, "nothing": "", "cut in the head": "HTTP/1.1 200 OK\r\nConte", "cut": s.http(200, form.user("anna", 1))[:100]} {
				s.twisted(func(_ ask, honest string) (string, bool) { return sent, sent != unavailable })
				a := in("anna", "anna")
				require.Equal(t, 500, a.Status, "%s: %s", name, a.Body)
				require.Len(t, s.requests(login), 1, "%s: not sent again", name)
			}
		})
	}
}

// TestUsernameCase: where the sheet says that case does not matter, Anna is anna, and
// still nobody else.
func TestUsernameCase(t *testing.T) {
	t.Parallel()
	for _, form := range strangerForms() {
		t.Run(form.name, func(t *testing.T) {
			before, accounts, found := strings.Cut(form.sheet, "accounts:\n")
			form.sheet = before + "accounts:\n  username_case: ignore\n" + accounts
			require.True(t, found)
			s := newStranger(t, form)
			d := s.desk(t)
			for name, want := range map[string]int{"Anna": 200, "ANNA": 200, "bert": 500, "ann": 500} {
				s.answering("POST /v1/login", 200, form.user(name, 1))
				a, err := logIn(d, "anna", "anna")
				require.NoError(t, err)
				require.Equal(t, want, a.Status, "%s: %s", name, a.Body)
			}
		})
	}
}

// strangerLogOn has the stranger's calls made with tokens, one for each client.
const strangerLogOn = `http: {log_on: {request: {path: "/v1/token/{client.name}", body: "{}"}, token: token, lifetime: 5m, accounts_client: C1,
  headers: {Authorization: "{token}"}}, `

// TestLogOnOfAnotherClient: the log-on that calls are made with is asked for once,
// over a connection of its own, so that no client gets another one's token; and the
// 401 of a wrong password, which looks like that of an expired token, does not have
// the password sent again.
func TestLogOnOfAnotherClient(t *testing.T) {
	t.Parallel()
	form := strangerForms()[0]
	form.sheet = strings.Replace(form.sheet, "http: {", strangerLogOn, 1)
	s := newStranger(t, form)
	d := s.desk(t)
	var wrong []ask
	tokens := func(a ask, honest string) (string, bool) {
		if of, ok := strings.CutPrefix(a.path, "/v1/token/"); ok {
			answer := s.http(200, fmt.Sprintf(`{"token":%q}`, of))
			return answer + answer, false
		}
		if a.client != 0 && a.token != fmt.Sprintf("C%d", a.client) {
			wrong = append(wrong, a)
		}
		return honest, false
	}
	s.twisted(tokens)
	require.Equal(t, 401, d.Call("GET", rig.LoginPath(rig.FullKey, "anna", "wrong"), "", "").Status)
	require.Len(t, s.requests("POST /v1/login"), 1)
	for range 5 {
		for name, client := range map[string]int{"anna": 1, "bert": 2} {
			token := d.Login(rig.FullKey, name)
			require.Equal(t, 200, d.Call("GET", fmt.Sprintf("/contact/%d", client), token, "").Status)
		}
	}
	require.Empty(t, wrong)
	for _, a := range append(s.requests("POST /v1/token/C1"), s.requests("POST /v1/token/C2")...) {
		require.Equal(t, 1, a.nth)
	}

	fresh := newStranger(t, form)
	fresh.twisted(func(ask, string) (string, bool) { return fresh.http(503, ""), false })
	d = fresh.desk(t)
	require.Equal(t, 500, d.Call("GET", rig.LoginPath(rig.FullKey, "anna", "anna"), "", "").Status)
	require.Len(t, fresh.requests("POST /v1/token/C1"), 1, "not sent again")
}

// TestHostileExchanges: a service whose answers come twice, one request late, cut
// or not at all, or are about something else, over few connections that are used again
// and again, with TLS and without. Whatever a client is answered with 200 is its own, and what it asked for.
func TestHostileExchanges(t *testing.T) {
	t.Parallel()
	rounds, clients := 14, 4 // rounds of six exchanges each, on three forms, each in two ways
	if sqltest.Soak() {
		rounds = 700
	}
	forms := strangerForms()
	for _, form := range strangerForms() {
		form.name, form.secure = form.name+" over TLS", true
		forms = append(forms, form)
	}
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			seed := sqltest.Seed(t)
			s := newStranger(t, form)
			d := s.desk(t)
			tokens := []string{d.Login(rig.FullKey, "anna"), d.Login(rig.FullKey, "bert")}
			random := rand.New(rand.NewPCG(seed, 1)) // used under the stranger's lock
			owed := map[int]string{}                 // to be answered before the next request of a connection is
			s.twisted(func(a ask, honest string) (string, bool) {
				surplus := owed[a.conn]
				delete(owed, a.conn)
				switch random.IntN(11) {
				case 0:
					return surplus + honest + honest, false
				case 1, 2:
					owed[a.conn] = honest
				case 3:
					return (surplus + honest)[:random.IntN(len(surplus+honest))], true
				case 4:
					return surplus + honest, true
				case 5:
					return surplus + s.http(503, ""), false
				case 6, 7, 8:
					return surplus + s.lie(random, a, honest), false
				}
				return surplus + honest, false
			})
			var running sync.WaitGroup
			for n := range clients {
				own := rand.New(rand.NewPCG(seed, uint64(n)+2))
				running.Go(func() {
					for range rounds {
						exchangeHostile(t, d, own, n%2, tokens[n%2])
					}
				})
			}
			running.Wait()
			again := 0
			for _, a := range s.asked {
				if a.nth > 1 {
					again++
				}
				var id int
				if _, err := fmt.Sscanf(a.path, "/v1/records/contact/%d", &id); err == nil && a.method != "GET" {
					require.Equal(t, map[int]int{1: 1, 2: 2, 3: 1}[id], a.client, "%s %s", a.method, a.path)
				}
				if a.path == "/v1/login" {
					require.Equal(t, 1, a.nth)
				}
			}
			require.Greater(t, again, rounds, "requests over connections that were used before")
			require.Equal(t, []string{"anna 1", "bert 2", "anna 3"}, []string{s.contacts[1].name, s.contacts[2].name, s.contacts[3].name})
			for id, c := range s.contacts {
				require.Contains(t, []string{"", fmt.Sprintf("for %d", id)}, c.note)
			}
		})
	}
}

// lie is an answer that is about something else than was asked, as its key, its client
// or its user tells, or that lacks one of these. It is run under the stranger's lock.
func (s *stranger) lie(random *rand.Rand, a ask, honest string) string {
	record := func() string {
		id := 1 + random.IntN(3)
		return s.form.record(id, s.contacts[id], []string{"", "", "id", "owner"}[random.IntN(4)])
	}
	switch {
	case a.path == "/v1/login":
		for name, client := range s.users {
			if name != s.between(a.body, "username") {
				return s.http(200, s.form.user([]string{name, ""}[random.IntN(2)], client))
			}
		}
	case a.is("GET /v1/records/contact"):
		records := make([]string, random.IntN(5))
		for i := range records {
			records[i] = record()
		}
		return s.http(200, s.form.page(records))
	case strings.HasPrefix(a.path, "/v1/records/contact/"):
		return s.http(200, record())
	}
	return honest
}

// exchangeHostile makes the exchanges of a round, and looks at all that succeed.
func exchangeHostile(t *testing.T, d *rig.Desk, random *rand.Rand, who int, token string) {
	name, client := []string{"anna", "bert"}[who], who+1
	own := [][]int{{1, 3}, {2}}[who]
	id := own[random.IntN(len(own))]
	try := func(method, path, token, body string) rig.Answer {
		a, err := d.Try(method, path, token, body)
		assert.NoError(t, err)
		return a
	}
	record := func(a rig.Answer) {
		var body struct {
			Data struct {
				ID   int
				Name string
			}
		}
		if a.Status != 200 {
			return
		}
		if json.Unmarshal(a.Body, &body) != nil || body.Data.ID != id || body.Data.Name != fmt.Sprintf("%s %d", name, id) {
			t.Errorf("%s asked for contact %d: %s", name, id, a.Body)
		}
	}
	record(try("GET", fmt.Sprintf("/contact/%d", id), token, ""))
	record(try("PUT", fmt.Sprintf("/contact/%d", id), token, fmt.Sprintf(`{"note":"for %d"}`, id)))
	if a := try("GET", "/contact", token, ""); a.Status == 200 {
		var body struct{ Data []struct{ Name string } }
		if json.Unmarshal(a.Body, &body) != nil {
			t.Errorf("%s", a.Body)
		}
		for _, c := range body.Data {
			if !strings.HasPrefix(c.Name, name) {
				t.Errorf("the list of %s has %s", name, a.Body)
			}
		}
	}
	if a, err := logIn(d, name, "wrong"); err != nil || a.Status == 200 {
		t.Errorf("%s is in with a wrong password", name)
	}
	if a, err := logIn(d, name, name); err == nil && a.Status == 200 {
		var session struct{ Token string }
		_ = json.Unmarshal(a.Body, &session)
		access := try("GET", "/authenticate/acces", session.Token, "")
		if !strings.Contains(string(access.Body), name) || access.Status != 200 {
			t.Errorf("%s (client %d) is logged in as %s", name, client, access.Body)
		}
	}
	other := 3 - client
	if a := try("GET", fmt.Sprintf("/contact/%d", other), token, ""); a.Status == 200 {
		t.Errorf("%s sees %s", name, a.Body)
	}
}
