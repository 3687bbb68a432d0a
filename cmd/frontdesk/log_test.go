package main

import (
	"os"
	"strings"
	"testing"

	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"

	"github.com/stretchr/testify/require"
)

// TestLogTop counts requests by whose they are and what they ask for, and tells how long
// they took, in whole and in the administration.
func TestLogTop(t *testing.T) {
	t.Chdir(t.TempDir())
	var log strings.Builder
	for i := range 100 {
		log.WriteString(accesslogtest.Request("2026-11-22T02:00:00.000Z", "x", "webshop", "Garage Jansen", "/order", 200, "duration", 0.001*float64(i+1), "backend", 0.0005*float64(i+1)))
	}
	for range 10 {
		log.WriteString(accesslogtest.Request("2026-11-22T02:30:00.000Z", "x", "planner", "Garage Smit", "/vehicle/{id}", 500, "duration", 2.5, "backend", 2.4))
		log.WriteString(strings.ReplaceAll(accesslogtest.Request("2026-11-22T03:30:00.000Z", "x", "", "", "", 400, "method", "OTHER", "duration", 0), `,"backend":0.0085`, ""))
	}
	log.WriteString(accesslogtest.Night("2026-11-01"))
	require.NoError(t, os.WriteFile("night.log", []byte(log.String()), 0o600))
	for args, want := range map[string]string{
		"--since,2026-11-22,night.log": `120 requests from 2026-11-22 02:00 UTC to 2026-11-22 03:30 UTC
KEY        REQUESTS  ERRORS  5XX  P50    P95    P99    BACKEND P95
webshop    100       0       0    51 ms  95 ms  99 ms  48 ms
not known  10        10      0    0      0      0      -
planner    10        10      10   2.5 s  2.5 s  2.5 s  2.41 s
all 3      120       20      10   51 ms  2.5 s  2.5 s  2.41 s
`,
		"--by,client,--sort,errors,--limit,1,--since,2026-11-22,--until,2026-11-22T03:00:00Z,night.log": `110 requests from 2026-11-22 02:00 UTC to 2026-11-22 02:30 UTC
CLIENT       REQUESTS  ERRORS  5XX  P50    P95    P99    BACKEND P95
Garage Smit  10        10      10   2.5 s  2.5 s  2.5 s  2.41 s
all 2        110       10      10   56 ms  2.5 s  2.5 s  2.41 s
`,
		"--by,endpoint,--sort,p95,--since,2026-11-22,night.log": `120 requests from 2026-11-22 02:00 UTC to 2026-11-22 03:30 UTC
ENDPOINT           REQUESTS  ERRORS  5XX  P50    P95    P99    BACKEND P95
GET /vehicle/{id}  10        10      10   2.5 s  2.5 s  2.5 s  2.41 s
GET /order         100       0       0    51 ms  95 ms  99 ms  48 ms
no endpoint        10        10      0    0      0      0      -
all 3              120       20      10   51 ms  2.5 s  2.5 s  2.41 s
`,
	} {
		code, out, problems := cli("", append([]string{"log", "top"}, strings.Split(args, ",")...)...)
		require.Zero(t, code, problems)
		require.Equal(t, want, out, args)
	}
	code, out, problems := cli("", "log", "top", "--since", "2099-01-01", "night.log")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Equal(t, "frontdesk: there is no line of an access log in that time\n", problems)
}

// TestLogChanges tells what was changed and when frontdesk was started, of whatever kind.
func TestLogChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	log := accesslogtest.Night("2026-11-22") +
		accesslogtest.Line("2026-11-22T06:00:00.000Z", "logger", "audit", "msg", "a new kind", "who", "jan", "count", 1234567, "none", nil, "list", []string{}, "trick", "a\x1b[31m") +
		accesslogtest.Line("2026-11-22T06:00:00.000Z", "msg", "somebody says \"logger\":\"audit\"") + `{"logger":"audit"` + "\n"
	require.NoError(t, os.WriteFile("night.log", []byte(log), 0o600))
	code, out, problems := cli("", "log", "changes", "night.log")
	require.Zero(t, code, problems)
	require.Equal(t, `2026-11-22 00:00:01 UTC  started: base_url http://x; config df71783b058e; version 1.2
2026-11-22 01:30:00 UTC  configuration refused, the one before stays in force: trigger SIGHUP; config df71783b058e; problems keys.d/webshop.yaml:1:1: unknown key
2026-11-22 02:11:58 UTC  configuration changed: from df71783b058e; to 928fc90c649e; trigger file change; files keys.d/webshop.yaml by root(0) at 2026-11-22T02:11:58Z; api_keys webshop
2026-11-22 02:11:58 UTC  api_key changed: key webshop; changes removed
2026-11-22 06:00:00 UTC  a new kind: who jan; count 1234567; trick "a\x1b[31m"
`, out)
	code, out, _ = cli(log, "log", "changes", "--since", "2026-11-22 02:00", "--until", "2026-11-22 03:00", "-")
	require.Zero(t, code)
	require.Equal(t, 2, strings.Count(out, "\n"), out)
	code, _, problems = cli("", "log", "changes", "--since", "2026-11-23", "night.log")
	require.Equal(t, 1, code)
	require.Equal(t, "frontdesk: there is no line of a change in that time\n", problems)
}
