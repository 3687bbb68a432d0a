package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
)

// unwise has every finding that needs no access log.
func unwise() map[string]string {
	demo := sha256.Sum256([]byte(desk.DemoOrdersKey))
	return map[string]string{
		"frontdesk.yaml": `server:
  listen: "0.0.0.0:8080"
  drain_delay: 30s
  shutdown_timeout: 30s
ops: {listen: "198.51.100.7:9090"}
include: [keys.yaml, "keyz.d/*.yaml", "keys.d/*.yaml"]
`,
		"keys.yaml": `api_keys:
  - name: demo
    key_sha256: ["` + fmt.Sprintf("%x", demo) + `"]
    rate: {per_second: 50, burst: 10}
    allow:
      - GET /*
      - "* /vehicle"
      - "* /model/*"
      - DELETE /order
      - POST /*
  - name: old
    key_sha256: ["` + shopHash + `", {hash: "` + reportsHash + `", expires: 2020-01-01}]
    expires: 2999-12-31
  - name: twice
    key_sha256: ["` + strings.Repeat("ab", 32) + `", "` + strings.Repeat("cd", 32) + `"]
    expires: 2999-01-01
    rate: {per_second: 1, burst: 5}
    allow: ["GET /order"]
    webhook_secret: ["short"]
  - name: gone
    key_sha256: [{hash: "` + strings.Repeat("ef", 32) + `", expires: 2020-01-01}]
    expires: 2021-12-31
`,
		"keys.d/unread.yml": "",
	}
}

func TestAuditFindsWhatIsUnwise(t *testing.T) {
	writeFiles(t, unwise())
	code, stdout, stderr := cli("", "audit", "--config", "frontdesk.yaml")
	require.Equal(t, 1, code)
	require.Equal(t, "frontdesk: 1 finding of severity error or worse\n", stderr)
	var found []string
	for line := range strings.Lines(stdout) {
		if at := strings.Index(line, ": "); strings.HasSuffix(line, "]\n") && line[0] != ' ' {
			severity, _, _ := strings.Cut(line[at+2:], ":")
			found = append(found, line[:at]+" "+severity+" "+line[strings.LastIndex(line, "["):len(line)-1])
		}
	}
	require.Equal(t, []string{
		"keys.yaml:2 error [demo-key]",
		"frontdesk.yaml:2 warning [tls-off]",
		"frontdesk.yaml:5 warning [ops-public]",
		"frontdesk.yaml:6 warning [include-finds-nothing]",
		"frontdesk.yaml:6 warning [include-misses]",
		"keys.yaml:2 warning [key-without-expiry]",
		"keys.yaml:7 warning [wildcard-write]",
		"keys.yaml:10 warning [wildcard-write]",
		"keys.yaml:11 warning [no-limit]",
		"keys.yaml:14 warning [hashes-overlap]",
		"keys.yaml:14 warning [webhook-secret-short]",
		"keys.yaml:20 warning [key-expired]", // and nothing else of what has ended
		"frontdesk.yaml:3 note [stop-takes-long]",
		"frontdesk.yaml:6 note [include-finds-nothing]",
		"keys.yaml:18 note [array-withheld]",
	}, found, stdout)
	require.Contains(t, stdout, "\n4 api_keys in 2 files: 1 error, 11 warnings, 3 notes\n")
}

// TestAuditFails tells pipelines apart by what they want to hear of.
func TestAuditFails(t *testing.T) {
	writeFiles(t, map[string]string{"frontdesk.yaml": `api_keys:
  - {name: webshop, key_sha256: ["` + shopHash + `"], per_day: 10, allow: ["GET /vehicle"]}
`})
	for failOn, want := range map[string]int{"error": 0, "warning": 1, "note": 1, "never": 0} {
		code, stdout, _ := cli("", "audit", "--config", "frontdesk.yaml", "--fail-on", failOn, "--json")
		require.Equal(t, want, code, failOn)
		var report struct {
			Findings []struct{ Rule, Severity, Key string }
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &report))
		require.Len(t, report.Findings, 1)
		require.Equal(t, "warning", report.Findings[0].Severity)
		require.Equal(t, "key-without-expiry", report.Findings[0].Rule)
		require.Equal(t, "webshop", report.Findings[0].Key)
	}
}

// TestAuditOfAccessLogs finds what nobody used.
func TestAuditOfAccessLogs(t *testing.T) {
	writeFiles(t, map[string]string{
		"frontdesk.yaml": `api_keys:
  - name: webshop
    key_sha256: ["` + shopHash + `"]
    expires: 2999-01-01
    allow:
      - GET /order
      - POST /order
      - "* /vehicle"
  - {name: idle, key_sha256: ["` + reportsHash + `"], expires: 2999-01-01, allow: ["GET /order"]}
`,
		"access.log": `{"ts":"2026-11-20T10:00:00.000Z","msg":"request","key":"webshop","method":"GET","endpoint":"/vehicle","status":200}
{"ts":"2026-11-20T10:00:00.000Z","msg":"request","key":"webshop","method":"GET","endpoint":"/order","status":200}
{"ts":"2026-11-20T11:00:00.000Z","msg":"request","key":"webshop","method":"POST","endpoint":"/order","status":400,"reason":"endpoint_unknown"}
`})
	code, stdout, stderr := cli("", "audit", "--config", "frontdesk.yaml", "access.log")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "frontdesk.yaml:7: warning: webshop: POST /order was not used in ")
	require.NotContains(t, stdout, "GET /order was not used")
	require.Contains(t, stdout, "frontdesk.yaml:8: note: webshop: * /vehicle was used but for POST /vehicle, PUT /vehicle, DELETE /vehicle [grant-used-in-part]")
	require.Contains(t, stdout, "frontdesk.yaml:9: warning: idle: it was not used in ")
	require.Contains(t, stdout, "Mind that the logs cover ")
	require.NoError(t, os.Remove("access.log"))
	code, _, stderr = cli("", "audit", "--config", "frontdesk.yaml", "access.log")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "access.log")
}
