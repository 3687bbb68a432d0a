package backend_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// gated is an administration where a call is over when the test says so.
type gated struct {
	*scripted
	pool    backend.Pool
	arrived chan *arrival
}

// arrival is a call that has come to the administration.
type arrival struct {
	who  string        // client and resource
	over chan struct{} // closed to end it
}

func (g *gated) Pool() backend.Pool { return g.pool }

func (g *gated) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	a := &arrival{fmt.Sprintf("%c %s", 'A'+q.Client.ID, r.Name), make(chan struct{})}
	g.arrived <- a
	select {
	case <-ctx.Done(): // the test has failed
		return mapping.Record{}, ctx.Err()
	case <-a.over:
		return g.scripted.Get(ctx, r, q)
	}
}

// crowd is a Client before such an administration, and those who call it.
type crowd struct {
	*backend.Client
	t       *testing.T
	driver  *gated
	calls   sync.WaitGroup
	begun   int
	ended   atomic.Int64
	answers chan error // of calls that failed
}

func newCrowd(t *testing.T, o backend.Options, pool backend.Pool) *crowd {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	c := &crowd{t: t, answers: make(chan error, 1000)}
	c.driver = &gated{newScripted(model, func(context.Context, *mapping.Resource) error { return nil }), pool, make(chan *arrival, 1000)}
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	c.Client, err = backend.NewClient(c.driver, model, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.calls.Wait()
		require.Zero(t, c.Load().Running+c.Load().Waiting)
	})
	return c
}

// call begins so many calls of a client, a letter, one after the other: those that do
// not come to the administration are in line when it returns.
func (c *crowd) call(client rune, resource string, times int) {
	c.t.Helper()
	for range times {
		c.begun++
		c.calls.Go(func() {
			defer c.ended.Add(1)
			q := backend.Query{Client: auth.Client{ID: int64(client - 'A')}, ID: 1}
			if _, err := c.Get(c.t.Context(), c.Model().Resource(resource), q); err != nil {
				c.answers <- err
			}
		})
		await.True(c.t, func() bool {
			load := c.Load()
			return load.Running+load.Waiting == c.begun-int(c.ended.Load())
		})
	}
}

// comes is the next call that comes to the administration.
func (c *crowd) comes(who string) *arrival {
	c.t.Helper()
	select {
	case a := <-c.driver.arrived:
		require.Equal(c.t, who, a.who)
		return a
	case <-time.After(30 * time.Second):
		c.t.Fatalf("%s does not come to the administration: %+v", who, c.Load())
		return nil
	}
}

// nobody is expected to come.
func (c *crowd) nobody(waiting int) {
	c.t.Helper()
	require.Empty(c.t, c.driver.arrived)
	require.Equal(c.t, waiting, c.Load().Waiting)
}

