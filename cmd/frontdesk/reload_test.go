package main

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
	"go.uber.org/zap"

	"frontdesk/config"
)

// kept is a desk whose configuration is a file that the test changes.
type kept struct {
	desk
	file    string
	signals chan os.Signal // nobody waits in it: what was sent before is done when the next is taken
	timers  timers
}

// timers are those a desk waits for, by their length; the test lets them go.
type timers struct {
	mu      sync.Mutex
	waiting map[time.Duration][]chan time.Time
}

func (w *timers) after(d time.Duration) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = make(map[time.Duration][]chan time.Time)
	}
	c := make(chan time.Time, 1)
	w.waiting[d] = append(w.waiting[d], c)
	return c
}

// pass lets all timers of that length go, and tells how many there were.
func (w *timers) pass(d time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := w.waiting[d]
	for _, c := range passed {
		c <- time.Now()
	}
	delete(w.waiting, d)
	return len(passed)
}

// startKept starts a desk on a file of that text. %s in it is an address that is free.
func startKept(t testing.TB, file, text string, watch bool) *kept {
	t.Helper()
	k := &kept{file: file, signals: make(chan os.Signal)}
	k.desk = desk{t: t, ops: freeAddress(t), log: new(lockedBuffer), stopped: make(chan struct{})}
	k.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 60 * time.Second}
	if text != "" {
		k.write(text)
	}
	k.serve(program{signals: k.signals, after: k.timers.after}, file, watch)
	return k
}

// write replaces the file at once, as a careful editor does.
func (k *kept) write(text string) {
	k.t.Helper()
	k.writeTo(k.file, strings.ReplaceAll(text, "OPS", k.ops))
}

func (k *kept) writeTo(file, text string) {
	k.t.Helper()
	require.NoError(k.t, os.WriteFile(file+".new", []byte(text), 0o600))
	require.NoError(k.t, os.Rename(file+".new", file))
}

// hangUp has the configuration read again, and waits until that is done.
func (k *kept) hangUp() {
	k.t.Helper()
	before := k.metric("frontdesk_config_reloads_total")
	k.signals <- syscall.SIGHUP
	require.Eventually(k.t, func() bool { return k.metric("frontdesk_config_reloads_total") > before }, patience, time.Millisecond)
}

// settled waits until the desk has noticed that files changed, lets it act, and
// waits until the configuration is another one.
func (k *kept) settled(what string) {
	k.t.Helper()
	before := k.ready().Config
	require.Eventually(k.t, func() bool {
		k.timers.pass(settleTime)
		now := k.ready().Config
		return now.Hash != before.Hash || now.Error != before.Error
	}, patience, 5*time.Millisecond, what)
}

// ready is what /readyz says.
func (k *kept) ready() (now health) {
	k.t.Helper()
	require.NoError(k.t, json.Unmarshal(k.askOps("/readyz").Body, &now))
	return now
}

// metric is the value of a metric without labels.
func (k *kept) metric(name string) (value float64) {
	k.t.Helper()
	for line := range strings.Lines(k.opsText("/metrics")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			_, err := fmt.Sscan(text, &value)
			require.NoError(k.t, err)
			return value
		}
	}
	k.t.Fatalf("there is no metric %s", name)
	return 0
}

