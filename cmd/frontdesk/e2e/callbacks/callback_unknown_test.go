package callbacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook"
)

// contactBook is an HTTP service that keeps contacts, and no idempotency keys. A
// contact named Gone is kept, and the connection then closed; one named Held is
// kept, and answered when the test lets it.
type contactBook struct {
	*httptest.Server
	held    chan struct{} // writes that are held
	release chan struct{} // closed when they are answered

	mu    sync.Mutex
	kept  []map[string]any
	asked map[string]int // writes, by method and name
}

func newContactBook(t *testing.T) *contactBook {
	b := &contactBook{held: make(chan struct{}, 64), release: make(chan struct{}), asked: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		var who map[string]string
		_ = json.NewDecoder(r.Body).Decode(&who)
		number := map[string]int{"anna": 1, "bert": 2, "cora": 3}[who["name"]]
		b.answer(w, map[string]any{"name": who["name"], "email": who["name"] + "@example.nl", "client": number})
	})
	mux.HandleFunc("GET /contacts", func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.answer(w, map[string]any{"items": append([]map[string]any{}, b.kept...)})
	})
	mux.HandleFunc("GET /contacts/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.answer(w, map[string]any{"id": json.Number(r.PathValue("id")), "kind": "person", "name": "Jansen"})
	})
	mux.HandleFunc("POST /contacts", func(w http.ResponseWriter, r *http.Request) {
		var contact map[string]any
		_ = json.NewDecoder(r.Body).Decode(&contact)
		b.mu.Lock()
		contact["id"] = 100 + len(b.kept)
		b.kept = append(b.kept, contact)
		b.mu.Unlock()
		b.write(w, r, fmt.Sprint(contact["name"]), contact)
	})
	mux.HandleFunc("PATCH /contacts/{id}", func(w http.ResponseWriter, r *http.Request) {
		contact := map[string]any{"id": json.Number(r.PathValue("id")), "kind": "person"}
		_ = json.NewDecoder(r.Body).Decode(&contact)
		b.write(w, r, fmt.Sprint(contact["name"]), contact)
	})
	mux.HandleFunc("DELETE /contacts/{id}", func(w http.ResponseWriter, r *http.Request) { b.write(w, r, "Held", nil) })
	b.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		b.letGo()
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *contactBook) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// write answers a write that was done.
func (b *contactBook) write(w http.ResponseWriter, r *http.Request, name string, contact map[string]any) {
	b.mu.Lock()
	b.asked[r.Method+" "+name]++
	b.mu.Unlock()
	switch name {
	case "Gone":
		panic(http.ErrAbortHandler)
	case "Held":
		b.held <- struct{}{}
		<-b.release // and not when the caller goes away
	}
	b.answer(w, contact)
}

// letGo answers all that is held, and holds nothing any more.
func (b *contactBook) letGo() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.release:
	default:
		close(b.release)
	}
}

// writes tells how often a write was asked for.
func (b *contactBook) writes(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[what]
}

const contactBookSheet = `format: 2
source: {http: {url: %q, timeout: 60s, walk: {result: items}}}
keep: keep.db
rules: backend
accounts:
  verify: {path: /login, body: "{name: .username, password}"}
  result: {username: name, email: email, client_id: client, client_name: name}
resources:
  contact:
    path: /contacts
    key: id
    shared: true
    fields: {kind: kind, name: name}
`

// bookDesk is what a desk before a contact book is started with, again and again.
type bookDesk struct {
	t       *testing.T
	book    *contactBook
	hooks   *rig.Hooks
	options rig.Options
	sheet   string // a file
}

func newBookDesk(t *testing.T, server string) *bookDesk {
	b := &bookDesk{t: t, book: newContactBook(t)}
	b.hooks, b.options = rig.NewHooks(t, nil)
	b.sheet = filepath.Join(t.TempDir(), "book.yaml")
	require.NoError(t, os.WriteFile(b.sheet, fmt.Appendf(nil, contactBookSheet, b.book.URL), 0o600))
	b.options.Server = server
	b.options.Backend = fmt.Sprintf(", driver: remote, sheet: %q, timeout: 60s", b.sheet)
	b.options.Extra += "callbacks: [\"GET /contact\", \"POST /contact\", \"PUT /contact\", \"DELETE /contact\"]\n"
	b.options.Edit = strings.NewReplacer(`"GET /order", "GET /orderline"`, `"GET /contact"`, "POST /backup/owner", "POST /contact") // which are all there is
	return b
}