// drain lets all come and go.
func (c *crowd) drain(under ...*arrival) {
	for _, a := range under {
		close(a.over)
	}
	for load := c.Load(); load.Running+load.Waiting > 0; load = c.Load() {
		select {
		case a := <-c.driver.arrived:
			close(a.over)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestWhoHasFewerGoesFirst: the one place is taken, and a hundred calls of its client
// wait for it. Those of others go first, one for one, however late they came.
func TestWhoHasFewerGoesFirst(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{MaxConcurrent: 1}, backend.Pool{})
	c.call('A', "order", 101)
	at := c.comes("A order")
	c.call('B', "order", 2)
	c.call('C', "contact", 1)
	for i, next := range []string{"B order", "C contact", "A order", "B order", "A order", "A order"} {
		c.nobody(103 - i)
		close(at.over)
		at = c.comes(next)
	}
	c.drain(at)
}

// TestHangingCallsLeaveRoom: the calls of a client hang at a resource, then all
// calls there. Each time others come through: of other clients at the resource, of the same
// client at another one, and of somebody new.
func TestHangingCallsLeaveRoom(t *testing.T) {
	t.Parallel()
	for _, places := range []int{5, 6, 15, 16, 64, 256} {
		t.Run(fmt.Sprint(places), func(t *testing.T) {
			c := newCrowd(t, backend.Options{}, backend.Pool{Calls: places})
			var under []*arrival
			hang := func(who rune, resource string, most int) {
				before := c.Load().Running
				c.call(who, resource, places)
				got := c.Load().Running - before
				require.Positive(t, got, "%c finds no place", who)
				require.LessOrEqual(t, got, most)
				for range got {
					under = append(under, c.comes(fmt.Sprintf("%c %s", who, resource)))
				}
			}
			hang('A', "order", places/2)     // the lock of a row of A's
			hang('B', "order", (places+3)/4) // and, of everybody's, that of the table
			before := c.Load().Running
			for _, who := range []rune{'C', 'D', 'E', 'F', 'G', 'H'} {
				c.call(who, "order", 1)
			}
			for range c.Load().Running - before {
				under = append(under, <-c.driver.arrived)
			}
			for _, who := range []rune{'A', 'B', 'Z'} {
				c.call(who, "country", 1)
				close(c.comes(fmt.Sprintf("%c country", who)).over)
			}
			c.drain(under...)
		})
	}
}

// TestFewerUnderWay: of two who could have the place it goes to the client with fewer, though
// the other came first.
func TestFewerUnderWay(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{}, backend.Pool{Calls: 16})
	var under []*arrival
	for _, some := range []struct {
		who   rune
		times int
		runs  int
	}{{'A', 9, 8}, {'B', 3, 3}, {'C', 1, 1}, {'B', 1, 0}, {'D', 1, 0}} {
		c.call(some.who, "order", some.times)
		for range some.runs {
			under = append(under, c.comes(fmt.Sprintf("%c order", some.who)))
		}
	}
	c.nobody(3)
	close(under[0].over)
	under[0] = c.comes("D order")
	c.drain(under...)
}

// TestOneClientEverywhere: who asks for everything at once leaves a place to others.
func TestOneClientEverywhere(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{}, backend.Pool{Calls: 8})
	var under []*arrival
	for _, resource := range []string{"order", "contact", "vehicle", "article", "employee", "document", "flatrate", "turnovergroup"} {
		c.call('A', resource, 4)
	}
	for range c.Load().Running {
		under = append(under, <-c.driver.arrived)
	}
	require.Len(t, under, 7)
	c.call('B', "country", 1)
	c.drain(append(under, c.comes("B country"))...)
}

// TestWaitingLeavesTimeForTheCall: a call that has no place by half of its time is over, so
// that none is begun which would look like a failure as it has no time left.
func TestWaitingLeavesTimeForTheCall(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{MaxConcurrent: 1, Timeout: 6 * time.Second}, backend.Pool{})
	c.call('A', "order", 1)
	at := c.comes("A order")
	c.call('B', "order", 1)
	found, ok := mapping.AsViolations(<-c.answers)
	require.True(t, ok)
	require.Equal(t, mapping.BackendTimeout, found[0].Reason)
	require.Equal(t, time.Second, found[0].RetryAfter, "it is A's, which ran out of time")
	c.drain(at)
}

// TestQueueIsShared: who fills the line gives way to those who have less in it.
func TestQueueIsShared(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(4)}, backend.Pool{})
	c.call('A', "order", 5)
	at := c.comes("A order")
	refused := func(by func()) {
		by()
		select {
		case err := <-c.answers:
			requireBusy(t, err)
		case <-time.After(30 * time.Second):
			t.Fatal("nobody is refused")
		}
		c.nobody(4)
	}
	get := func(client int64) func() {
		return func() {
			c.calls.Go(func() {
				if _, err := c.Get(t.Context(), c.Model().Resource("order"), backend.Query{Client: auth.Client{ID: client}, ID: 1}); err != nil {
					c.answers <- err
				}
			})
		}
	}
	refused(get(0)) // A's own
	refused(get(1)) // A's last, for B's
	refused(get(1)) // A's, for B's second
	refused(get(1)) // B's own: it has as many as A
	require.Equal(t, 2, c.Load().Clients)
	order := ""
	for range 4 {
		close(at.over)
		at = <-c.driver.arrived
		order += at.who[:1]
	}
	require.Equal(t, "BABA", order)
	c.drain(at)
}

