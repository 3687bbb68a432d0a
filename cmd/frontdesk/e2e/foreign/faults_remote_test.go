package foreign

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// upstreamSecret stands in all that the sick service says.
const upstreamSecret = "ORA-00942: table GARAGE.ORDERS"

// sickDesk is the whole program before Garage Cloud, with a proxy between them
// that fails on demand.
type sickDesk struct {
	*rig.Desk
	*remotetest.FaultProxy
	token    string
	contacts int          // a contact to look at
	orders   int          // an order
	created  atomic.Int32 // orders that the service has been asked to make
}

func startSick(t *testing.T, backend string, bound func(*desk.Bounds)) *sickDesk {
	leaks := goleak.IgnoreCurrent()
	s := &sickDesk{}
	garage := remotetest.NewJSON(remotetest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v3/orders" {
			s.created.Add(1)
		}
		garage.ServeHTTP(w, r)
	}))
	var err error
	s.FaultProxy, err = remotetest.NewFaultProxy(server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { // after the desk has stopped
		require.NoError(t, s.Wait(context.Background(), func(f remotetest.FaultStats) bool { return f.Open == 0 }), "connections were left open")
		require.NoError(t, s.FaultProxy.Close())
		server.Close()
		await.Goroutines(append(slices.Clone(await.LeftByFasthttp), leaks)...)
	})
	o := rig.GarageCloud(t, s.URL(), remotetest.ClientSecret,
		"    connections: 32\n", "    connections: 32\n    max_answer: 256KiB\n", // the end of an endless answer has to come before its time is up
	)
	o.Backend, o.Bound = o.Backend+backend, bound
	s.Desk = rig.Start(t, o)
	s.token = s.Login(rig.FullKey, "demo")
	s.contacts = s.Create(s.token, "contact", `{"kind":"person","name":"Wit"}`)
	s.orders = s.Create(s.token, "order", s.newOrder())
	s.created.Store(0)
	require.Equal(t, 200, s.Call("GET", "/order?page_size=3", s.token, "").Status, "the copy is whole")
	return s
}

func (s *sickDesk) newOrder() string {
	return fmt.Sprintf(`{"contact_id":%d,"kind":"parts","order_status":"open","order_date":"2026-11-20"}`, s.contacts)
}

// sick makes everything that is asked about orders go wrong, and nothing else.
func (s *sickDesk) sick(f remotetest.Fault) {
	s.T.Helper()
	f.Path = "/v3/orders"
	require.NoError(s.T, s.Set(f))
}

// refused is an answer that says that the backend failed, and nothing more.
func (s *sickDesk) refused(a rig.Answer, reasons ...string) rig.ErrorBody {
	s.T.Helper()
	require.Equal(s.T, 500, a.Status, "%s", a.Body)
	e := a.Failure(s.T)
	require.Equal(s.T, "Internal server error", e.Message)
	require.Contains(s.T, reasons, e.Reason)
	require.Empty(s.T, e.Field)
	for _, word := range []string{"ORA-", "GARAGE", "v3", "127.0.0.1", "reset", "EOF", "timeout:"} {
		require.NotContains(s.T, string(a.Body), word)
	}
	return e
}

// others sees that what is not about orders works.
func (s *sickDesk) others() {
	s.T.Helper()
	for _, path := range []string{fmt.Sprintf("/contact/%d", s.contacts), "/vehicle?page_size=3", "/article?page_size=3", "/employee?page_size=3", "/country?page_size=3"} {
		a := s.Call("GET", path, s.token, "")
		require.Equal(s.T, 200, a.Status, "%s: %s", path, a.Body)
	}
	s.Create(s.token, "contact", `{"kind":"person","name":"Zwart"}`)
}

