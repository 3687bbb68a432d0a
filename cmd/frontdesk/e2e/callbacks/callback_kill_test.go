package callbacks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// The moments of a job's life at which the program is ended.
const (
	killAccepted = iota // after some promises
	killRunning         // while a result is being written
	killCalling         // while the receiver has not answered yet
	killCalled          // just after the receiver answered
	killMoments
)

// promise is what a job does.
type promise struct {
	method    string // "" for a backup
	reference string // of the order, or the name that the contact gets
}

// callbackKill is a system that frontdesk is killed on, over and over, and what its clients were
// promised.
type callbackKill struct {
	system
	t       *testing.T
	hooks   *rig.Hooks
	contact int // of the client's, for orders
	random  *rand.Rand
	next    atomic.Pointer[killing]
	heard   map[string]int  // calls by id
	cut     map[string]bool // jobs that were worked on when the program was killed

	mu   sync.Mutex
	made map[string]promise // by id
}

// killing is when and how the program is ended next.
type killing struct {
	moment int
	after  atomic.Int64 // so many events of its kind
	end    func()
}

// event counts what happens; the last one ends the program.
func (k *callbackKill) event(moment int) {
	if next := k.next.Load(); next != nil && next.moment == moment && next.after.Add(-1) == 0 {
		next.end()
	}
}

// TestCallbackKill takes some time, since each of its kills is a start and a
// recovery of the program. It ends the program at every moment of the life of callback
// jobs, by kill -9 and in order by turns, and holds it to each promise that it had made.
func TestCallbackKill(t *testing.T) {
	t.Parallel()
	for nth, s := range systems {
		rounds := killMoments // each once, and two of them on the systems that keep jobs as another does
		switch {
		case sqltest.Soak():
			rounds = 50
		case nth > 1:
			rounds = 2
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seed := sqltest.Seed(t)
			k := &callbackKill{system: s.start(t), t: t, random: rand.New(rand.NewPCG(seed, seed)), heard: map[string]int{}, cut: map[string]bool{}, made: map[string]promise{}}
			var o rig.Options
			k.hooks, o = rig.NewHooks(t, func(http.ResponseWriter, *http.Request) {
				k.event(killCalling)
				go k.event(killCalled)
			})
			k.options.Extra = o.Extra + "callbacks: [\"POST /order\", \"PUT /contact\", \"DELETE /contact\"]\n"
			first := k.random.IntN(2 * killMoments)
			for round := range rounds {
				stop := (first/killMoments+round+round/killMoments)%2 == 1 // another moment's, each time they come round
				k.untilEnded(round, (first+round)%killMoments, true, stop)
				if k.random.IntN(2) == 0 { // and once more while it recovers
					k.endLeases()
					k.untilEnded(round, k.random.IntN(killMoments), false, false)
				}
				if round < rounds-1 || !sqltest.Soak() { // the last of many sits them out
					k.endLeases()
				}
				c := rig.StartChild(t, k.options)
				await.True(t, k.settled, "%s", c.Log)
				c.Kill()
			}
			k.check()
		})
	}
}

// endLeases has those end of what was interrupted, which others may be working on where the database is PostgreSQL.
func (k *callbackKill) endLeases() {
	if strings.HasPrefix(k.jobs, "postgres") {
		rig.OnJobs(k.t, k.jobs, func(s *jobstore.Store) { require.NoError(k.t, s.Release(k.t.Context())) })
	}
}

// untilEnded lets clients ask for long work until the program is killed, or stopped: at that
// moment, or when all is done that they asked for. Without asking, it is killed early in what it
// does with the jobs it finds.
func (k *callbackKill) untilEnded(round, moment int, ask, stop bool) {
	k.t.Helper()
	c := rig.StartChild(k.t, k.options)
	token := c.LoginAs(rig.FullKey, k.username, k.password)
	if k.contact == 0 {
		k.contact = c.Create(token, "contact", `{"kind":"person","name":"Of orders"}`)
	}
	next := &killing{moment: moment, end: c.Kill}
	if stop { // asked for once: whoever asks again does not want to wait
		next.end = sync.OnceFunc(func() { _ = c.Process.Process.Signal(syscall.SIGTERM) })
	}
	next.after.Store(int64(1 + k.random.IntN(12)))
	k.next.Store(next)
	defer k.next.Store(nil)
	ended := func() bool {
		select {
		case <-c.Ended:
			return true
		default:
			return false
		}
	}
	var asking, watching sync.WaitGroup
	if moment == killRunning {
		watching.Go(func() { // results that are being written
			for seen := len(results(k.t, k.jobs)); !ended(); seen++ {
				await.True(k.t, func() bool { return ended() || len(results(k.t, k.jobs)) > seen })
				k.event(killRunning)
			}
		})
	}
	const clients, most = 4, 10 // jobs of each client
	for client := range clients {
		asking.Go(func() {
			for n := 0; ask && n < most && k.ask(c, token, fmt.Sprintf("C%d-%d-%d", round, client, n), n); n++ {
				k.event(killAccepted)
			}
		})
	}
	asking.Wait()
	await.True(k.t, func() bool { return ended() || k.settled() })
	next.end()
	<-c.Ended
	watching.Wait()
	for _, j := range k.list() {
		require.False(k.t, stop && j.State == webhook.Running, "what was under way ended")
		k.cut[j.ID] = k.cut[j.ID] || j.State == webhook.Running
	}
	if stop {
		require.Zero(k.t, c.Code, "%s", c.Log)
	}
}

