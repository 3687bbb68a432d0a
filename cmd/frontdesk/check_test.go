package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// shopHash is the hash of an api_key.
const shopHash = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"

// TestCheckForItsUser: what root may write, and the user that serves may not.
func TestCheckForItsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can ask as somebody else")
	}
	binary := rig.Binary(t)
	dir, err := os.MkdirTemp("", "frontdesk-check-") // where others may go too
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "frontdesk")
	require.NoError(t, os.WriteFile(program, []byte(rig.Read(t, binary)), 0o755))
	file := filepath.Join(dir, "frontdesk.yaml")
	for _, folder := range []string{"own", "taken", "half"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	const nobody = 65534
	require.NoError(t, os.Chown(filepath.Join(dir, "own"), nobody, nobody))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "taken", "frontdesk.db"), nil, 0o644))
	for _, name := range []string{"frontdesk.db", "frontdesk.db-serve"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "half", name), nil, 0o644))
		require.NoError(t, os.Chown(filepath.Join(dir, "half", name), nobody, nobody))
	}
	var capabilities []uintptr // beside those of the user
	check := func(folders ...any) string {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {dsn: \"sqlite:%s/frontdesk.db\"}\nmail: {folder: %s/mail}\n", folders...), 0o644))
		c := exec.Command(program, "check", "--config", file)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: capabilities}
		out, _ := c.CombinedOutput()
		return strings.ReplaceAll(string(out), dir, "HERE")
	}
	require.Contains(t, check("own", "own"), "is right")
	require.Equal(t, `HERE/frontdesk.yaml:1:16: backend.dsn: HERE/taken/frontdesk.db cannot be written by user nobody [folder]
HERE/frontdesk.yaml:2:16: mail.folder: HERE/taken cannot be written by user nobody [folder]
frontdesk: HERE/frontdesk.yaml has 2 problems
`, check("taken", "taken"))
	require.Contains(t, check(".", "own"), "backend.dsn: HERE cannot be written by user nobody [folder]")
	require.Contains(t, check("half", "own"), "backend.dsn: HERE/half cannot be written by user nobody [folder]", "SQLite makes files beside its own")
	require.Contains(t, check("own", "own"), "Folders and files were judged for user nobody in HERE.\n")
	const dacOverride = 1 // CAP_DAC_OVERRIDE, which AmbientCapabilities of a systemd unit gives
	capabilities = []uintptr{dacOverride}
	require.Contains(t, check("taken", "taken"), "is right")
}

// TestCheckAgainst tells what a file would change of what a gateway serves by.
func TestCheckAgainst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	k := rig.StartKept(t, file, rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`)), false)
	code, stdout, stderr := cli("", "check", "--config", file, "--against", "http://"+k.Ops)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "It is the one in force.\n")

	changed := filepath.Join(filepath.Dir(file), "new.yaml")
	text := strings.NewReplacer(`"GET /order"`, `"* /order"`, "vendor: Example", "vendor: Garage").Replace(rig.Read(t, file))
	require.NoError(t, os.WriteFile(changed, []byte(text), 0o600))
	code, stdout, stderr = cli("", "check", "--config", changed, "--against", k.Ops)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "server.vendor: Example → Garage (after a restart)\n")
	require.Contains(t, stdout, "full gains POST /order, PUT /order, DELETE /order\n")
	require.Contains(t, stdout, "Not compared, since both have a secret: backend.dsn")

	var report struct{ Against changeReport }
	_, stdout, _ = cli("", "check", "--config", changed, "--against", k.Ops, "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Len(t, report.Against.Differences, 2)

	code, stdout, _ = cli("", "check", "--config", changed, "--against", strings.TrimPrefix(k.Base, "http://"))
	require.NotZero(t, code, stdout)
}
