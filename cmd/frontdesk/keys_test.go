package main

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

// TestKeyEditsKeepSecrets changes api_keys by the commands, beside a desk that serves: no byte
// of another file changes, and in the key's file no secret and no variable; who had a key keeps
// it, and callbacks are signed as before.
func TestKeyEditsKeepSecrets(t *testing.T) {
	t.Setenv("HOOK_SECRET", "whsec_"+base64.StdEncoding.EncodeToString([]byte("a secret that the environment has")))
	h, options := rig.NewHooks(t, nil)
	odd := []string{`"${HOOK_SECRET}"`, `'a: "secret" # no comment $${HOOK_SECRET}'`, `"tab\tand \u00e9 \\ and $$ "`}
	keys := options.Keys + rig.KeyConfig("odd", "33333333-3333-4333-8333-333333333333", "    webhook_secret: ["+strings.Join(odd, ",  ")+"]\n    allow: [\"GET /order\"]\n")
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), options.Extra, keys+rig.KeptKey(`"* /*"`)[1:])
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	k := rig.StartKept(t, file, rig.KeysApart(t, file, text), false)
	hooked, full := k.Login(rig.HookedKey, "demo"), k.Login(rig.FullKey, "demo")
	signed := func(what string) {
		t.Helper()
		k.Call("POST", "/backup/owner", hooked, h.Body()).Promise(t)
		h.Next(t) // which holds it to both secrets
		require.Equal(t, 200, k.Status("GET", "/order", full), what)
	}
	signed("at first")

	for _, edit := range [][]string{
		{"key", "rotate", "full"}, {"key", "rotate", "odd", "--overlap", "3d"}, {"key", "rotate", "hooked"}, {"key", "revoke", "odd", "--at", "2099-01-31"}, {"key", "revoke", "odd"},
		{"key", "revoke", "backups"}, {"key", "new", "fresh", "--allow", "GET /order"},
	} {
		before := keyFiles(t, file)
		code, _, problems := cli("", append(edit, "--config", k.File)...)
		require.Zero(t, code, "%s: %s", edit, problems)
		now := keyFiles(t, file)
		if was, edited := before[edit[2]]; edited {
			require.NotEqual(t, was, now[edit[2]], "%s", edit)
			require.Equal(t, secretsIn(t, was), secretsIn(t, now[edit[2]]), "%s", edit)
		}
		delete(before, edit[2])
		delete(now, edit[2])
		require.Equal(t, before, now, "%s", edit)
		k.HangUp()
		require.Empty(t, k.Ready().Config.Error, "%s", edit)
		signed(strings.Join(edit, " "))
	}
	require.Contains(t, keyFiles(t, file)["odd"], odd[0], "a variable stays one")
}

// keyFiles are the files of a configuration, those of api_keys by their names.
func keyFiles(t *testing.T, file string) map[string]string {
	t.Helper()
	files := map[string]string{"": rig.Read(t, file)}
	found := must.Have(filepath.Glob(filepath.Join(filepath.Dir(file), "keys.d", "*")))(t)
	for _, path := range found {
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = rig.Read(t, path)
	}
	return files
}

// secretsIn are the secrets of a key, as its file has them.
func secretsIn(t *testing.T, text string) (secrets []string) {
	t.Helper()
	file, err := config.ReadKeyFile([]byte(text), time.UTC)
	require.NoError(t, err, "%s", text)
	for _, secret := range file.Key.WebhookSecret {
		secrets = append(secrets, string(secret))
	}
	return secrets
}

// sessionsOf has a command about sessions done in the configuration of a desk.
func sessionsOf(t *testing.T, d *rig.Desk, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := cli("", append(append([]string{"sessions"}, args...), "--config", filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml"))...)
	require.Equal(t, want, code, "%v: %s%s", args, stdout, stderr)
	require.NotContains(t, stdout+stderr, "\x1b")
	return stdout, stderr
}

// TestSocketIsOnesOwn: what a killed gateway left is replaced; a gateway that runs keeps its
// socket, and the other says so and does not start; what is no socket is left alone.
func TestSocketIsOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	left := must.Have(net.Listen("unix", file))(t)
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