// ask asks for the n-th job of a client. It is false when nobody answers any more.
func (k *callbackKill) ask(c *rig.Child, token, reference string, n int) bool {
	refused := func(a rig.Answer, err error) bool { return err != nil || a.Status == http.StatusServiceUnavailable } // it ends
	job, path, body, etag := promise{"POST", reference}, "/order", k.order(reference), ""
	switch {
	case n%4 == 0 && k.backups:
		job, path, body = promise{}, "/backup/owner", k.hooks.Body()
	case n%4 == 2: // what would fail the second time
		created, err := c.Try("POST", "/contact", token, `{"kind":"person","name":"To go"}`)
		if refused(created, err) {
			return false
		}
		path, etag = fmt.Sprintf("/contact/%d", created.ID(k.t)), created.Header.Get("ETag")
		job.method, body = "PUT", fmt.Sprintf(`{"name":%q,"webhook_url":%q}`, reference, k.hooks.Address())
		if n%8 == 2 {
			job.method, path, body = "DELETE", path+"?webhook_url="+url.QueryEscape(k.hooks.Address()), ""
		}
	}
	method := job.method
	if method == "" {
		method = "POST"
	}
	a, err := c.Try(method, path, token, body, "If-Match", etag)
	if refused(a, err) {
		return false
	}
	id := rig.Promised.FindStringSubmatch(a.Header.Get("Location"))
	if a.Status != http.StatusAccepted || id == nil {
		k.t.Errorf("%s was answered %d: %s", path, a.Status, a.Body)
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made[id[1]] = job
	return true
}

// order is the body of an order that is long-running work.
func (k *callbackKill) order(reference string) string {
	return fmt.Sprintf(rig.NewOrder, k.contact, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, k.hooks.Address()))
}

// list reads all jobs.
func (k *callbackKill) list() (found []webhook.Job) {
	k.t.Helper()
	rig.OnJobs(k.t, k.jobs, func(s *jobstore.Store) {
		found = must.Have(s.List(k.t.Context(), webhook.Filter{Limit: 1 << 20}))(k.t)
	})
	return found
}

// settled reports whether every job has come to its end, and takes note of the calls. Where several
// processes may share the jobs, those that were interrupted wait for their lease.
func (k *callbackKill) settled() bool {
	for len(k.hooks.Calls) > 0 {
		k.heard[(<-k.hooks.Calls).URL.Query().Get("id")]++
	}
	for _, j := range k.list() {
		if j.State != webhook.CalledBack && j.State != webhook.Collected {
			return false
		}
	}
	return true
}

// check holds what is there to what was promised.
func (k *callbackKill) check() {
	t := k.t
	t.Helper()
	require.True(t, k.settled())
	jobs, kept, unknown := map[string]webhook.Job{}, []string{}, 0
	for _, j := range k.list() {
		jobs[j.ID] = j
		require.Positive(t, k.heard[j.ID], "nobody was called for %s", j.ID)
		if j.Failure == "" {
			kept = append(kept, j.Result.File)
			continue
		}
		unknown++
		require.True(t, !k.again && k.cut[j.ID] && strings.HasPrefix(j.Failure, "outcome unknown: "), "%s, cut off: %v: %s", j.ID, k.cut[j.ID], j.Failure)
	}
	require.ElementsMatch(t, kept, results(t, k.jobs), "one result each, and none that is nobody's")
	for id := range k.heard {
		require.Contains(t, jobs, id, "called about what there is not")
	}
	done := k.effects()
	for what, n := range done {
		require.LessOrEqual(t, n, 1, "%s was done twice", what)
	}
	c := rig.StartChild(t, k.options)
	token := c.LoginAs(rig.FullKey, k.username, k.password)
	for id, of := range k.made {
		job, ok := jobs[id]
		require.True(t, ok, "%s was promised and is lost", id)
		if job.Failure != "" {
			c.Call("GET", "/webhook?id="+id, token, "").Refused(t, 500, "Internal server error", "failed")
			continue
		}
		k.result(c, token, job, of)
		if of.method == "POST" || of.method == "PUT" {
			require.Equal(t, 1, done[of.reference], "%s was done", of.reference)
		}
	}
	c.Kill()
	for _, j := range k.list() {
		if _, ok := k.made[j.ID]; ok && j.Failure == "" {
			require.Equal(t, webhook.Collected, j.State)
		}
	}
	t.Logf("%d promises, %d jobs of unknown outcome", len(k.made), unknown)
}

// result holds the result of a job to what was asked for.
func (k *callbackKill) result(c *rig.Child, token string, job webhook.Job, of promise) {
	k.t.Helper()
	file := c.Download(c.Collect(token, job.ID))
	require.Equal(k.t, 200, file.Status)
	sum := sha256.Sum256(file.Body)
	require.Equal(k.t, job.Result.SHA256, hex.EncodeToString(sum[:]))
	switch of.method {
	case "":
	case "POST":
		require.Equal(k.t, "answer-201.json", job.Result.Name, "%s", file.Body)
		require.Equal(k.t, of.reference, file.Data(k.t)["reference"])
	default:
		require.Equal(k.t, "answer-200.json", job.Result.Name, "%s", file.Body)
	}
}
