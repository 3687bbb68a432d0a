package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		`"api_keys":["full","orders"]`)
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

// TestReloadFields: a session has the fields of the allowlist in force, and one that would tell of a
// field is not put in force.
func TestReloadFields(t *testing.T) {
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey("ALLOW"))
	config := func(allow string) string { return strings.Replace(text, "ALLOW", allow, 1) }
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config(`"* /contact"`), false)
	token := k.Login(rig.FullKey, "demo")
	require.Equal(t, 200, k.Status("GET", "/contact/1?fields=note", token))
	for _, step := range []struct {
		allow, problem string
		status         int
	}{
		{`"* /contact": {without: [note]}`, "", 403},
		{`"* /contact": {without: [kind]}`, "takes kind of contact away: ", 403},
		{`GET /contact: {only: [note]}`, "", 200},
		{`GET /contact: {only: [note]}, "* /contact"`, "with other fields", 200},
	} {
		k.Write(config(step.allow))
		k.HangUp()
		require.Equal(t, step.status, k.Status("GET", "/contact/1?fields=note", token), step.allow)
		wrong := k.Ready().Config.Error
		require.True(t, strings.Contains(wrong, step.problem) && (step.problem == "") == (wrong == ""), "%s: %s", step.allow, wrong)
	}
	k.RequireLogged(`"api_key changed"`, `"changes":["allow: - * /contact","allow: + * /contact: {without: [note]}"]`)
}

// TestReloadDebug: the level of the log is that of the file, at once.
func TestReloadDebug(t *testing.T) {
	text := func(level string) string {
		return rig.KeptConfig(t, rig.Engines[0].DSN(t), "log: {level: "+level+"}", rig.KeptKey(`"GET /order"`))
	}
	first := text("error")
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), first, false)
	k.Status("GET", "/order", "")
	k.Write(strings.Replace(first, "level: error", "level: debug", 1))
	k.HangUp()
	k.Status("GET", "/order", "")
	k.RequireLogged(`"msg":"request"`)
	k.RequireLogged(`"changes":["log.level: error → debug"]`)
	require.Equal(t, 1, strings.Count(k.Log.String(), `"msg":"request"`))
}

// TestReloadBurst has many changes at once end in one reload, after a look that found them. Changes
// without an end are not waited for.
func TestReloadBurst(t *testing.T) {
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`))
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, true)
	changed := func() int { return strings.Count(k.Log.String(), `"configuration changed"`) }
	look := func() { k.Round(desk.LookEvery) }
	look()
	for range 2 {
		for i := range 20 {
			k.Write(text + fmt.Sprintf("# %d of %d\n", i, changed()))
		}
		before := k.Metric("frontdesk_config_reloads_total")
		look()
		require.Equal(t, before, k.Metric("frontdesk_config_reloads_total"), "found, and not read yet")
		k.Write(text + fmt.Sprintf("# last of %d\n", changed()))
		look()
		require.Equal(t, before+1, k.Metric("frontdesk_config_reloads_total"))
		look()
	}
	k.RequireLogged(`"configuration changed"`)
	require.Equal(t, 2, changed())
}
