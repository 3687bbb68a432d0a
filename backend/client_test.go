package backend_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// scripted is an administration whose every Get is answered by a function: what
// the guards are about is when and how a driver answers, not what.
type scripted struct {
	backend.Driver
	get     func(ctx context.Context, r *mapping.Resource) error
	records map[*mapping.Resource]mapping.Record // one of each resource
}

func newScripted(model *mapping.Model, get func(ctx context.Context, r *mapping.Resource) error) *scripted {
	s := &scripted{get: get, records: map[*mapping.Resource]mapping.Record{}}
	for _, r := range model.Resources {
		rec := mapping.NewRecord(r)
		rec.Set("id", mapping.IntValue(1))
		rec.Owner = mapping.OfAll
		s.records[r] = rec
	}
	return s
}

func (s *scripted) Get(ctx context.Context, r *mapping.Resource, _ backend.Query) (mapping.Record, error) {
	if err := s.get(ctx, r); err != nil {
		return mapping.Record{}, err
	}
	return s.records[r], nil
}

func (s *scripted) Capabilities() backend.Capabilities { return backend.Capabilities{Name: "scripted"} }

// guarded is a Client around a scripted administration.
type guarded struct {
	*backend.Client
	t     *testing.T
	model *mapping.Model

	mu    sync.Mutex
	calls []backend.Call
}

func guard(t *testing.T, o backend.Options, get func(ctx context.Context, r *mapping.Resource) error) *guarded {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	g := &guarded{t: t, model: model}
	o.Observe = func(_ context.Context, c backend.Call) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.calls = append(g.calls, c)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	g.Client, err = backend.NewClient(newScripted(model, get), model, o)
	require.NoError(t, err)
	return g
}

func (g *guarded) get(resource string) error {
	_, err := g.Get(context.Background(), g.model.Resource(resource), backend.Query{ID: 1})
	return err
}

// outcomes counts how the calls of a resource ended.
func (g *guarded) outcomes(resource string) map[backend.Outcome]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := map[backend.Outcome]int{}
	for _, c := range g.calls {
		if c.Resource == resource {
			n[c.Outcome]++
		}
	}
	return n
}

func (g *guarded) requireReason(err error, reason mapping.Reason) *mapping.Error {
	g.t.Helper()
	found, ok := mapping.AsViolations(err)
	require.True(g.t, ok, "%v", err)
	require.Equal(g.t, reason, found[0].Reason, "%v", err)
	return found[0]
}

func TestOnlyFailuresOpenTheCircuit(t *testing.T) {
	answers := map[string]error{
		"not found":  backend.ErrNotFound,
		"refusal":    mapping.Fail(mapping.SystemRecord),
		"unexpected": fmt.Errorf("%w: code 42", backend.ErrUnexpected),
		"cancelled":  context.Canceled,
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			g := guard(t, backend.Options{CircuitFailures: 3}, func(context.Context, *mapping.Resource) error { return answer })
			for range 10 {
				require.Error(t, g.get("order"))
			}
			require.Equal(t, "closed", g.State())
		})
	}
}

func TestUnexpectedAnswersAreInternalErrors(t *testing.T) {
	g := guard(t, backend.Options{}, func(context.Context, *mapping.Resource) error {
		return fmt.Errorf("%w: ORA-00942", backend.ErrUnexpected)
	})
	g.requireReason(g.get("order"), mapping.InternalError)
	require.Equal(t, map[backend.Outcome]int{backend.Unexpected: 1}, g.outcomes("order"))
}

// A circuit opens after so many failures in a row, of its resource alone.
func TestCircuitOpens(t *testing.T) {
	g := guard(t, backend.Options{CircuitFailures: 3, CircuitPause: time.Hour}, func(_ context.Context, r *mapping.Resource) error {
		if r.Name == "order" {
			return errors.New("connection refused")
		}
		return nil
	})
	for range 3 {
		e := g.requireReason(g.get("order"), mapping.BackendUnavailable)
		require.Zero(t, e.RetryAfter)
	}
	e := g.requireReason(g.get("order"), mapping.BackendUnavailable)
	require.Equal(t, time.Hour, e.RetryAfter)
	require.Equal(t, map[backend.Outcome]int{backend.Failed: 3, backend.Open: 1}, g.outcomes("order"))
	require.Equal(t, "open", g.State())
	require.Contains(t, g.Circuits(), backend.Circuit{Resource: "order", Calls: "reads", State: "open"})
	require.Contains(t, g.Circuits(), backend.Circuit{Resource: "order", Calls: "writes", State: "closed"})
	require.Contains(t, g.Circuits(), backend.Circuit{Resource: "contact", Calls: "reads", State: "closed"})
	require.NoError(t, g.get("contact"), "another resource")
}

