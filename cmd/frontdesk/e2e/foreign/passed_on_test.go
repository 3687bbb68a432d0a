package foreign

import (
	"fmt"
	"net"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// oddities are what turns a path into another one for some reader of it.
var oddities = []string{
	"/../contact/1", "/..%2fcontact/1", "/%2e%2e/contact/1", "/.%2e/contact/1", "/./", "//contact/1", "/%2Fcontact", "%2F..%2Fcontact%2F1", "%5C..%5Ccontact", `\..\contact\1`,
	";/../contact/1", ";x=1", "%3B/contact", "?/../contact/1", "%3F", "%23", "#/../contact/1", "%00", "%00/contact/1", "%0d%0aGET%20/v1/records/contact", "%252e%252e/contact/1",
	"/%c0%ae%c0%ae/contact/1", "/．．/contact/1", "/1%20", "/1/", "/1%2F", "/1/../../contact/1", "/0x1", "/1e0", "/+1", "/01", "/1%00contact", "/1?id=2", "@contact/1", ":80/contact/1",
	"/{key}", "/$ref", "/*", "/1,2", "/1|2", "/null", "/-1", "/%E2%80%8B1", "/１",
}

// TestServiceIsAskedWhatWasJudged: the path that the allowlist judged is the one that the
// service is asked for. Whatever a client makes of a path, its values come into that of
// the service as values.
func TestServiceIsAskedWhatWasJudged(t *testing.T) {
	t.Parallel()
	for _, form := range strangerForms() {
		t.Run(form.name, func(t *testing.T) {
			s := newStranger(t, form)
			d := s.desk(t)
			orders, full := d.Login(rig.OrdersKey, "anna"), d.Login(rig.FullKey, "anna")
			s.twisted(nil)
			for _, oddity := range oddities {
				for _, method := range []string{"GET", "PUT", "DELETE"} {
					for _, path := range []string{"/order" + oddity, "/order/1" + oddity, oddity + "/order"} {
						d.Raw(rig.RawRequest(method, path, "token: "+orders))
					}
				}
			}
			lists := regexp.MustCompile(`^GET /v1/records/order(line)?(\?|$)`)
			for _, a := range s.all() {
				require.Regexp(t, lists, a.method+" "+a.target)
				require.Equal(t, 1, a.client)
			}
			s.twisted(nil)
			d.Call("GET", "/order", orders, "") // which the stranger does not have: 500
			walks := s.requests("GET /v1/records/order")
			require.NotEmpty(t, walks, "one, and another where the walk that failed at first is due again by itself")
			for _, a := range walks {
				require.Equal(t, walks[0].target, a.target, "each begins anew")
			}

			// An api_key that may do everything, and values that are no IDs and no names.
			s.twisted(nil)
			for _, oddity := range oddities {
				d.Raw(rig.RawRequest("GET", "/contact"+oddity, "token: "+full))
				d.Raw(rig.RawRequest("GET", "/contact?id=1"+strings.NewReplacer("#", "%23", `\`, "%5C").Replace(oddity), "token: "+full))
				require.Equal(t, 200, d.Call("POST", "/authenticate/forgotpassword", full, fmt.Sprintf(`{"username":%q}`, "anna"+oddity)).Status)
				d.Call("PUT", "/contact", full, fmt.Sprintf(`{"id":%q,"note":"x"}`, "1"+oddity))
			}
			await.True(t, func() bool { // after the answer
				return slices.ContainsFunc(s.all(), func(a ask) bool { return strings.HasPrefix(a.target, "/v1/users/anna%2F1%2F") })
			})
			asked := regexp.MustCompile(`^(GET /v1/records/(contact|order|orderline)(/[1-9]\d*)?(\?[\w%.,=&-]*)?|GET /v1/users/[^/?#\\;]+)$`)
			for _, a := range s.all() {
				require.Regexp(t, asked, a.method+" "+a.target)
			}
		})
	}
}

// TestServiceHearsNoCredentials: what a client proves itself with stays at the gateway, also
// where the service fails, refuses, or sends it elsewhere; and nobody goes there.
func TestServiceHearsNoCredentials(t *testing.T) {
	t.Parallel()
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var visits atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := elsewhere.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = elsewhere.Close(); <-done })
	for _, form := range strangerForms() {
		t.Run(form.name, func(t *testing.T) {
			s := newStranger(t, form)
			d := s.desk(t)
			token := d.Login(rig.FullKey, "anna")
			require.Equal(t, 200, d.Call("GET", "/contact", token, "").Status, "from now on there is a copy")
			redirect := func(status int) string {
				return fmt.Sprintf("HTTP/1.1 %d Moved\r\nLocation: http://%s/v1/records/contact/1\r\nContent-Length: 0\r\n\r\n", status, elsewhere.Addr())
			}
			for name, sent := range map[string]string{
				"well": "", "500": s.http(500, "broken"), "503": s.http(503, ""), "401": s.http(401, ""), "403": s.http(403, ""), "407": s.http(407, ""),
				"301": redirect(301), "302": redirect(302), "307": redirect(307), "308": redirect(308), "cut": s.http(200, "{}")[:40], "no HTTP": "what?\r\n\r\n",
			} {
				s.twisted(func(_ ask, honest string) (string, bool) {
					if sent == "" {
						return honest, false
					}
					return sent, true
				})
				secrets := []string{token, "Bearer of-bad-news", "session=cookie-of-anna", "anna-hook", rig.FullKey}
				headers := []string{"Authorization", secrets[1], "Cookie", secrets[2], "X-Api-Key", rig.FullKey, "X-Hook", secrets[3], "Proxy-Authorization", secrets[1]}
				for _, ask := range [][3]string{{"GET", "/contact/1"}, {"GET", "/contact"}, {"POST", "/contact", rig.NewContact}, {"PUT", "/contact/1", `{"note":"` + name + `"}`}, {"DELETE", "/contact/3"}} {
					a := d.Call(ask[0], ask[1], token, ask[2], headers...)
					if ask[1] == "/contact" && ask[0] == "GET" {
						require.Equal(t, 200, a.Status, "%s: the list comes from the copy: %s", name, a.Body)
					} else if sent != "" {
						require.GreaterOrEqual(t, a.Status, 400, "%s: %s %s", name, ask[0], ask[1])
					}
					require.NotContains(t, a.Header.Get("Location"), elsewhere.Addr().String(), name)
				}
				_, err := logIn(d, "anna", "anna-password")
				require.NoError(t, err)
				require.NotEmpty(t, s.all(), name)
				for _, a := range s.all() {
					for _, secret := range secrets {
						require.NotContains(t, a.raw, secret, name)
					}
					if a.path != "/v1/login" {
						require.NotContains(t, a.raw, "anna-password", name)
					}
				}
			}
			require.Zero(t, visits.Load(), "nobody is sent elsewhere")
		})
	}
}

// TestCircuitLeaksNothing opens a circuit and lets it close 30 times, with calls that fail,
// hang, are refused, and whose clients leave in the middle: what the first times took
// is all that it ever takes, and every place is given back.
func TestCircuitLeaksNothing(t *testing.T) {
	s := startSick(t, ", timeout: 1m, max_concurrent: 4", rig.Circuit(2, 20*time.Millisecond))
	order := fmt.Sprintf("/order/%d", s.orders)
	round := func(n int) {
		never := make(chan struct{})
		fault := remotetest.Fault{Kind: remotetest.Storm, Status: 500}
		if n%3 == 0 { // which ends with its clients
			fault = remotetest.Fault{Gate: never}
		}
		s.sick(fault)
		before := s.Stats().Requests
		var clients []*rig.Socket
		for range 8 {
			if n%3 > 0 {
				require.Equal(t, 500, s.Call("GET", order, s.token, "").Status)
				continue
			}
			clients = append(clients, s.Socket().Send(rig.RawRequest("GET", order, "token: "+s.token)))
		}
		require.NoError(t, s.Wait(t.Context(), func(f remotetest.FaultStats) bool { return f.Requests > before }))
		for _, c := range clients { // leave, some of them while the service is asked
			require.NoError(t, c.Close())
		}
		require.NoError(t, s.Set(remotetest.Fault{}))
		close(never)
		await.True(t, func() bool { return s.Call("GET", order, s.token, "").Status == 200 }, "it does not close again")
	}
	held := func() (goroutines, connections int) {
		s.HTTP.CloseIdleConnections()
		return runtime.NumGoroutine(), s.Stats().Open
	}
	for n := range 6 {
		round(n)
	}
	goroutines, connections := held()
	for n := range 24 {
		round(n)
	}
	await.True(t, func() bool {
		g, c := held()
		return g <= goroutines+10 && c <= connections+2
	}, "from %d goroutines and %d connections", goroutines, connections)
	asks := make([]rig.Rival, 4) // as many as there are places
	for i := range asks {
		asks[i] = rig.Rival{Method: "GET", Path: order}
	}
	for _, a := range s.SideBySide(s.token, asks) {
		require.Equal(t, 200, a.Status)
	}
	require.Equal(t, "0", s.circuitOf("reads", "order"))
}
