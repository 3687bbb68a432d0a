package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/config"
)

// TestCommandsBesideBrokenKeys: what has to work at night works beside api_keys that are broken,
// and not by settings that may be others.
func TestCommandsBesideBrokenKeys(t *testing.T) {
	dir := t.TempDir()
	file, keys := filepath.Join(dir, "frontdesk.yaml"), filepath.Join(dir, "keys.yaml")
	text := rig.KeptConfig(t, "sqlite:"+filepath.Join(dir, "frontdesk.db"), "include: [keys.yaml]", rig.KeptKey(`"GET /order"`))
	require.NoError(t, os.WriteFile(keys, []byte("api_keys: []\n"), 0o600))
	k := rig.StartKept(t, file, text, false)
	code, _, stderr := cli("long enough a password", "user", "add", "jan", "--client", "Jansen", "--email", "jan@example.nl", "--config", file)
	require.Zero(t, code, stderr)
	commands := [][]string{{"healthcheck"}, {"user", "block", "jan"}, {"callbacks", "list"}}
	ask := func(command []string) (int, string) {
		code, _, stderr := cli("", append(command, "--config", file)...)
		return code, stderr
	}
	require.NoError(t, os.WriteFile(keys, []byte("api_keys: [\n"), 0o600))
	archive := filepath.Join(dir, "backup.zip")
	records := [][]string{{"backup", "--client", "Jansen", "--out", archive}, {"restore", "--client", "New", "--rename", archive}}
	for _, command := range slices.Concat(commands, records) {
		code, stderr := ask(command)
		require.Zero(t, code, "%v: %s", command, stderr)
		require.Contains(t, stderr, keys+":1:11: ", "%v", command)
	}
	for name, broken := range map[string]string{
		"bakend": strings.Replace(text, "backend:", "bakend:", 1), "ops.lisen": strings.Replace(text, "ops: {listen", "ops: {lisen", 1), "a flow": "{",
	} {
		k.Write(broken)
		for _, command := range commands {
			code, stderr := ask(command)
			if name == "bakend" && command[0] == "healthcheck" {
				require.Zero(t, code, stderr)
				continue
			}
			require.Equal(t, 2, code, "%s %v: %s", name, command, stderr)
			require.Contains(t, stderr, "nothing was done")
		}
	}
	require.NoFileExists(t, "frontdesk.db")
}

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
	found, err := filepath.Glob(filepath.Join(filepath.Dir(file), "keys.d", "*"))
	require.NoError(t, err)
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
