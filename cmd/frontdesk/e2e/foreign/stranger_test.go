package foreign

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// stranger is a service behind frontdesk that keeps the contacts of two clients,
// and whose answers a test can twist before they go out.
type stranger struct {
	form strangerForm

	mu       sync.Mutex
	contacts map[int]strangerContact
	last     int // ID given out
	asked    []ask
	open     map[int]net.Conn
	users    map[string]int // name, which is the password too: client
	// twist returns what is sent in place of an honest answer, and whether that
	// ends the connection; nil where all is honest. It is run under mu.
	twist func(a ask, honest string) (sent string, end bool)
}

type strangerContact struct {
	client     int
	name, note string
}

// ask is a request that has come.
type ask struct {
	conn, nth    int // connection, and which request of it
	method, path string
	client       int
	token        string
	body         string
	target, raw  string // as it came: the path with its query, and all of it
}

// is reports whether a request is this one: "GET /v1/records/contact/1".
func (a ask) is(what string) bool { return a.method+" "+a.path == what }

// strangerForm is how the stranger speaks, and the sheet that says so.
type strangerForm struct {
	name, sheet string
	secure      bool // over TLS
	kind        string
	record      func(id int, c strangerContact, without string) string
	page        func(records []string) string
	user        func(name string, client int) string
}

// strangerSheet is the stranger as an HTTP service; all forms have the same paths, so that one
// router serves them.
const strangerSheet = `format: 2
source: {http: {url: "http://STRANGER", connections: 2, format: %s, headers: {Frontdesk-Client: "{client.id}"}, walk: {query: {limit: "{page.limit}"}, result: %s}}}
rules: backend
keep: keep.db
client: owner
accounts:
  verify: {path: /v1/login, body: '%s', result: %s}
  find: {path: "/v1/users/{username}", result: %[4]s}
  result: {username: username, email: email, client_id: client_id, client_name: client_name}
resources:
  contact:
    path: /v1/records/contact
    key: id
    get: {result: %[5]s}
    create: {result: %[5]s%[6]s}
    update: {result: %[5]s%[6]s}
    fields: {kind: kind, name: name, note: note}
  order: # which an api_key of every desk may list
    path: /v1/records/order
    key: id
    operations: {only: [list]}
    fields: {contact_id: contact, kind: {constant: parts}, order_status: {constant: open}, order_date: date}
  orderline:
    path: /v1/records/orderline
    key: id
    operations: {only: [list]}
    fields: {order_id: order, description: description, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: group}
`

func jsonMembers(id int, c strangerContact, owner, without string) string {
	members := []string{}
	for _, m := range [][2]string{
		{"id", strconv.Itoa(id)}, {"kind", `"person"`}, {"name", strconv.Quote(c.name)}, {"note", strconv.Quote(c.note)}, {owner, strconv.Itoa(c.client)},
		{"is_system", "0"}, {"is_blocked", "0"}, {"is_archived", "0"},
	} {
		if m[0] != without {
			members = append(members, fmt.Sprintf("%q:%s", m[0], m[1]))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func jsonUser(name string, client int) string {
	return fmt.Sprintf(`{"id":%d,"username":%q,"email":"%[2]s@example.nl","client_id":%[1]d,"client_name":"C%[1]d","external":false,"blocked":false}`, client, name)
}

func strangerForms() []strangerForm {
	jsonPage := func(records []string) string { return `{"more":false,"records":[` + strings.Join(records, ",") + "]}" }
	return []strangerForm{{
		name: "json", kind: "application/json",
		sheet:  fmt.Sprintf(strangerSheet, "json", "records", "{username, password}", `""`, `""`, ""),
		record: func(id int, c strangerContact, without string) string { return jsonMembers(id, c, "owner", without) },
		page:   jsonPage, user: jsonUser,
	}, {
		name: "xml", kind: "text/xml",
		sheet: fmt.Sprintf(strangerSheet, "xml", "answer.contact", `["l", ["username", .username], ["password", .password]]`, "user", "answer.contact",
			`, body: '["contact", (.record | to_entries[] | [.key, .value])]'`),
		record: func(id int, c strangerContact, without string) string {
			text := fmt.Sprintf("<answer><contact><id>%d</id><kind>person</kind><name>%s</name><note>%s</note><owner>%d</owner></contact></answer>", id, c.name, c.note, c.client)
			return regexp.MustCompile("<"+without+">.*</"+without+">").ReplaceAllString(text, "")
		},
		page: func(records []string) string {
			text := strings.Join(records, "")
			return "<answer>" + strings.NewReplacer("<answer>", "", "</answer>", "").Replace(text) + "</answer>"
		},
		user: func(name string, client int) string {
			return fmt.Sprintf("<user><username>%s</username><email>%[1]s@example.nl</email><client_id>%d</client_id><client_name>C%[2]d</client_name></user>", name, client)
		},
	}}
}

// newStranger starts a stranger that has contacts 1 and 3 of anna's client 1, and
// contact 2 of bert's client 2.
func newStranger(t *testing.T, form strangerForm) *stranger {
	s := &stranger{form: form, open: map[int]net.Conn{}, users: map[string]int{"anna": 1, "bert": 2}, last: 3}
	s.contacts = map[int]strangerContact{1: {1, "anna 1", ""}, 2: {2, "bert 2", ""}, 3: {1, "anna 3", ""}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.form.sheet = strings.ReplaceAll(form.sheet, "STRANGER", listener.Addr().String())
	if form.secure {
		listener = s.certified(t, listener)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for n := 1; ; n++ {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.open[n] = c
			s.mu.Unlock()
			serving.Go(func() { s.serve(n, c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for _, c := range s.open {
			_ = c.Close()
		}
		s.mu.Unlock()
		serving.Wait()
	})
	return s
}

// certified has a stranger speak TLS, with a certificate that its sheet names.
func (s *stranger) certified(t *testing.T, plain net.Listener) net.Listener {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}), 0o600))
	s.form.sheet = strings.Replace(s.form.sheet, `url: "http:`, fmt.Sprintf(`ca_file: %q, url: "https:`, file), 1)
	return tls.NewListener(plain, certified.TLS.Clone())
}

// desk starts frontdesk before the stranger.
func (s *stranger) desk(t *testing.T) *rig.Desk {
	o, _ := rig.BySheet(t, "remote", s.form.sheet)
	o.Server, o.Bound = "  trusted_proxies: [127.0.0.1]", rig.Circuit(100000, time.Second) // guesses come from many addresses, and are not slowed
	return rig.Start(t, o)
}

// logIn asks frontdesk for a session, from an address of its own.
func logIn(d *rig.Desk, name, password string) (rig.Answer, error) {
	from := fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256))
	return d.Try("GET", rig.LoginPath(rig.FullKey, name, password), "", "", "X-Forwarded-For", from)
}

func (s *stranger) serve(n int, c net.Conn) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, n)
	}()
	in := bufio.NewReader(c)
	for nth := 1; ; nth++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		a := ask{conn: n, nth: nth, method: req.Method, path: req.URL.Path, token: req.Header.Get("Authorization"), body: string(body), target: req.RequestURI}
		a.raw = fmt.Sprintf("%s %s\n%v\n%s", req.Method, req.RequestURI, req.Header, body)
		a.client, _ = strconv.Atoi(req.Header.Get("Frontdesk-Client"))
		sent, end := s.reply(a)
		if _, err := io.WriteString(c, sent); err != nil || end {
			if over, secure := c.(*tls.Conn); secure && n%2 == 0 {
				_ = over.NetConn().Close() // without saying so first
			}
			return
		}
	}
}

