package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// sessionsOf has a command about sessions done in the configuration of a desk.
func sessionsOf(t *testing.T, d *rig.Desk, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := cli("", append(append([]string{"sessions"}, args...), "--config", filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml"))...)
	require.Equal(t, want, code, "%v: %s%s", args, stdout, stderr)
	require.NotContains(t, stdout+stderr, "\x1b")
	return stdout, stderr
}

// TestSessions: who is logged in is listed without anything that opens a session, and what is
// ended opens nothing from then on, while others go on; lines for the audit log tell who did it.
func TestSessions(t *testing.T) {
	dsn := rig.Engines[0].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn})
	file := strings.TrimPrefix(dsn, "sqlite:") + "-socket"
	info, err := os.Lstat(file)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode(), "for its user alone")
	require.NoDirExists(t, file+".new")

	_, stderr := sessionsOf(t, d, 0, "list")
	require.Contains(t, stderr, "No session is as asked for")
	tokens := map[string]string{
		"demo": d.Login(rig.FullKey, "demo"), "other": d.Login(rig.FullKey, "other"), "orders": d.Login(rig.OrdersKey, "demo"), "again": d.Login(rig.OrdersKey, "demo"),
	}
	status := func(who string) int { t.Helper(); return d.Call("GET", "/order/1", tokens[who], "").Status }
	status("demo")
	out, _ := sessionsOf(t, d, 0, "list", "--json")
	for _, token := range tokens {
		require.NotContains(t, out, token)
	}
	var listed desk.OpenSessions
	require.NoError(t, json.Unmarshal([]byte(out), &listed))
	require.Equal(t, 4, listed.Count)
	require.Len(t, listed.Sessions, 4)
	for _, s := range listed.Sessions {
		require.Len(t, s.ID, 12)
		require.False(t, s.Used.Before(s.Opened.Add(-1e9)))
		require.True(t, s.Expires.After(s.Opened))
	}
	out, stderr = sessionsOf(t, d, 0, "list", "--key", "full", "--limit", "1")
	require.Regexp(t, `(?m)^[0-9a-f]{12}  full  \S.* +other +\d+s +\d+s ago +29m$`, out)
	require.Contains(t, stderr, "and 1 more")

	sessionsOf(t, d, 2, "end")
	sessionsOf(t, d, 1, "end", "0123456789ab")
	_, stderr = sessionsOf(t, d, 1, "end", "--user", "\x1b[31m")
	require.Contains(t, stderr, "there is no session of")
	out, stderr = sessionsOf(t, d, 0, "end", "--key", "orders", "--user", "demo")
	require.Equal(t, "2 sessions ended\n", out)
	require.Contains(t, stderr, `"what":"sessions end","whom":"those of api_key orders, user demo",`)
	require.Equal(t, []int{200, 401, 401}, []int{status("demo"), status("orders"), status("again")})
	accessed(t, d, d.Call("GET", "/order/1", tokens["orders"], "").Header.Get("X-Request-Id"))
	require.Regexp(t, `"cause":"ended"`, d.Log.String())
	require.Contains(t, rig.Read(t, rig.Repository(t, "docs", "causes.md")), "\n| `ended` | ")

	out, _ = sessionsOf(t, d, 0, "list", "--user", "other")
	id := regexp.MustCompile(`(?m)^[0-9a-f]{12}`).FindString(out)
	out, stderr = sessionsOf(t, d, 0, "end", id)
	require.Equal(t, "1 session ended\n", out)
	require.Equal(t, []int{200, 401}, []int{status("demo"), status("other")})
	require.Contains(t, stderr, `"what":"sessions end","whom":"those of session `+id+`",`)

	d.Shutdown()
	require.NoFileExists(t, file)
	_, stderr = sessionsOf(t, d, 1, "list")
	require.Contains(t, stderr, "no frontdesk answers at "+file)
}

