package siege

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// customerName is the user whom nobody may keep out. The attackers have sessions of demo,
// of another client.
const customerName = "other"

// What a customer does, and how often.
const (
	reading = "read"
	orders  = "read of orders"
	writing = "write"
	logging = "login"
	results = "result"
)

var paces = map[string]time.Duration{
	reading: 40 * time.Millisecond,
	orders:  40 * time.Millisecond,
	writing: 100 * time.Millisecond,
	logging: 500 * time.Millisecond,
	results: time.Second,
}

// ownConnections is how many a customer keeps open at most.
const ownConnections = 16

// customer is a client that behaves, and never stops: what is due is asked, whatever
// became of what was asked before.
type customer struct {
	base, token string
	hooks       *receiver
	does        []string
	contact     int
	kept, fresh *http.Client // connections that stay, and one for each request

	mu      sync.Mutex
	samples []sample
}

// sample is what came of a request. How late the answer was counts from when the request
// was due: a customer who had to wait for a connection waited.
type sample struct {
	kind   string
	status int // 0 for none
	late   time.Duration
}

func newCustomer(t *testing.T, d *rig.Child, hooks *receiver, does []string) *customer {
	t.Helper()
	c := &customer{base: d.Base, hooks: hooks, does: does}
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 9, 9, 9)}}
	transport := &http.Transport{DialContext: from.DialContext, MaxConnsPerHost: ownConnections, MaxIdleConnsPerHost: ownConnections}
	once := &http.Transport{DialContext: from.DialContext, MaxConnsPerHost: ownConnections, DisableKeepAlives: true}
	c.kept, c.fresh = &http.Client{Transport: transport}, &http.Client{Transport: once}
	t.Cleanup(transport.CloseIdleConnections)
	status, body := c.logIn()
	require.Equal(t, http.StatusOK, status, "%s", body)
	var session struct{ Token string }
	require.NoError(t, json.Unmarshal(body, &session))
	c.token = session.Token
	status, body = c.send(c.kept, "POST", "/contact", rig.NewContact)
	require.Equal(t, http.StatusCreated, status, "%s", body)
	c.contact = rig.Answer{Body: body}.ID(t)
	return c
}

// live has the customer at work until the context ends, and returns what came of all that
// was due by then.
func (c *customer) live(ctx context.Context) []sample {
	var under sync.WaitGroup
	for _, kind := range c.does {
		under.Go(func() {
			tick := time.NewTicker(paces[kind])
			defer tick.Stop()
			for due := time.Now(); ; due = due.Add(paces[kind]) {
				for time.Now().Before(due) {
					select {
					case <-tick.C:
					case <-ctx.Done():
						return
					}
				}
				if ctx.Err() != nil {
					return
				}
				under.Go(func() {
					status := c.do(kind)
					c.mu.Lock()
					defer c.mu.Unlock()
					c.samples = append(c.samples, sample{kind, status, time.Since(due)})
				})
			}
		})
	}
	under.Wait()
	all := c.samples
	c.samples = nil
	return all
}

func (c *customer) do(kind string) (status int) {
	switch kind {
	case reading:
		status, _ = c.send(c.kept, "GET", fmt.Sprintf("/contact/%d", c.contact), "")
	case orders:
		status, _ = c.send(c.kept, "GET", "/order?page_size=20", "")
	case writing:
		status, _ = c.send(c.kept, "POST", "/contact", rig.NewContact)
	case logging:
		status, _ = c.logIn()
	case results:
		status = c.result()
	}
	return status
}

func (c *customer) logIn() (status int, body []byte) {
	return c.send(c.fresh, "GET", rig.LoginPath(rig.FullKey, customerName, customerName), "")
}

// result asks for long-running work, waits for the callback, and asks for what came of it.
func (c *customer) result() (status int) {
	req, err := c.request("POST", "/backup/owner", c.hooks.Body())
	if err != nil {
		return 0
	}
	resp, err := c.kept.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	_, id, promised := strings.Cut(resp.Header.Get("Location"), "/webhook?id=")
	if resp.StatusCode != http.StatusAccepted || !promised {
		return resp.StatusCode
	}
	<-c.hooks.called(id)
	status, _ = c.send(c.kept, "GET", "/webhook?id="+id, "")
	return status
}

func (c *customer) request(method, path, body string) (*http.Request, error) {
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err == nil && c.token != "" {
		req.Header.Set("token", c.token)
	}
	return req, err
}

func (c *customer) send(by *http.Client, method, path, body string) (status int, answer []byte) {
	req, err := c.request(method, path, body)
	if err != nil {
		return 0, nil
	}
	resp, err := by.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}