// requireLogged waits until a line with all of these is in the log.
func (k *kept) requireLogged(parts ...string) string {
	k.t.Helper()
	var found string
	require.Eventually(k.t, func() bool {
		for line := range strings.Lines(k.log.String()) {
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
	}, patience, 10*time.Millisecond, "no line of the log has all of %q", parts)
	return found
}

// status is that of an answer.
func (k *kept) status(method, path, token string) int {
	k.t.Helper()
	return k.call(method, path, token, "").Status
}

// keptConfig is a configuration around some api_keys.
func keptConfig(t testing.TB, dsn, more, keys string) string {
	t.Helper()
	dir := t.TempDir()
	return fmt.Sprintf(`
server: {listen: "127.0.0.1:0", vendor: Example}
ops: {listen: "OPS"}
backend: {dsn: %q}
mail: {folder: %q}
webhooks: {folder: %q}
%s
api_keys:
%s`, dsn, filepath.Join(dir, "mail"), filepath.Join(dir, "callbacks"), more, keys)
}

// keptKey is the api_key full, which may do what is listed.
func keptKey(allow string) string {
	return fmt.Sprintf(`
  - name: full
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    allow: [%s]
`, allow)
}

const keptOrders = `
  - name: orders
    key_sha256: ["c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"]
    allow: ["GET /order"]
`

// TestReload changes what can be changed while the desk serves.
func TestReload(t *testing.T) {
	dsn := engines[0].dsn(t)
	text := func(more, keys string) string { return keptConfig(t, dsn, more, keys) }
	folders := text("", "") // the same in every version: what it names may not change
	config := func(more, keys string) string {
		return strings.Replace(folders, "\n\napi_keys:\n", "\n"+more+"\napi_keys:\n"+keys, 1)
	}
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config("", keptKey(`"GET /order"`)+keptOrders), false)
	token, orders := k.login(fullKey, "demo"), k.login(ordersKey, "demo")
	first := k.ready()
	require.Equal(t, healthOK, first.Status)
	require.Nil(t, first.Config.LastReload)
	require.Equal(t, 200, k.status("GET", "/order", token))
	require.Equal(t, 400, k.status("GET", "/contact", token))

	// A key gets other rights, and one is taken away: sessions feel it at once.
	k.write(config("", keptKey(`"GET /contact"`)))
	k.hangUp()
	require.Equal(t, 400, k.status("GET", "/order", token))
	require.Equal(t, 200, k.status("GET", "/contact", token))
	require.Equal(t, 401, k.status("GET", "/order", orders))
	require.Equal(t, 401, k.status("GET", loginPath(ordersKey, "demo", "demo"), ""))
	second := k.ready()
	require.NotEqual(t, first.Config.Hash, second.Config.Hash)
	require.NotNil(t, second.Config.LastReload)
	k.requireLogged(`"logger":"audit"`, `"configuration changed"`, `"trigger":"SIGHUP"`, `"from":"`+first.Config.Hash+`"`, `"to":"`+second.Config.Hash+`"`,
		`"owner":"`, `"api_keys":["full","orders"]`)
	k.requireLogged(`"logger":"audit"`, `"api_key changed"`, `"key":"full"`, `"changes":["allow: - GET /order","allow: + GET /contact"]`)
	k.requireLogged(`"logger":"audit"`, `"api_key changed"`, `"key":"orders"`, `"changes":["removed"]`)
	k.requireLogged(`"msg":"request"`, `"endpoint":"/contact"`, `"config":"`+second.Config.Hash+`"`)

	// What is wrong keeps what is there, and is told everywhere.
	for _, wrong := range []struct{ text, problem string }{
		{config("", keptKey(`"GET /contact", "GET /nothing"`)), "/nothing"},
		{"server: [", "frontdesk.yaml:1:"},
		{config(`expect: [{key: full, request: "GET /order", verdict: allowed}]`, keptKey(`"GET /contact"`)), "GET /order"},
		{config(`include: [gone.yaml]`, keptKey(`"GET /contact"`)), "gone.yaml"},
		{"\n", "nothing is written in it"},
	} {
		k.write(wrong.text)
		k.hangUp()
		require.Equal(t, 200, k.status("GET", "/contact", token), wrong.problem)
		now := k.ready()
		require.Equal(t, healthDegraded, now.Status)
		require.Contains(t, now.Config.Error, wrong.problem)
		require.Equal(t, second.Config.Hash, now.Config.Hash)
		require.Zero(t, k.metric("frontdesk_config_last_reload_success"))
		k.requireLogged(`"level":"error"`, "configuration not reloaded", wrong.problem)
	}
	require.EqualValues(t, 5, k.metric("frontdesk_config_reload_failures_total"))
	require.NoError(t, os.Remove(k.file))
	k.hangUp()
	require.Equal(t, 200, k.status("GET", "/contact", token), "the file is gone")

	// What needs a restart is named and waits; the rest holds.
	expected := `expect: [{key: full, request: "GET /order", verdict: allowed}]`
	k.write(strings.Replace(config("log: {level: warn, access: false}\n"+expected, keptKey(`"GET /order"`)), "vendor: Example", "vendor: Other", 1))
	k.hangUp()
	require.Equal(t, 200, k.status("GET", "/order", token))
	now := k.ready()
	require.Equal(t, []string{"server.vendor: Example → Other"}, now.Config.NeedsRestart)
	require.Empty(t, now.Config.Error)
	require.EqualValues(t, 1, k.metric("frontdesk_config_needs_restart"))
	require.EqualValues(t, 1, k.metric("frontdesk_config_last_reload_success"))
	k.requireLogged(`"level":"warn"`, `"needs_restart":["server.vendor: Example → Other"]`)
	k.requireLogged(`"logger":"audit"`, `"changes":["server.vendor: Example → Other","log.level: info → warn","log.access: true → false",`+
		`"expect: + {key: full, request: GET /order, verdict: allowed}"]`)
	k.shutdown()
	require.NotContains(t, k.log.String(), `"config":"`+now.Config.Hash, "access lines are off")
}

