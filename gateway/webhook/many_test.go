package webhook_test

import (
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

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
			cfg.Workers, cfg.WorkLease, cfg.CallLease = 4, 24*time.Hour, 24*time.Hour
		})
		settle(t, c, func() bool { return store.ended.Load() == clients*each }, p)
		require.Equal(t, 16, most.most())
		require.Less(t, goroutines.most()-before, 300)
		fair(t, doneJobs(t, store), each)
	})
}

// fair checks that nobody's n-th job was begun before everybody's (n-2)-th: whose job is
// under way is passed over, and on a machine with much to do one lasts as long as a round.
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
			require.GreaterOrEqual(t, n, begun[client]-2, "client %d before client %d", client, other)
		}
	}
}
