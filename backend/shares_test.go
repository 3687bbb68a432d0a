package backend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
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
	under   []*arrival // that have come, and are not over
	answers chan error // of calls that failed
}

// inCrowd runs a test in a bubble of synctest, where a call has come, or waits, when all stand still.
func inCrowd(t *testing.T, o backend.Options, pool backend.Pool, test func(*testing.T, *crowd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{t: t, answers: make(chan error, 1000)}
		c.driver = &gated{answers(), pool, make(chan *arrival, 1000)}
		c.Client = newClient(t, c.driver, o)
		test(t, c)
		c.drain()
		require.Zero(t, c.Load().Running+c.Load().Waiting)
	})
}

// call begins so many calls of a client, a letter, one after the other: those that do
// not come to the administration are in line when it returns.
func (c *crowd) call(client rune, resource string, times int) {
	c.t.Helper()
	for range times {
		go func() {
			q := backend.Query{Client: auth.Client{ID: int64(client - 'A')}, ID: 1}
			if _, err := c.Get(c.t.Context(), c.Model().Resource(resource), q); err != nil {
				c.answers <- err
			}
		}()
		synctest.Wait()
	}
}

// comes is the next call that comes to the administration.
func (c *crowd) comes(who string) *arrival {
	c.t.Helper()
	synctest.Wait()
	require.NotEmpty(c.t, c.driver.arrived, "%s does not come to the administration: %+v", who, c.Load())
	a := <-c.driver.arrived
	require.Equal(c.t, who, a.who)
	c.under = append(c.under, a)
	return a
}

// end ends a call.
func (c *crowd) end(a *arrival) {
	c.under = slices.DeleteFunc(c.under, func(other *arrival) bool { return other == a })
	close(a.over)
}

// nobody is expected to come.
func (c *crowd) nobody(waiting int) {
	c.t.Helper()
	require.Empty(c.t, c.driver.arrived)
	require.Equal(c.t, waiting, c.Load().Waiting)
}

// refused begins a call, after which one is refused.
func (c *crowd) refused(client rune, resource string, waiting int) {
	c.t.Helper()
	c.call(client, resource, 1)
	require.NotEmpty(c.t, c.answers, "nobody is refused")
	found, ok := mapping.AsViolations(<-c.answers)
	require.True(c.t, ok)
	require.Equal(c.t, mapping.BackendUnavailable, found[0].Reason)
	require.Equal(c.t, time.Second, found[0].RetryAfter)
	c.nobody(waiting)
}

// order has so many more come, one after the other, and tells whose calls they are.
func (c *crowd) order(at *arrival, more int) (clients string) {
	for range more {
		c.end(at)
		at = <-c.driver.arrived
		c.under = append(c.under, at)
		clients += at.who[:1]
	}
	return clients
}

// drain lets all come and go.
func (c *crowd) drain() {
	for synctest.Wait(); len(c.under)+len(c.driver.arrived) > 0; synctest.Wait() {
		for len(c.driver.arrived) > 0 {
			c.under = append(c.under, <-c.driver.arrived)
		}
		c.end(c.under[0])
	}
}

// TestWhoHasFewerGoesFirst: the one place is taken, and a hundred calls of its client
// wait for it. Those of others go first, one for one, however late they came.
func TestWhoHasFewerGoesFirst(t *testing.T) {
	inCrowd(t, backend.Options{MaxConcurrent: 1}, backend.Pool{}, func(t *testing.T, c *crowd) {
		c.call('A', "order", 101)
		at := c.comes("A order")
		c.call('B', "order", 2)
		c.call('C', "contact", 1)
		for i, next := range []string{"B order", "C contact", "A order", "B order", "A order", "A order"} {
			c.nobody(103 - i)
			c.end(at)
			at = c.comes(next)
		}
	})
}

// TestHangingCallsLeaveRoom: the calls of a client hang at a resource, then all
// calls there. Each time others come through: of other clients at the resource, of the same
// client at another one, and of somebody new.
func TestHangingCallsLeaveRoom(t *testing.T) {
	for _, places := range []int{5, 6, 15, 16, 64, 256} {
		inCrowd(t, backend.Options{}, backend.Pool{Calls: places}, func(t *testing.T, c *crowd) {
			hang := func(who rune, resource string, most int) {
				before := c.Load().Running
				c.call(who, resource, places)
				got := c.Load().Running - before
				require.Positive(t, got, "%c finds no place of %d", who, places)
				require.LessOrEqual(t, got, most)
				for range got {
					c.comes(fmt.Sprintf("%c %s", who, resource))
				}
			}
			hang('A', "order", places/2)     // the lock of a row of A's
			hang('B', "order", (places+3)/4) // and, of everybody's, that of the table
			for _, who := range []rune{'C', 'D', 'E', 'F', 'G', 'H'} {
				c.call(who, "order", 1)
			}
			for len(c.driver.arrived) > 0 {
				c.under = append(c.under, <-c.driver.arrived)
			}
			for _, who := range []rune{'A', 'B', 'Z'} {
				c.call(who, "country", 1)
				c.end(c.comes(fmt.Sprintf("%c country", who)))
			}
		})
	}
}

