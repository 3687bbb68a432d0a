package remotetest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
)

const greeting = `{"greeting":"hello"}`

// before starts a target, a proxy before it and a client that goes through it.
// asked counts what reaches the target.
func before(t *testing.T) (p *remotetest.FaultProxy, client *http.Client, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, greeting+string(body))
	}))
	t.Cleanup(target.Close)
	p, err := remotetest.NewFaultProxy(target.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Transport: transport}, asked
}

// post asks through the proxy. A POST is never repeated by net/http once bytes
// of it were written.
func post(t *testing.T, client *http.Client, url, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func TestFaultProxyHealthy(t *testing.T) {
	p, client, asked := before(t)
	for range 3 {
		status, answer, err := post(t, client, p.URL(), "!")
		require.NoError(t, err)
		assert.Equal(t, 200, status)
		assert.Equal(t, greeting+"!", answer)
	}
	assert.EqualValues(t, 3, asked.Load())
	assert.Equal(t, remotetest.FaultStats{Accepted: 1, Open: 1, Requests: 3, Passed: 3}, p.Stats(), "one connection, kept alive")
	client.CloseIdleConnections()
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Open == 0 }))
}

func TestFaultProxyResets(t *testing.T) {
	for name, c := range map[string]struct {
		fault remotetest.Fault
		asked int32
	}{
		"on accept":     {remotetest.Fault{Kind: remotetest.ResetOnAccept}, 1},
		"before":        {remotetest.Fault{Kind: remotetest.ResetBefore}, 1},
		"after":         {remotetest.Fault{Kind: remotetest.ResetAfter}, 2},
		"within head":   {remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 9}, 2},
		"within answer": {remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 120}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p, client, asked := before(t)
			_, _, err := post(t, client, p.URL(), "")
			require.NoError(t, err)
			require.NoError(t, p.Set(c.fault))
			client.CloseIdleConnections() // else net/http may find the connection dead before it writes
			_, _, err = post(t, client, p.URL(), "")
			// Which error depends on what the kernel hands over before the RST's own.
			assert.Error(t, err)
			assert.Equal(t, c.asked, asked.Load())
			require.NoError(t, p.Set(remotetest.Fault{}))
			_, _, err = post(t, client, p.URL(), "")
			assert.NoError(t, err)
		})
	}
}

func TestFaultProxyRefuses(t *testing.T) {
	p, client, asked := before(t)
	_, _, err := post(t, client, p.URL(), "")
	require.NoError(t, err)
	require.NoError(t, p.Set(remotetest.Fault{Kind: remotetest.Refuse}))
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Open == 0 }), "the open one is gone too")
	client.CloseIdleConnections()
	_, _, err = post(t, client, p.URL(), "")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.EqualValues(t, 1, asked.Load())
	require.NoError(t, p.Set(remotetest.Fault{}))
	_, _, err = post(t, client, p.URL(), "")
	assert.NoError(t, err)
}

func TestFaultProxyHalfOpen(t *testing.T) {
	p, client, asked := before(t)
	require.NoError(t, p.Set(remotetest.Fault{Kind: remotetest.HalfOpen}))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL(), nil)
	require.NoError(t, err)
	over := make(chan error)
	go func() {
		_, err := client.Do(req)
		over <- err
	}()
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Requests == 1 }))
	cancel()
	assert.ErrorIs(t, <-over, context.Canceled)
	assert.Zero(t, asked.Load())
}

func TestFaultProxyHoldsRequests(t *testing.T) {
	p, client, asked := before(t)
	gate := make(chan struct{})
	p.Next(remotetest.Fault{Gate: gate})
	over := make(chan error)
	go func() {
		resp, err := client.Get(p.URL())
		if err == nil {
			err = resp.Body.Close()
		}
		over <- err
	}()
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Requests == 1 }))
	assert.Zero(t, asked.Load(), "held")
	close(gate)
	require.NoError(t, <-over)
	assert.EqualValues(t, 1, asked.Load())

	begun := time.Now()
	p.Next(remotetest.Fault{Delay: 20 * time.Millisecond})
	_, _, err := post(t, client, p.URL(), "")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(begun), 20*time.Millisecond)
}

