package bounds

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// slow has reads of a record wait until it is opened; all else it answers.
type slow struct {
	rig.FullDriver
	open *chan struct{}
}

func (s slow) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	<-*s.open
	return s.FullDriver.Get(ctx, r, q)
}

// TestQueuesAreTold: while the queue for the administration is half full, or as many calls are under way as
// may be, it is not said that all works; from when it has been so for half a minute until it has not for a
// minute.
func TestQueuesAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queue int
		asks  map[string]int // how often, by client and path
		told  string
	}{
		"a queue": {2, map[string]int{"demo /contact/1": 3}, `the queue for the administration fills: up to [12] calls waited, and 2 may; [12] wait now\.$`},
		// The last place is left to another client, and another resource.
		"all places": {0, map[string]int{"demo /contact/1": 1, "other /order/1": 1}, `all places for calls of the administration were taken for long: up to 2 of 2, and 2 are now\.$`},
	} {
		t.Run(name, func(t *testing.T) {
			var open chan struct{}
			o := rig.Options{
				Wrap:    func(driver backend.Driver) backend.Driver { return slow{driver.(rig.FullDriver), &open} },
				Backend: ", max_concurrent: 2, timeout: 10m",
			}
			if c.queue > 0 {
				o.Bound = func(b *desk.Bounds) { b.Queue = c.queue }
			}
			rig.InBubble(t, o, func(t *testing.T, d *rig.Desk) {
				open = make(chan struct{})
				report := func() (r desk.StatusReport) {
					require.NoError(t, json.Unmarshal([]byte(d.OpsText("/status.json")), &r))
					return r
				}
				looks := func(n int) { time.Sleep(time.Duration(n) * desk.QueuesEvery) }
				time.Sleep(desk.QueuesEvery / 2) // the look at the start is over, and finds nothing
				var asking sync.WaitGroup
				for ask, times := range c.asks {
					who, path, _ := strings.Cut(ask, " ")
					token := d.Login(rig.FullKey, who)
					for range times {
						asking.Go(func() {
							if a, err := d.Try("GET", path, token, ""); err != nil || a.Status != 200 && a.Status != 404 { // another client has no such record
								t.Errorf("%d, %v", a.Status, err)
							}
						})
					}
				}
				looks(4)
				require.Equal(t, "All works.", report().Verdict, "a burst")
				looks(1)
				r := report()
				require.Equal(t, desk.HealthDegraded, r.Health.Status)
				require.Regexp(t, "^It serves, but look at this: "+c.told, r.Verdict)
				require.Equal(t, 200, d.AskOps("/readyz").Status, "others would have the same")
				close(open)
				asking.Wait()
				looks(9)
				require.NotEqual(t, "All works.", report().Verdict, "it does not come and go")
				looks(1)
				require.Equal(t, "All works.", report().Verdict)
			})
		})
	}
}
