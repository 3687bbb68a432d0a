package several

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// instance is one of several gateways, with addresses that it keeps over restarts.
type instance struct {
	t                testing.TB
	listen, ops, dir string
	text             string // its configuration, without what is written after it
	program          string // the binary that it runs; "" for this one's
	log              *rig.LockedBuffer
	process          *exec.Cmd
	ended            chan struct{}
}

func (i *instance) file() string { return filepath.Join(i.dir, "frontdesk.yaml") }

func (i *instance) write(text string) {
	i.t.Helper()
	require.NoError(i.t, os.WriteFile(i.file()+".new", []byte(text), 0o600))
	require.NoError(i.t, os.Rename(i.file()+".new", i.file()))
}

// start returns when it serves.
func (i *instance) start() {
	i.t.Helper()
	if i.log == nil {
		i.log = new(rig.LockedBuffer) // of all its lives
	}
	i.ended = make(chan struct{})
	i.process = exec.Command(cmp.Or(i.program, rig.Binary(i.t)), "serve", "--config", i.file())
	i.process.Stderr = i.log
	stdout, err := i.process.StdoutPipe()
	require.NoError(i.t, err)
	require.NoError(i.t, i.process.Start())
	ready, process, ended := make(chan struct{}), i.process, i.ended
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "ready: ") {
				close(ready)
			}
		}
		_ = process.Wait()
	}()
	i.t.Cleanup(i.kill)
	select {
	case <-ready:
	case <-i.ended:
		i.t.Fatalf("a gateway did not start:\n%s", i.log)
	}
}

func (i *instance) kill() {
	_ = i.process.Process.Kill()
	<-i.ended
}

// stop stops it as a supervisor does, which is to go well.
func (i *instance) stop() {
	i.t.Helper()
	require.NoError(i.t, i.process.Process.Signal(syscall.SIGTERM))
	<-i.ended
	require.Zero(i.t, i.process.ProcessState.ExitCode(), "%s", i.log)
}

// serves tells whether it answers all that clients of the soak use: an open circuit refuses some
// for a while after what opened it.
func (i *instance) serves() bool {
	base := "http://" + i.listen + "/webservice_v2"
	status, body := soakGet("http://"+i.ops+"/readyz", "")
	var health desk.Health
	if status != http.StatusOK || json.Unmarshal(body, &health) != nil || health.Circuit != "closed" {
		return false
	}
	_, body = soakGet(base+rig.LoginPath(rig.FullKey, "demo", "demo"), "")
	var login struct{ Token string }
	if json.Unmarshal(body, &login) != nil {
		return false
	}
	for _, path := range []string{"/contact?page_size=1", "/order?page_size=1"} {
		if status, _ := soakGet(base+path, login.Token); status != http.StatusOK {
			return false
		}
	}
	return true
}

func (i *instance) configHash() string {
	_, body := soakGet("http://"+i.ops+"/readyz", "")
	var ready struct{ Config struct{ Hash string } }
	_ = json.Unmarshal(body, &ready)
	return ready.Config.Hash
}

// soakGet is one request on a connection of its own; status 0 where none answered.
func soakGet(address, token string) (status int, body []byte) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequest("GET", address, nil)
	if err != nil {
		return 0, nil
	}
	req.Header.Set("token", token)
	resp, err := client.Do(req)
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

	mu        sync.Mutex
	answered  int
	contacts  map[string]bool   // by name: was it answered
	orders    map[string]bool   // references that were sent
	promised  map[string]string // references by the job's id
	heard     map[string]bool   // calls by the job's id
	ended     []string          // tokens whose logout was answered
	emptied   time.Time         // when sessions were last forgotten
	revokedAt time.Time         // when the doomed key was known to be gone everywhere
	outages   []period
	faults    []soakFault
	wrongs    []string // what must never be
}

type soakFault struct {
	period
	what, how string
}

func (l *ledger) answers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

func (l *ledger) hear(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard[id] = true
}

// forgetSessions notes that Redis lost what it knew.
func (l *ledger) forgetSessions() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emptied = time.Now()
}

func (l *ledger) wrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrongs = append(l.wrongs, fmt.Sprintf(format, args...))
}

// endLeases has the leases end of what was not called about yet: work that was cut
// off waits for them, which is sat out in the long form. What is under way at the
// moment is taken over as well.
func (s *soak) endLeases() {
	s.t.Helper()
	rig.OnJobs(s.t, s.database, func(jobs *jobstore.Store) {
		for id := range s.unheard() {
			_, err := jobs.Change(s.t.Context(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
				if !j.Lease.IsZero() {
					j.Lease = time.Now().Add(-time.Second)
				}
				return j, nil, nil
			})
			require.NoError(s.t, err)
		}
	})
}

// soakClient is one client, which does one thing after the other.
type soakClient struct {
	*soak
	number int
	key    string
	random *rand.Rand
	client http.Client
	token  string
	since  time.Time // of the token
	made   int
}

func (c *soakClient) work(ctx context.Context) {
	c.client = http.Client{Transport: &http.Transport{}}
	defer c.client.CloseIdleConnections()
	for ctx.Err() == nil {
		if !sqltest.Soak() {
			<-time.After(soakPace)
		}
		if c.token == "" && !c.login() {
			continue
		}
		switch n := c.random.IntN(20); {
		case n < 6:
			c.createContact(ctx)
		case n < 9:
			c.createOrder()
		case n < 17:
			c.read("/contact?page_size=5&sort=-id")
		case n < 18:
			c.tryEnded()
		default:
			c.logout()
		}
	}
}

