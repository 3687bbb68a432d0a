package bounds

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// TestKeyLimitsAreEachClients: a client that uses up all that a key gives takes nothing from
// another one with the same key, whichever gateways they ask.
func TestKeyLimitsAreEachClients(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		eachClients(t, 1, rig.Options{DSN: rig.Engines[0].DSN(t)})
	})
	t.Run("in Redis", func(t *testing.T) {
		t.Parallel()
		eachClients(t, 2, rig.Options{DSN: rig.Engines[1].DSN(t), Extra: fmt.Sprintf("sessions: {store: %q}\n", redistest.Start(t).URL())})
	})
}

// heldLists is a driver whose lists tell that they have begun, and wait.
type heldLists struct {
	rig.FullDriver
	begun, end chan struct{}
}

func (h heldLists) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	h.begun <- struct{}{}
	<-h.end
	return h.FullDriver.List(ctx, r, q)
}

func eachClients(t *testing.T, gateways int, o rig.Options) {
	const rated, daily, busy = boundKey, "66666666-6666-4666-8666-666666666666", "44444444-4444-4444-8444-444444444444"
	begun, end, answers := make(chan struct{}), make(chan struct{}), make(chan rig.Answer, 4)
	o.Wrap = func(d backend.Driver) backend.Driver { return heldLists{d.(rig.FullDriver), begun, end} }
	o.Server = "  time_zone: " + rig.NoonZone()
	for key, limit := range map[string]string{rated: "rate: {per_second: 0.001, burst: 3}", daily: "per_day: 3", busy: "concurrent: 2"} {
		o.Keys += rig.KeyConfig("k"+key[:1], key, "    allow: [\"GET /contact\"]\n    "+limit+"\n")
	}
	desks := make([]*rig.Desk, gateways)
	for i := range desks {
		desks[i] = rig.Start(t, o)
	}
	for _, key := range []string{rated, daily} {
		for _, client := range []string{"demo", "other"} {
			token := desks[0].Login(key, client)
			for n := range 5 {
				a := desks[n%gateways].Call("GET", "/contact?nonsense=1", token, "")
				require.Equal(t, map[bool]int{true: 400, false: 429}[n < 3], a.Status, "%s's %d: %s", client, n, a.Header.Get("RateLimit"))
				require.Contains(t, a.Header.Get("RateLimit"), fmt.Sprintf(";r=%d;", max(2-n, 0)))
			}
		}
	}
	leave := sync.OnceFunc(func() { close(end) })
	defer leave()
	for _, client := range []string{"demo", "other"} {
		token := desks[0].Login(busy, client)
		for n := range 2 {
			go func() {
				a, err := desks[n%gateways].Try("GET", "/contact?page_size=1", token, "")
				assert.NoError(t, err)
				answers <- a
			}()
			select {
			case <-begun:
			case a := <-answers:
				require.Fail(t, "not served", "%s's %d: %s", client, n, a.Header.Get("RateLimit"))
			}
		}
		for _, d := range desks {
			a := d.Call("GET", "/contact/1", token, "")
			require.Equal(t, []any{429, `"concurrent";r=0`}, []any{a.Status, a.Header.Get("RateLimit")}, client)
		}
	}
	leave()
	for range 4 {
		require.Equal(t, 200, (<-answers).Status)
	}
}
