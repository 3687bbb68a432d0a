package remote

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// counted is a service that counts what it has done.
type counted struct {
	*httptest.Server
	reads, writes atomic.Int64
}

func newCounted(t testing.TB) *counted {
	u := &counted{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasPrefix(r.URL.Path, "/contact/"):
			_, _ = w.Write([]byte(`{"id":1,"kind":"person","name":"Wit","_version":1}`))
		case r.Method == http.MethodPost:
			u.writes.Add(1)
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(orderRecord()))
		default:
			u.reads.Add(1)
			_, _ = w.Write([]byte(orderRecord()))
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// faulty is a service with a proxy before it that fails on demand.
type faulty struct {
	*remotetest.FaultProxy
	upstream *counted
	store    *Driver
	client   *backend.Client
	orders   *mapping.Resource
}

func newFaulty(t testing.TB, o backend.Options) *faulty {
	f := &faulty{upstream: newCounted(t)}
	f.FaultProxy = must.Have(remotetest.NewFaultProxy(f.upstream.Listener.Addr().String()))(t)
	t.Cleanup(func() { require.NoError(t, f.FaultProxy.Close()) })
	f.store = serviceAt(t, f.URL(), "")
	f.client = must.Have(backend.NewClient(f.store, f.store.Sheet.Model, o))(t)
	f.orders = f.client.Model().Resource("order")
	return f
}

func (f *faulty) get(ctx context.Context) error {
	_, err := f.client.Get(ctx, f.orders, backend.Query{Client: anna, ID: 12345})
	return err
}

func (f *faulty) create(t testing.TB, w backend.Write) error {
	_, err := f.client.Create(bg(), anna, body(t, f.orders, `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-11-20"}`), w)
	return err
}

// requireUnavailable sees that a client is told nothing but a documented 500.
func requireUnavailable(t testing.TB, err error, reasons ...mapping.Reason) {
	t.Helper()
	v, ok := mapping.AsViolations(err)
	require.True(t, ok, "%v", err)
	require.Len(t, v, 1)
	require.Contains(t, reasons, v[0].Reason, "%v", err)
	require.Empty(t, v[0].Args)
	require.Equal(t, "Internal server error", wording(t, err))
}

func TestFaultsAreDocumentedAnswers(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample, CircuitFailures: 1000})
	patient := f.client
	// What it waits for never comes: how long it waits decides nothing.
	brief := must.Have(backend.NewClient(f.store, f.store.Sheet.Model, backend.Options{Timeout: 20 * time.Millisecond, CircuitFailures: 1000}))(t)
	unavailable, timeout, internal := mapping.BackendUnavailable, mapping.BackendTimeout, mapping.InternalError
	never := make(chan struct{})
	for _, test := range []struct {
		name   string
		fault  remotetest.Fault
		reason mapping.Reason
		writes int64 // that the upstream may have done
	}{
		{"refuse", remotetest.Fault{Kind: remotetest.Refuse}, unavailable, 0},
		{"reset on accept", remotetest.Fault{Kind: remotetest.ResetOnAccept}, unavailable, 0},
		{"reset before", remotetest.Fault{Kind: remotetest.ResetBefore}, unavailable, 0},
		{"reset after", remotetest.Fault{Kind: remotetest.ResetAfter}, unavailable, 1},
		{"reset in the head", remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 20}, unavailable, 1},
		{"reset in the body", remotetest.Fault{Kind: remotetest.ResetMidAnswer, Bytes: 400}, unavailable, 1},
		{"truncate", remotetest.Fault{Kind: remotetest.Truncate, Bytes: 500}, unavailable, 1},
		{"half open", remotetest.Fault{Kind: remotetest.HalfOpen}, timeout, 0},
		{"slow body", remotetest.Fault{Kind: remotetest.SlowBody, Gate: never}, timeout, 1},
		{"late", remotetest.Fault{Gate: never}, timeout, 0},
		{"endless", remotetest.Fault{Kind: remotetest.EndlessBody, Body: `{"id":`}, unavailable, 0},
		{"storm 503", remotetest.Fault{Kind: remotetest.Storm, Body: "<html>stack trace</html>"}, unavailable, 0},
		{"storm 500", remotetest.Fault{Kind: remotetest.Storm, Status: 500, Body: "ORA-01017: secret"}, unavailable, 0},
		{"storm 418", remotetest.Fault{Kind: remotetest.Storm, Status: 418, Body: "teapot"}, internal, 0},
		{"storm 401", remotetest.Fault{Kind: remotetest.Storm, Status: 401, Body: `{"message":"Not authorized"}`}, internal, 0},
		{"storm 302", remotetest.Fault{Kind: remotetest.Storm, Status: 302}, internal, 0},
		{"a page", remotetest.Fault{Kind: remotetest.Storm, Status: 200, Body: "\n<!DOCTYPE html><html>We are working on it"}, unavailable, 0},
		{"not json", remotetest.Fault{Kind: remotetest.Storm, Status: 200, Body: "OK"}, internal, 0},
		{"garbage", remotetest.Fault{Kind: remotetest.TLSGarbage}, unavailable, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, f.get(bg())) // over a connection that will be kept
			require.NoError(t, f.Set(test.fault))
			if test.reason == timeout {
				f.client = brief
			}
			before, requests := f.upstream.writes.Load(), f.Stats().Requests
			requireUnavailable(t, f.create(t, backend.Write{}), test.reason)
			require.LessOrEqual(t, f.upstream.writes.Load()-before, test.writes)
			require.LessOrEqual(t, f.Stats().Requests-requests, 1, "a write is sent once")
			requireUnavailable(t, f.get(bg()), test.reason)
			if test.fault.Kind == remotetest.Refuse {
				require.NotErrorIs(t, f.create(t, keyedBy("k")), backend.ErrUnsettled, "it was never sent")
			}
			f.client = patient
			require.NoError(t, f.Set(remotetest.Fault{}))
			require.NoError(t, f.get(bg()))
			require.NoError(t, f.create(t, backend.Write{}))
			require.LessOrEqual(t, f.Stats().Open, 8)
		})
	}
}

