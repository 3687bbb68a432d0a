package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/history"
	"frontdesk/cmd/frontdesk/revisions"
	"frontdesk/cmd/frontdesk/rig"
)

// configJSON is what a test reads of the page of the configuration.
type configJSON struct {
	N       int
	Digest  string
	Folder  string
	Error   []string
	Waiting []string `json:"needs_restart"`
	History []revisions.Revision
}

// garageConf is a gateway with the key full in the main file, and orders in a file of its own.
type garageConf struct {
	*rig.Kept
	t      *testing.T
	orders string // the file
	main   string // its text
}

const ownOrders = "# The office.\napi_keys:\n" + rig.KeptOrders

func startGarage(t *testing.T) *garageConf {
	t.Helper()
	dir := t.TempDir()
	g := &garageConf{t: t, orders: filepath.Join(dir, "keys.d", "orders.yaml")}
	require.NoError(t, os.Mkdir(filepath.Dir(g.orders), 0o700))
	require.NoError(t, os.WriteFile(g.orders, []byte(ownOrders), 0o600))
	file := filepath.Join(dir, "frontdesk.yaml")
	text := "# Garage Jansen.\n" + rig.KeptConfig(t, rig.Engines[0].DSN(t), "include: [keys.d/*.yaml] # each key its own", rig.KeptKey(`"GET /order"`))
	text = strings.Replace(text, "ops: {", `ops: {token: "canary-of-the-token-0123", `, 1)
	g.Kept = rig.StartKept(t, file, text, false)
	g.main = rig.Read(t, file)
	return g
}

// now is what the page tells.
func (g *garageConf) now() (c configJSON) {
	g.t.Helper()
	askJSON(g.t, &g.Desk, "/config", &c)
	return c
}

// stored waits until the folder has so many, and returns the newest.
func (g *garageConf) stored(n int) (last revisions.Revision) {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		all, err := revisions.Store(g.now().Folder).List()
		if err != nil || len(all) == 0 {
			return false
		}
		last = all[len(all)-1]
		return last.N == n && (last.Refused || last.Texts)
	}, rig.Patience, 5*time.Millisecond, "configuration %d is not stored", n)
	return last
}

// command runs one that does what it is told.
func (g *garageConf) command(args ...string) string {
	g.t.Helper()
	code, stdout, stderr := cli("", append([]string{"config"}, args...)...)
	require.Zero(g.t, code, "%v\n%s%s", args, stdout, stderr)
	return stdout
}

// mayLogIn tells whether an api_key is known.
func (g *garageConf) mayLogIn(key string) bool {
	g.t.Helper()
	return g.Call("GET", rig.LoginPath(key, "demo", "demo"), "", "").Status == 200
}

