package callbacks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// The moments of a job's life at which the program is ended.
const (
	killAccepted = iota // after some promises
	killRunning         // while a result is being written
	killCalling         // while the receiver has not answered yet
	killCalled          // just after the receiver answered
	killMoments
)

// callbackKill is a system that frontdesk is killed on, over and over.
type callbackKill struct {
	*promises
	system
	t       *testing.T
	results func(context.Context) ([]string, error) // the names of all, with those being written
	address string
	contact int             // of the client's, for orders
	cut     map[string]bool // jobs that were worked on when the program was killed
	random  *rand.Rand
	table   *tabwriter.Writer
	summary bytes.Buffer
}

func newCallbackKill(t *testing.T, behind system) *callbackKill {
	seed := rand.Uint64()
	t.Logf("random seed %d", seed)
	k := &callbackKill{
		promises: &promises{made: map[string]promise{}, sent: map[string]bool{}, heard: map[string]int{}}, system: behind, cut: map[string]bool{},
		t: t, results: resultsOf(t, behind.jobs), random: rand.New(rand.NewPCG(seed, seed)),
	}
	authority := webhooktest.NewAuthority(t)
	receiver := authority.Serve(t, "127.0.0.1", k.promises)
	k.address = receiver.URL + "/hook"
	k.options.Extra = fmt.Sprintf(
		"webhooks: {allow_hosts: [\"127.0.0.1\"], ports: [%d], ca_file: %q}\ncallbacks: [\"POST /order\", \"PUT /contact\", \"DELETE /contact\"]\n",
		webhooktest.Port(t, receiver), authority.File(t))
	k.table = tabwriter.NewWriter(&k.summary, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(k.table, "round\tended while\tby\tpromised\tat the end: accepted\trunning\tdone\tcalled back\t")
	return k
}

// logIn logs a user of the system in.
func (k *callbackKill) logIn(d *rig.Desk, username string) string {
	return d.LoginAs(rig.FullKey, username, k.password(username))
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
			k := newCallbackKill(t, s.start(t))
			first := k.random.IntN(2 * killMoments)
			for round := range rounds {
				stop := (first/killMoments+round+round/killMoments)%2 == 1 // another moment's, each time they come round
				k.untilEnded(round, (first+round)%killMoments, true, stop)
				if k.random.IntN(2) == 0 { // and once more while it recovers
					k.untilEnded(round, k.random.IntN(killMoments), false, false)
				}
				// On PostgreSQL what was interrupted waits for its lease: that is
				// sat out in the last round of many, and taken as run out else.
				if strings.HasPrefix(k.jobs, "postgres") && (round < rounds-1 || !sqltest.Soak()) {
					onJobs(t, k.jobs, func(s *jobstore.Store) { require.NoError(t, s.Release(t.Context())) })
				}
				k.settle()
			}
			failed := k.check()
			k.table.Flush()
			t.Logf("ends on %s\n%s%d calls for %d promises, %d of unknown outcome", s.name, &k.summary, k.calls(), len(k.made), failed)
		})
	}
}

// untilEnded lets clients ask for long work until the program is killed, or stopped.
// Without asking, it is killed early in what it does with the jobs it finds.
func (k *callbackKill) untilEnded(round, moment int, ask, stop bool) {
	k.t.Helper()
	c := rig.StartChild(k.t, k.options)
	token := k.logIn(&c.Desk, k.username)
	if k.contact == 0 {
		k.contact = c.Create(token, "contact", `{"kind":"person","name":"Of orders"}`)
	}
	end, by := c.Kill, "a kill"
	if stop { // asked for once: whoever asks again does not want to wait
		end, by = sync.OnceFunc(func() { _ = c.Process.Process.Signal(syscall.SIGTERM) }), "a stop"
	}
	next := &killing{moment: moment, end: end, wait: time.Duration(k.random.IntN(5_000)) * time.Microsecond}
	next.after.Store(int64(1 + k.random.IntN(12)))
	if moment == killCalling {
		next.wait = 0
	}
	k.trigger.Store(next)
	defer k.trigger.Store(nil)
	var asking sync.WaitGroup
	if moment == killRunning {
		asking.Go(func() { k.watch(c) })
	}
	before := len(k.made)
	const clients, most = 4, 10 // jobs of each client
	for client := range clients {
		if !ask {
			break
		}
		asking.Go(func() {
			for n := range most {
				if !k.ask(c, token, fmt.Sprintf("C%d-%d-%d", round, client, n), n) {
					return
				}
			}
		})
	}
	// The jobs of the other moments may be done before there are enough of them.
	select {
	case <-c.Ended:
	case <-time.After(time.Duration(2+k.random.IntN(2)) * time.Second):
	}
	end()
	<-c.Ended
	asking.Wait()
	states := map[webhook.State]int{}
	for _, j := range k.list() {
		states[j.State]++
		k.cut[j.ID] = k.cut[j.ID] || j.State == webhook.Running
	}
	if stop {
		require.Zero(k.t, c.Code, "%s", c.Log)
		require.Zero(k.t, states[webhook.Running], "what was under way ended")
	}
	words := []string{"accepting", "running", "calling", "called"}
	fmt.Fprintf(k.table, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", round+1, words[moment], by, len(k.made)-before,
		states[webhook.Accepted], states[webhook.Running], states[webhook.Done], states[webhook.CalledBack])
}

