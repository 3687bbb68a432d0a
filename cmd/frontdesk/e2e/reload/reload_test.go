package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// TestReload changes what can be changed while the desk serves.
func TestReload(t *testing.T) {
	dsn := rig.Engines[0].DSN(t)
	text := func(more, keys string) string { return rig.KeptConfig(t, dsn, more, keys) }
	folders := text("", "") // the same in every version: what it names may not change
	config := func(more, keys string) string {
		return strings.Replace(folders, "\n\napi_keys:\n", "\n"+more+"\napi_keys:\n"+keys, 1)
	}
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config("", rig.KeptKey(`"GET /order"`)+rig.KeptOrders), false)
	token, orders := k.Login(rig.FullKey, "demo"), k.Login(rig.OrdersKey, "demo")
	first := k.Ready()
	require.Equal(t, desk.HealthOK, first.Status)
	require.Nil(t, first.Config.LastReload)
	require.Equal(t, 200, k.Status("GET", "/order", token))
	require.Equal(t, 400, k.Status("GET", "/contact", token))

	// A key gets other rights, and one is taken away: sessions feel it at once.
	k.Write(config("", rig.KeptKey(`"GET /contact"`)))
	k.HangUp()
	require.Equal(t, 400, k.Status("GET", "/order", token))
	require.Equal(t, 200, k.Status("GET", "/contact", token))
	require.Equal(t, 401, k.Status("GET", "/order", orders))
	require.Equal(t, 401, k.Status("GET", rig.LoginPath(rig.OrdersKey, "demo", "demo"), ""))
	second := k.Ready()
	require.NotEqual(t, first.Config.Hash, second.Config.Hash)
	require.NotNil(t, second.Config.LastReload)
	k.RequireLogged(`"logger":"audit"`, `"configuration changed"`, `"trigger":"SIGHUP"`, `"from":"`+first.Config.Hash+`"`, `"to":"`+second.Config.Hash+`"`,
		`"owner":"`, `"api_keys":["full","orders"]`)
	k.RequireLogged(`"logger":"audit"`, `"api_key changed"`, `"key":"full"`, `"changes":["allow: - GET /order","allow: + GET /contact"]`)
	k.RequireLogged(`"logger":"audit"`, `"api_key changed"`, `"key":"orders"`, `"changes":["removed"]`)
	k.RequireLogged(`"msg":"request"`, `"endpoint":"/contact"`, `"config":"`+second.Config.Hash+`"`)

	// What is wrong keeps what is there, and is told everywhere.
	for _, wrong := range []struct{ text, problem string }{
		{config("", rig.KeptKey(`"GET /contact", "GET /nothing"`)), "/nothing"},
		{"server: [", "frontdesk.yaml:1:"},
		{config(`include: [gone.yaml]`, rig.KeptKey(`"GET /contact"`)), "gone.yaml"},
		{"\n", "nothing is written in it"},
	} {
		k.Write(wrong.text)
		k.HangUp()
		require.Equal(t, 200, k.Status("GET", "/contact", token), wrong.problem)
		now := k.Ready()
		require.Equal(t, desk.HealthDegraded, now.Status)
		require.Contains(t, now.Config.Error, wrong.problem)
		require.Equal(t, second.Config.Hash, now.Config.Hash)
		require.Zero(t, k.Metric("frontdesk_config_last_reload_success"))
		k.RequireLogged(`"level":"error"`, "configuration not reloaded", wrong.problem)
	}
	require.EqualValues(t, 4, k.Metric("frontdesk_config_reload_failures_total"))
	require.NoError(t, os.Remove(k.File))
	k.HangUp()
	require.Equal(t, 200, k.Status("GET", "/contact", token), "the file is gone")

	// What needs a restart is named and waits; the rest holds.
	k.Write(strings.Replace(config("log: {level: warn, access: false}", rig.KeptKey(`"GET /order"`)), "vendor: Example", "vendor: Other", 1))
	k.HangUp()
	require.Equal(t, 200, k.Status("GET", "/order", token))
	now := k.Ready()
	require.Equal(t, []string{"server.vendor: Example → Other"}, now.Config.NeedsRestart)
	require.Empty(t, now.Config.Error)
	require.EqualValues(t, 1, k.Metric("frontdesk_config_needs_restart"))
	require.EqualValues(t, 1, k.Metric("frontdesk_config_last_reload_success"))
	k.RequireLogged(`"level":"warn"`, `"needs_restart":["server.vendor: Example → Other"]`)
	k.RequireLogged(`"logger":"audit"`, `"changes":["server.vendor: Example → Other","log.level: info → warn","log.access: true → false"]`)
	k.Shutdown()
	require.NotContains(t, k.Log.String(), `"config":"`+now.Config.Hash, "access lines are off")
}

// TestReloadDebug turns debugging on by signal; it ends by another, or by itself.
func TestReloadDebug(t *testing.T) {
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), rig.KeptConfig(t, rig.Engines[0].DSN(t), "log: {level: error}", rig.KeptKey(`"GET /order"`)), false)
	on, off := `"from":"error","to":"debug"`, `"from":"debug","to":"error"`
	seen := func(part string, times int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(k.Log.String(), part) == times }, rig.Patience, 10*time.Millisecond)
	}
	k.Signals <- syscall.SIGUSR1
	seen(on, 1)
	k.Status("GET", "/order", "")
	k.RequireLogged(`"msg":"request"`)
	k.HangUp() // which leaves it on
	k.Signals <- syscall.SIGUSR1
	seen(off, 1)
	k.Signals <- syscall.SIGUSR1
	seen(on, 2)
	require.Eventually(t, func() bool { return k.Timers.Pass(desk.DebugTime) > 0 }, rig.Patience, time.Millisecond)
	seen(off, 2)
}