// TestReloadSurvivesAFault of the program itself, here for want of a loader.
func TestReloadSurvivesAFault(t *testing.T) {
	c := config.Default()
	h := &house{config: c, started: c, log: zap.NewNop(), live: config.NewLive(&snapshot{config: c})}
	k := &keeper{house: h}
	k.reload(bySignal)
	state := h.reloads.state()
	require.EqualValues(t, 1, state.failures)
	require.ErrorContains(t, state.fault, "panic")
}

// TestReloadDebug turns debugging on by signal; it ends by another, or by itself.
func TestReloadDebug(t *testing.T) {
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), keptConfig(t, engines[0].dsn(t), "log: {level: error}", keptKey(`"GET /order"`)), false)
	on, off := `"from":"error","to":"debug"`, `"from":"debug","to":"error"`
	seen := func(part string, times int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(k.log.String(), part) == times }, patience, 10*time.Millisecond)
	}
	k.signals <- syscall.SIGUSR1
	seen(on, 1)
	k.status("GET", "/order", "")
	k.requireLogged(`"msg":"request"`)
	k.hangUp() // which leaves it on
	k.signals <- syscall.SIGUSR1
	seen(off, 1)
	k.signals <- syscall.SIGUSR1
	seen(on, 2)
	require.Eventually(t, func() bool { return k.timers.pass(debugTime) > 0 }, patience, time.Millisecond)
	seen(off, 2)
}

// TestReloadOnChange changes files in all the ways that files are changed.
func TestReloadOnChange(t *testing.T) {
	dir := t.TempDir()
	text := keptConfig(t, engines[0].dsn(t), "include: [keys.d/*.yaml]", keptKey(`"GET /order"`))
	k := startKept(t, filepath.Join(dir, "frontdesk.yaml"), text, true)
	token := k.login(fullKey, "demo")

	k.write(strings.Replace(text, "GET /order", "GET /contact", 1))
	k.settled("replaced")
	require.Equal(t, 200, k.status("GET", "/contact", token))

	require.NoError(t, os.WriteFile(k.file, []byte(strings.ReplaceAll(text, "OPS", k.ops)), 0o600))
	k.settled("written in place")
	require.Equal(t, 200, k.status("GET", "/order", token))
	good := k.ready().Config.Hash

	require.NoError(t, os.Remove(k.file))
	k.settled("removed")
	require.Equal(t, 200, k.status("GET", "/order", token))
	require.Equal(t, good, k.ready().Config.Hash)
	k.write(text)
	require.Eventually(t, func() bool {
		k.timers.pass(settleTime)
		return k.ready().Config.Error == ""
	}, patience, 5*time.Millisecond, "back again")

	keys := filepath.Join(dir, "keys.d")
	require.NoError(t, os.Mkdir(keys, 0o700))
	k.signals <- syscall.SIGHUP // a folder that was not there is watched from the next reload on
	k.writeTo(filepath.Join(keys, "orders.yaml"), "api_keys:"+keptOrders)
	k.settled("included")
	require.Equal(t, 200, k.status("GET", "/order", k.login(ordersKey, "demo")))
	require.NoError(t, os.Remove(filepath.Join(keys, "orders.yaml")))
	k.settled("no longer included")
	require.Equal(t, 401, k.status("GET", loginPath(ordersKey, "demo", "demo"), ""))
	k.requireLogged(`"logger":"audit"`, `"trigger":"file change"`)
}

