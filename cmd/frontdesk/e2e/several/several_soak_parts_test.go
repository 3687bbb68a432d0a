package several

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// instance is one of several gateways, with addresses that it keeps over restarts.
type instance struct {
	rig.Child
	listen, dir string
	text        string // its configuration, without what is written after it
	program     string // the binary that it runs; "" for this one's
}

func newInstance(t testing.TB) *instance {
	return &instance{listen: rig.FreeAddress(t), dir: t.TempDir(), Child: rig.Child{Desk: rig.Desk{T: t, Ops: rig.FreeAddress(t), Log: new(rig.LockedBuffer)}}}
}

func (i *instance) file() string { return filepath.Join(i.dir, "frontdesk.yaml") }

func (i *instance) write(text string) {
	i.T.Helper()
	require.NoError(i.T, os.WriteFile(i.file()+".new", []byte(text), 0o600))
	require.NoError(i.T, os.Rename(i.file()+".new", i.file()))
}

// start returns when it serves.
func (i *instance) start() {
	i.T.Helper()
	i.Launch(cmp.Or(i.program, rig.Binary(i.T)), i.file(), rig.Options{})
}

// stop stops it as a supervisor does, which is to go well.
func (i *instance) stop() {
	i.T.Helper()
	require.NoError(i.T, i.Process.Process.Signal(syscall.SIGTERM))
	<-i.Ended
	i.HTTP.CloseIdleConnections()
	require.Zero(i.T, i.Code, "%s", i.Log)
}

// serves reports whether it answers all that clients of the soak use: an open circuit refuses some
// for a while after what opened it.
func (i *instance) serves() bool {
	status, body := soakGet("http://" + i.Ops + "/readyz")
	var health desk.Health
	if status != http.StatusOK || json.Unmarshal(body, &health) != nil || health.Circuit != "closed" {
		return false
	}
	a, _ := i.Try("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")
	var login struct{ Token string }
	if json.Unmarshal(a.Body, &login) != nil {
		return false
	}
	for _, path := range []string{"/contact?page_size=1", "/order?page_size=1"} {
		if a, _ := i.Try("GET", path, login.Token, ""); a.Status != http.StatusOK {
			return false
		}
	}
	return true
}

func (i *instance) configHash() string {
	_, body := soakGet("http://" + i.Ops + "/readyz")
	var ready desk.Health
	_ = json.Unmarshal(body, &ready)
	return ready.Config.Hash
}

// soakGet is one request on a connection of its own; status 0 where none answered.
func soakGet(address string) (status int, body []byte) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, body
}

// ledger is what the clients of a soak were answered.
type ledger struct {
	database, receiver string

	mu       sync.Mutex
	answered int
	contacts map[string]bool   // by name: was it answered
	orders   map[string]bool   // references that were sent
	promised map[string]string // references by the job's id
	heard    map[string]bool   // calls by the job's id
	ended    []string          // tokens whose logout was answered
	emptied  int               // how often sessions were forgotten
	revoked  bool              // the doomed key is known to be gone everywhere
	outages  int               // how often something was down, twice; odd while it is
	faults   int               // requests that failed, while something was down
	wrongs   []string          // what must never be
}

// locked is for reading and noting something.
func (l *ledger) locked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *ledger) answers() (n int) {
	l.locked(func() { n = l.answered })
	return n
}

// soakClient is one client, which does one thing after the other.
type soakClient struct {
	*soak
	rig.Desk // at the load balancer
	number   int
	key      string
	random   *rand.Rand
	token    string
	emptied  int // before its login
	made     int
}

// soakPace is how long a client waits after a request: the machine is left to others.
const soakPace = 20 * time.Millisecond

func (c *soakClient) work(ctx context.Context) {
	c.HTTP = &http.Client{Transport: &http.Transport{}}
	defer c.HTTP.CloseIdleConnections()
	for ctx.Err() == nil {
		if c.token == "" && !c.login() {
			continue
		}
		switch n := c.random.IntN(20); {
		case n < 6:
			c.createContact(ctx)
		case n < 9:
			c.createOrder()
		case n < 17:
			if a := c.ask("GET", "/contact?page_size=5&sort=-id", c.token, "", ""); a.Status != 0 && a.Status != http.StatusOK && a.Status != http.StatusUnauthorized {
				c.wrong("a list was answered %d: %s", a.Status, a.Body)
			}
		case n < 18:
			c.tryEnded()
		default:
			c.logout()
		}
	}
}

func (c *soakClient) wrong(format string, args ...any) {
	c.locked(func() { c.wrongs = append(c.wrongs, fmt.Sprintf(format, args...)) })
}

