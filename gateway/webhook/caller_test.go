package webhook_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/webhooktest"
)

// speaking has a receiver speak HTTP/2, or not.
func speaking(http2 bool) func(*httptest.Server, *webhooktest.Authority) {
	return func(s *httptest.Server, _ *webhooktest.Authority) { s.EnableHTTP2 = http2 }
}

// The environment of every test names a proxy (TestMain), which no call uses.
func TestCallDelivers(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		seen := make(chan *http.Request, 1)
		r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r }, speaking(http2))
		cfg := r.config(t)
		proxy := must.Have(http.ProxyFromEnvironment(&http.Request{URL: r.callback(t, cfg.Rules)}))(t)
		require.NotNil(t, proxy, "a transport that heeds the environment would use it")
		o := r.call(t, cfg)
		require.Positive(t, o.Duration)
		o.Duration = 0
		require.Equal(t, webhook.Outcome{Tried: true, Status: 200}, o)
		require.True(t, o.Delivered())
		got := <-seen
		require.Equal(t, http.MethodGet, got.Method)
		require.Equal(t, "/hook?b=2&a=1&id=a1b2", got.RequestURI)
		require.Equal(t, http2, got.ProtoMajor == 2)
		require.Zero(t, max(got.ContentLength, 0))
		require.Empty(t, got.Header.Get("webhook-signature"), "no secret, no signature")
		require.Equal(t, "frontdesk", got.UserAgent())
	}
}

// The verifier is the one that Standard Webhooks publishes.
func TestCallIsSigned(t *testing.T) {
	headers := make(chan http.Header, 1)
	r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header })
	cfg := r.config(t)
	encoded := "whsec_" + base64.StdEncoding.EncodeToString([]byte("twenty-four bytes or more"))
	o := webhook.NewCaller(cfg).Call(t.Context(), webhook.Request{
		URL: r.callback(t, cfg.Rules), ID: "a1b2", Secrets: []string{encoded, "hush-hush"}, Now: time.Now(),
	})
	require.True(t, o.Delivered(), "%+v", o)
	header := <-headers
	require.Equal(t, "a1b2", header.Get("webhook-id"))

	current := must.Have(standardwebhooks.NewWebhook(encoded))(t)
	require.NoError(t, current.Verify(nil, header))
	old := must.Have(standardwebhooks.NewWebhookRaw([]byte("hush-hush")))(t)
	require.NoError(t, old.Verify(nil, header))
	stranger := must.Have(standardwebhooks.NewWebhookRaw([]byte("another")))(t)
	require.Error(t, stranger.Verify(nil, header))
	require.Error(t, current.Verify([]byte("{}"), header))

	before := r.connections.Load()
	o = webhook.NewCaller(cfg).Call(t.Context(), webhook.Request{URL: r.callback(t, cfg.Rules), ID: "a1b2", Secrets: []string{"whsec_?"}})
	require.Equal(t, webhook.Outcome{Tried: true, Err: webhook.ErrSecret, Duration: o.Duration}, o)
	require.Equal(t, before, r.connections.Load())
}

func TestParseSecret(t *testing.T) {
	for secret, want := range map[string]string{
		"whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, almost")): "a key of thirty-two bytes, almost",
		"hush-hush": "hush-hush", "aHVzaA==": "aHVzaA==", "WHSEC_aHVzaA": "WHSEC_aHVzaA",
		"": "", "whsec_": "", "whsec_no-base64!": "", "whsec_aHVzaA": "", // which are none
	} {
		key, err := webhook.ParseSecret(secret)
		require.Equal(t, want, string(key), secret)
		require.Equal(t, want == "", err != nil, secret)
		require.NotContains(t, fmt.Sprint(err), "aHVzaA")
	}
}

func TestCallStatuses(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string // Location of a redirect, Retry-After of others
		class  string
		wait   time.Duration
	}{
		{200, "", "", 0}, {202, "7", "", 0}, {204, "", "", 0}, {299, "", "", 0},
		{301, "", webhook.ErrRedirect, 0}, {304, "", webhook.ErrRedirect, 0}, {302, "/elsewhere", webhook.ErrRedirect, 0},
		{307, "https://127.0.0.1/", webhook.ErrRedirect, 0}, {308, "https://169.254.169.254/latest/meta-data/", webhook.ErrRedirect, 0},
		{400, "", webhook.ErrStatus, 0}, {410, "", webhook.ErrStatus, 0}, {500, "", webhook.ErrStatus, 0},
		{429, "120", webhook.ErrStatus, 2 * time.Minute},
		{503, "Mon, 02 Nov 2026 13:00:00 GMT", webhook.ErrStatus, time.Hour},
		{503, "Mon, 02 Nov 2026 11:00:00 GMT", webhook.ErrStatus, 0},
		{503, "99999999999999999", webhook.ErrStatus, 24 * time.Hour},
		{503, "-5", webhook.ErrStatus, 0}, {503, "soon", webhook.ErrStatus, 0},
	} {
		r := answering(t, c.status, map[bool]string{true: "Location", false: "Retry-After"}[c.status/100 == 3], c.header)
		cfg := r.config(t)
		cfg.Clock = func() time.Time { return now }
		o := r.call(t, cfg)
		require.Equal(t, webhook.Outcome{Tried: true, Status: c.status, Err: c.class, RetryAfter: c.wait}, o)
		require.Equal(t, c.status == 410, o.Gone())
		require.EqualValues(t, 1, r.connections.Load(), "a redirect is not followed")
	}
}

