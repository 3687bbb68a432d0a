package callbacks

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// contactBook is an HTTP service that keeps contacts, and no idempotency keys, and what a desk before
// it is started with, again and again. A contact named Gone is kept, and the connection then closed; one
// named Held, and each deletion, is answered when the test ends.
type contactBook struct {
	*rig.Shelf
	t       *testing.T
	hooks   *rig.Hooks
	options rig.Options
	held    chan struct{} // writes that are held

	mu    sync.Mutex
	asked map[string]int // writes, by method and name
}

const contactBookSheet = `format: 2
source: {http: {url: "URL", timeout: 60s, walk: {result: items}}}
keep: KEEP
rules: backend
accounts:
  users:
    - {username: anna, password_hash: "ANNA", email: anna@example.nl, client: {id: 1, name: anna}}
    - {username: bert, password_hash: "BERT", email: bert@example.nl, client: {id: 2, name: bert}}
    - {username: cora, password_hash: "CORA", email: cora@example.nl, client: {id: 3, name: cora}}
resources:
  contact:
    path: /contacts
    key: id
    shared: true
    fields: {kind: kind, name: name}
    update: {method: PATCH}
`

func newContactBook(t *testing.T, keep, server string) *contactBook {
	t.Helper()
	release := make(chan struct{})
	b := &contactBook{Shelf: new(rig.Shelf), t: t, held: make(chan struct{}, 64), asked: map[string]int{}}
	b.Instead = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		var sent struct{ Name string }
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if json.Unmarshal(body, &sent) != nil {
			sent.Name = "Held"
		}
		b.mu.Lock()
		b.asked[r.Method+" "+sent.Name]++
		b.mu.Unlock()
		switch sent.Name {
		case "Gone":
			b.Put("contacts", rig.Row{"kind": "person", "name": "Gone"})
			panic(http.ErrAbortHandler)
		case "Held":
			b.held <- struct{}{}
			<-release // and not when the caller goes away
		}
		return false
	}
	for _, id := range []int{7, 8} {
		b.Put("contacts", rig.Row{"id": id, "kind": "person", "name": "Jansen"})
	}
	b.Serve(t)
	t.Cleanup(func() { close(release) })
	b.hooks, b.options = rig.NewHooks(t, nil)
	sheet, _ := rig.BySheet(t, "remote", contactBookSheet, "URL", b.URL, "KEEP", keep,
		"ANNA", rig.PasswordHash("anna"), "BERT", rig.PasswordHash("bert"), "CORA", rig.PasswordHash("cora"))
	b.options.Server, b.options.Backend = server, sheet.Backend+", timeout: 60s"
	b.options.Extra += "callbacks: [\"GET /contact\", \"POST /contact\", \"PUT /contact\", \"DELETE /contact\"]\n"
	b.options.Edit = strings.NewReplacer(`"GET /order", "GET /orderline"`, `"GET /contact"`, "POST /backup/owner", "POST /contact") // which are all there is
	return b
}

// writes tells how often a write was asked for.
func (b *contactBook) writes(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[what]
}

// ask has a contact made, under a key where it is not "".
func (b *contactBook) ask(d *rig.Desk, token, name, key string) (id string) {
	b.t.Helper()
	body := fmt.Sprintf(`{"kind":"person","name":%q,"webhook_url":%q}`, name, b.hooks.Address())
	return d.Call("POST", "/contact", token, body, map[bool][]string{true: {"Idempotency-Key", key}}[key != ""]...).Promise(b.t)
}

// read has the contacts listed.
func (b *contactBook) read(d *rig.Desk, token string) (id string) {
	b.t.Helper()
	return d.Call("GET", "/contact?webhook_url="+url.QueryEscape(b.hooks.Address()), token, "").Promise(b.t)
}

// called waits until the receiver was called about all of these jobs.
func (b *contactBook) called(ids ...string) {
	b.t.Helper()
	var heard []string
	for range ids {
		heard = append(heard, (<-b.hooks.Calls).URL.Query().Get("id")) // by a clock of the test's: its signature is of another time
	}
	require.ElementsMatch(b.t, ids, heard)
}

// unknown holds jobs to what those are whose outcome nobody knows.
func (b *contactBook) unknown(d *rig.Desk, token string, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		d.Call("GET", "/webhook?id="+id, token, "").Refused(b.t, 500, "Internal server error", "failed")
		require.Regexp(b.t, `(?m)^failure +outcome unknown: .+$`, d.Show(id))
	}
}

// change changes a job beside the desks, in the keep of the sheet.
func (b *contactBook) change(id string, f func(*webhook.Job)) {
	b.t.Helper()
	rig.OnJobs(b.t, keep(b.t, b.options), func(store *jobstore.Store) {
		_, err := store.Change(b.t.Context(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
			f(&j)
			return j, nil, nil
		})
		require.NoError(b.t, err)
	})
}