// ask asks for the n-th job of a client. It is false when nobody answers any
// more.
func (k *callbackKill) ask(c *rig.Child, token, reference string, n int) bool {
	method, path, body, etag := "POST", "/backup/owner", fmt.Sprintf(`{"webhook_url":%q}`, k.address), ""
	job := promise{method, reference}
	switch {
	case n%4 == 0 && k.backups:
		job = promise{}
	case n%4 == 2: // what would fail the second time
		created, err := c.Try("POST", "/contact", token, `{"kind":"person","name":"To go"}`)
		if err != nil || created.Status == http.StatusServiceUnavailable {
			return false
		}
		path, etag = fmt.Sprintf("/contact/%d", created.ID(k.t)), created.Header.Get("ETag")
		job.method, body = "PUT", fmt.Sprintf(`{"name":%q,"webhook_url":%q}`, reference, k.address)
		if n%8 == 2 {
			job.method, path, body = "DELETE", path+"?webhook_url="+url.QueryEscape(k.address), ""
		}
		method = job.method
	default:
		path, body = "/order", k.order(k.contact, reference)
		k.mu.Lock()
		k.sent[reference] = true
		k.mu.Unlock()
	}
	a, err := c.Try(method, path, token, body, "If-Match", etag)
	if err != nil || a.Status == http.StatusServiceUnavailable { // it ends
		return false
	}
	id := rig.Promised.FindStringSubmatch(a.Header.Get("Location"))
	if a.Status != http.StatusAccepted || id == nil {
		k.t.Errorf("%s was answered %d: %s", path, a.Status, a.Body)
		return false
	}
	k.mu.Lock()
	k.made[id[1]] = job
	k.mu.Unlock()
	k.event(killAccepted)
	return true
}

// order is the body of an order that is long-running work.
func (k *callbackKill) order(contact int, reference string) string {
	return fmt.Sprintf(rig.NewOrder, contact, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, k.address))
}

// watch counts results that are being written.
func (k *callbackKill) watch(c *rig.Child) {
	tick := time.NewTicker(300 * time.Microsecond)
	defer tick.Stop()
	seen := map[string]bool{}
	before, _ := k.results(k.t.Context())
	for _, name := range before {
		seen[jobOf(name)] = true
	}
	for {
		select {
		case <-c.Ended:
			return
		case <-tick.C:
		}
		now, _ := k.results(k.t.Context())
		for _, name := range now {
			if !seen[jobOf(name)] {
				seen[jobOf(name)] = true
				k.event(killRunning)
			}
		}
	}
}

// list reads all jobs.
func (k *callbackKill) list() (found []webhook.Job) {
	k.t.Helper()
	onJobs(k.t, k.jobs, func(s *jobstore.Store) {
		var err error
		found, err = s.List(k.t.Context(), everyJob)
		require.NoError(k.t, err)
	})
	return found
}

var everyJob = webhook.Filter{Limit: 1 << 20}

// settle starts the program and waits until every job came to its end. Where
// several processes may share the jobs, those that were interrupted wait for
// their lease.
func (k *callbackKill) settle() {
	k.t.Helper()
	c := rig.StartChild(k.t, k.options)
	onJobs(k.t, k.jobs, func(s *jobstore.Store) {
		await.True(k.t, func() bool {
			jobs, err := s.List(k.t.Context(), everyJob)
			return err == nil && !slices.ContainsFunc(jobs, func(j webhook.Job) bool { return j.State != webhook.CalledBack && j.State != webhook.Collected })
		}, "%s", c.Log)
	})
	c.Kill()
}

func (k *callbackKill) calls() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, of := range k.heard {
		n += of
	}
	return n
}

// check holds what is there to what was promised, and counts the jobs of which nobody knows
// whether they were done.
func (k *callbackKill) check() (unknown int) {
	t := k.t
	t.Helper()
	k.mu.Lock()
	heard := maps.Clone(k.heard)
	k.mu.Unlock()
	jobs, kept := map[string]webhook.Job{}, map[string]bool{}
	for _, j := range k.list() {
		jobs[j.ID] = j
		require.Positive(t, heard[j.ID], "nobody was called for %s", j.ID)
		if j.Failure == "" {
			kept[j.Result.File] = true
			continue
		}
		unknown++
		require.True(t, !k.again && k.cut[j.ID] && strings.HasPrefix(j.Failure, "outcome unknown: "), "%s, cut off: %v: %s", j.ID, k.cut[j.ID], j.Failure)
	}
	results, err := k.results(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Collect(maps.Keys(kept)), results, "one result each, and none that is nobody's")
	for id := range heard {
		require.Contains(t, jobs, id, "called about what there is not")
	}
	k.options.Extra = strings.Replace(k.options.Extra, "callbacks:", "#", 1)
	c := rig.StartChild(t, k.options)
	token := k.logIn(&c.Desk, k.username)
	var done map[string]int
	if k.effects != nil {
		done = k.effects()
	}
	for what, n := range done {
		require.LessOrEqual(t, n, 1, "%s was done twice", what)
	}
	for id, of := range k.made {
		job, ok := jobs[id]
		require.True(t, ok, "%s was promised and is lost", id)
		if job.Failure != "" {
			c.Call("GET", "/webhook?id="+id, token, "").Refused(t, 500, "Internal server error", "failed")
			continue
		}
		k.result(c, token, job, of)
		if done != nil && (of.method == "POST" || of.method == "PUT") {
			require.Equal(t, 1, done[of.reference], "%s was done", of.reference)
		}
	}
	for reference := range k.sent {
		if k.effects != nil {
			break // which has told
		}
		require.LessOrEqual(t, len(c.List(token, "/order?reference="+reference)), 1, "%s was done twice", reference)
	}
	c.Kill()
	for _, j := range k.list() {
		if _, ok := k.made[j.ID]; ok && j.Failure == "" {
			require.Equal(t, webhook.Collected, j.State)
		}
	}
	return unknown
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
		if k.effects == nil {
			require.Len(k.t, c.List(token, "/order?reference="+of.reference), 1)
		}
	default:
		require.Equal(k.t, "answer-200.json", job.Result.Name, "%s", file.Body)
	}
}