// circuitOf is the state of the circuit of a resource's reads, or writes, in the metrics: 0 closed, 1
// half-open, 2 open.
func (s *sickDesk) circuitOf(calls, resource string) string {
	s.T.Helper()
	found := regexp.MustCompile(`(?m)^frontdesk_backend_circuit_state\{calls="` + calls + `",resource="` + resource + `"\} (\d)$`).FindStringSubmatch(s.OpsText("/metrics"))
	require.NotNil(s.T, found, "no circuit of %s", resource)
	return found[1]
}

// ailment is what the service does, and what clients are told then.
type ailment struct {
	name    string
	fault   remotetest.Fault
	reason  string
	creates int32 // orders that the service may have made
}

const unavailable, timeout, internal = "backend_unavailable", "backend_timeout", "internal_error"

// TestSickService answers as documented whatever the service does, tells nothing
// of it, sends no write twice, and serves all else meanwhile: lists are those of the copy.
func TestSickService(t *testing.T) {
	s := startSick(t, ", timeout: 1m", rig.Circuit(10000, time.Second))
	page := `<html>` + upstreamSecret + `</html>`
	s.ails(t, []ailment{
		{"reset before", remotetest.Fault{Kind: remotetest.ResetBefore}, unavailable, 0},
		{"reset after", remotetest.Fault{Kind: remotetest.ResetAfter}, unavailable, 1},
		{"reset in the head", remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 20}, unavailable, 1},
		{"reset in the body", remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 300}, unavailable, 1},
		{"truncated", remotetest.Fault{Kind: remotetest.Truncate, Bytes: 1}, unavailable, 1},
		{"endless body", remotetest.Fault{Kind: remotetest.EndlessBody, Body: `{"id":"` + upstreamSecret}, unavailable, 0},
		{"500", remotetest.Fault{Kind: remotetest.Storm, Status: 500, Type: "text/html", Body: page}, unavailable, 0},
		{"502", remotetest.Fault{Kind: remotetest.Storm, Status: 502, Type: "text/html", Body: page}, unavailable, 0},
		{"503", remotetest.Fault{Kind: remotetest.Storm, Status: 503, RetryAfter: 7 * time.Second, Body: page}, unavailable, 0},
		{"429", remotetest.Fault{Kind: remotetest.Storm, Status: 429, RetryAfter: 7 * time.Second, Body: page}, unavailable, 0},
		{"403", remotetest.Fault{Kind: remotetest.Storm, Status: 403, Body: `{"error":{"code":"` + upstreamSecret + `"}}`}, internal, 0},
		{"200 of a page", remotetest.Fault{Kind: remotetest.Storm, Status: 200, Type: "text/html", Body: page}, unavailable, 0},
		{"no HTTP", remotetest.Fault{Kind: remotetest.TLSGarbage}, unavailable, 0},
	})
	await.True(t, func() bool { return strings.Contains(s.Log.String(), upstreamSecret) }, "it is in the log")
	s.takesItsWritesOnce(t)
}

// takesItsWritesOnce sends a write under an Idempotency-Key that the service does and does not answer:
// the key stays taken, and nothing is done again.
func (s *sickDesk) takesItsWritesOnce(t *testing.T) {
	post := func(key string) rig.Answer {
		return s.Call("POST", "/order", s.token, s.newOrder(), "Idempotency-Key", key)
	}
	s.sick(remotetest.Fault{Kind: remotetest.ResetAfter})
	s.refused(post("k"), unavailable)
	require.EqualValues(t, 1, s.created.Load())
	require.NoError(t, s.Set(remotetest.Fault{}))
	for range 3 {
		a := post("k")
		require.Equal(t, 409, a.Status, "%s", a.Body)
		require.Equal(t, "idempotency_key_in_use", a.Failure(t).Reason)
	}
	s.sick(remotetest.Fault{Kind: remotetest.Storm, Status: 500, Body: upstreamSecret})
	s.refused(post("l"), unavailable)
	require.EqualValues(t, 1, s.created.Load())
}

