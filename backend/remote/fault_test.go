package remote

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/await"
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
	var err error
	f.FaultProxy, err = remotetest.NewFaultProxy(f.upstream.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.FaultProxy.Close()) })
	f.store = serviceAt(t, f.URL(), "")
	f.client, err = backend.NewClient(f.store, f.store.Sheet.Model, o)
	require.NoError(t, err)
	f.orders = f.client.Model().Resource("order")
	return f
}

func (f *faulty) get(ctx context.Context) error {
	_, err := f.client.Get(ctx, f.orders, backend.Query{Client: anna, ID: 12345})
	return err
}

func (f *faulty) create(t testing.TB) error {
	_, err := f.client.Create(bg(), anna, body(t, f.orders, `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-11-20"}`), backend.Write{})
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
	brief, err := backend.NewClient(f.store, f.store.Sheet.Model, backend.Options{Timeout: 400 * time.Millisecond, CircuitFailures: 1000})
	require.NoError(t, err)
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
			requireUnavailable(t, f.create(t), test.reason)
			require.LessOrEqual(t, f.upstream.writes.Load()-before, test.writes)
			require.LessOrEqual(t, f.Stats().Requests-requests, 1, "a write is sent once")
			requireUnavailable(t, f.get(bg()), test.reason)
			f.client = patient
			require.NoError(t, f.Set(remotetest.Fault{}))
			require.NoError(t, f.get(bg()))
			require.NoError(t, f.create(t))
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
		require.NoError(t, f.create(t))
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
	select {
	case err := <-ended:
		requireUnavailable(t, err, mapping.BackendUnavailable)
	case <-time.After(ample):
		t.Fatal("still waiting")
	}
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

// An answer without end costs no more memory than max_answer.
func TestMemoryIsBounded(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample, CircuitFailures: 1000})
	require.NoError(t, f.Set(remotetest.Fault{Kind: remotetest.EndlessBody, Body: `{"id":1,"number":"`}))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 20 {
		requireUnavailable(t, f.get(bg()), mapping.BackendUnavailable)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
}

func TestCircuitOfOneResource(t *testing.T) {
	opened := func(pause time.Duration) *faulty {
		f := newFaulty(t, backend.Options{Timeout: ample, CircuitFailures: 3, CircuitPause: pause})
		require.NoError(t, f.Set(remotetest.Fault{Kind: remotetest.Storm, Status: 500}))
		for range 3 {
			requireUnavailable(t, f.get(bg()), mapping.BackendUnavailable)
		}
		return f
	}
	f := opened(time.Hour)
	require.Equal(t, "open", f.client.State())
	require.NoError(t, f.Set(remotetest.Fault{}))
	_, err := f.client.Get(bg(), f.store.Sheet.Model.Resource("contact"), backend.Query{Client: anna, ID: 1})
	require.NoError(t, err)
	requireUnavailable(t, f.get(bg()), mapping.BackendUnavailable)

	f = opened(50 * time.Millisecond)
	require.NoError(t, f.Set(remotetest.Fault{}))
	await.True(t, func() bool { return f.client.State() == "half-open" })
	require.NoError(t, f.get(bg()))
	require.Equal(t, "closed", f.client.State())
}