// edit has the sheet say something else.
func (b *bookDesk) edit(from, to string) {
	b.t.Helper()
	text, err := os.ReadFile(b.sheet)
	require.NoError(b.t, err)
	require.Contains(b.t, string(text), from)
	require.NoError(b.t, os.WriteFile(b.sheet, []byte(strings.ReplaceAll(string(text), from, to)), 0o600))
}

// ask has a contact made, under a key where it is not "".
func (b *bookDesk) ask(d *rig.Desk, token, name, key string) (id string) {
	b.t.Helper()
	body := fmt.Sprintf(`{"kind":"person","name":%q,"webhook_url":%q}`, name, b.hooks.Address())
	if key == "" {
		return d.Call("POST", "/contact", token, body).Promise(b.t)
	}
	return d.Call("POST", "/contact", token, body, "Idempotency-Key", key).Promise(b.t)
}

// read has the contacts listed.
func (b *bookDesk) read(d *rig.Desk, token string) (id string) {
	b.t.Helper()
	return d.Call("GET", "/contact?webhook_url="+url.QueryEscape(b.hooks.Address()), token, "").Promise(b.t)
}

// called waits until the receiver was called about all of these jobs.
func (b *bookDesk) called(ids ...string) {
	b.t.Helper()
	left := map[string]bool{}
	for _, id := range ids {
		left[id] = true
	}
	for len(left) > 0 {
		r := <-b.hooks.Calls // by a clock of the test's: its signature is of another time
		id := r.URL.Query().Get("id")
		require.True(b.t, left[id], "%s was called about", id)
		delete(left, id)
	}
}

// unknown holds a job to what one is whose outcome nobody knows.
func (b *bookDesk) unknown(d *rig.Desk, token, id string) {
	b.t.Helper()
	d.Call("GET", "/webhook?id="+id, token, "").Refused(b.t, 500, "Internal server error", "failed")
	require.Regexp(b.t, `(?m)^failure +outcome unknown: .+$`, d.Show(id))
}

// done holds a job to a result.
func (b *bookDesk) done(d *rig.Desk, token, id string, status int) { d.Answered(token, id, status) }

// TestCallbackUnderAStuckKey: jobs under a key whose first work got no answer hold
// nobody up, and end.
func TestCallbackUnderAStuckKey(t *testing.T) {
	t.Parallel()
	b := newBookDesk(t, "")
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
	anna = d.Login(rig.HookedKey, "anna")
	b.called(again...)
	for _, id := range again {
		b.unknown(d, anna, id)
	}
	require.Equal(t, 1, b.book.writes("POST Gone"))
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
			b := newBookDesk(t, "  shutdown_timeout: 1s")
			c := rig.StartChild(t, b.options)
			cut := map[string][]string{} // by who asked
			for _, row := range []struct{ username, method, path, body string }{
				{"anna", "POST", "/contact", `{"kind":"person","name":"Held","webhook_url":%q}`},
				{"anna", "PUT", "/contact/7", `{"name":"Held","webhook_url":%q}`},
				{"cora", "DELETE", "/contact/8", ""},
			} {
				path, body := row.path, row.body
				if body == "" {
					path += "?webhook_url=" + url.QueryEscape(b.hooks.Address())
				} else {
					body = fmt.Sprintf(body, b.hooks.Address())
				}
				token := c.Login(rig.HookedKey, row.username)
				headers := []string{}
				if row.method == "POST" {
					headers = []string{"Idempotency-Key", "mine"}
				}
				id := c.Call(row.method, path, token, body, headers...).Promise(t)
				cut[row.username] = append(cut[row.username], id)
				<-b.book.held
			}
			end(c)
			b.expireKeys()

			c = rig.StartChild(t, b.options)
			bert := c.Login(rig.HookedKey, "bert")
			read := b.read(&c.Desk, bert)
			var all []string
			for _, ids := range cut {
				all = append(all, ids...)
			}
			b.called(append(all, read)...)
			c.Answered(bert, read, 200)
			for username, ids := range cut {
				for _, id := range ids {
					b.unknown(&c.Desk, c.Login(rig.HookedKey, username), id)
				}
			}
			for _, write := range []string{"POST Held", "PATCH Held", "DELETE Held"} {
				require.Equal(t, 1, b.book.writes(write), write)
			}
		})
	}
}

// expireKeys has more than a day go by for the keys that were taken.
func (b *bookDesk) expireKeys() {
	b.t.Helper()
	rig.AskSQLite(b.t, filepath.Join(filepath.Dir(b.sheet), "keep.db"), "UPDATE kept_answer SET expires_at = 1")
}