// TestSessionsOfEndedKeys: a session whose api_key was taken out opens nothing, and is not listed;
// the socket is still there after the reload.
func TestSessionsOfEndedKeys(t *testing.T) {
	folder := t.TempDir()
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"* /*"`))
	k := rig.StartKept(t, filepath.Join(folder, "frontdesk.yaml"), text+rig.KeptOrders[1:], true)
	k.Mail = filepath.Join(folder, "mail")
	k.Login(rig.FullKey, "demo")
	k.Login(rig.OrdersKey, "demo")
	out, _ := sessionsOf(t, &k.Desk, 0, "list")
	require.Equal(t, 3, strings.Count(out, "\n"), out)
	k.Write(text)
	k.HangUp()
	out, _ = sessionsOf(t, &k.Desk, 0, "list")
	require.Equal(t, 2, strings.Count(out, "\n"), out)
	require.NotContains(t, out, "orders")
}

// TestSocketIsOnesOwn: what a killed gateway left is replaced; a gateway that runs keeps its
// socket, and the other says so and does not start; what is no socket is left alone.
func TestSocketIsOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	left, err := net.Listen("unix", file)
	require.NoError(t, err)
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, left.Close())
	require.NoError(t, os.Mkdir(file+".new", 0o700))

	with := func(socket string) rig.Options {
		return rig.Options{DSN: rig.Engines[0].DSN(t), Edit: strings.NewReplacer("ops: {", fmt.Sprintf("ops: {socket: %q, ", socket))}
	}
	d := rig.Start(t, with(file))
	d.Login(rig.FullKey, "demo")
	serve := func(o rig.Options) (stderr string) {
		t.Helper()
		config := filepath.Join(t.TempDir(), "frontdesk.yaml")
		text := o.Edit.Replace(fmt.Sprintf(rig.DeskConfig, "", rig.FreeAddress(t), o.DSN, "", t.TempDir(), "", ""))
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		code, _, stderr := cli("", "serve", "--config", config)
		require.NotZero(t, code)
		return stderr
	}
	require.Contains(t, serve(with(file)), file+" is the socket of another frontdesk that runs")
	out, _ := sessionsOf(t, d, 0, "list")
	require.Contains(t, out, "full", "it is the first one's still")

	text := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(text, []byte("kept"), 0o600))
	require.Contains(t, serve(with(text)), "is there and no socket")
	require.Equal(t, "kept", rig.Read(t, text))
	require.Contains(t, serve(with(filepath.Join(t.TempDir(), strings.Repeat("s", 100)))), "expected at most 96")
	require.Contains(t, serve(with(filepath.Join(t.TempDir(), "nowhere", "s"))), "ops.socket")
}

// TestSessionsInRedis: beside PostgreSQL the socket is where the configuration says, and the
// sessions are those that the gateways share.
func TestSessionsInRedis(t *testing.T) {
	o := rig.Options{DSN: rig.Engines[1].DSN(t), Extra: fmt.Sprintf("sessions: {store: %q}\n", redistest.Start(t).URL())}
	first := rig.Start(t, o)
	_, stderr := sessionsOf(t, first, 2, "list")
	require.Contains(t, stderr, "ops.socket has to name a file for it")
	o.Edit = strings.NewReplacer("ops: {", fmt.Sprintf("ops: {socket: %q, ", filepath.Join(t.TempDir(), "s")))
	second := rig.Start(t, o)
	token, other := first.Login(rig.FullKey, "demo"), second.Login(rig.FullKey, "other")
	out, _ := sessionsOf(t, second, 0, "list")
	require.Equal(t, 3, strings.Count(out, "\n"), out)
	require.Regexp(t, `(?m)^[0-9a-f]{12}  full  Demo Garage +demo +\d+s +- +29m$`, out)
	out, _ = sessionsOf(t, second, 0, "end", "--client", "Demo Garage")
	require.Equal(t, "1 session ended\n", out)
	require.Equal(t, []int{401, 200}, []int{first.Call("GET", "/order/1", token, "").Status, first.Call("GET", "/vehicle", other, "").Status})
}