// TestReloadConfigMap swaps the link by which Kubernetes replaces a whole folder.
func TestReloadConfigMap(t *testing.T) {
	dir := t.TempDir()
	ops := freeAddress(t)
	text := strings.ReplaceAll(keptConfig(t, engines[0].dsn(t), "", keptKey(`"GET /order"`)), "OPS", ops)
	mount := func(name, text string) {
		t.Helper()
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "frontdesk.yaml"), []byte(text), 0o600))
		require.NoError(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	mount("..1", text)
	file := filepath.Join(dir, "frontdesk.yaml")
	require.NoError(t, os.Symlink(filepath.Join("..data", "frontdesk.yaml"), file))
	k := startKept(t, file, "", true)
	k.ops = ops
	token := k.login(fullKey, "demo")
	for i, allowed := range []string{"/contact", "/country", "/order"} {
		mount(fmt.Sprint("..", i+2), strings.Replace(text, "GET /order", "GET "+allowed, 1))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, fmt.Sprint("..", i+1))))
		k.settled("swapped to " + allowed)
		require.Equal(t, 200, k.status("GET", allowed, token))
	}
}

// TestReloadBurst has many changes at once end in one reload.
func TestReloadBurst(t *testing.T) {
	text := keptConfig(t, engines[0].dsn(t), "", keptKey(`"GET /order"`))
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, true)
	require.Eventually(t, func() bool { return k.timers.pass(settleTime) == 1 }, patience, time.Millisecond, "once, after the start")
	require.Eventually(t, func() bool { return k.metric("frontdesk_config_reloads_total") == 1 }, patience, time.Millisecond)
	for i := range 20 {
		k.write(text + fmt.Sprintf("# %d\n", i))
	}
	require.Eventually(t, func() bool { return k.timers.held(settleTime) > 0 }, patience, time.Millisecond, "noticed")
	require.EqualValues(t, 1, k.metric("frontdesk_config_reloads_total"), "nothing happens while files change")
	k.settled("once they do not")
	k.requireLogged(`"configuration changed"`)
	require.Equal(t, 1, strings.Count(k.log.String(), `"configuration changed"`))

	// Changes without an end are not waited for.
	k.write(text + "# without end\n")
	before := k.ready().Config.Hash
	require.Eventually(t, func() bool {
		k.timers.pass(settleLimit)
		return k.ready().Config.Hash != before
	}, patience, 5*time.Millisecond)
}

// held is how many timers of that length were made and not let go.
func (w *timers) held(d time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting[d])
}

// TestReloadKeepsLimits gives nobody new requests for an edit.
func TestReloadKeepsLimits(t *testing.T) {
	limited := func(bounds string) string { return keptKey(`"GET /order"`) + "    " + bounds + "\n" }
	text := keptConfig(t, engines[0].dsn(t), "", "")
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text+limited("rate: {per_second: 0.001, burst: 2}"), false)
	token := k.login(fullKey, "demo")
	for range 2 {
		require.Equal(t, 200, k.status("GET", "/order", token))
	}
	require.Equal(t, 429, k.status("GET", "/order", token))
	k.write(text + "# an edit\n" + limited("rate: {per_second: 0.001, burst: 2}"))
	k.hangUp()
	require.Equal(t, 429, k.status("GET", "/order", token))
	k.write(text + limited("rate: {per_second: 0.001, burst: 1}"))
	k.hangUp()
	require.Equal(t, 429, k.status("GET", "/order", token))
	k.write(text + limited("expires: 2099-01-01"))
	k.hangUp()
	require.Equal(t, 200, k.status("GET", "/order", token), "a bound that is gone holds no more")
}