func TestReadsAreTriedAgain(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample})
	for _, fault := range []remotetest.Fault{
		{Kind: remotetest.ResetBefore}, {Kind: remotetest.ResetAfter}, {Kind: remotetest.ResetMidAnswer, Bytes: 100},
		{Kind: remotetest.Truncate, Bytes: 10}, {Kind: remotetest.Storm, Status: 503}, {Kind: remotetest.Storm, Status: 502},
	} {
		f.Next(fault)
		require.NoError(t, f.get(bg()))
	}
	requests := f.Stats().Requests
	f.Next(remotetest.Fault{Kind: remotetest.Storm, Status: 500})
	requireUnavailable(t, f.get(bg()), mapping.BackendUnavailable)
	require.Equal(t, 1, f.Stats().Requests-requests, "500 is no reason to try again")
}

// Connections that the other side has closed while idle cost no call.
func TestConnectionsThatDiedWhileIdle(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample})
	for range 5 {
		require.NoError(t, f.get(bg()))
		require.NoError(t, f.Set(remotetest.Fault{Kind: remotetest.Refuse})) // resets those that are open
		require.NoError(t, f.Set(remotetest.Fault{}))
		require.NoError(t, f.create(t, backend.Write{}))
		require.NoError(t, f.Set(remotetest.Fault{Kind: remotetest.Refuse}))
		require.NoError(t, f.Set(remotetest.Fault{}))
		require.NoError(t, f.get(bg()))
	}
	require.EqualValues(t, 5, f.upstream.writes.Load())
}

func TestCancelReleasesAtOnce(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: 10 * ample})
	require.NoError(t, f.get(bg()))
	require.NoError(t, f.Set(remotetest.Fault{Kind: remotetest.HalfOpen}))
	ctx, cancel := context.WithCancel(bg())
	requests := f.Stats().Requests
	ended := make(chan error, 1)
	go func() { ended <- f.get(ctx) }()
	require.NoError(t, f.Wait(bg(), func(s remotetest.FaultStats) bool { return s.Requests > requests }))
	cancel()
	requireUnavailable(t, <-ended, mapping.BackendUnavailable)
	require.NoError(t, f.Set(remotetest.Fault{}))
	require.NoError(t, f.get(bg()))
}

func TestConnectionsAreBounded(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample})
	gate := make(chan struct{})
	require.NoError(t, f.Set(remotetest.Fault{Gate: gate}))
	ended := make(chan error)
	for range 40 {
		go func() { // past the client, which shares them out
			_, err := f.store.Get(bg(), f.orders, backend.Query{Client: anna, ID: 12345})
			ended <- err
		}()
	}
	require.NoError(t, f.Wait(bg(), func(s remotetest.FaultStats) bool { return s.Open == 8 }))
	close(gate)
	for range 40 {
		require.NoError(t, <-ended)
	}
	require.Equal(t, 8, f.Stats().Accepted)
	require.NoError(t, f.store.Close())
	require.NoError(t, f.Wait(bg(), func(s remotetest.FaultStats) bool { return s.Open == 0 }))
	requireUnavailable(t, f.get(bg()), mapping.BackendUnavailable)
}

// TestLoginsAndCallsLeaveConnections: where as many logins and calls hang as there may be,
// the service answers when it is asked whether it does.
func TestLoginsAndCallsLeaveConnections(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample})
	gate := make(chan struct{})
	pool, logins := f.store.Pool(), f.store.LoginsAtOnce()
	require.Equal(t, backend.Pool{Most: 8, Calls: 5}, pool)
	require.Equal(t, 2, logins)
	ended := make(chan error)
	hang := func(n int, f func() error) {
		for range n {
			go func() { ended <- f() }()
		}
	}
	before := f.Stats().Requests
	for range pool.Calls + logins {
		f.Next(remotetest.Fault{Gate: gate})
	}
	hang(pool.Calls, func() error {
		_, err := f.store.Get(bg(), f.orders, backend.Query{Client: anna, ID: 12345})
		return err
	})
	hang(logins, func() error {
		_, err := f.store.Verify(bg(), auth.Credentials{Username: "anna", Password: "secret"})
		return err
	})
	require.NoError(t, f.Wait(bg(), func(s remotetest.FaultStats) bool { return s.Requests == before+pool.Calls+logins }))
	require.NotErrorIs(t, f.store.Ping(bg()), backend.ErrBusy)
	close(gate)
	for range pool.Calls + logins {
		<-ended
	}
}

// TestNoWaitForAConnectionIsAFailure: calls that find no connection within the time that
// the sheet gives them open no circuit. Before, to try again was given up for want of time, and
// that was counted.
func TestNoWaitForAConnectionIsAFailure(t *testing.T) {
	var outcomes []backend.Outcome
	f := newFaulty(t, backend.Options{Timeout: ample, CircuitFailures: 1, Observe: func(_ context.Context, c backend.Call) { outcomes = append(outcomes, c.Outcome) }})
	slots := f.store.conn.wire.pool.slots
	for range cap(slots) { // as by calls that hang
		slots <- struct{}{}
	}
	f.store.conn.source.Timeout = time.Millisecond
	requireUnavailable(t, f.get(bg()), mapping.BackendTimeout)
	require.Equal(t, []backend.Outcome{backend.Busy}, outcomes)
	require.Equal(t, "closed", f.client.State())
	for range cap(slots) {
		<-slots
	}
}