// One resource that hangs takes half of the room at most, and what finds
// neither room nor a place to wait is refused at once.
func TestBulkhead(t *testing.T) {
	release := make(chan struct{})
	g := guard(t, backend.Options{MaxConcurrent: 4, MaxQueue: new(1)}, func(_ context.Context, r *mapping.Resource) error {
		if r.Name == "order" {
			<-release
		}
		return nil
	})
	var hanging sync.WaitGroup
	for range 3 { // two that run, one that waits
		hanging.Go(func() { _ = g.get("order") })
	}
	await.True(t, func() bool { return g.Load() == backend.Load{Running: 2, Most: 4, Waiting: 1, Clients: 1} })
	e := g.requireReason(g.get("order"), mapping.BackendUnavailable)
	require.Equal(t, time.Second, e.RetryAfter)
	require.Equal(t, 1, g.outcomes("order")[backend.Busy])
	require.NoError(t, g.get("contact"))

	close(release)
	hanging.Wait()
	require.NoError(t, g.get("order"))
	require.Equal(t, backend.Load{Most: 4}, g.Load())
	require.Equal(t, 4, g.outcomes("order")[backend.Answered])
	require.Equal(t, "closed", g.State(), "being refused is no failure of the backend")
}

// TestNobodyWaits: with a queue of 0 a call without a slot is refused at once.
func TestNobodyWaits(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{})
	g := guard(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(0), Timeout: time.Minute}, func(context.Context, *mapping.Resource) error {
		close(arrived)
		<-release
		return nil
	})
	require.Zero(t, g.Queue())
	var hanging sync.WaitGroup
	hanging.Go(func() { _ = g.get("order") })
	<-arrived
	e := g.requireReason(g.get("order"), mapping.BackendUnavailable)
	require.Equal(t, time.Second, e.RetryAfter)
	require.Equal(t, 1, g.outcomes("order")[backend.Busy])
	close(release)
	hanging.Wait()
}

// Waiting for room counts against the deadline.
func TestBulkheadWaitsNoLongerThanTheDeadline(t *testing.T) {
	release := make(chan struct{})
	g := guard(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(8), Timeout: 50 * time.Millisecond, CircuitFailures: 1},
		func(context.Context, *mapping.Resource) error { <-release; return nil })
	var hanging sync.WaitGroup
	hanging.Go(func() { _ = g.get("order") })
	await.True(t, func() bool { return g.Load().Running == 1 })
	e := g.requireReason(g.get("order"), mapping.BackendTimeout)
	require.Equal(t, time.Second, e.RetryAfter)
	close(release)
	hanging.Wait()
	require.Equal(t, 1, g.outcomes("order")[backend.Busy], "the backend was not even asked")
}

// own keeps the answers under idempotency keys beside an administration that is away.
type own struct {
	backend.Driver
	backend.Tx
	used bool
}

func (o *own) Capabilities() backend.Capabilities { return backend.Capabilities{Name: "own"} }

func (o *own) Write(_ context.Context, f func(backend.Tx) error) error { return f(o) }

func (o *own) Recall(context.Context, auth.Client, string) (*backend.StoredAnswer, error) {
	if o.used = !o.used; o.used {
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	}
	return nil, nil
}

func (o *own) Get(context.Context, *mapping.Resource, backend.Query) (mapping.Record, error) {
	return mapping.Record{}, errors.New("connection refused")
}

func (o *own) List(context.Context, *mapping.Resource, backend.Query) (backend.Page, error) {
	return backend.Page{}, errors.New("connection refused")
}

// TestOwnAnswersCloseNoCircuit: before, "Idempotency-Key is in use", which the gateway
// says without asking, counted as an answer of the administration, and its circuit stayed
// closed while every other call failed.
func TestOwnAnswersCloseNoCircuit(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	var outcomes []backend.Outcome
	c, err := backend.NewClient(&own{}, model, backend.Options{
		Timeout: time.Minute, CircuitFailures: 3, Observe: func(_ context.Context, call backend.Call) { outcomes = append(outcomes, call.Outcome) },
	})
	require.NoError(t, err)
	for range 6 {
		err := c.Delete(t.Context(), auth.Client{ID: 1}, model.Resource("order"), 1, backend.Write{Idempotency: &backend.Idempotency{Key: "k"}})
		require.Error(t, err)
	}
	require.Equal(t, []backend.Outcome{backend.Kept, backend.Failed, backend.Kept, backend.Failed, backend.Kept, backend.Failed}, outcomes)
	require.Equal(t, "open", c.State())
}
