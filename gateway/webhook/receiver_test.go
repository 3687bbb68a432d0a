package webhook_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/webhooktest"
)

// receiverName is the host of the receivers; the tests' own resolver knows it.
const receiverName = "hooks.example.com"

// receiver is a client's HTTPS server on loopback.
type receiver struct {
	*httptest.Server
	authority   *webhooktest.Authority
	connections atomic.Int32
}

func newReceiver(t *testing.T, handler http.HandlerFunc, tune ...func(*httptest.Server, *webhooktest.Authority)) *receiver {
	t.Helper()
	r := &receiver{authority: webhooktest.NewAuthority(t)}
	r.Server = r.authority.Serve(t, receiverName, handler, func(s *httptest.Server) {
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				r.connections.Add(1)
			}
		}
		for _, f := range tune {
			f(s, r.authority)
		}
	})
	return r
}

// answering is a receiver with one answer.
func answering(t *testing.T, status int, header ...string) *receiver {
	t.Helper()
	return newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	})
}

func (r *receiver) port(t *testing.T) uint16 { return webhooktest.Port(t, r.Server) }

// config lets a Caller reach the receiver by its name.
func (r *receiver) config(t *testing.T) webhook.CallerConfig {
	t.Helper()
	return webhook.CallerConfig{
		Rules:    webhook.Rules{AllowHosts: []string{receiverName}, Ports: []uint16{r.port(t)}},
		Roots:    r.authority.Roots(),
		Resolver: resolver(t, func(int) string { return "127.0.0.1" }),
		Timeout:  time.Minute, ConnectTimeout: time.Minute, // which no call is to meet, unless its test says so
	}
}

func (r *receiver) callback(t *testing.T, rules webhook.Rules) *url.URL {
	t.Helper()
	return must.Have(webhook.ParseCallback("https://"+receiverName+":"+strconv.Itoa(int(r.port(t)))+"/hook?b=2&a=1", rules))(t)
}

// call makes one call to the receiver.
func (r *receiver) call(t *testing.T, cfg webhook.CallerConfig) webhook.Outcome {
	t.Helper()
	return webhook.NewCaller(cfg).Call(t.Context(), webhook.Request{URL: r.callback(t, cfg.Rules), ID: "a1b2"})
}

// resolver asks a name server of the test's own, which answers the n-th question
// for an IPv4 address, counted from 1, with answer(n), and knows no IPv6; an
// answer of "" is that there is no such name.
func resolver(t *testing.T, answer func(n int) string) *net.Resolver {
	t.Helper()
	conn := must.Have(net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0"))))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		packet := make([]byte, 1500)
		for n := 0; ; {
			size, peer, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			if reply := resolve(packet[:size], answer, &n); reply != nil {
				_, _ = conn.WriteToUDPAddrPort(reply, peer)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func resolve(query []byte, answer func(int) string, n *int) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		*n++
		if text := answer(*n); text == "" {
			m.RCode = dnsmessage.RCodeNameError
		} else {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
			}}
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// suite stops the database server before anybody looks for leaks.
type suite struct{ *testing.M }

func (s suite) Run() int { return sqltest.Run(s.M) }

// Every test runs in an environment that names a proxy where nothing listens.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:9"); err != nil {
			panic(err)
		}
	}
	await.Run(suite{m})
}
