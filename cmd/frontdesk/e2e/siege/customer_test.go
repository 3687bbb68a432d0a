package siege

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

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
	kept, fresh rig.Desk // by connections that stay, and by one for each request
	token       string
	hooks       *receiver
	does        []string
	contact     int

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
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 9, 9, 9)}}
	transport := &http.Transport{DialContext: from.DialContext, MaxConnsPerHost: ownConnections, MaxIdleConnsPerHost: ownConnections}
	once := &http.Transport{DialContext: from.DialContext, MaxConnsPerHost: ownConnections, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	c := &customer{hooks: hooks, does: does}
	c.kept = rig.Desk{T: t, Base: d.Base, HTTP: &http.Client{Transport: transport}}
	c.fresh = rig.Desk{T: t, Base: d.Base, HTTP: &http.Client{Transport: once}}
	c.token = c.fresh.Login(rig.FullKey, customerName)
	c.contact = c.kept.Create(c.token, "contact", rig.NewContact)
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
		status, _ = c.ask("GET", fmt.Sprintf("/contact/%d", c.contact), "")
	case orders:
		status, _ = c.ask("GET", "/order?page_size=20", "")
	case writing:
		status, _ = c.ask("POST", "/contact", rig.NewContact)
	case logging:
		if a, err := c.fresh.Try("GET", rig.LoginPath(rig.FullKey, customerName, customerName), "", ""); err == nil {
			status = a.Status
		}
	case results:
		status = c.result()
	}
	return status
}

// ask returns the status of an answer, 0 for none, and where what it promises will be.
func (c *customer) ask(method, path, body string) (status int, location string) {
	a, err := c.kept.Try(method, path, c.token, body)
	if err != nil {
		return 0, ""
	}
	return a.Status, a.Header.Get("Location")
}

// result asks for long-running work, waits for the callback, and asks for what came of it.
func (c *customer) result() (status int) {
	status, location := c.ask("POST", "/backup/owner", c.hooks.Body())
	_, id, promised := strings.Cut(location, "/webhook?id=")
	if status != http.StatusAccepted || !promised {
		return status
	}
	<-c.hooks.called(id)
	status, _ = c.ask("GET", "/webhook?id="+id, "")
	return status
}
