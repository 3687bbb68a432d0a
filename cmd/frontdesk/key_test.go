package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestKeyCommands makes, rotates, ends and lists an api_key as an operator does. What is
// written where, package keys tests.
func TestKeyCommands(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	text := rig.KeysApart(t, file, rig.KeptConfig(t, "sqlite:"+filepath.Join(dir, "frontdesk.db"), "", rig.KeptKey(`"GET /order"`)))
	text = strings.Replace(text, "OPS", "127.0.0.1:0", 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	for _, args := range [][]string{{"new", "stock", "--allow", "GET /order", "--expires", "2099-06-30"}, {"rotate", "stock", "--overlap", "3d"}, {"revoke", "stock", "--at", "2099-01-31"}} {
		code, stdout, stderr := cli("", append([]string{"key"}, append(args, "--config", file)...)...)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "stock.yaml changed.")
	}
	code, stdout, stderr := cli("", "key", "list", "--config", file)
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^stock +2099-01-31 .* \(ends `, stdout)

	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "include:", "#")+"\napi_keys:"+rig.KeptKey("")), 0o600))
	code, stdout, stderr = cli("", "key", "rotate", "full", "--config", file)
	require.Equal(t, 1, code)
	require.Empty(t, stdout, "there is no api_key that no file has")
	require.Contains(t, stderr, "nothing was changed: "+file+": it has other settings")
	for _, overlap := range []string{"14", "2w", "-1d", "1h", "367d", "d"} {
		code, _, stderr = cli("", "key", "rotate", "full", "--config", file, "--overlap="+overlap)
		require.Equal(t, 2, code, overlap)
		require.Contains(t, stderr, "expected whole days", overlap)
	}
}

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