// reply does what is asked and words the answer, twisted or not.
func (s *stranger) reply(a ask) (sent string, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	honest := s.http(s.route(a))
	if s.twist == nil {
		return honest, false
	}
	return s.twist(a, honest)
}

func (s *stranger) http(status int, body string) string {
	if status == http.StatusNoContent {
		return "HTTP/1.1 204 No Content\r\n\r\n"
	}
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), s.form.kind, len(body), body)
}

func (s *stranger) route(a ask) (status int, body string) {
	id, _ := strconv.Atoi(strings.TrimPrefix(a.path, "/v1/records/contact/"))
	contact, found := s.contacts[id]
	switch {
	case a.path == "/v1/login":
		name := s.between(a.body, "username")
		if client, known := s.users[name]; known && s.between(a.body, "password") == name {
			return 200, s.form.user(name, client)
		}
		return 401, ""
	case strings.HasPrefix(a.path, "/v1/users/"):
		name := strings.TrimPrefix(a.path, "/v1/users/")
		return 200, s.form.user(name, s.users[name])
	case a.is("GET /v1/records/contact"):
		var records []string
		for _, id := range slices.Sorted(maps.Keys(s.contacts)) {
			if s.contacts[id].client == a.client {
				records = append(records, s.form.record(id, s.contacts[id], ""))
			}
		}
		return 200, s.form.page(records)
	case a.is("POST /v1/records/contact"):
		s.last++
		s.contacts[s.last] = strangerContact{a.client, s.between(a.body, "name"), ""}
		return 201, s.form.record(s.last, s.contacts[s.last], "")
	case !found || contact.client != a.client:
		return 404, ""
	case a.method == "PATCH":
		contact.note = s.between(a.body, "note")
		s.contacts[id] = contact
		return 200, s.form.record(id, contact, "")
	case a.method == "DELETE":
		delete(s.contacts, id)
		return 204, ""
	default:
		return 200, s.form.record(id, contact, "")
	}
}

// between is a value of a body, in the stranger's form.
func (s *stranger) between(body, name string) string {
	if s.form.kind == "text/xml" {
		_, rest, _ := strings.Cut(body, "<"+name+">")
		value, _, _ := strings.Cut(rest, "<")
		return value
	}
	var members map[string]any
	_ = json.Unmarshal([]byte(body), &members)
	value, _ := members[name].(string)
	return value
}

// twisted has a test's twist at work, and what was asked before forgotten.
func (s *stranger) twisted(twist func(a ask, honest string) (string, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twist, s.asked = twist, nil
}

// answering twists the answer to one request.
func (s *stranger) answering(what string, status int, body string) {
	s.twisted(func(a ask, honest string) (string, bool) {
		if a.is(what) {
			return s.http(status, body), false
		}
		return honest, false
	})
}

// requests are those that came since the twist, of that method and path.
func (s *stranger) requests(what string) []ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(a ask) bool { return !a.is(what) })
}

// all are the requests that came since the twist.
func (s *stranger) all() []ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// isOpen reports whether a connection still is.
func (s *stranger) isOpen(conn int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[conn] != nil
}