// faultPause is how long a client waits after a fault.
const faultPause = 50 * time.Millisecond

// ask sends a request and notes what failed. Only what is answered counts: a
// status from 500 on, or none, is a fault.
func (c *soakClient) ask(method, path, token, body, onceKey string) (status int, answer []byte, header http.Header) {
	req, err := http.NewRequest(method, c.balanced+path, strings.NewReader(body))
	if err != nil {
		c.wrong("%v", err)
		return 0, nil, nil
	}
	req.Header.Set("token", token)
	if onceKey != "" {
		req.Header.Set("Idempotency-Key", onceKey)
	}
	from, how := time.Now(), ""
	resp, err := c.client.Do(req)
	if err == nil {
		answer, err = io.ReadAll(resp.Body)
		err = errors.Join(err, resp.Body.Close())
	}
	switch {
	case err != nil:
		how = err.Error()
	case resp.StatusCode >= 500:
		how = fmt.Sprintf("%d %s", resp.StatusCode, answer)
	}
	to := time.Now()
	what := method + " " + strings.SplitN(path, "?", 2)[0]
	if how != "" {
		<-time.After(faultPause)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if how != "" {
		c.faults = append(c.faults, soakFault{period{from, to}, what, how})
		return 0, nil, nil
	}
	c.answered++
	if resp.StatusCode == http.StatusUnauthorized && token != "" && token == c.token {
		c.token = ""
		lost := c.emptied.After(c.since.Add(-time.Second)) || c.during(period{from, to})
		if c.key != doomedKey && !lost {
			c.wrongs = append(c.wrongs, fmt.Sprintf("%s: a session of %s was lost while nothing was down", what, time.Since(c.since)))
		}
	}
	refused := resp.StatusCode >= 400 || bytes.Contains(answer, []byte(`"errorCode"`)) // a logout of nobody is 200, with the words of a refusal
	if !refused && token != "" && c.key == doomedKey && !c.revokedAt.IsZero() && from.After(c.revokedAt) {
		c.wrongs = append(c.wrongs, fmt.Sprintf("%s was let in by an api_key that was revoked", what))
	}
	return resp.StatusCode, answer, resp.Header
}

func (c *soakClient) login() bool {
	since := time.Now()
	status, answer, _ := c.ask("GET", rig.LoginPath(c.key, "demo", "demo"), "", "", "")
	var body struct{ Token string }
	if status != http.StatusOK || json.Unmarshal(answer, &body) != nil {
		if status == http.StatusUnauthorized && c.key == doomedKey {
			c.key = rig.FullKey // it is gone, as it should be
		} else if status != 0 {
			c.wrong("login was answered %d: %s", status, answer)
		}
		return false
	}
	c.token, c.since = body.Token, since
	return true
}

// createContact sends a record until it is answered, under one key.
func (c *soakClient) createContact(ctx context.Context) {
	c.made++
	name := fmt.Sprintf("soak-%d-%d", c.number, c.made)
	c.mu.Lock()
	c.contacts[name] = false
	c.mu.Unlock()
	body := fmt.Sprintf(`{"kind":"person","name":%q}`, name)
	for ctx.Err() == nil {
		status, answer, _ := c.ask("POST", "/contact", c.token, body, name)
		switch status {
		case http.StatusCreated:
			c.mu.Lock()
			c.contacts[name] = true
			c.mu.Unlock()
			return
		case 0, http.StatusConflict: // not known, or the first is being served still
		case http.StatusUnauthorized:
			return // and another one begins anew
		default:
			c.wrong("POST /contact was answered %d: %s", status, answer)
			return
		}
	}
}

// createOrder asks for an order that is made in the background.
func (c *soakClient) createOrder() {
	c.made++
	reference := fmt.Sprintf("soak-%d-%d", c.number, c.made)
	c.mu.Lock()
	c.orders[reference] = true
	c.mu.Unlock()
	body := fmt.Sprintf(rig.NewOrder, 1, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, c.receiver))
	status, answer, header := c.ask("POST", "/order", c.token, body, "")
	promise := rig.Promised.FindStringSubmatch(header.Get("Location"))
	switch {
	case status == http.StatusAccepted && promise != nil:
		c.mu.Lock()
		c.promised[promise[1]] = reference
		c.mu.Unlock()
	case status != 0 && status != http.StatusUnauthorized:
		c.wrong("POST /order was answered %d: %s", status, answer)
	}
}

func (c *soakClient) read(path string) {
	if status, answer, _ := c.ask("GET", path, c.token, "", ""); status != 0 && status != http.StatusOK && status != http.StatusUnauthorized {
		c.wrong("GET %s was answered %d: %s", path, status, answer)
	}
}

func (c *soakClient) logout() {
	token := c.token
	c.token = ""
	if status, answer, _ := c.ask("GET", "/authenticate/logout", token, "", ""); status == http.StatusOK && strings.Contains(string(answer), "successCode") {
		c.mu.Lock()
		c.ended = append(c.ended, token)
		c.mu.Unlock()
	}
}

// tryEnded tries a token that somebody logged out: nobody may be let in.
func (c *soakClient) tryEnded() {
	c.mu.Lock()
	if len(c.ended) == 0 {
		c.mu.Unlock()
		return
	}
	token := c.ended[c.random.IntN(len(c.ended))]
	c.mu.Unlock()
	if status, _, _ := c.ask("GET", "/contact?page_size=1", token, "", ""); status != 0 && status != http.StatusUnauthorized {
		c.wrong("a token that was logged out was answered %d", status)
	}
}
