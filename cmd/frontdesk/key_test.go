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