// TestSickServiceThatIsSlow is TestSickService of the faults that the time-out alone ends. So it is
// short here, and long there.
func TestSickServiceThatIsSlow(t *testing.T) {
	s := startSick(t, ", timeout: 6s", rig.Circuit(10000, time.Second))
	never := make(chan struct{})
	defer close(never) // the proxy itself would wait for it
	s.ails(t, []ailment{
		{"half open", remotetest.Fault{Kind: remotetest.HalfOpen}, timeout, 0},
		{"late", remotetest.Fault{Gate: never}, timeout, 0},
		{"slow body", remotetest.Fault{Kind: remotetest.SlowBody, Gate: never}, timeout, 1},
	})
}

// ails has the service do one after the other.
func (s *sickDesk) ails(t *testing.T, ailments []ailment) {
	order := fmt.Sprintf("/order/%d", s.orders)
	for _, test := range ailments {
		t.Run(test.name, func(t *testing.T) {
			s.sick(test.fault)
			asks := []rig.Rival{
				{Method: "GET", Path: order}, {Method: "GET", Path: "/order?page_size=3"}, {Method: "GET", Path: "/order?total=1&order_status=open"},
				{Method: "PUT", Path: order, Body: `{"mileage":1}`}, {Method: "DELETE", Path: order}, {Method: "POST", Path: "/order", Body: s.newOrder()},
			}
			atOnce := 1
			if test.reason == timeout { // which each of them waits for
				atOnce = len(asks)
			}
			for some := range slices.Chunk(asks, atOnce) {
				for i, a := range s.SideBySide(s.token, some) {
					a.Judge(t, some[i].Method+" "+some[i].Path)
					if strings.HasPrefix(some[i].Path, "/order?") {
						require.Equal(t, 200, a.Status, "%s", a.Body)
						require.NotEmpty(t, a.Header.Get("Age"))
						continue
					}
					reasons := []string{test.reason}
					if some[i].Method == "POST" && test.reason == internal {
						reasons = append(reasons, unavailable) // what became of it nobody knows
					}
					if some[i].Path == order && some[i].Method != "GET" && test.reason == timeout {
						reasons = append(reasons, unavailable) // it may have waited for its turn after the other
					}
					s.refused(a, reasons...)
				}
			}
			require.LessOrEqual(t, s.created.Swap(0), test.creates)
			s.others()
			require.NoError(t, s.Set(remotetest.Fault{}))
			a := s.Call("GET", order, s.token, "")
			require.Equal(t, 200, a.Status, "%s", a.Body)
			require.Nil(t, a.Data(t)["mileage"])
		})
	}
}

// TestSickServiceOpensItsCircuit opens the circuits of orders and of nothing else, and
// sees that the service is left alone.
func TestSickServiceOpensItsCircuit(t *testing.T) {
	s := startSick(t, ", timeout: 1m", rig.Circuit(3, time.Hour))
	order := fmt.Sprintf("/order/%d", s.orders)
	require.Equal(t, "0", s.circuitOf("reads", "order"))
	s.sick(remotetest.Fault{Kind: remotetest.Storm, Status: 500, Body: upstreamSecret})
	for range 3 {
		a := s.Call("GET", order, s.token, "")
		s.refused(a, "backend_unavailable")
		require.Empty(t, a.Header.Get("Retry-After"))
	}
	require.Equal(t, []string{"2", "0", "0", "0"},
		[]string{s.circuitOf("reads", "order"), s.circuitOf("writes", "order"), s.circuitOf("reads", "contact"), s.circuitOf("reads", "vehicle")})
	for range 3 {
		s.refused(s.Call("DELETE", order, s.token, ""), "backend_unavailable")
	}
	require.Equal(t, "2", s.circuitOf("writes", "order"))
	status, circuit := s.Ready()
	require.Equal(t, 200, status, "the service answers")
	require.Equal(t, "open", circuit)
	asked := s.Stats().Requests
	for _, ask := range [][3]string{{"GET", order}, {"POST", "/order", s.newOrder()}, {"PUT", order, `{"mileage":1}`}, {"DELETE", order}} {
		a := s.Call(ask[0], ask[1], s.token, ask[2])
		s.refused(a, "backend_unavailable")
		require.Regexp(t, `^3[56]\d\d$`, a.Header.Get("Retry-After"), "the seconds that are left of an hour")
	}
	require.Equal(t, asked, s.Stats().Requests, "the service is left alone")
	require.Equal(t, 200, s.Call("GET", "/order", s.token, "").Status, "from the copy")
	require.Equal(t, "0", s.circuitOf("lists", "order"))
	s.others()
	require.Zero(t, s.created.Load())
}

