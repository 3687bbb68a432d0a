package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
)

func TestTheWholeScheduleToExhausted(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		p, c, store, to := working(t, e, status(404))
		id := p.accept(t, to, "echo")
		want := []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
		for n, delay := range want {
			j := store.untilTries(t, id, n+1)
			require.Equal(t, c.Now().Add(delay), j.NextTry)
			c.Advance(delay - time.Millisecond)
			p.look()
			c.Advance(time.Millisecond)
			p.look()
		}
		j := store.untilState(t, id, webhook.Exhausted)
		require.Equal(t, 10, j.Tries)
		require.Zero(t, j.NextTry)
		tries, err := store.Journal(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, tries, 10)
		for n, try := range tries {
			require.Equal(t, webhook.Try{Job: id, Number: n + 1, At: try.At, Status: 404, Error: webhook.ErrStatus}, try)
			if n > 0 {
				require.Equal(t, want[n-1], try.At.Sub(tries[n-1].At))
			}
		}
		_, err = p.Collect(t.Context(), owner(1), id)
		require.NoError(t, err, "the result is still there")
		require.NoError(t, webhook.Replay(t.Context(), p.Store, id, p.Clock()))
		p.look()
		require.Equal(t, webhook.Done, store.untilTries(t, id, 1).State)
	})
}

// TestALeaseBeginsWhenItIsGranted: a database that takes its time to grant it takes
// nothing of it away, else another would be given the same job.
func TestALeaseBeginsWhenItIsGranted(t *testing.T) {
	t.Parallel()
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	store.waits = func(j webhook.Job) {
		if j.Lease.IsZero() {
			c.Advance(2 * time.Hour)
		}
	}
	ids, leases := make(chan string, 1), make(chan time.Duration, 2)
	left := func(id string) {
		j, err := store.Get(context.Background(), id)
		assert.NoError(t, err)
		leases <- j.Lease.Sub(c.Now())
	}
	to := rs.add(t, func(http.ResponseWriter, *http.Request) { left(<-ids) })
	p := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) {
		cfg.Runners = map[string]webhook.Runner{"echo": func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
			left(j.ID)
			return echo(ctx, j, w)
		}}
	})
	id := p.accept(t, to, "echo")
	require.Equal(t, time.Hour, <-leases, "of the work")
	store.untilState(t, id, webhook.Done)
	ids <- id
	p.look()
	require.Equal(t, time.Minute, <-leases, "of the call")
	store.untilState(t, id, webhook.CalledBack)
}

// Every client has its share of the calls under way: what one client's receivers
// do, however many they are, is not felt by another's.
func TestAClientsHangingReceiversDelayNoOtherClient(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		hanging := make(chan struct{}, 1000)
		var stuck []*url.URL
		for range 100 {
			stuck = append(stuck, rs.add(t, func(_ http.ResponseWriter, r *http.Request) {
				hanging <- struct{}{}
				<-r.Context().Done()
			}))
		}
		healthy := rs.add(t, status(200))
		caller := rs.caller(t)
		caller.Timeout = time.Hour // nobody gives up while the test runs
		for n, to := range stuck {
			addJob(t, store, c, n, 1, to)
		}
		p := start(t, c, store, caller, func(cfg *webhook.Config) { cfg.CallLease = 24 * time.Hour })
		for range 8 {
			settle(t, c, func() bool { return len(hanging) > 0 }, p)
			<-hanging
		}
		for client := range int64(20) {
			id := p.acceptOf(t, 2+client, healthy, "echo")
			settle(t, c, func() bool { return store.job(t, id).State == webhook.CalledBack }, p)
		}
		require.Empty(t, hanging, "half of the calls, and no more")
	})
}

// Two clients have their receivers at one host, as customers of one vendor do: those of the first fail
// until its circuit lets nothing through for 30 seconds of real time, and a callback that cannot be tried ends.
func TestAClientsFailingReceiversStopNoOtherClient(t *testing.T) {
	t.Parallel()
	p, c, store, failing := working(t, sqliteEngine(t), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("failing") {
			w.WriteHeader(500)
		}
	})
	to := *failing
	failing.RawQuery = "failing=1"
	id := p.accept(t, failing, "echo")
	for n := 1; n <= 5; n++ {
		j := store.untilTries(t, id, n)
		c.Advance(j.NextTry.Sub(c.Now()))
		p.look()
	}
	other := p.acceptOf(t, 2, &to, "echo")
	require.Equal(t, 1, store.untilState(t, other, webhook.CalledBack).Tries)

	var j webhook.Job
	store.until(t, func() bool {
		j = store.job(t, id)
		return j.NextTry.After(c.Now()) && j.Lease.IsZero()
	})
	require.Equal(t, 33*time.Second, j.NextTry.Sub(c.Now()), "the circuit is open")
	c.Advance(j.Finished.Add(webhook.Retention - time.Second).Sub(c.Now()))
	p.look()
	require.Equal(t, 5, store.untilState(t, id, webhook.Exhausted).Tries)
}