// A receiver that never ends its answer is left after the first KiB.
func TestCallOfAnEndlessAnswer(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		sent := make(chan int, 1)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			total, chunk := 0, make([]byte, 4<<10)
			for {
				n, err := w.Write(chunk)
				total += n
				if err != nil {
					sent <- total
					return
				}
			}
		}, speaking(http2))
		o := r.call(t, r.config(t))
		require.True(t, o.Delivered(), "%+v", o)
		require.Less(t, <-sent, 64<<20, "what the sockets hold, and no more")
	}
}

func TestCallOfAnEndlessHeader(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			for _, letter := range "abcdefghijklmnop" {
				w.Header().Set("X-"+string(letter), strings.Repeat("x", 4<<10))
			}
		}, speaking(http2))
		require.Equal(t, webhook.ErrAnswer, r.call(t, r.config(t)).Err)
	}
}

// hijacked is a receiver that writes raw bytes and closes.
func hijacked(t *testing.T, raw string) *receiver {
	t.Helper()
	return newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, raw)
			_ = conn.Close()
		}
	}, speaking(false))
}

func TestCallWhoseAnswerBreaksOff(t *testing.T) {
	for raw, class := range map[string]string{
		"":                               webhook.ErrAnswer,
		"HTTP/1.1 200 OK\r\nContent-Len": webhook.ErrAnswer,
		"SSH-2.0-OpenSSH_9.2\r\n":        webhook.ErrAnswer,
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf":           "", // the status came, which is all that matters
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz":      "",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n":     webhook.ErrStatus,
		"HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf":         webhook.ErrStatus,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n": "",
	} {
		r := hijacked(t, raw)
		require.Equal(t, class, r.call(t, r.config(t)).Err, "%q", raw)
	}
}

func TestCallTrustsOnlyGoodCertificates(t *testing.T) {
	for name, tune := range map[string]func(*httptest.Server, *webhooktest.Authority){
		"another authority": func(s *httptest.Server, _ *webhooktest.Authority) {
			s.TLS.Certificates = []tls.Certificate{webhooktest.NewAuthority(t).Issue(t, receiverName, time.Now().Add(time.Hour))}
		},
		"another name": func(s *httptest.Server, a *webhooktest.Authority) {
			s.TLS.Certificates = []tls.Certificate{a.Issue(t, "other.example.com", time.Now().Add(time.Hour))}
		},
		"expired": func(s *httptest.Server, a *webhooktest.Authority) {
			s.TLS.Certificates = []tls.Certificate{a.Issue(t, receiverName, time.Now().Add(-time.Hour))}
		},
		"TLS 1.1": func(s *httptest.Server, _ *webhooktest.Authority) {
			s.TLS.MinVersion, s.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		},
	} {
		called := false
		r := newReceiver(t, func(http.ResponseWriter, *http.Request) { called = true }, tune)
		o := r.call(t, r.config(t))
		require.Equal(t, webhook.Outcome{Tried: true, Err: webhook.ErrTLS, Duration: o.Duration}, o, name)
		require.False(t, called, name)
	}
}