// TestQueueIsSharedByClients: who fills the line with a little of everything gives way to somebody
// who has more at one resource and less in all.
func TestQueueIsSharedByClients(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(8)}, backend.Pool{})
	c.call('A', "order", 1)
	at := c.comes("A order")
	for resource, n := range map[string]int{"order": 1, "contact": 1, "document": 1, "vehicle": 2} {
		c.call('A', resource, n)
	}
	c.call('B', "order", 3)

	refused := func(client rune, resource string) {
		c.call(client, resource, 1)
		requireBusy(t, <-c.answers)
		c.nobody(8)
	}
	refused('A', "employee") // the second one of its vehicles
	refused('A', "order")    // that one: all its lines are as long
	refused('C', "order")    // one of A's
	refused('B', "contact")  // B's own: A has no more than B would have
	clients := map[string]int{}
	for range 8 {
		close(at.over)
		at = <-c.driver.arrived
		clients[at.who[:1]]++
	}
	require.Equal(t, map[string]int{"A": 4, "B": 3, "C": 1}, clients)
	c.drain(at)
}

func requireBusy(t *testing.T, err error) {
	t.Helper()
	found, ok := mapping.AsViolations(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, mapping.BackendUnavailable, found[0].Reason)
	require.Equal(t, time.Second, found[0].RetryAfter)
}

// TestPlacesAreTheDrivers: a driver is asked for no more than it has connections for,
// for reads and for writes.
func TestPlacesAreTheDrivers(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, backend.Options{}, backend.Pool{Calls: 2, Writes: 100})
	require.Equal(t, 102, c.Load().Most)
	c.call('A', "order", 3)
	c.call('B', "contact", 2)
	a, b := c.comes("A order"), c.comes("B contact")
	c.nobody(3)
	c.drain(a, b)
}

// TestWaitingIsNoFailure: a driver whose connections are all in use says nothing of the
// administration.
func TestWaitingIsNoFailure(t *testing.T) {
	g := guard(t, backend.Options{CircuitFailures: 1, Timeout: 20 * time.Millisecond}, func(ctx context.Context, _ *mapping.Resource) error {
		<-ctx.Done()
		return fmt.Errorf("%w: wait for a connection: %w", backend.ErrBusy, ctx.Err())
	})
	for range 3 {
		e := g.requireReason(g.get("order"), mapping.BackendTimeout)
		require.Equal(t, time.Second, e.RetryAfter)
	}
	require.Equal(t, "closed", g.State())
	require.Equal(t, map[backend.Outcome]int{backend.Busy: 3}, g.outcomes("order"))
}

// readOnly is an administration whose disk is full.
type readOnly struct{ *scripted }

func (readOnly) Write(context.Context, func(backend.Tx) error) error {
	return errors.New("no space left on device")
}

// TestWritesThatFailRefuseNoReads: before, the writes of a full disk opened the circuit
// of the resource for those who read.
func TestWritesThatFailRefuseNoReads(t *testing.T) {
	t.Parallel()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	c, err := backend.NewClient(readOnly{newScripted(model, func(context.Context, *mapping.Resource) error { return nil })}, model,
		backend.Options{Timeout: time.Minute, CircuitFailures: 3, CircuitPause: time.Hour})
	require.NoError(t, err)
	order := model.Resource("order")
	for range 5 {
		require.Error(t, c.Delete(t.Context(), auth.Client{ID: 1}, order, 1, backend.Write{}))
	}
	_, err = c.Get(t.Context(), order, backend.Query{ID: 1})
	require.NoError(t, err)
	require.Contains(t, c.Circuits(), backend.Circuit{Resource: "order", Calls: "writes", State: "open"})
	require.Contains(t, c.Circuits(), backend.Circuit{Resource: "order", Calls: "reads", State: "closed"})
	require.Equal(t, "open", c.State())
}
