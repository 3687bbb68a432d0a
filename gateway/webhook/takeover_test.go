package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
)

// Who is stopped hands the work back, and the next begins it again at once; but what may have been
// done is not begun again.
func TestWorkIsHandedBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		left    webhook.State
		failure string
		size    int
	}{
		{"echo", webhook.Accepted, "", len("hello")},
		{"sends", webhook.Failed, "outcome unknown: context canceled", 0},
	} {
		alone(t, func(t *testing.T, e engine) {
			running := make(chan struct{}, 2)
			first, now, _, to := working(t, e, status(200), func(cfg *webhook.Config) {
				cfg.Runners[c.kind] = func(ctx context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
					_, _ = w.Write([]byte("half"))
					running <- struct{}{}
					<-ctx.Done()
					if c.kind == "echo" {
						return webhook.Content{}, ctx.Err()
					}
					return webhook.Content{}, fmt.Errorf("%w: %w", webhook.ErrUnknown, ctx.Err())
				}
			})
			id := first.accept(t, to, c.kind)
			<-running
			require.NoError(t, first.Close())
			require.Equal(t, c.left, first.store.job(t, id).State)

			second := start(t, now, e.open(t), first.caller)
			second.look()
			j := second.store.untilState(t, id, webhook.CalledBack)
			require.Equal(t, 1, j.Claims, "stopping is not the work's fault")
			require.Equal(t, c.failure, j.Failure)
			require.EqualValues(t, c.size, j.Result.Size)
		})
	}
}

// Who stops while the receiver has answered, though not to the end, keeps the try; a call that was
// stopped before is none, and is made again at once: there is no lease to wait for.
func TestATryIsKeptWhileStopping(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		seen, e := make(chan struct{}, 2), sqliteEngine(t)
		rs, c := newReceivers(t), newClock()
		to := rs.add(t, func(w http.ResponseWriter, r *http.Request) {
			if answers {
				w.WriteHeader(404)
				w.(http.Flusher).Flush()
			} else {
				seen <- struct{}{}
			}
			<-r.Context().Done()
		})
		cfg := rs.caller(t)
		var looks atomic.Int32
		cfg.Clock = func() time.Time { // at the start, at the status, at the end
			if looks.Add(1) == 2 && answers {
				seen <- struct{}{}
			}
			return c.Now()
		}
		p := start(t, c, e.open(t), cfg)
		id := p.accept(t, to, "echo")
		<-seen
		require.NoError(t, p.Close())
		j := p.store.job(t, id)
		tries := must.Have(p.store.Journal(t.Context(), id))(t)
		require.Zero(t, j.Lease)
		if answers {
			require.Equal(t, 1, j.Tries)
			require.Len(t, tries, 1)
			require.Equal(t, 404, tries[0].Status)
			continue
		}
		require.Zero(t, j.Tries)
		start(t, c, e.open(t), rs.caller(t))
		<-seen
	}
}

func TestTwoOrchestratorsDoEachJobOnce(t *testing.T) {
	t.Parallel()
	rs, c, e := newReceivers(t), newClock(), postgresEngine(t)
	c.step = time.Millisecond
	var mu sync.Mutex
	calls, runs := map[string]int{}, map[string]int{}
	to := rs.add(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		calls[r.URL.Query().Get("id")]++
	})
	var both []*process
	for range 2 {
		both = append(both, start(t, c, e.open(t), rs.caller(t), func(cfg *webhook.Config) {
			cfg.Workers, cfg.CallLease = 4, time.Hour
			cfg.Runners["echo"] = func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
				mu.Lock()
				runs[j.ID]++
				mu.Unlock()
				return echo(ctx, j, w)
			}
		}))
	}
	const jobs = 80
	want := map[string]int{}
	for n := range jobs {
		want[both[n%2].accept(t, to, "echo")] = 1
	}
	settle(t, c, func() bool { return both[0].store.ended.Load()+both[1].store.ended.Load() == jobs }, both...)
	require.Equal(t, want, runs)
	require.Equal(t, want, calls)
	for _, j := range doneJobs(t, both[0].store) {
		require.Equal(t, 1, j.Claims)
		require.Equal(t, 1, j.Tries)
	}
}

// settle waits until something came about, and lets those whose host was busy try again.
func settle(t *testing.T, c *clock, reached func() bool, all ...*process) {
	t.Helper()
	await.True(t, func() bool {
		c.Advance(100 * time.Millisecond)
		for _, p := range all {
			p.tick <- time.Time{}
		}
		return reached()
	})
}

func doneJobs(t *testing.T, s *watched) []webhook.Job {
	t.Helper()
	return must.Have(s.List(t.Context(), webhook.Filter{State: webhook.CalledBack, Limit: 1000}))(t)
}

