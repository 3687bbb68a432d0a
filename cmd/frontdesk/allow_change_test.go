package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// planner is a key in a file of its own, as a person writes it.
const planner = `# The office.
api_keys:
  - name: planner   # of the garage
    key_sha256: [c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf]
    allow:
      # reading
      - GET /vehicle   # every morning
      - 'GET /order'
    concurrent: 3
`

// plannersFolder is where the test runs, with what is expected of planner.
func plannersFolder(t *testing.T) {
	t.Helper()
	toolsFolder(t, webshop)
	main := rig.Read(t, "frontdesk.yaml") + `include: ["keys.d/*.yaml"]
expect:
  - {key: planner, request: "GET /vehicle/1", verdict: allowed}
  - {key: planner, request: "DELETE /order/1", verdict: refused}
`
	require.NoError(t, os.WriteFile("frontdesk.yaml", []byte(main), 0o600))
	require.NoError(t, os.Mkdir("keys.d", 0o700))
	require.NoError(t, os.WriteFile("keys.d/planner.yaml", []byte(planner), 0o600))
}

// TestAllowAddRemove changes allowlists by the line, and only if check finds nothing wrong.
func TestAllowAddRemove(t *testing.T) {
	plannersFolder(t)
	allow := func(wantCode int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := cli("", append([]string{"allow"}, args...)...)
		require.Equal(t, wantCode, code, stdout+stderr)
		return stdout, stderr
	}
	stdout, stderr := allow(0, "add", "planner", "PUT /order", "--dry-run")
	require.Equal(t, "--- keys.d/planner.yaml\n+++ keys.d/planner.yaml\n@@ -6,4 +6,5 @@\n       # reading\n       - GET /vehicle   # every morning\n       - 'GET /order'\n+      - \"PUT /order\"\n     concurrent: 3\n", stdout)
	require.Equal(t, "Nothing was changed (--dry-run).\n", stderr)
	require.Equal(t, planner, rig.Read(t, "keys.d/planner.yaml"))

	stdout, _ = allow(0, "add", "planner", "PUT /order", "GET /order", "* /contact", "GET /contact")
	require.Equal(t, "planner may do GET /order already, by \"GET /order\" at keys.d/planner.yaml:8.\nkeys.d/planner.yaml changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", stdout)
	require.Equal(t, strings.Replace(planner, "'GET /order'\n", "'GET /order'\n      - \"PUT /order\"\n      - \"* /contact\"\n      - \"GET /contact\"\n", 1), rig.Read(t, "keys.d/planner.yaml"))
	stdout, _ = allow(0, "remove", "planner", "GET /contact")
	require.Contains(t, stdout, "planner may do GET /contact still, by \"* /contact\" at keys.d/planner.yaml:10.\n")
	allow(0, "remove", "planner", "PUT /order", "* /contact")
	require.Equal(t, planner, rig.Read(t, "keys.d/planner.yaml"))
	stdout, _ = allow(0, "add", "planner", "GET /order")
	require.Contains(t, stdout, "Nothing is to be changed.\n")

	for _, c := range []struct {
		code int
		args []string
		said string
	}{
		{2, []string{"remove", "planner", "GET /vehicle"}, "expected \"GET /vehicle/1\" with planner to be allowed, and it is refused: no entry of the allowlist of "},
		{2, []string{"add", "planner", "DELETE /order"}, "expected \"DELETE /order/1\" with planner to be refused, and it is allowed by \"DELETE /order\" at "},
		{2, []string{"add", "planner", "GET /oder"}, "found \"GET /oder\", no such endpoint, did you mean GET /order?"},
		{2, []string{"add", "planner", "GET order"}, "\"GET order\": expected a path that begins with /"},
		{1, []string{"remove", "planner", "GET /contact"}, "planner has no entry \"GET /contact\""},
		{1, []string{"remove", "webshop", "GET /vehicle"}, "webshop has no entry \"GET /vehicle\"; what grants it is \"* /vehicle\" at frontdesk.yaml:11"},
		{1, []string{"add", "planer", "GET /order"}, "there is no key planer in the configuration, did you mean planner?"},
		{2, []string{"add", "planner", "GET /contact", "--config", "none.yaml"}, "none.yaml"},
	} {
		stdout, stderr := allow(c.code, c.args...)
		require.Contains(t, stderr, c.said)
		require.Empty(t, stdout)
		require.NotContains(t, stderr, "frontdesk-key-", "the folder that it is tried in is nobody's business")
		require.Equal(t, planner, rig.Read(t, "keys.d/planner.yaml"))
	}

	before := rig.Read(t, "frontdesk.yaml")
	allow(0, "remove", "webshop", "GET /order")
	require.Equal(t, strings.Replace(before, "      - GET /order\n", "", 1), rig.Read(t, "frontdesk.yaml"), "a key among others, in the main file")
	byHand := strings.Replace(planner, "- 'GET /order'", "- \"GET /\\x6frder\"", 1)
	require.NoError(t, os.WriteFile("keys.d/planner.yaml", []byte(byHand), 0o600))
	_, stderr = allow(1, "add", "planner", "PUT /order")
	require.Contains(t, stderr, "the entry in line 8 is written in an unusual way; this file is changed by hand only\nNothing was changed. In keys.d/planner.yaml, under allow of planner (keys.d/planner.yaml:3) write\n\n  - \"PUT /order\"\n")
}