// A panic is somebody's mistake to be found: its stack is in the log, and not in the job.
func TestWorkThatFails(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zap.ErrorLevel)
	p, _, store, to := working(t, sqliteEngine(t), status(200), blobs, func(cfg *webhook.Config) {
		cfg.Log = zap.New(core)
		cfg.Runners["panics"] = func(_ context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
			_, _ = w.Write(make([]byte, space/2))
			return panicsHere()
		}
		cfg.Runners["fails"] = func(_ context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
			_, _ = w.Write(make([]byte, space/2))
			return webhook.Content{}, errors.New("the backend is away")
		}
		cfg.Runners["fills"] = func(_ context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
			for {
				if _, err := w.Write(make([]byte, space/8)); err != nil {
					return webhook.Content{}, err
				}
			}
		}
		cfg.Runners["fits"] = func(_ context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
			_, err := w.Write(make([]byte, space/4*3))
			return webhook.Content{}, err
		}
	})
	for kind, failure := range map[string]string{
		"panics": "panic: what now", "fails": "the backend is away", "fills": webhook.ErrNoSpace.Error(), "none": "no runner for none",
	} {
		p.takes(t) // nothing: whatever failed gave back what was set aside for it
		id := p.accept(t, to, kind)
		j := store.untilState(t, id, webhook.CalledBack)
		require.Equal(t, failure, j.Failure)
		require.Equal(t, 1, j.Claims)
		require.Zero(t, j.Result)
		j = must.Have(p.Collect(t.Context(), owner(1), id))(t)
		require.Equal(t, failure, j.Failure)
	}
	require.Empty(t, entries(t, p.folder))
	found := logged.FilterMessage("callbacks: job panicked").All()
	require.Len(t, found, 1)
	require.Contains(t, found[0].ContextMap()["stack"], "panicsHere")
	j := store.untilState(t, p.accept(t, to, "fits"), webhook.CalledBack)
	require.EqualValues(t, space/4*3, j.Result.Size, "all that one client may have: %s", j.Failure)
	p.takes(t, webhook.Taken{Client: 1, Kind: "fits", Stage: webhook.Kept, Jobs: 1, Bytes: space / 4 * 3, Job: j.ID})
}

func panicsHere() (webhook.Content, error) { panic("what now") }

func entries(t *testing.T, folder string) (names []string) {
	t.Helper()
	found := must.Have(os.ReadDir(folder))(t)
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func TestResultsAreKeptForSevenDays(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		to := rs.add(t, status(200))
		folder := t.TempDir()
		for _, name := range []string{"orphan.1", "half.1.part"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("left behind"), 0o600))
		}
		files := openFiles(t, folder)
		require.Equal(t, []string{"orphan.1"}, entries(t, folder))
		p := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Results = files })
		id := p.accept(t, to, "echo")
		store.untilState(t, id, webhook.CalledBack)
		p.look()
		require.Equal(t, []string{id + ".1"}, entries(t, folder), "an orphan goes, a result stays")

		c.Advance(webhook.Retention - time.Millisecond)
		p.look()
		must.Have(p.Collect(t.Context(), owner(1), id))(t)
		require.Equal(t, []string{id + ".1"}, entries(t, folder))
		c.Advance(time.Millisecond)
		require.ErrorIs(t, must.Fail(p.Collect(t.Context(), owner(1), id)), webhook.ErrUnknownJob)
		c.Advance(time.Hour)
		p.look()
		require.ErrorIs(t, must.Fail(store.Get(t.Context(), id)), webhook.ErrUnknownJob)
		require.Empty(t, entries(t, folder))
		tries := must.Have(store.Journal(t.Context(), id))(t)
		require.Empty(t, tries)
	})
}
