package backend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// byClient is an administration that answers some clients and fails others.
type byClient struct {
	*scripted
	fails  map[int64]error
	during func() // what else happens while a call fails; nil for nothing
	takes  func() // what a call waits for; nil for nothing
	asked  atomic.Int32
}

func (b *byClient) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	b.asked.Add(1)
	if b.takes != nil {
		b.takes()
	}
	if err := b.fails[q.Client.ID]; err != nil {
		if b.during != nil {
			b.during()
		}
		return mapping.Record{}, err
	}
	return b.scripted.Get(ctx, r, q)
}

// clients call such an administration, one after the other, in a bubble whose time stands still.
type clients struct {
	*backend.Client
	*byClient
	t       *testing.T
	changes []string
	opened  []string // by whose calls
}

func newClients(t *testing.T) *clients {
	t.Helper()
	c := &clients{t: t, byClient: &byClient{answers(), map[int64]error{}, nil, nil, atomic.Int32{}}}
	c.Client = newClient(t, c.byClient, backend.Options{
		CircuitFailures: 3, CircuitPause: time.Second,
		OnState: func(to backend.Circuit, from string) {
			c.changes = append(c.changes, fmt.Sprintf("%d: %s to %s", to.Client, from, to.State))
		},
		Observe: func(ctx context.Context, call backend.Call) {
			if call.Opened {
				c.opened = append(c.opened, string(call.Outcome))
			}
		},
	})
	return c
}

// get calls once for each of the clients, and returns how often the administration was asked.
func (c *clients) get(of ...int64) int {
	c.t.Helper()
	before := c.asked.Load()
	for _, client := range of {
		err := c.ask(client)
		if c.fails[client] == nil {
			require.NoError(c.t, err, "client %d", client)
		} else {
			require.Error(c.t, err, "client %d", client)
		}
	}
	return int(c.asked.Load() - before)
}

func (c *clients) ask(client int64) error {
	_, err := c.Client.Get(c.t.Context(), c.Model().Resource("order"), backend.Query{Client: auth.Client{ID: client}, ID: 1})
	return err
}

// pause lets the pause of a circuit go by.
func (c *clients) pause() { time.Sleep(time.Second + 1) }

var errAway = errors.New("connection refused")

// TestAClientsFailuresStopNoOtherClient: calls of one client that always take too long, or
// break, are refused after a few, and those of others are made.
func TestAClientsFailuresStopNoOtherClient(t *testing.T) {
	for _, fault := range []error{context.DeadlineExceeded, errors.New("division by zero")} {
		synctest.Test(t, func(t *testing.T) {
			c := newClients(t)
			c.fails[1] = fault
			require.Equal(t, 3, c.get(1, 1, 1, 1, 1), "nobody else was asking")
			require.Equal(t, "open", c.State())
			require.Equal(t, 1, c.get(2), "whose call is made, and answered")
			require.Equal(t, "closed", c.State(), "the administration works")
			for range 10 {
				require.Equal(t, 2, c.get(1, 1, 2, 1, 1, 2))
			}
			require.Equal(t, []string{"1: closed to open"}, c.changes)
			for range 10 {
				c.pause()
				require.Equal(t, 3, c.get(1, 1, 2, 1, 1, 2), "one call of the first to see")
			}
			require.Equal(t, "closed", c.State())
			delete(c.fails, 1)
			c.pause()
			require.Equal(t, 3, c.get(1, 1, 1))
		})
	}
}

// TestTheOnlyClientHasACircuit: where nobody else asks, it is the circuit of the administration.
func TestTheOnlyClientHasACircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		c.fails[1] = errAway
		require.Equal(t, 3, c.get(1, 1, 1, 1))
		require.Equal(t, "open", c.State())
		for range 5 {
			c.pause()
			require.Equal(t, "half-open", c.State())
			require.Equal(t, 1, c.get(1, 1))
			require.Equal(t, "open", c.State())
		}
		require.Equal(t, []string{"failed", "failed", "failed", "failed", "failed", "failed"}, c.opened)
		delete(c.fails, 1)
		c.pause()
		require.Equal(t, 2, c.get(1, 1))
		require.Equal(t, "closed", c.State())
		require.Equal(t, []string{"1: closed to open", "1: open to half-open", "1: half-open to open"}, c.changes[:3])
		require.Equal(t, []string{"1: open to half-open", "1: half-open to closed"}, c.changes[len(c.changes)-2:])
	})
}