// TestConfigHistory: each configuration that a gateway took or refused is told on its page and by
// the command, with what it means, also after a restart; and nothing secret is.
func TestConfigHistory(t *testing.T) {
	g := startGarage(t)
	require.Equal(t, 1, g.now().N)
	require.Equal(t, "start", g.stored(1).Trigger)

	g.Write(strings.Replace(g.main, `["GET /order"]`, `["* /order", "GET /vehicle"]`, 1))
	g.HangUp()
	second := g.now()
	require.Equal(t, 2, second.N)
	require.Equal(t, "full gains POST /order, PUT /order, DELETE /order, GET /vehicle", said(second.History[0])[0])
	require.Contains(t, second.History[0].Files[0].Path, "frontdesk.yaml")

	g.WriteTo(g.orders, strings.Replace(ownOrders, "GET /order", "GET /ordr", 1))
	g.HangUp()
	g.HangUp()
	refused := g.now()
	require.Equal(t, 2, refused.N, "what is in force")
	require.Len(t, refused.History, 3)
	require.True(t, refused.History[0].Refused)
	require.Equal(t, 1, refused.History[0].Again)
	require.Contains(t, refused.History[0].Problems[0], "did you mean")
	require.Equal(t, refused.Error, refused.History[0].Problems)
	require.Empty(t, refused.History[0].Differences, "what cannot be read is not told as a change")
	g.stored(3)
	g.Told("configuration not reloaded")
	code, changes, stderr := cli(g.Log.String(), "log", "changes", "-")
	require.Zero(t, code, stderr)
	require.Contains(t, changes, "configuration refused, the one before stays in force: trigger SIGHUP; config "+second.Digest+"; problems "+refused.Error[0])

	g.WriteTo(g.orders, ownOrders)
	g.Write(strings.Replace(rig.Read(t, g.File), "vendor: Example", "vendor: Other", 1))
	g.HangUp()
	g.stored(4)
	require.Equal(t, []string{"server.vendor: Example → Other"}, g.now().Waiting)
	require.True(t, g.now().History[0].Differences[0].Restart)

	var past struct {
		Past struct{ Marks []history.Mark }
	}
	askJSON(t, &g.Desk, "/", &past)
	var pages []string
	for _, m := range past.Past.Marks {
		pages = append(pages, m.Page)
	}
	require.Equal(t, []string{"", "/config#c2", "/config#c3", "/config#c4"}, pages)
	page := g.OpsText("/config")
	for _, want := range []string{`id="c1"`, `id="c4"`, "POST /order", "(after a restart)", `href="/history?key=full"`} {
		require.Contains(t, page, want)
	}
	require.Contains(t, g.OpsText("/"), `href="/config#c3"`)
	require.Equal(t, 401, askJSON(t, &g.Desk, "/config", nil, "X-Forwarded-For", "192.0.2.7"), "from elsewhere it wants ops.token")

	listed := g.command("history", "--config", g.File)
	require.Regexp(t, `(?m)^4  \S+ \S+ \S+  [0-9a-f]{12}  in force  by SIGHUP, .*frontdesk.yaml of `, listed)
	require.Regexp(t, `(?m)^3  .* refused `, listed)
	require.Contains(t, listed, "     server.vendor: Example → Other (after a restart)\n")
	var programs []revisions.Revision
	require.NoError(t, json.Unmarshal([]byte(g.command("history", "--history", g.now().Folder, "--format", "json")), &programs))
	require.Len(t, programs, 4)
	asJSON, err := json.Marshal(g.now())
	require.NoError(t, err)
	for _, text := range []string{page, listed, string(asJSON), g.command("diff", "1", "running", "--config", g.File), g.Log.String()} {
		require.NotContains(t, text, "canary")
		require.NotContains(t, text, "e8d95748107aceb9", "a whole hash")
	}
	requireOwnersOnly(t, g.now().Folder)

	g.Shutdown()
	g.serveAgain()
	require.Len(t, g.now().History, 4, "it is the same")
	require.Equal(t, 4, g.now().N)
	g.Shutdown()
	require.NoError(t, os.Remove(g.orders))
	g.serveAgain()
	require.Equal(t, "start", g.now().History[0].Trigger)
	require.Equal(t, []string{"orders is removed: its api_keys are refused, its sessions end"}, said(g.now().History[0]))
	require.Empty(t, g.now().Waiting)
}

// serveAgain starts the gateway with its files as they are.
func (g *garageConf) serveAgain() {
	g.Desk = rig.Desk{T: g.t, Ops: g.Ops, Log: new(rig.LockedBuffer), Stopped: make(chan struct{}), HTTP: &http.Client{}}
	g.Serve(desk.Program{Signals: g.Signals, After: g.Timers.After, Now: g.Clock.Now}, g.File, false)
}

// said are the differences as lines.
func said(r revisions.Revision) (lines []string) {
	for _, d := range r.Differences {
		lines = append(lines, strings.TrimSpace(d.Key+" "+d.Text))
	}
	return lines
}

func requireOwnersOnly(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

// TestConfigRollback: a deploy that went wrong is undone to the byte, but api_keys that were ended
// since stay ended, wherever the earlier files have them.
func TestConfigRollback(t *testing.T) {
	g := startGarage(t)
	require.True(t, g.mayLogIn(rig.FullKey))
	require.True(t, g.mayLogIn(rig.OrdersKey))
	g.stored(1)
	folder := g.now().Folder

	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(g.orders), "late.yaml"), []byte("api_keys:\n  - {name: late, key_sha256: [\""+strings.Repeat("ab", 32)+"\"]}\n"), 0o600))
	g.Write(strings.Replace(g.main, `    allow: ["GET /order"]`, `    expires: 2020-01-01`, 1)) // a key in the middle of the main file is revoked
	g.HangUp()
	require.False(t, g.mayLogIn(rig.FullKey))
	g.stored(2)
	broken := "server: [\n" + g.main
	g.Write(broken) // the bad deploy
	g.HangUp()
	g.stored(3)
	require.True(t, g.mayLogIn(rig.OrdersKey), "what was in force stays")

	code, _, stderr := cli("", "config", "rollback", "1", "--config", g.File)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--history FOLDER tells")
	code, _, stderr = cli("", "config", "rollback", "3", "--config", g.File, "--history", folder)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "configuration 3 was refused")
	told := g.command("rollback", "1", "--config", g.File, "--history", folder, "--dry-run")
	require.Equal(t, broken, rig.Read(t, g.File))
	require.FileExists(t, filepath.Join(filepath.Dir(g.orders), "late.yaml"))
	require.Equal(t, told, strings.Split(g.command("rollback", "1", "--config", g.File, "--history", folder), "Done: ")[0])
	for _, want := range []string{"late is removed", "Stays ended: hash e8d95748… of full, 2020-01-0", "frontdesk.yaml cannot be read as it is", "late.yaml was not there: it is kept as"} {
		require.Contains(t, told, want)
	}
	require.NotContains(t, told, "hash c8f367a8")
	ended := strings.Replace(g.main, `["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]`,
		`[{hash: "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", expires: 2020-01-01}]`, 1)
	require.Equal(t, ended, rig.Read(t, g.File), "all but the end is as it was")
	require.NoFileExists(t, filepath.Join(filepath.Dir(g.orders), "late.yaml"))
	g.HangUp()
	require.Empty(t, g.Kept.Ready().Config.Error)
	require.False(t, g.mayLogIn(rig.FullKey), "revoked stays revoked")
	require.True(t, g.mayLogIn(rig.OrdersKey))
	require.Contains(t, g.stored(4).Who, "by frontdesk config rollback")
	code, acts, stderr := cli("", "acts", "list", "--config", g.File)
	require.Zero(t, code, stderr)
	require.Contains(t, acts, "config rollback  configuration 1 ("+g.now().Digest+")")
	g.Timers.Pass(3 * time.Second)
	g.RequireLogged(`"logger":"audit"`, `"what":"config rollback"`)
	require.Contains(t, g.command("rollback", "4", "--config", g.File), "nothing was changed")
}