func TestRootsAddAFile(t *testing.T) {
	r := answering(t, 200)
	folder := t.TempDir()
	file := r.authority.File(t)
	cfg := r.config(t)
	var err error
	cfg.Roots, err = webhook.Roots(file)
	require.NoError(t, err)
	require.True(t, r.call(t, cfg).Delivered())
	cfg.Roots = must.Have(webhook.Roots(""))(t)
	require.Equal(t, webhook.ErrTLS, r.call(t, cfg).Err)

	require.ErrorIs(t, must.Fail(webhook.Roots(filepath.Join(folder, "none.pem"))), os.ErrNotExist)
	empty := filepath.Join(folder, "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("none"), 0o600))
	require.ErrorContains(t, must.Fail(webhook.Roots(empty)), "no certificate")
}

// A name that was public when it was looked at is loopback when it is called. A
// receiver with a good certificate listens there, and hears nothing.
func TestCallRefusesDNSRebinding(t *testing.T) {
	r := answering(t, 200)
	cfg := r.config(t)
	cfg.Rules.AllowHosts = []string{"127.0.0.1", "other.example.com"} // which do not exempt the name
	cfg.Resolver = resolver(t, func(n int) string {
		if n == 1 {
			return "93.184.216.34"
		}
		return "127.0.0.1"
	})
	public := must.Have(cfg.Resolver.LookupHost(t.Context(), receiverName))(t)
	require.Equal(t, []string{"93.184.216.34"}, public)
	u := r.callback(t, cfg.Rules)

	o := webhook.NewCaller(cfg).Call(t.Context(), webhook.Request{URL: u, ID: "a1b2"})
	require.Equal(t, webhook.Outcome{Tried: true, Err: webhook.ErrAddress, Duration: o.Duration}, o)
	require.Zero(t, r.connections.Load())

	cfg.Rules.AllowHosts = []string{receiverName}
	require.True(t, r.call(t, cfg).Delivered(), "it would have answered")
}

func TestCallRefusesPrivateAddressesOfNames(t *testing.T) {
	r := answering(t, 200)
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "255.255.255.255"} {
		cfg := r.config(t)
		cfg.Rules.AllowHosts = nil
		cfg.Resolver = resolver(t, func(int) string { return address })
		require.Equal(t, webhook.ErrAddress, r.call(t, cfg).Err, address)
	}
}

// What was allowed when the work was accepted may be forbidden by now.
func TestCallJudgesByTheRulesOfTheDay(t *testing.T) {
	r := answering(t, 200)
	cfg := r.config(t)
	u := r.callback(t, cfg.Rules)
	cfg.Rules.Ports = nil
	o := webhook.NewCaller(cfg).Call(t.Context(), webhook.Request{URL: u, ID: "a1b2"})
	require.Equal(t, webhook.ErrAddress, o.Err)

	plain := *u
	plain.Scheme = "http"
	o = webhook.NewCaller(r.config(t)).Call(t.Context(), webhook.Request{URL: &plain, ID: "a1b2"})
	require.Equal(t, webhook.ErrAddress, o.Err)
	require.Zero(t, r.connections.Load())
}

func TestCallOfAnUnreachableReceiver(t *testing.T) {
	r := answering(t, 200)
	cfg := r.config(t)
	cfg.Resolver = resolver(t, func(int) string { return "" })
	require.Equal(t, webhook.ErrResolve, r.call(t, cfg).Err)

	r.Close()
	require.Equal(t, webhook.ErrConnect, r.call(t, r.config(t)).Err)
}

// TestCallOfASilentPeer: a peer that accepts the connection and says nothing is left when its time is up.
func TestCallOfASilentPeer(t *testing.T) {
	for _, c := range []struct{ connect, timeout, takes time.Duration }{
		{0, 0, 5 * time.Second}, {3 * time.Second, 0, 3 * time.Second}, {time.Minute, 0, 15 * time.Second}, {time.Minute, 2 * time.Second, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			o := webhook.NewCaller(webhook.CallerConfig{
				ConnectTimeout: c.connect, Timeout: c.timeout, Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil },
			}).Call(t.Context(), webhook.Request{URL: &url.URL{Scheme: "https", Host: receiverName}, ID: "a1b2"})
			class := map[bool]string{true: webhook.ErrTimeout, false: webhook.ErrTLS}[c.connect == time.Minute]
			require.Equal(t, webhook.Outcome{Tried: true, Err: class, Duration: c.takes}, o)
		})
	}
}

// Calls of one client at one host are bounded, and leave room for those of others there.
func TestCallsAtOneHostAreBounded(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	cfg := r.config(t)
	cfg.PerHost = 2
	c := webhook.NewCaller(cfg)
	request := webhook.Request{URL: r.callback(t, cfg.Rules), ID: "a1b2"}
	var calls sync.WaitGroup
	for range cfg.PerHost {
		calls.Go(func() {
			if o := c.Call(t.Context(), request); !o.Delivered() {
				t.Errorf("%+v", o)
			}
		})
		<-arrived
	}
	o := c.Call(t.Context(), request)
	require.False(t, o.Tried)
	require.Equal(t, webhook.ErrBusy, o.Err)
	require.Positive(t, o.RetryAfter)
	others := request
	others.Client = 2
	calls.Go(func() {
		if o := c.Call(t.Context(), others); !o.Delivered() {
			t.Errorf("of another client: %+v", o)
		}
	})
	<-arrived
	close(release)
	calls.Wait()
}
