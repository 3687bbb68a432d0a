package bounds

import (
	"context"
	"encoding/json"
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
	open <-chan struct{}
}

func (s slow) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	<-s.open
	return s.FullDriver.Get(ctx, r, q)
}

// TestQueuesAreTold: while the queue for the administration is half full, it is not said that
// all works; from when it has been so for half a minute until it has not for a minute.
func TestQueuesAreTold(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	var timers rig.Timers
	d := rig.OnSQLite(t, rig.Options{
		Wrap:    func(driver backend.Driver) backend.Driver { return slow{driver.(rig.FullDriver), open} },
		Backend: ", max_concurrent: 2, max_queue: 2, timeout: 60s", After: timers.After,
	})
	token := d.Login(rig.FullKey, "demo")
	looks := func(n int) {
		t.Helper()
		for range n {
			require.Eventually(t, func() bool { return timers.Held(desk.QueuesEvery) == 1 }, rig.Patience, time.Millisecond)
			require.Equal(t, 1, timers.Pass(desk.QueuesEvery))
		}
		require.Eventually(t, func() bool { return timers.Held(desk.QueuesEvery) == 1 }, rig.Patience, time.Millisecond)
	}
	report := func() (r desk.StatusReport) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(d.OpsText("/status.json")), &r))
		return r
	}
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			if a, err := d.Try("GET", "/contact/1", token, ""); err != nil || a.Status != 200 {
				t.Errorf("%d, %v", a.Status, err)
			}
		})
	}
	require.Eventually(t, func() bool { return report().Load.Waiting >= 1 }, rig.Patience, time.Millisecond)
	looks(4)
	require.Equal(t, "All works.", report().Verdict, "a burst")
	looks(1)
	r := report()
	require.Equal(t, desk.HealthDegraded, r.Health.Status)
	require.Regexp(t, `^It serves, but look at this: the queue for the administration fills: \d calls wait, and 2 may\.$`, r.Verdict)
	require.Equal(t, 200, d.AskOps("/readyz").Status, "others would have the same")
	close(open)
	asking.Wait()
	looks(9)
	require.NotEqual(t, "All works.", report().Verdict, "it does not come and go")
	looks(1)
	require.Equal(t, "All works.", report().Verdict)
}