// TestReloadOnChange changes files in all the ways that files are changed.
func TestReloadOnChange(t *testing.T) {
	dir := t.TempDir()
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "include: [keys.d/*.yaml]", rig.KeptKey(`"GET /order"`))
	k := rig.StartKept(t, filepath.Join(dir, "frontdesk.yaml"), text, true)
	token := k.Login(rig.FullKey, "demo")

	k.Write(strings.Replace(text, "GET /order", "GET /contact", 1))
	k.Settled("replaced")
	require.Equal(t, 200, k.Status("GET", "/contact", token))

	require.NoError(t, os.WriteFile(k.File, []byte(strings.ReplaceAll(text, "OPS", k.Ops)), 0o600))
	k.Settled("written in place")
	require.Equal(t, 200, k.Status("GET", "/order", token))
	good := k.Ready().Config.Hash

	require.NoError(t, os.Remove(k.File))
	k.Settled("removed")
	require.Equal(t, 200, k.Status("GET", "/order", token))
	require.Equal(t, good, k.Ready().Config.Hash)
	k.Write(text)
	require.Eventually(t, func() bool {
		k.Timers.Pass(desk.SettleTime)
		return k.Ready().Config.Error == ""
	}, rig.Patience, 5*time.Millisecond, "back again")

	keys := filepath.Join(dir, "keys.d")
	require.NoError(t, os.Mkdir(keys, 0o700))
	k.WriteTo(filepath.Join(keys, "none.yaml"), "api_keys: []\n")
	k.Settled("a folder that was not there")
	k.WriteTo(filepath.Join(keys, "orders.yaml"), "api_keys:"+rig.KeptOrders)
	k.Settled("included")
	require.Equal(t, 200, k.Status("GET", "/order", k.Login(rig.OrdersKey, "demo")))
	require.NoError(t, os.Remove(filepath.Join(keys, "orders.yaml")))
	k.Settled("no longer included")
	require.Equal(t, 401, k.Status("GET", rig.LoginPath(rig.OrdersKey, "demo", "demo"), ""))
	k.RequireLogged(`"logger":"audit"`, `"trigger":"file change"`)
}

// TestReloadConfigMap swaps the link by which Kubernetes replaces a whole folder.
func TestReloadConfigMap(t *testing.T) {
	dir := t.TempDir()
	ops := rig.FreeAddress(t)
	text := strings.ReplaceAll(rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`)), "OPS", ops)
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
	k := rig.StartKept(t, file, "", true)
	k.Ops = ops
	token := k.Login(rig.FullKey, "demo")
	for i, allowed := range []string{"/contact", "/country", "/order"} {
		mount(fmt.Sprint("..", i+2), strings.Replace(text, "GET /order", "GET "+allowed, 1))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, fmt.Sprint("..", i+1))))
		k.Settled("swapped to " + allowed)
		require.Equal(t, 200, k.Status("GET", allowed, token))
	}
}

// TestReloadBurst has many changes at once end in one reload.
func TestReloadBurst(t *testing.T) {
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`))
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, true)
	require.Eventually(t, func() bool { return k.Timers.Pass(desk.SettleTime) == 1 }, rig.Patience, time.Millisecond, "once, after the start")
	require.Eventually(t, func() bool { return k.Metric("frontdesk_config_reloads_total") == 1 }, rig.Patience, time.Millisecond)
	for i := range 20 {
		k.Write(text + fmt.Sprintf("# %d\n", i))
	}
	require.Eventually(t, func() bool { return k.Timers.Held(desk.SettleTime) > 0 }, rig.Patience, time.Millisecond, "noticed")
	require.EqualValues(t, 1, k.Metric("frontdesk_config_reloads_total"), "nothing happens while files change")
	k.Settled("once they do not")
	k.RequireLogged(`"configuration changed"`)
	require.Equal(t, 1, strings.Count(k.Log.String(), `"configuration changed"`))

	// Changes without an end are not waited for.
	k.Write(text + "# without end\n")
	before := k.Ready().Config.Hash
	require.Eventually(t, func() bool {
		k.Timers.Pass(desk.SettleLimit)
		return k.Ready().Config.Hash != before
	}, rig.Patience, 5*time.Millisecond)
}

// TestReloadKeepsLimits gives nobody new requests for an edit.
func TestReloadKeepsLimits(t *testing.T) {
	limited := func(bounds string) string { return rig.KeptKey(`"GET /order"`) + "    " + bounds + "\n" }
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", "")
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text+limited("rate: {per_second: 0.001, burst: 2}"), false)
	token := k.Login(rig.FullKey, "demo")
	for range 2 {
		require.Equal(t, 200, k.Status("GET", "/order", token))
	}
	require.Equal(t, 429, k.Status("GET", "/order", token))
	k.Write(text + "# an edit\n" + limited("rate: {per_second: 0.001, burst: 2}"))
	k.HangUp()
	require.Equal(t, 429, k.Status("GET", "/order", token))
	k.Write(text + limited("rate: {per_second: 0.001, burst: 1}"))
	k.HangUp()
	require.Equal(t, 429, k.Status("GET", "/order", token))
	k.Write(text + limited("expires: 2099-01-01"))
	k.HangUp()
	require.Equal(t, 200, k.Status("GET", "/order", token), "a bound that is gone holds no more")
}
