package rig

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig/await"
)

// Kept is a desk whose configuration is a file that the test changes.
type Kept struct {
	Desk
	File    string
	Signals chan os.Signal // nobody waits in it: what was sent before is done when the next is taken
	Timers  Timers
	Clock   Clock
}

// Timers are those a desk waits for, by their length; the test lets them go.
type Timers struct {
	mu      sync.Mutex
	waiting map[time.Duration][]chan time.Time
}

func (w *Timers) After(d time.Duration) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = make(map[time.Duration][]chan time.Time)
	}
	c := make(chan time.Time, 1)
	w.waiting[d] = append(w.waiting[d], c)
	return c
}

// Pass lets all timers of that length go, and tells how many there were.
func (w *Timers) Pass(d time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := w.waiting[d]
	for _, c := range passed {
		c <- time.Now()
	}
	delete(w.waiting, d)
	return len(passed)
}

// StartKept starts a desk on a file of that text. %s in it is an address that is free.
func StartKept(t testing.TB, file, text string, watch bool) *Kept {
	t.Helper()
	k := &Kept{File: file, Signals: make(chan os.Signal)}
	k.Desk = Desk{T: t, Ops: FreeAddress(t), Log: new(LockedBuffer), Stopped: make(chan struct{})}
	k.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	k.Write(text)
	k.Serve(desk.Program{Signals: k.Signals, After: k.Timers.After, Now: k.Clock.Now}, k.File, watch)
	return k
}

// Write replaces the file at once, as a careful editor does.
func (k *Kept) Write(text string) {
	k.T.Helper()
	k.WriteTo(k.File, strings.ReplaceAll(text, "OPS", k.Ops))
}

// WriteTo replaces another file of the configuration at once.
func (k *Kept) WriteTo(file, text string) {
	k.T.Helper()
	require.NoError(k.T, os.WriteFile(file+".new", []byte(text), 0o600))
	require.NoError(k.T, os.Rename(file+".new", file))
}

// HangUp has the configuration read again, and waits until that is done.
func (k *Kept) HangUp() {
	k.T.Helper()
	before := k.Metric("frontdesk_config_reloads_total")
	k.Signals <- syscall.SIGHUP
	await.True(k.T, func() bool { return k.Metric("frontdesk_config_reloads_total") > before }, "the configuration is not read again")
}

// Settled has the desk look at its files until the configuration is another one.
func (k *Kept) Settled(what string) {
	k.T.Helper()
	before := k.Ready().Config
	k.Compared(func(now desk.ConfigHealth) bool { return now.Hash != before.Hash || now.Error != before.Error }, what)
}

// Compared has the desk look at its files until that has been found of it.
func (k *Kept) Compared(found func(desk.ConfigHealth) bool, what string) {
	k.T.Helper()
	await.True(k.T, func() bool {
		k.Timers.Pass(desk.LookEvery)
		return found(k.Ready().Config)
	}, what)
}

// Ready is what /readyz says.
func (k *Kept) Ready() (now desk.Health) {
	k.T.Helper()
	require.NoError(k.T, json.Unmarshal(k.AskOps("/readyz").Body, &now))
	return now
}

// Metric is the value of a metric without labels.
func (k *Kept) Metric(name string) (value float64) {
	k.T.Helper()
	for line := range strings.Lines(k.OpsText("/metrics")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			_, err := fmt.Sscan(text, &value)
			require.NoError(k.T, err)
			return value
		}
	}
	k.T.Fatalf("there is no metric %s", name)
	return 0
}

// RequireLogged waits until a line with all of these is in the log.
func (k *Kept) RequireLogged(parts ...string) string {
	k.T.Helper()
	var found string
	await.True(k.T, func() bool {
		for line := range strings.Lines(k.Log.String()) {
			missing := false
			for _, part := range parts {
				missing = missing || !strings.Contains(line, part)
			}
			if !missing {
				found = line
				return true
			}
		}
		return false
	}, "no line of the log has all of %q", parts)
	return found
}

// Status is that of an answer.
func (k *Kept) Status(method, path, token string) int {
	k.T.Helper()
	return k.Call(method, path, token, "").Status
}

// KeptConfig is a configuration around some api_keys.
func KeptConfig(t testing.TB, dsn, more, keys string) string {
	t.Helper()
	return fmt.Sprintf(`
server: {listen: "127.0.0.1:0", vendor: Example}
ops: {listen: "OPS"}
backend: {dsn: %q}
mail: {folder: %q}
%s
api_keys:
%s`, dsn, filepath.Join(t.TempDir(), "mail"), more, keys)
}

// KeysApart puts each api_key of a configuration, whose last section they are, into a file of
// its own in keys.d, beside the file that the configuration is for. It returns the rest, which
// includes them.
func KeysApart(t testing.TB, file, text string) string {
	t.Helper()
	rest, keys, found := strings.Cut(text, "\napi_keys:\n")
	require.True(t, found)
	folder := filepath.Join(filepath.Dir(file), "keys.d")
	require.NoError(t, os.Mkdir(folder, 0o700))
	const item = "  - name: "
	for key := range strings.SplitSeq(keys, item) {
		if name, _, found := strings.Cut(key, "\n"); found && name != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name+".yaml"), []byte("api_keys:\n"+item+key), 0o600))
		}
	}
	return rest + "\ninclude: [keys.d/*.yaml]\n"
}

// KeptKey is the api_key full, which may do what is listed.
func KeptKey(allow string) string {
	return fmt.Sprintf(`
  - name: full
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    allow: [%s]
`, allow)
}

// KeptOrders is the api_key orders, which may read them.
const KeptOrders = `
  - name: orders
    key_sha256: ["c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"]
    allow: ["GET /order"]
`

// Held is how many timers of that length were made and not let go.
func (w *Timers) Held(d time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting[d])
}

// Round has the desk do once more what it does that often, and returns when it has.
func (k *Kept) Round(every time.Duration) {
	k.T.Helper()
	held := func() bool { return k.Timers.Held(every) == 1 }
	await.True(k.T, held)
	k.Timers.Pass(every)
	await.True(k.T, held)
}

// Looked has the desk look whose sessions have ended, and returns when it has.
func (k *Kept) Looked() {
	k.T.Helper()
	await.True(k.T, func() bool { return k.Timers.Pass(desk.BlockedEvery) > 0 }, "nobody waits to look who is blocked")
	await.True(k.T, func() bool { return k.Timers.Held(desk.BlockedEvery) > 0 }, "a look who is blocked does not end")
}