// TestAClientsFailuresCountWithOthers: an administration that is away is left alone by all,
// as soon as a second one has met with that.
func TestAClientsFailuresCountWithOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		for client := range int64(5) {
			c.fails[client] = errAway
		}
		require.Equal(t, 4, c.get(1, 1, 1, 1, 2, 3, 2, 1, 4), "three of the first, one of the second")
		require.Equal(t, "open", c.State())
		require.Equal(t, []string{"1: closed to open", "0: closed to open"}, c.changes)
		require.Len(t, c.opened, 2)
		c.pause()
		require.Equal(t, "half-open", c.State())
		require.Equal(t, 1, c.get(2, 3, 4))
		require.Equal(t, "open", c.State())
		c.pause()
		clear(c.fails)
		require.Equal(t, 5, c.get(4, 3, 2, 1, 0))
		require.Equal(t, "closed", c.State())

		c = newClients(t)
		c.fails[1], c.fails[2], c.fails[3] = errAway, errAway, errAway
		require.Equal(t, 3, c.get(1, 2, 1, 2, 1))
		require.Zero(t, c.get(3), "who did not ask before")

		c = newClients(t)
		c.fails[1], c.fails[2] = errAway, errAway
		require.Equal(t, 3, c.get(1, 2, 3), "the third is answered")
		require.Equal(t, 3, c.get(1, 1, 1, 1, 3), "what was before that counts for the first alone")
		require.Equal(t, "closed", c.State())
	})
}

// TestATrialIsOneCall: after the pause one call is let through, and others wait for what
// becomes of it; that of one client alone is none of the others' business.
func TestATrialIsOneCall(t *testing.T) {
	for _, alone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newClients(t)
			c.fails[1], c.fails[2] = errAway, errAway
			who, asked, then := int64(1), 2, "closed"
			c.get(1, 1, 1)
			if !alone {
				who, asked, then = 2, 1, "open"
				c.get(2)
			}
			c.pause()
			c.during = func() {
				c.during = nil
				require.Error(t, c.ask(who))
				require.Equal(t, alone, c.ask(3) == nil)
			}
			require.Equal(t, asked, c.get(who))
			require.Equal(t, then, c.State())
		})
	}
}

// TestFirstCallsAfterAPauseWait: where nobody has called since the pause ended, the first calls come at once.
// Those that are not the trial wait for what becomes of it, and no longer than a second.
func TestFirstCallsAfterAPauseWait(t *testing.T) {
	for took, refused := range map[time.Duration]int{900 * time.Millisecond: 0, 1100 * time.Millisecond: 2} {
		synctest.Test(t, func(t *testing.T) {
			c := newClients(t)
			c.fails[1], c.fails[2] = errAway, errAway
			c.get(1, 1, 1, 2)
			clear(c.fails)
			c.pause()
			c.takes = func() { time.Sleep(took) }
			var all [3]error
			var calls sync.WaitGroup
			for i := range all {
				calls.Go(func() { all[i] = c.ask(int64(3 + i)) })
			}
			calls.Wait()
			require.Equal(t, int32(4+3-refused), c.asked.Load())
			require.Len(t, slices.DeleteFunc(all[:], func(err error) bool { return err == nil }), refused)
			require.Equal(t, "closed", c.State())
		})
	}
}

// TestAClientThatAlwaysFailsKeepsNobodyOut: where all are refused, and one client asks so
// often that the trial is always its own, others have theirs all the same.
func TestAClientThatAlwaysFailsKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		c.fails[1], c.fails[2] = errAway, errAway
		require.Equal(t, 4, c.get(1, 1, 1, 2))
		require.Equal(t, "open", c.State())
		delete(c.fails, 2)
		c.pause()
		require.Equal(t, 3, c.get(1, 1, 2, 3))
		require.Equal(t, "closed", c.State())
	})
}

// TestFailuresAtOnceCount: each of a client's first calls begins before another has failed.
func TestFailuresAtOnceCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		c.fails[1] = errAway
		begun := 1
		c.during = func() {
			if begun++; begun <= 3 {
				require.Error(t, c.ask(1))
			}
		}
		require.Error(t, c.ask(1))
		require.Equal(t, "open", c.State())
		require.Zero(t, c.get(1))
		require.Equal(t, []string{"failed"}, c.opened)
	})
}

// TestFailuresAreForgotten: those of a client that asks seldom do not add up for ever.
func TestFailuresAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		c.fails[1] = errAway
		require.Equal(t, 2, c.get(1, 1))
		time.Sleep(time.Hour)
		require.Equal(t, 2, c.get(1, 1))
		require.Equal(t, "closed", c.State())
		require.Equal(t, 1, c.get(1, 1))
		require.Equal(t, "open", c.State())
	})
}

// TestAPanicIsAFailure of the client whose call it is.
func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients(t)
		c.fails[1] = errAway
		c.during = func() { panic("away") }
		for range 3 {
			require.PanicsWithValue(t, "away", func() { c.get(1) })
		}
		require.Zero(t, c.get(1))
		require.Equal(t, 1, c.get(2))
		require.Equal(t, backend.Load{Most: 256}, c.Load())
	})
}

// BenchmarkClosedCircuit is what the guards cost a call that succeeds.
func BenchmarkClosedCircuit(b *testing.B) {
	c := newClient(b, answers(), backend.Options{})
	order, asked := c.Model().Resource("order"), backend.Query{Client: auth.Client{ID: 1000}, ID: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Get(b.Context(), order, asked); err != nil {
			b.Fatal(err)
		}
	}
}
