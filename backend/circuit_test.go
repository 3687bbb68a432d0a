package backend_test

import (
	"context"
	"errors"
	"testing"
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
	asked  []int64
}

func (b *byClient) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	b.asked = append(b.asked, q.Client.ID)
	if err := b.fails[q.Client.ID]; err != nil {
		if b.during != nil {
			b.during()
		}
		return mapping.Record{}, err
	}
	return b.scripted.Get(ctx, r, q)
}

// clients call such an administration, one after the other.
type clients struct {
	*backend.Client
	*byClient
	t       *testing.T
	changes []string
}

func newClients(t *testing.T, pause time.Duration) *clients {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	c := &clients{t: t, byClient: &byClient{newScripted(model, func(context.Context, *mapping.Resource) error { return nil }), map[int64]error{}, nil, nil}}
	c.Client, err = backend.NewClient(c.byClient, model, backend.Options{
		Timeout: time.Minute, CircuitFailures: 3, CircuitPause: pause,
		OnState: func(to backend.Circuit, from string) { c.changes = append(c.changes, from+" to "+to.State) },
	})
	require.NoError(t, err)
	return c
}

// get calls once for each of the clients, and returns for how many the administration was
// asked.
func (c *clients) get(of ...int64) int {
	c.t.Helper()
	before := len(c.asked)
	for _, client := range of {
		_, err := c.Client.Get(c.t.Context(), c.Model().Resource("order"), backend.Query{Client: auth.Client{ID: client}, ID: 1})
		if c.fails[client] == nil {
			require.NoError(c.t, err, "client %d", client)
		} else {
			require.Error(c.t, err, "client %d", client)
		}
	}
	return len(c.asked) - before
}

var errAway = errors.New("connection refused")

// TestAClientsFailuresStopNoOtherClient: before, statements of one client that always took
// too long, or broke, opened the circuit for all.
func TestAClientsFailuresStopNoOtherClient(t *testing.T) {
	for name, fault := range map[string]error{"slow": context.DeadlineExceeded, "broken": errors.New("division by zero")} {
		t.Run(name, func(t *testing.T) {
			c := newClients(t, time.Hour)
			c.fails[1] = fault
			require.Equal(t, 3, c.get(1, 1, 1, 1, 1), "nobody else was asking")
			require.Equal(t, "open", c.State())
			require.Equal(t, 1, c.get(2), "whose call is made, and answered")
			require.Equal(t, "closed", c.State())
			for range 10 {
				require.Equal(t, 6, c.get(1, 1, 2, 1, 1, 2))
			}
			require.Equal(t, []string{"closed to open", "open to closed"}, c.changes)
		})
	}
}

// TestAClientsFailuresCountWithOthers: an administration that is away is left alone by all,
// as soon as a second one has met with that.
func TestAClientsFailuresCountWithOthers(t *testing.T) {
	c := newClients(t, time.Hour)
	for client := range int64(5) {
		c.fails[client] = errAway
	}
	require.Equal(t, 4, c.get(1, 1, 1, 1, 2, 3, 2, 1, 4), "three of the first, one of the second")
	require.Equal(t, "open", c.State())

	c = newClients(t, time.Hour)
	c.fails[1], c.fails[2] = errAway, errAway
	require.Equal(t, 3, c.get(1, 2, 1, 2, 1))
	c.fails[3] = errAway
	require.Zero(t, c.get(3), "who did not ask before")

	c = newClients(t, time.Hour)
	c.fails[1], c.fails[2] = errAway, errAway
	require.Equal(t, 3, c.get(1, 2, 3), "the third is answered")
	require.Equal(t, 4, c.get(1, 1, 1, 1, 3), "what was before that does not count")

	c = newClients(t, time.Nanosecond)
	c.fails[1], c.fails[2] = errAway, errAway
	c.get(1, 1, 1)
	require.Equal(t, "half-open", c.State())
	c.get(2)
	require.Equal(t, []string{"closed to open", "open to half-open", "half-open to open"}, c.changes)
}

// TestAClientsTrialStopsNoOtherClient: whose failures alone opened a circuit is let through
// after the pause to see, one call at a time, while others come and go.
func TestAClientsTrialStopsNoOtherClient(t *testing.T) {
	c := newClients(t, time.Nanosecond)
	c.fails[1], c.fails[2] = errAway, errAway
	c.get(1, 1, 1)
	for range 5 {
		require.Equal(t, 1, c.get(1))
	}
	require.Equal(t, "half-open", c.State())
	trial := true
	c.during = func() {
		if trial {
			trial = false
			require.Zero(t, c.get(1), "one of its calls is enough")
			require.Equal(t, 1, c.get(3), "whose call is answered meanwhile")
			require.Equal(t, "closed", c.State())
		}
	}
	c.get(1)
	require.Equal(t, "closed", c.State(), "what the trial told was not of the first client alone")
	require.Equal(t, 2, c.get(1, 1))
	require.Equal(t, "half-open", c.State(), "three in a row again")
	delete(c.fails, 1)
	require.Equal(t, 1, c.get(1))
	require.Equal(t, "closed", c.State())
}