// TestFewerUnderWay: of two who could have the place it goes to the client with fewer, though
// the other came first.
func TestFewerUnderWay(t *testing.T) {
	inCrowd(t, backend.Options{}, backend.Pool{Calls: 16}, func(t *testing.T, c *crowd) {
		for _, some := range []struct {
			who         rune
			times, runs int
		}{{'A', 9, 8}, {'B', 3, 3}, {'C', 1, 1}, {'B', 1, 0}, {'D', 1, 0}} {
			c.call(some.who, "order", some.times)
			for range some.runs {
				c.comes(fmt.Sprintf("%c order", some.who))
			}
		}
		c.nobody(3)
		c.end(c.under[0])
		c.comes("D order")
	})
}

// TestOneClientEverywhere: who asks for everything at once leaves a place to others.
func TestOneClientEverywhere(t *testing.T) {
	inCrowd(t, backend.Options{}, backend.Pool{Calls: 8}, func(t *testing.T, c *crowd) {
		for _, resource := range []string{"order", "contact", "vehicle", "article", "employee", "document", "flatrate", "turnovergroup"} {
			c.call('A', resource, 4)
		}
		require.Len(t, c.driver.arrived, 7)
		for len(c.driver.arrived) > 0 {
			c.under = append(c.under, <-c.driver.arrived)
		}
		c.call('B', "country", 1)
		c.comes("B country")
	})
}

// TestQueueIsShared: who fills the line gives way to those who have less in it.
func TestQueueIsShared(t *testing.T) {
	inCrowd(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(4)}, backend.Pool{}, func(t *testing.T, c *crowd) {
		c.call('A', "order", 5)
		at := c.comes("A order")
		c.refused('A', "order", 4) // A's own
		c.refused('B', "order", 4) // A's last, for B's
		c.refused('B', "order", 4) // A's, for B's second
		c.refused('B', "order", 4) // B's own: it has as many as A
		require.Equal(t, 2, c.Load().Clients)
		require.Equal(t, "BABA", c.order(at, 4))
	})
}

// TestQueueIsSharedByClients: who fills the line with a little of everything gives way to somebody
// who has more at one resource and less in all.
func TestQueueIsSharedByClients(t *testing.T) {
	inCrowd(t, backend.Options{MaxConcurrent: 1, MaxQueue: new(8)}, backend.Pool{}, func(t *testing.T, c *crowd) {
		c.call('A', "order", 1)
		at := c.comes("A order")
		for resource, n := range map[string]int{"order": 1, "contact": 1, "document": 1, "vehicle": 2} {
			c.call('A', resource, n)
		}
		c.call('B', "order", 3)
		c.refused('A', "employee", 8) // the second one of its vehicles
		c.refused('A', "order", 8)    // that one: all its lines are as long
		c.refused('C', "order", 8)    // one of A's
		c.refused('B', "contact", 8)  // B's own: A has no more than B would have
		clients := c.order(at, 8)
		require.Equal(t, [3]int{4, 3, 1}, [3]int{strings.Count(clients, "A"), strings.Count(clients, "B"), strings.Count(clients, "C")})
	})
}

// TestPlacesAreTheDrivers: a driver is asked for no more than it has connections for,
// for reads and for writes.
func TestPlacesAreTheDrivers(t *testing.T) {
	inCrowd(t, backend.Options{}, backend.Pool{Calls: 2, Writes: 100}, func(t *testing.T, c *crowd) {
		require.Equal(t, 102, c.Load().Most)
		c.call('A', "order", 3)
		c.call('B', "contact", 2)
		c.comes("A order")
		c.comes("B contact")
		c.nobody(3)
	})
}

// readOnly is an administration whose disk is full.
type readOnly struct{ *scripted }

func (readOnly) Write(context.Context, func(backend.Tx) error) error {
	return errors.New("no space left on device")
}

// TestWritesThatFailRefuseNoReads: before, the writes of a full disk opened the circuit
// of the resource for those who read.
func TestWritesThatFailRefuseNoReads(t *testing.T) {
	c := newClient(t, readOnly{answers()}, backend.Options{CircuitFailures: 3, CircuitPause: time.Hour})
	order := c.Model().Resource("order")
	for range 5 {
		require.Error(t, c.Delete(t.Context(), auth.Client{ID: 1}, order, 1, backend.Write{}))
	}
	must.Have(c.Get(t.Context(), order, backend.Query{ID: 1}))(t)
	require.Contains(t, c.Circuits(), backend.Circuit{Resource: "order", Calls: "writes", State: "open"})
	require.Contains(t, c.Circuits(), backend.Circuit{Resource: "order", Calls: "reads", State: "closed"})
	require.Equal(t, "open", c.State())
}