// Who lost a job without noticing writes a result nevertheless: it is nobody's.
func TestWhoLostAJobLeavesItsResultAlone(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c := newReceivers(t), newClock()
		to, folder := rs.add(t, status(200)), t.TempDir()
		files := openFiles(t, folder)
		running, finish := make(chan struct{}), make(chan struct{})
		writes := func(text string) webhook.Runner {
			return func(_ context.Context, _ webhook.Job, w io.Writer) (webhook.Content, error) {
				_, err := w.Write([]byte(text))
				return webhook.Content{Name: text + ".txt", Type: "text/plain"}, err
			}
		}
		first := start(t, c, e.open(t), rs.caller(t), func(cfg *webhook.Config) {
			cfg.Results, cfg.Workers = files, 1 // or its other worker would take the job over
			cfg.Runners["echo"] = func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
				close(running)
				<-finish // and not when ctx ends: it does not notice
				return writes("late")(ctx, j, w)
			}
		})
		finishing := sync.OnceFunc(func() { close(finish) })
		t.Cleanup(finishing)
		id := first.accept(t, to, "echo")
		<-running
		c.Advance(time.Hour + time.Millisecond)
		second := start(t, c, e.open(t), rs.caller(t), func(cfg *webhook.Config) {
			cfg.Results, cfg.Runners["echo"] = files, writes("sound")
		})
		second.look()
		j := second.store.untilState(t, id, webhook.CalledBack)
		finishing()
		require.NoError(t, first.Close(), "the first has come to its end")

		require.Equal(t, j.Result, second.store.job(t, id).Result)
		require.Equal(t, "sound.txt", j.Result.Name)
		file := must.Have(files.Open(t.Context(), j.Result.File))(t)
		content, err := io.ReadAll(io.NewSectionReader(file, 0, j.Result.Size))
		require.NoError(t, errors.Join(err, file.Close()))
		require.Equal(t, "sound", string(content))
		require.Equal(t, []string{j.Result.File}, entries(t, folder))
	})
}

// What a process left that died with its result written but not yet on record
// goes as soon as the job is begun again.
func TestWhatADeadClaimWroteGoes(t *testing.T) {
	t.Parallel()
	rs, c, store, folder := newReceivers(t), newClock(), sqliteEngine(t).open(t), t.TempDir()
	to := rs.add(t, status(200))
	require.NoError(t, store.Add(t.Context(), webhook.Job{
		ID: "job", Owner: owner(1), Callback: to.String(), Work: webhook.Work{Kind: "echo", Data: []byte("hello")},
		State: webhook.Running, Claims: 1, Created: c.Now(), Lease: c.Now().Add(-time.Second),
	}))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "job.1"), []byte("hell"), 0o600))
	files := openFiles(t, folder)
	p := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Results = files })
	p.look()
	require.Equal(t, "job.2", store.untilState(t, "job", webhook.CalledBack).Result.File)
	require.Equal(t, []string{"job.2"}, entries(t, folder))
}

// TestALockEndsWhereProgramsAreStarted: before, a file that had just been released was
// in use for as long as a program that was being started beside had a copy of the lock.
func TestALockEndsWhereProgramsAreStarted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	enough, stop := context.WithCancel(t.Context())
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for enough.Err() == nil {
				_ = exec.CommandContext(enough, "/bin/sh", "-c", ":").Run()
			}
		})
	}
	defer starters.Wait()
	defer stop()
	for n := range 2_000 {
		release, err := webhook.LockFile(name)
		require.NoError(t, err, "the %dth time", n+1)
		require.NoError(t, release())
	}
}

func TestManyJobsOfTwentyClients(t *testing.T) {
	alone(t, func(t *testing.T, e engine) {
		const clients, each = 20, 10
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		c.step = time.Millisecond
		var all atomic.Int32
		var most, goroutines peak
		full := make(chan struct{}) // the first calls wait until there are as many as there may be
		fill := sync.OnceFunc(func() { close(full) })
		for range 5 {
			var here atomic.Int32
			rs.add(t, func(_ http.ResponseWriter, r *http.Request) {
				defer all.Add(-1)
				defer here.Add(-1)
				now := all.Add(1)
				most.see(int(now))
				if here.Add(1) > 4 {
					t.Error("a host has more than its calls")
				}
				goroutines.see(runtime.NumGoroutine())
				if now == 16 {
					fill()
				}
				select {
				case <-full:
				case <-r.Context().Done():
				}
			})
		}
		addresses := rs.addresses(t)
		var adding sync.WaitGroup
		for n := range clients * each { // all of the first client, then of the second, …
			adding.Go(func() { addJob(t, store, c, n, int64(n/each), addresses[n/each%len(addresses)]) })
		}
		adding.Wait()
		before := runtime.NumGoroutine()
		p := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) {
			cfg.Workers, cfg.WorkLease, cfg.CallLease = 1, 24*time.Hour, 24*time.Hour // with more it matters how long a work lasts
		})
		settle(t, c, func() bool { return store.ended.Load() == clients*each }, p)
		require.Equal(t, 16, most.most())
		require.Less(t, goroutines.most()-before, 300)
		fair(t, doneJobs(t, store), each)
	})
}

// fair checks that nobody's n-th job was begun before everybody's (n-1)-th, one after the other.
func fair(t *testing.T, jobs []webhook.Job, each int) {
	t.Helper()
	slices.SortFunc(jobs, func(a, b webhook.Job) int { return a.Started.Compare(b.Started) })
	begun := map[int64]int{}
	for i := range int64(len(jobs) / each) {
		begun[i] = 0
	}
	for _, j := range jobs {
		if len(j.Pauses) == 0 { // of waiting for the database too long
			require.Equal(t, 1, j.Claims)
		}
		client := j.Owner.User.Client.ID
		begun[client]++
		for other, n := range begun {
			require.GreaterOrEqual(t, n, begun[client]-1, "client %d before client %d", client, other)
		}
	}
}