func TestFaultProxyTruncates(t *testing.T) {
	p, client, _ := before(t)
	p.Next(remotetest.Fault{Kind: remotetest.Truncate, Bytes: 7})
	status, answer, err := post(t, client, p.URL(), "")
	assert.Equal(t, 200, status)
	assert.Equal(t, greeting[:7], answer)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestFaultProxySlowBody(t *testing.T) {
	p, client, _ := before(t)
	gate := make(chan struct{})
	p.Next(remotetest.Fault{Kind: remotetest.SlowBody, Gate: gate})
	resp, err := client.Get(p.URL())
	require.NoError(t, err, "the head comes at once")
	defer resp.Body.Close()
	one := make([]byte, 1)
	for i := range greeting {
		gate <- struct{}{}
		_, err := io.ReadFull(resp.Body, one)
		require.NoError(t, err)
		assert.Equal(t, greeting[i], one[0])
	}
}

func TestFaultProxyEndlessBody(t *testing.T) {
	p, client, asked := before(t)
	p.Next(remotetest.Fault{Kind: remotetest.EndlessBody, Body: `{"items":[`})
	resp, err := client.Get(p.URL())
	require.NoError(t, err)
	begun, err := io.ReadAll(io.LimitReader(resp.Body, 5<<20))
	require.NoError(t, err)
	assert.Len(t, begun, 5<<20)
	assert.Equal(t, `{"items":[`, strings.TrimSpace(string(begun)))
	require.NoError(t, resp.Body.Close())
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Open == 0 }))
	assert.Zero(t, asked.Load())
}

func TestFaultProxyStorm(t *testing.T) {
	p, client, asked := before(t)
	p.Next(
		remotetest.Fault{Kind: remotetest.Storm, RetryAfter: 3 * time.Second},
		remotetest.Fault{Kind: remotetest.Storm, Status: 502, Body: "<html>", Type: "text/html"},
	)
	resp, err := client.Get(p.URL())
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 503, resp.StatusCode)
	assert.Equal(t, "3", resp.Header.Get("Retry-After"))
	status, answer, err := post(t, client, p.URL(), "lost")
	require.NoError(t, err)
	assert.Equal(t, 502, status)
	assert.Equal(t, "<html>", answer)
	status, _, err = post(t, client, p.URL(), "")
	require.NoError(t, err)
	assert.Equal(t, 200, status, "the storm is over")
	assert.EqualValues(t, 1, asked.Load())
	assert.Equal(t, 1, p.Stats().Accepted)
}

func TestFaultProxyGarbage(t *testing.T) {
	p, client, asked := before(t)
	p.Next(remotetest.Fault{Kind: remotetest.TLSGarbage})
	_, _, err := post(t, client, p.URL(), "!")
	assert.ErrorContains(t, err, "malformed HTTP")
	assert.Zero(t, asked.Load())
}

func TestFaultProxyCloseEndsEverything(t *testing.T) {
	p, client, _ := before(t)
	require.NoError(t, p.Set(remotetest.Fault{Gate: make(chan struct{})}))
	over := make(chan error)
	go func() {
		_, err := client.Get(p.URL())
		over <- err
	}()
	require.NoError(t, p.Wait(t.Context(), func(s remotetest.FaultStats) bool { return s.Requests == 1 }))
	require.NoError(t, p.Close())
	assert.Error(t, <-over)
	assert.Zero(t, p.Stats().Open)
	assert.ErrorIs(t, p.Set(remotetest.Fault{}), net.ErrClosed)
	assert.NoError(t, p.Close())
}

func TestFaultProxyPath(t *testing.T) {
	p, client, asked := before(t)
	require.NoError(t, p.Set(remotetest.Fault{Kind: remotetest.Storm, Path: "/orders"}))
	p.Next(remotetest.Fault{Kind: remotetest.Storm, Status: 500, Path: "/orders/7"})
	for _, test := range []struct {
		path string
		want int
	}{{"/contacts", 200}, {"/orders", 503}, {"/orders/7?x=1", 500}, {"/orders/7", 503}, {"/contacts/7", 200}} {
		status, _, err := post(t, client, p.URL()+test.path, "!")
		require.NoError(t, err)
		assert.Equal(t, test.want, status, test.path)
	}
	assert.EqualValues(t, 2, asked.Load())
	assert.Equal(t, 1, p.Stats().Accepted)
}
