package bounds

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
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

// watched is a service whose queues are looked at when a test says so.
type watched struct {
	*rig.Desk
	timers *rig.Timers
	asking *sync.WaitGroup
}

func watch(t *testing.T, o rig.Options) watched {
	t.Helper()
	var timers rig.Timers
	o.After = timers.After
	w := watched{rig.Start(t, o), &timers, new(sync.WaitGroup)}
	w.looks(t, 0) // the look at the start is over, and finds nothing
	return w
}

// looks returns when the queues have been looked at that often again.
func (w watched) looks(t *testing.T, n int) {
	t.Helper()
	held := func() bool { return w.timers.Held(desk.QueuesEvery) == 1 }
	await.True(t, held)
	for range n {
		require.Equal(t, 1, w.timers.Pass(desk.QueuesEvery))
		await.True(t, held)
	}
}

func (w watched) report(t *testing.T) (r desk.StatusReport) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(w.OpsText("/status.json")), &r))
	return r
}

// ask reads a record, n times at once.
func (w watched) ask(t *testing.T, token, path string, n int) {
	for range n {
		w.asking.Go(func() {
			if a, err := w.Try("GET", path, token, ""); err != nil || a.Status != 200 && a.Status != 404 { // another client has no such record
				t.Errorf("%d, %v", a.Status, err)
			}
		})
	}
}

// TestQueuesAreTold: while the queue for the administration is half full, it is not said that
// all works; from when it has been so for half a minute until it has not for a minute.
func TestQueuesAreTold(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	w := watch(t, rig.Options{
		DSN:     rig.Engines[0].DSN(t),
		Wrap:    func(driver backend.Driver) backend.Driver { return slow{driver.(rig.FullDriver), open} },
		Backend: ", max_concurrent: 2, timeout: 60s", Bound: func(b *desk.Bounds) { b.Queue = 2 },
	})
	w.ask(t, w.Login(rig.FullKey, "demo"), "/contact/1", 3)
	await.True(t, func() bool { return w.report(t).Load.Waiting >= 1 })
	w.looks(t, 4)
	require.Equal(t, "All works.", w.report(t).Verdict, "a burst")
	w.looks(t, 1)
	r := w.report(t)
	require.Equal(t, desk.HealthDegraded, r.Health.Status)
	require.Regexp(t, `^It serves, but look at this: the queue for the administration fills: up to [12] calls waited, and 2 may; [12] wait now\.$`, r.Verdict)
	require.Equal(t, 200, w.AskOps("/readyz").Status, "others would have the same")
	close(open)
	w.asking.Wait()
	w.looks(t, 9)
	require.NotEqual(t, "All works.", w.report(t).Verdict, "it does not come and go")
	w.looks(t, 1)
	require.Equal(t, "All works.", w.report(t).Verdict)
}

// TestPlacesThatAreTakenAreTold: while as many calls are under way as may be, it is told. Before,
// connections were counted, of which logins and jobs have some of their own, and it never was.
func TestPlacesThatAreTakenAreTold(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		open := make(chan struct{})
		w := watch(t, rig.Options{
			DSN: dsn, Backend: ", max_concurrent: 2, timeout: 60s",
			Wrap: func(driver backend.Driver) backend.Driver { return slow{driver.(rig.FullDriver), open} },
		})
		w.ask(t, w.Login(rig.FullKey, "demo"), "/contact/1", 1)
		w.ask(t, w.Login(rig.FullKey, "other"), "/order/1", 1) // the last place is left to another client, and another resource
		await.True(t, func() bool { return w.report(t).Load.Running == 2 })
		w.looks(t, 4)
		require.Equal(t, "All works.", w.report(t).Verdict, "a burst")
		w.looks(t, 1)
		told := w.report(t).Verdict
		close(open)
		w.asking.Wait()
		require.Equal(t, "It serves, but look at this: all places for calls of the administration were taken for long: up to 2 of 2, and 2 are now.", told)
		w.looks(t, 10)
		require.Equal(t, "All works.", w.report(t).Verdict)
	})
}