// ask sends a request and judges what failed. Only what is answered counts: a
// status from 500 on, or none, is a fault, which may be while something is down.
func (c *soakClient) ask(method, path, token, body, onceKey string) (a rig.Answer) {
	var outages int
	var revoked bool
	c.locked(func() { outages, revoked = c.outages, c.revoked })
	a, err := c.Try(method, path, token, body, map[bool][]string{true: {"Idempotency-Key", onceKey}}[onceKey != ""]...)
	what := method + " " + strings.SplitN(path, "?", 2)[0]
	<-time.After(soakPace)
	c.mu.Lock()
	defer c.mu.Unlock()
	down := outages%2 == 1 || c.outages != outages
	switch {
	case err != nil || a.Status >= 500:
		c.faults++
		if !down {
			c.wrongs = append(c.wrongs, fmt.Sprintf("%s failed when nothing was down: %v %d %s\n%s", what, err, a.Status, a.Body, c.loggedOf(a.Body)))
		}
		return rig.Answer{}
	case a.Status == http.StatusUnauthorized && token != "" && token == c.token:
		c.token = ""
		if c.key != doomedKey && c.soak.emptied == c.emptied && !down {
			c.wrongs = append(c.wrongs, what+": a session was lost while nothing was down")
		}
	case a.Status < 400 && token != "" && c.key == doomedKey && revoked && !bytes.Contains(a.Body, []byte(`"errorCode"`)): // a logout of nobody is 200, with the words of a refusal
		c.wrongs = append(c.wrongs, what+" was let in by an api_key that was revoked")
	}
	c.answered++
	return a
}

func (c *soakClient) login() bool {
	c.locked(func() { c.emptied = c.soak.emptied })
	a := c.ask("GET", rig.LoginPath(c.key, "demo", "demo"), "", "", "")
	var body struct{ Token string }
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &body) != nil {
		if a.Status == http.StatusUnauthorized && c.key == doomedKey {
			c.key = rig.FullKey // it is gone, as it should be
		} else if a.Status != 0 {
			c.wrong("login was answered %d: %s", a.Status, a.Body)
		}
		return false
	}
	c.token = body.Token
	return true
}

// next is a name that nothing has yet.
func (c *soakClient) next() string {
	c.made++
	return fmt.Sprintf("soak-%d-%d", c.number, c.made)
}

// createContact sends a record until it is answered, under one key.
func (c *soakClient) createContact(ctx context.Context) {
	name := c.next()
	c.locked(func() { c.contacts[name] = false })
	for ctx.Err() == nil {
		switch a := c.ask("POST", "/contact", c.token, fmt.Sprintf(`{"kind":"person","name":%q}`, name), name); a.Status {
		case http.StatusCreated:
			c.locked(func() { c.contacts[name] = true })
			return
		case 0, http.StatusConflict: // not known, or the first is being served still
		case http.StatusUnauthorized:
			return // and another one begins anew
		default:
			c.wrong("POST /contact was answered %d: %s", a.Status, a.Body)
			return
		}
	}
}

// createOrder asks for an order that is made in the background.
func (c *soakClient) createOrder() {
	reference := c.next()
	c.locked(func() { c.orders[reference] = true })
	body := fmt.Sprintf(rig.NewOrder, 1, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, c.receiver))
	a := c.ask("POST", "/order", c.token, body, "")
	promise := rig.Promised.FindStringSubmatch(a.Header.Get("Location"))
	switch {
	case a.Status == http.StatusAccepted && promise != nil:
		c.locked(func() { c.promised[promise[1]] = reference })
	case a.Status != 0 && a.Status != http.StatusUnauthorized:
		c.wrong("POST /order was answered %d: %s", a.Status, a.Body)
	}
}

func (c *soakClient) logout() {
	token := c.token
	c.token = ""
	if a := c.ask("GET", "/authenticate/logout", token, "", ""); a.Status == http.StatusOK && strings.Contains(string(a.Body), "successCode") {
		c.locked(func() { c.soak.ended = append(c.soak.ended, token) })
	}
}

// tryEnded tries a token that somebody logged out: nobody may be let in.
func (c *soakClient) tryEnded() {
	token := ""
	c.locked(func() {
		if n := len(c.soak.ended); n > 0 {
			token = c.soak.ended[c.random.IntN(n)]
		}
	})
	if a := c.ask("GET", "/contact?page_size=1", token, "", ""); a.Status != 0 && a.Status != http.StatusUnauthorized {
		c.wrong("a token that was logged out was answered %d", a.Status)
	}
}
