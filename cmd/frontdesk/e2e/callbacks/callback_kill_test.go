package callbacks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// The moments of a job's life at which the program is killed.
const (
	killAccepted = iota // after some promises
	killRunning         // while a result is being written
	killCalling         // while the receiver has not answered yet
	killCalled          // just after the receiver answered
	killMoments
)

// promises is what a client was promised, and what its receiver heard.
type promises struct {
	mu      sync.Mutex
	made    map[string]string // id: the reference of the order, changeOfContact, or "" for a backup
	sent    map[string]bool   // references of orders, answered or not
	heard   map[string]int    // calls by id
	trigger atomic.Pointer[killing]
}

// changeOfContact is in place of the reference where a job changes or deletes
// the state of a contact that its client knows.
const changeOfContact = "a change"

// killing is when and how the program is killed next.
type killing struct {
	moment int
	after  atomic.Int64 // so many events of its kind
	wait   time.Duration
	kill   func()
}

// event counts what happens; the last one kills.
func (p *promises) event(moment int) {
	if k := p.trigger.Load(); k != nil && k.moment == moment && k.after.Add(-1) == 0 {
		if k.wait > 0 {
			<-time.After(k.wait)
		}
		k.kill()
	}
}

// ServeHTTP is the receiver.
func (p *promises) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.heard[r.URL.Query().Get("id")]++
	p.mu.Unlock()
	p.event(killCalling)
	go p.event(killCalled)
}

// callbackKill is a database and a folder of results that frontdesk is killed
// on, over and over.
type callbackKill struct {
	*promises
	t       *testing.T
	options rig.Options
	folder  string
	address string
	random  *rand.Rand
	table   *tabwriter.Writer
	summary bytes.Buffer
}

// TestCallbackKill takes some time, since each of its kills is a start and a
// recovery of the program. It kills the program with kill -9 at every moment of the life
// of callback jobs, and holds it to each promise that it had made.
func TestCallbackKill(t *testing.T) {
	t.Parallel()
	rounds := killMoments // each once
	if sqltest.Soak() {
		rounds = 50
	}
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("random seed %d", seed)
			k := &callbackKill{
				promises: &promises{made: map[string]string{}, sent: map[string]bool{}, heard: map[string]int{}},
				t:        t, folder: filepath.Join(t.TempDir(), "results"), random: rand.New(rand.NewPCG(seed, seed)),
			}
			authority := webhooktest.NewAuthority(t)
			receiver := authority.Serve(t, "127.0.0.1", k.promises)
			k.address = receiver.URL + "/hook"
			k.options = rig.Options{DSN: engine.DSN(t), Extra: fmt.Sprintf(
				"webhooks: {allow_hosts: [\"127.0.0.1\"], ports: [%d], ca_file: %q, folder: %q}\ncallbacks: [\"POST /order\", \"PUT /contact\", \"DELETE /contact\"]\n",
				webhooktest.Port(t, receiver), authority.File(t), k.folder)}
			k.table = tabwriter.NewWriter(&k.summary, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(k.table, "round\tkilled while\tpromised\tat the kill: accepted\trunning\tdone\tcalled back\t")
			for round := range rounds {
				k.untilKilled(round, (round+int(seed%killMoments))%killMoments, true)
				if k.random.IntN(2) == 0 { // and once more while it recovers
					k.untilKilled(round, k.random.IntN(killMoments), false)
				}
				// On PostgreSQL what was interrupted waits for its lease: that is
				// sat out in the last round of many, and taken as run out else.
				if engine.Name == "postgres" && (round < rounds-1 || !sqltest.Soak()) {
					rig.OnJobs(t, k.options.DSN, func(s *jobstore.Store) { require.NoError(t, s.Release(t.Context())) })
				}
				k.settle()
			}
			k.check()
			k.table.Flush()
			t.Logf("kill -9 on %s\n%s%d calls for %d promises", engine.Name, &k.summary, k.calls(), len(k.made))
		})
	}
}