// TestCallbackUnderAStuckKey: jobs under a key whose first work got no answer hold
// nobody up, and end.
func TestCallbackUnderAStuckKey(t *testing.T) {
	t.Parallel()
	b := newContactBook(t, "keep.db", "")
	var clock rig.Clock
	b.options.Now = clock.Now
	d := rig.Start(t, b.options)
	anna, bert := d.Login(rig.HookedKey, "anna"), d.Login(rig.HookedKey, "bert")
	first := b.ask(d, anna, "Gone", "stuck")
	b.called(first)
	b.unknown(d, anna, first)
	again := []string{b.ask(d, anna, "Gone", "stuck"), b.ask(d, anna, "Gone", "stuck")}
	for _, id := range again {
		await.True(t, func() bool { return strings.Contains(d.Show(id), "postponed") })
		require.Regexp(t, `(?m)^postponed +20\S+ \S+ \S+ +its Idempotency-Key is in use$`, d.Show(id))
		require.Equal(t, webhook.Running, d.StateOf(id))
	}

	write, read := b.ask(d, bert, "Bakker", "mine"), b.read(d, bert)
	b.called(write, read)
	d.Answered(bert, write, 201)
	d.Answered(bert, read, 200)

	clock.Pass(7 * time.Minute) // of ten, some of which the test takes
	own := b.read(d, anna)
	b.called(own)
	d.Answered(anna, own, 200)
	d.Shutdown() // the ten minutes go on meanwhile
	clock.Pass(3*time.Minute + time.Second)
	d = rig.Start(t, b.options)
	b.called(again...)
	b.unknown(d, d.Login(rig.HookedKey, "anna"), again...)
	require.Equal(t, 1, b.writes("POST Gone"))
	_, list, _ := d.Run("callbacks", "list")
	require.Equal(t, 3, strings.Count(list, "outcome unknown"), "%s", list)
}

// TestCallbackCutOff ends the program while jobs are at work that the service
// never answers: nothing is sent twice, and nobody waits for it.
func TestCallbackCutOff(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*rig.Child){
		"stopped": func(c *rig.Child) {
			require.NoError(c.T, c.Process.Process.Signal(syscall.SIGTERM))
			<-c.Ended
			require.Zero(c.T, c.Code, "%s", c.Log)
		},
		"killed": (*rig.Child).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			b := newContactBook(t, "keep.db", "  shutdown_timeout: 1s")
			c := rig.StartChild(t, b.options)
			anna, cora := c.Login(rig.HookedKey, "anna"), c.Login(rig.HookedKey, "cora")
			cut := []string{b.ask(&c.Desk, anna, "Held", "mine")}
			<-b.held
			for _, a := range []rig.Answer{
				c.Call("PUT", "/contact/7", anna, fmt.Sprintf(`{"name":"Held","webhook_url":%q}`, b.hooks.Address())),
				c.Call("DELETE", "/contact/8?webhook_url="+url.QueryEscape(b.hooks.Address()), cora, ""),
			} {
				cut = append(cut, a.Promise(t))
				<-b.held
			}
			end(c)
			rig.AskSQLite(t, keep(t, b.options), "UPDATE kept_answer SET expires_at = 1") // more than a day goes by for the keys that were taken

			c = rig.StartChild(t, b.options)
			bert := c.Login(rig.HookedKey, "bert")
			read := b.read(&c.Desk, bert)
			b.called(append(cut, read)...)
			c.Answered(bert, read, 200)
			b.unknown(&c.Desk, c.Login(rig.HookedKey, "anna"), cut[:2]...)
			b.unknown(&c.Desk, c.Login(rig.HookedKey, "cora"), cut[2])
			require.Equal(t, map[string]int{"POST Held": 1, "PATCH Held": 1, "DELETE Held": 1}, b.asked)
		})
	}
}

// TestCallbackTakenOver: a job whose lease has ended is not sent again, though the
// gateway that had it still waits for the answer, and has it late.
func TestCallbackTakenOver(t *testing.T) {
	t.Parallel()
	b := newContactBook(t, sqltest.Postgres(t), "")
	d := rig.Start(t, b.options)
	rig.Start(t, b.options)
	anna := d.Login(rig.HookedKey, "anna")
	for _, key := range []string{"", "mine"} {
		id := b.ask(d, anna, "Held", key)
		<-b.held
		b.change(id, func(j *webhook.Job) { j.Lease = time.Now().Add(-time.Second) })
		b.called(id)
		b.unknown(d, anna, id)
	}
	require.Equal(t, 2, b.writes("POST Held"))
}

// TestCallbackKeptAnswer: a job that was cut off between the answer of its work and
// its result ends with that answer.
func TestCallbackKeptAnswer(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "mine"} {
		b := newContactBook(t, "keep.db", "")
		d := rig.Start(t, b.options)
		id := b.ask(d, d.Login(rig.HookedKey, "anna"), "Bakker", key)
		b.called(id)
		d.Shutdown()
		b.change(id, func(j *webhook.Job) {
			j.State, j.Lease, j.Finished, j.NextTry, j.Result = webhook.Running, time.Now().Add(time.Minute), time.Time{}, time.Time{}, webhook.Result{}
		})
		d = rig.Start(t, b.options)
		b.called(id)
		d.Answered(d.Login(rig.HookedKey, "anna"), id, 201)
		require.Equal(t, 1, b.writes("POST Bakker"))
		d.Shutdown()
	}
}