// TestConfigRollbackOfEnds: what ended in a file of its own, was taken out, or ends soon, also where
// no gateway has taken that up yet; and requests that would be refused stop it.
func TestConfigRollbackOfEnds(t *testing.T) {
	g := startGarage(t)
	g.stored(1)
	g.Call("GET", "/order", g.Login(rig.OrdersKey, "demo"), "", "X-Request-Id", "the-last-one")
	accessed(t, &g.Desk, "the-last-one")
	log := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(log, []byte(g.Log.String()), 0o600))

	rollback := func(n int) string { t.Helper(); return g.command("rollback", fmt.Sprint(n), "--config", g.File) }
	restored := func(expires string) {
		t.Helper()
		text := rig.Read(t, g.orders)
		require.Contains(t, text, "# The office.")
		require.Regexp(t, `key_sha256: \[\{hash: "c8f3[0-9a-f]{60}", expires: `+expires+`\}\]`, text)
	}
	for _, c := range []struct {
		expires string
		change  func()
	}{
		{`\d{4}-\d\d-\d\dT[\d:]+Z`, func() { // revoked by the command, and not read by the gateway yet
			code, _, stderr := cli("", "key", "revoke", "orders", "--config", g.File)
			require.Zero(t, code, stderr)
		}},
		{`2099-12-31`, func() { g.WriteTo(g.orders, ownOrders+"    expires: 2099-12-31\n") }}, // the last: what follows begins with a key that is good
	} {
		g.WriteTo(g.orders, ownOrders)
		c.change()
		rollback(1)
		restored(c.expires)
	}

	code, stdout, stderr := cli("", "config", "rollback", "1", "--config", g.File, log)
	require.Contains(t, stdout, "newly refused: 0 requests", stderr)
	require.Zero(t, code)
	g.WriteTo(g.orders, strings.Replace(ownOrders, "GET /order", "GET /vehicle", 1))
	g.HangUp()
	g.stored(2)
	g.WriteTo(g.orders, ownOrders)
	g.HangUp()
	g.stored(3)
	code, stdout, stderr = cli("", "config", "rollback", "2", "--config", g.File, log)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "orders gains GET /vehicle\n  orders loses GET /order\n")
	require.Contains(t, stderr, "would be newly refused, so nothing was changed; --anyway does it all the same")
	require.Equal(t, ownOrders, rig.Read(t, g.orders))

	g.WriteTo(g.orders, "api_keys: []\n") // taken out
	g.HangUp()
	g.stored(4)
	require.Contains(t, rollback(3), "Stays ended: hash c8f367a8… of orders")
	restored(`\d{4}-\d\d-\d\dT[\d:]+Z`)
	g.HangUp()
	require.False(t, g.mayLogIn(rig.OrdersKey))
	require.True(t, g.mayLogIn(rig.FullKey))

	g.stored(5)
	for n, secret := range []string{"that somebody else knows by now", "that was made thereafter"} {
		g.WriteTo(g.orders, ownOrders+"    webhook_secret: [\"a secret "+secret+"\"]\n")
		g.HangUp()
		g.stored(6 + n)
	}
	require.Contains(t, rollback(6), "Comes back as configuration 6 had it: api_keys.orders.webhook_secret. What was exchanged since because others know it, exchange again.\n")

	code, _, stderr = cli("", "config", "rollback", "1", "--config", g.orders, "--history", g.now().Folder)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "the history is that of "+g.File)
}
