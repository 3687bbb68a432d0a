package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

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