// untilKilled lets clients ask for long work until the program is killed.
// Without asking, it is killed early in what it does with the jobs it finds.
func (k *callbackKill) untilKilled(round, moment int, ask bool) {
	k.t.Helper()
	c := rig.StartChild(k.t, k.options)
	token := c.Login(rig.FullKey, "demo")
	next := &killing{moment: moment, kill: c.Kill, wait: time.Duration(k.random.IntN(5_000)) * time.Microsecond}
	next.after.Store(int64(1 + k.random.IntN(12)))
	if moment == killCalling {
		next.wait = 0
	}
	k.trigger.Store(next)
	defer k.trigger.Store(nil)
	var end sync.WaitGroup
	if moment == killRunning {
		end.Go(func() { k.watch(c) })
	}
	before := len(k.made)
	const clients, most = 4, 10 // jobs of each client
	for client := range clients {
		if !ask {
			break
		}
		end.Go(func() {
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
	c.Kill()
	end.Wait()
	states := map[webhook.State]int{}
	for _, j := range k.jobs() {
		states[j.State]++
	}
	words := []string{"accepting", "running", "calling", "called"}
	fmt.Fprintf(k.table, "%d\t%s\t%d\t%d\t%d\t%d\t%d\t\n", round+1, words[moment], len(k.made)-before,
		states[webhook.Accepted], states[webhook.Running], states[webhook.Done], states[webhook.CalledBack])
}

// ask asks for the n-th job of a client. It is false when nobody answers any
// more.
func (k *callbackKill) ask(c *rig.Child, token, reference string, n int) bool {
	method, path, body, etag := "POST", "/backup/owner", fmt.Sprintf(`{"webhook_url":%q}`, k.address), ""
	switch n % 4 {
	case 0:
		reference = ""
	case 1, 3:
		path, body = "/order", fmt.Sprintf(rig.NewOrder, 1, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, k.address))
		k.mu.Lock()
		k.sent[reference] = true
		k.mu.Unlock()
	case 2: // what would fail the second time
		created, err := c.Try("POST", "/contact", token, rig.NewContact)
		if err != nil {
			return false
		}
		path, etag = fmt.Sprintf("/contact/%d", created.ID(k.t)), created.Header.Get("ETag")
		method, body = "PUT", fmt.Sprintf(`{"name":%q,"webhook_url":%q}`, reference, k.address)
		if n%8 == 2 {
			method, path, body = "DELETE", path+"?webhook_url="+url.QueryEscape(k.address), ""
		}
		reference = changeOfContact
	}
	a, err := c.Try(method, path, token, body, "If-Match", etag)
	if err != nil {
		return false
	}
	promise := rig.Promised.FindStringSubmatch(a.Header.Get("Location"))
	if a.Status != http.StatusAccepted || promise == nil {
		k.t.Errorf("%s was answered %d: %s", path, a.Status, a.Body)
		return false
	}
	k.mu.Lock()
	k.made[promise[1]] = reference
	k.mu.Unlock()
	k.event(killAccepted)
	return true
}

// watch counts results that are being written.
func (k *callbackKill) watch(c *rig.Child) {
	tick := time.NewTicker(300 * time.Microsecond)
	defer tick.Stop()
	seen := map[string]bool{}
	for {
		select {
		case <-c.Ended:
			return
		case <-tick.C:
		}
		parts, _ := filepath.Glob(filepath.Join(k.folder, "*.part"))
		for _, part := range parts {
			if !seen[part] {
				seen[part] = true
				k.event(killRunning)
			}
		}
	}
}

// jobs reads all jobs while nobody serves them.
func (k *callbackKill) jobs() (found []webhook.Job) {
	k.t.Helper()
	rig.OnJobs(k.t, k.options.DSN, func(s *jobstore.Store) {
		var err error
		found, err = s.List(k.t.Context(), webhook.Filter{Limit: 1 << 20})
		require.NoError(k.t, err)
	})
	return found
}

// settle starts the program and waits until every job came to its end. Where
// several processes may share the jobs, those that were interrupted wait for
// their lease.
func (k *callbackKill) settle() {
	k.t.Helper()
	c := rig.StartChild(k.t, k.options)
	require.Eventually(k.t, func() bool {
		for _, j := range k.jobs() {
			if j.State != webhook.CalledBack && j.State != webhook.Collected {
				return false
			}
		}
		return true
	}, desk.CallLease+desk.WorkLease+rig.Patience, 100*time.Millisecond, "%s", c.Log)
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

// check holds what is there to what was promised.
func (k *callbackKill) check() {
	t := k.t
	t.Helper()
	k.mu.Lock()
	heard := maps.Clone(k.heard)
	k.mu.Unlock()
	jobs := map[string]webhook.Job{}
	want := map[string]bool{}
	for _, j := range k.jobs() {
		require.Empty(t, j.Failure, "%s", j.ID)
		jobs[j.ID] = j
		want[j.Result.File] = true
		require.Positive(t, heard[j.ID], "nobody was called for %s", j.ID)
	}
	entries, err := os.ReadDir(k.folder)
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, want[e.Name()] || e.Name() == ".lock", "%s is nobody's", e.Name())
	}
	require.Len(t, entries, len(jobs)+1, "one result each")
	for id := range heard {
		require.Contains(t, jobs, id, "called about what there is not")
	}
	k.options.Extra = strings.Replace(k.options.Extra, "callbacks:", "#", 1)
	c := rig.StartChild(t, k.options)
	token := c.Login(rig.FullKey, "demo")
	for id, reference := range k.made {
		job, ok := jobs[id]
		require.True(t, ok, "%s was promised and is lost", id)
		file := c.Download(c.Collect(token, id))
		require.Equal(t, 200, file.Status)
		sum := sha256.Sum256(file.Body)
		require.Equal(t, job.Result.SHA256, hex.EncodeToString(sum[:]))
		switch reference {
		case "":
		case changeOfContact:
			require.Equal(t, "answer-200.json", job.Result.Name, "%s", file.Body)
		default:
			require.Equal(t, "answer-201.json", job.Result.Name, "%s", file.Body)
			require.Equal(t, reference, file.Data(t)["reference"])
			require.Len(t, c.List(token, "/order?reference="+reference), 1)
		}
	}
	for reference := range k.sent {
		require.LessOrEqual(t, len(c.List(token, "/order?reference="+reference)), 1, "%s was done twice", reference)
	}
	c.Kill()
	for _, j := range k.jobs() {
		if _, ok := k.made[j.ID]; ok {
			require.Equal(t, webhook.Collected, j.State)
		}
	}
}
