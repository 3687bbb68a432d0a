package backend_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

var loadModel = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

func TestMain(m *testing.M) {
	if _, err := loadModel(); err != nil {
		panic(err)
	}
	m.Run()
}

// newClient is a Client of a driver with the built-in model.
func newClient(t testing.TB, d backend.Driver, o backend.Options) *backend.Client {
	t.Helper()
	model := must.Have(loadModel())(t)
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	return must.Have(backend.NewClient(d, model, o))(t)
}

// scripted is an administration whose every Get is answered by a function: what
// the guards are about is when and how a driver answers, not what.
type scripted struct {
	backend.Driver
	get     func(ctx context.Context, r *mapping.Resource) error
	records map[*mapping.Resource]mapping.Record // one of each resource
}

func newScripted(get func(ctx context.Context, r *mapping.Resource) error) *scripted {
	s := &scripted{get: get, records: map[*mapping.Resource]mapping.Record{}}
	model, _ := loadModel()
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

// answers is one that has what it is asked for.
func answers() *scripted {
	return newScripted(func(context.Context, *mapping.Resource) error { return nil })
}

func (s *scripted) Capabilities() backend.Capabilities { return backend.Capabilities{Name: "scripted"} }

// guarded is a Client around a scripted administration, which notes how calls end.
type guarded struct {
	*backend.Client
	t     *testing.T
	calls []backend.Call
}

// guard runs a test with such a Client in a bubble of synctest.
func guard(t *testing.T, o backend.Options, get func(ctx context.Context, r *mapping.Resource) error, test func(*testing.T, *guarded)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{t: t}
		var mu sync.Mutex
		o.Observe = func(_ context.Context, c backend.Call) {
			mu.Lock()
			defer mu.Unlock()
			g.calls = append(g.calls, c)
		}
		g.Client = newClient(t, newScripted(get), o)
		test(t, g)
		synctest.Wait()
		require.Zero(t, g.Load().Running+g.Load().Waiting)
	})
}

func (g *guarded) get(resource string) error {
	_, err := g.Get(context.Background(), g.Model().Resource(resource), backend.Query{ID: 1})
	return err
}

// outcomes counts how the calls of a resource ended.
func (g *guarded) outcomes(resource string) map[backend.Outcome]int {
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
	for name, answer := range map[string]error{
		"not found": backend.ErrNotFound, "refusal": mapping.Fail(mapping.SystemRecord), "unexpected": fmt.Errorf("%w: code 42", backend.ErrUnexpected), "cancelled": context.Canceled,
	} {
		guard(t, backend.Options{CircuitFailures: 3}, func(context.Context, *mapping.Resource) error { return answer }, func(t *testing.T, g *guarded) {
			for range 10 {
				err := g.get("order")
				require.Error(t, err, name)
				if errors.Is(answer, backend.ErrUnexpected) {
					g.requireReason(err, mapping.InternalError)
				}
			}
			require.Equal(t, "closed", g.State(), name)
			if errors.Is(answer, backend.ErrUnexpected) {
				require.Equal(t, map[backend.Outcome]int{backend.Unexpected: 10}, g.outcomes("order"))
			}
		})
	}
}

// orders fail in the way that is given, and nothing else does.
func orders(fail func(context.Context) error) func(context.Context, *mapping.Resource) error {
	return func(ctx context.Context, r *mapping.Resource) error {
		if r.Name == "order" {
			return fail(ctx)
		}
		return nil
	}
}