// TestAllowAgainstTheLog: what was asked for is not refused by mistake, and learn writes what it
// proposes.
func TestAllowAgainstTheLog(t *testing.T) {
	plannersFolder(t)
	log := logLine("2026-11-10T10:00:00.000Z", "planner", "GET", "/order", 200, "", "") +
		logLine("2026-11-10T10:00:00.000Z", "planner", "GET", "/contact", 400, "endpoint_unknown", "") +
		logLine("2026-11-10T11:00:00.000Z", "planner", "GET", "/vehicle/{id}", 404, "record_not_found", "") +
		logLine("2026-11-10T11:00:00.000Z", "webshop", "GET", "/contact", 200, "", "") +
		logLine("2026-11-10T12:00:00.000Z", "webshop", "GET", "/order", 200, "", "")
	require.NoError(t, os.WriteFile("access.log", []byte(log), 0o600))
	code, stdout, stderr := cli("", "allow", "remove", "planner", "GET /order", "--log", "access.log")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "newly refused: 1 request\n")
	require.Equal(t, "frontdesk: 1 request would be newly refused (--anyway changes it nevertheless); nothing was changed\n", stderr)
	require.Equal(t, planner, rig.Read(t, "keys.d/planner.yaml"))
	code, stdout, stderr = cli(log, "allow", "add", "planner", "GET /contact", "--log", "-", "--dry-run")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "+      - \"GET /contact\"\n")
	require.Contains(t, stdout, "newly allowed: 1 request\n")
	code, _, stderr = cli("", "allow", "remove", "planner", "GET /order", "--log", "access.log", "--anyway")
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, rig.Read(t, "keys.d/planner.yaml"), "/order")

	main := rig.Read(t, "frontdesk.yaml")
	learn := []string{"allow", "learn", "--key", "webshop", "access.log", "--write"}
	code, stdout, stderr = cli("", append(learn, "--dry-run")...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "-      - \"* /vehicle\"\n")
	require.Equal(t, main, rig.Read(t, "frontdesk.yaml"))
	code, stdout, stderr = cli("", learn...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "frontdesk.yaml changed.")
	require.Equal(t, strings.Replace(strings.Replace(main, "      - \"* /vehicle\"\n", "", 1), "      - GET /model/*\n", "", 1), rig.Read(t, "frontdesk.yaml"))
	code, stdout, _ = cli("", learn...)
	require.Equal(t, 0, code)
	require.Equal(t, "Nothing is to be changed.\n", stdout)
	for _, args := range [][]string{{"--dry-run"}, {"--demo", "--write"}} {
		code, _, stderr = cli("", append([]string{"allow", "learn", "--key", "webshop", "access.log"}, args...)...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "--write is for a configuration in a file, and --dry-run goes with --write")
	}
}