// TestSickServiceIsTriedAgain: after a pause a call is let through to see, and the circuit
// closes once the service works.
func TestSickServiceIsTriedAgain(t *testing.T) {
	s := startSick(t, ", timeout: 1m", rig.Circuit(3, 50*time.Millisecond))
	order := fmt.Sprintf("/order/%d", s.orders)
	paused := func() {
		await.True(t, func() bool { return s.circuitOf("reads", "order") == "1" })
	}
	s.sick(remotetest.Fault{Kind: remotetest.Storm, Status: 500, Body: upstreamSecret})
	for range 3 {
		s.refused(s.Call("GET", order, s.token, ""), "backend_unavailable")
	}
	paused()
	asked := s.Stats().Requests
	s.refused(s.Call("GET", order, s.token, ""), "backend_unavailable")
	require.Greater(t, s.Stats().Requests, asked, "a call is let through to see")

	require.NoError(t, s.Set(remotetest.Fault{}))
	paused() // it has opened again, as the log says too
	require.Equal(t, 200, s.Call("GET", order, s.token, "").Status)
	require.Equal(t, "0", s.circuitOf("reads", "order"))
	require.Equal(t, 200, s.Call("PUT", order, s.token, `{"mileage":1}`).Status)
	_, circuit := s.Ready()
	require.Equal(t, "closed", circuit)
	await.True(t, func() bool { // the log may come a little late
		var changes []string
		for _, change := range regexp.MustCompile(`"circuit breaker","resource":"order","from":"([a-z-]+)","to":"([a-z-]+)","calls":"reads"`).FindAllStringSubmatch(s.Log.String(), -1) {
			changes = append(changes, change[1]+" to "+change[2])
		}
		return strings.Join(changes, ", ") == "closed to open, open to half-open, half-open to open, open to half-open, half-open to closed"
	})
}

// TestAbsentService refuses every connection: all fails as documented but lists whose copy is whole, and
// /readyz says so. Logins are 500, never 401.
func TestAbsentService(t *testing.T) {
	for name, kind := range map[string]remotetest.FaultKind{"refused": remotetest.Refuse, "reset": remotetest.ResetOnAccept} {
		t.Run(name, func(t *testing.T) {
			s := startSick(t, ", timeout: 1m", rig.Circuit(10000, time.Second))
			require.NoError(t, s.Set(remotetest.Fault{Kind: kind}))
			for _, path := range []string{fmt.Sprintf("/order/%d", s.orders), fmt.Sprintf("/contact/%d", s.contacts), "/vehicle"} {
				s.refused(s.Call("GET", path, s.token, ""), "backend_unavailable")
			}
			require.Equal(t, 200, s.Call("GET", "/order", s.token, "").Status, "from the copy")
			s.refused(s.Call("POST", "/order", s.token, s.newOrder()), "backend_unavailable")
			s.refused(s.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", ""), "backend_unavailable")
			status, _ := s.Ready()
			require.Equal(t, 503, status)
			require.NoError(t, s.Set(remotetest.Fault{}))
			require.Equal(t, 200, s.Call("GET", "/order", s.token, "").Status)
			status, _ = s.Ready()
			require.Equal(t, 200, status)
			require.Zero(t, s.created.Load())
			require.NotContains(t, s.Log.String(), "panic")
		})
	}
}