// A circuit opens after so many failures in a row, of its resource alone.
func TestCircuitOpens(t *testing.T) {
	away := orders(func(context.Context) error { return errors.New("connection refused") })
	guard(t, backend.Options{CircuitFailures: 3, CircuitPause: time.Hour}, away, func(t *testing.T, g *guarded) {
		for range 3 {
			require.Zero(t, g.requireReason(g.get("order"), mapping.BackendUnavailable).RetryAfter)
		}
		require.Equal(t, time.Hour, g.requireReason(g.get("order"), mapping.BackendUnavailable).RetryAfter)
		require.Equal(t, map[backend.Outcome]int{backend.Failed: 3, backend.Open: 1}, g.outcomes("order"))
		require.Equal(t, "open", g.State())
		require.Contains(t, g.Circuits(), backend.Circuit{Resource: "order", Calls: "reads", State: "open"})
		require.Contains(t, g.Circuits(), backend.Circuit{Resource: "order", Calls: "writes", State: "closed"})
		require.Contains(t, g.Circuits(), backend.Circuit{Resource: "contact", Calls: "reads", State: "closed"})
		require.NoError(t, g.get("contact"), "another resource")
	})
}

// One resource that hangs takes half of the room at most, and what finds
// neither room nor a place to wait is refused at once.
func TestBulkhead(t *testing.T) {
	for _, c := range []struct{ places, queue, run int }{{4, 1, 2}, {1, 0, 1}} {
		var release chan struct{}
		hang := orders(func(context.Context) error { <-release; return nil })
		guard(t, backend.Options{MaxConcurrent: c.places, MaxQueue: new(c.queue)}, hang, func(t *testing.T, g *guarded) {
			release = make(chan struct{})
			for range c.run + c.queue {
				go func() { _ = g.get("order") }()
			}
			synctest.Wait()
			require.Equal(t, backend.Load{Running: c.run, Most: c.places, Waiting: c.queue, Clients: c.queue}, g.Load())
			require.Equal(t, c.queue, g.Queue())
			require.Equal(t, time.Second, g.requireReason(g.get("order"), mapping.BackendUnavailable).RetryAfter)
			require.Equal(t, 1, g.outcomes("order")[backend.Busy])
			if c.places > c.run {
				require.NoError(t, g.get("contact"))
			}
			close(release)
			synctest.Wait()
			require.NoError(t, g.get("order"))
			require.Equal(t, backend.Load{Most: c.places}, g.Load())
			require.Equal(t, c.run+c.queue+1, g.outcomes("order")[backend.Answered])
			require.Equal(t, "closed", g.State(), "being refused is no failure of the backend")
		})
	}
}

// TestWaitingIsNoFailure of the administration: neither for a place, longer than the deadline, nor
// for a connection of a driver's that are all in use.
func TestWaitingIsNoFailure(t *testing.T) {
	busy := orders(func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("%w: wait for a connection: %w", backend.ErrBusy, ctx.Err())
	})
	guard(t, backend.Options{MaxConcurrent: 1, CircuitFailures: 1}, busy, func(t *testing.T, g *guarded) {
		go func() { g.requireReason(g.get("order"), mapping.BackendTimeout) }()
		synctest.Wait()
		began := time.Now()
		require.Equal(t, time.Second, g.requireReason(g.get("order"), mapping.BackendTimeout).RetryAfter)
		require.Equal(t, 30*time.Second, time.Since(began), "the backend was not even asked: it would have half of the time left")
		synctest.Wait()
		time.Sleep(time.Minute)
		require.Equal(t, time.Second, g.requireReason(g.get("order"), mapping.BackendTimeout).RetryAfter)
		require.Equal(t, "closed", g.State())
		require.Equal(t, map[backend.Outcome]int{backend.Busy: 3}, g.outcomes("order"))
	})
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
	var outcomes []backend.Outcome
	c := newClient(t, &own{}, backend.Options{CircuitFailures: 3, Observe: func(_ context.Context, call backend.Call) { outcomes = append(outcomes, call.Outcome) }})
	for range 6 {
		require.Error(t, c.Delete(t.Context(), auth.Client{ID: 1}, c.Model().Resource("order"), 1, backend.Write{Idempotency: &backend.Idempotency{Key: "k"}}))
	}
	require.Equal(t, []backend.Outcome{backend.Kept, backend.Failed, backend.Kept, backend.Failed, backend.Kept, backend.Failed}, outcomes)
	require.Equal(t, "open", c.State())
}
