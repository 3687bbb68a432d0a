package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// arrayKeys may use orders: the one with its lines, the other without, and the
// third sends them.
const arrayKeys = `  - {name: plain, key_sha256: ["` + reportsHash + `"], allow: ["GET /order", "POST /order"]}
  - {name: whole, key_sha256: ["` + shopHash + `"], allow: ["GET /order", "GET /orderline"]}
`

// arrayLine is a line of the access log of a request with query and arrays.
func arrayLine(key, method, endpoint string, status int, reason, query, needs, rest string) string {
	return fmt.Sprintf(`{"level":"info","ts":"2026-11-10T10:00:00.000Z","msg":"request","key":%q,"method":%q,"endpoint":%q,"query":[%s],"status":%d,"reason":%q%s%s}`+"\n",
		key, method, endpoint, query, status, reason, needs, rest)
}

// TestArraysInTheAudit names the keys whose arrays the allowlist withholds.
func TestArraysInTheAudit(t *testing.T) {
	toolsFolder(t, arrayKeys)
	code, out, problems := cli("", "audit", "--config", "frontdesk.yaml")
	require.Zero(t, code, problems)
	require.Equal(t, 2, strings.Count(out, "[array-withheld]"), out)
	require.Contains(t, out, `frontdesk.yaml:5: note: plain: GET /order without GET /orderline: it does not see the orderlines [array-withheld]
    → allow GET /orderline where it needs them, which is that endpoint too
`)
	require.Contains(t, out, "frontdesk.yaml:5: note: plain: POST /order without POST /orderline: it cannot send orderlines [array-withheld]\n")
}

// TestArraysInWhatif tells of those whose requests had arrays.
func TestArraysInWhatif(t *testing.T) {
	toolsFolder(t, arrayKeys)
	const gets, posts = `,"needs":["GET /orderline"]`, `,"needs":["POST /orderline"]`
	log := arrayLine("plain", "GET", "/order/{id}", 200, "", `"fields"`, gets, "") +
		arrayLine("whole", "GET", "/order/{id}", 200, "", `"fields"`, gets, "") +
		arrayLine("whole", "GET", "/order/{id}", 403, "field_not_in_model", `"fields"`, gets, `,"lacks":["GET /orderline"]`) +
		arrayLine("plain", "POST", "/order", 403, "field_not_in_model", "", posts, `,"lacks":["POST /orderline"]`) +
		arrayLine("plain", "POST", "/order", 201, "", "", `,"needs":[]`, "")
	require.NoError(t, os.WriteFile("access.log", []byte(log), 0o600))
	code, out, problems := cli("", "whatif", "--config", "frontdesk.yaml", "access.log")
	require.Equal(t, 1, code)
	require.Equal(t, "frontdesk: 1 request would be newly refused\n", problems)
	require.Equal(t, `frontdesk.yaml judged against 5 requests from 2026-11-10 10:00 UTC to 2026-11-10 10:00 UTC
newly refused: 1 request; newly allowed: 1 request; unchanged: 3 requests; not judged, without a session or for what nobody is offered: 0 requests

NEWLY    KEY    METHOD  ENDPOINT     REQUESTS  LAST SEEN             WHY
refused  plain  GET     /order/{id}  1         2026-11-10 10:00 UTC  GET /orderline is not in its allowlist, and its arrays need it
allowed  whole  GET     /order/{id}  1         2026-11-10 10:00 UTC  granted now
`, out)
}

// TestArraysAreLearned: a list that is learned grants what the arrays of the
// requests took.
func TestArraysAreLearned(t *testing.T) {
	toolsFolder(t, arrayKeys)
	log := arrayLine("plain", "POST", "/order", 201, "", "", `,"needs":["POST /orderline"]`, "") +
		arrayLine("plain", "GET", "/order/{id}", 403, "field_not_in_model", `"fields"`, `,"needs":["GET /orderline"]`, `,"lacks":["GET /orderline"]`)
	require.NoError(t, os.WriteFile("access.log", []byte(log), 0o600))
	_, out, _ := cli("", "allow", "learn", "--config", "frontdesk.yaml", "--key", "plain", "access.log")
	require.Equal(t, `# plain (frontdesk.yaml:5): 2 requests from 2026-11-10 10:00 UTC to 2026-11-10 10:00 UTC
allow:
  - "GET /order"      # 1 request, last 2026-11-10 10:00 UTC
  - "POST /order"     # 1 request, last 2026-11-10 10:00 UTC
  - "POST /orderline" # 1 request, last 2026-11-10 10:00 UTC
# was refused, and is not included:
#   GET /orderline  1 request, last 2026-11-10 10:00 UTC
`, out)
}

// TestArraysAreLoggedAsTheyAreJudged: the log of a desk is what the tools read.
func TestArraysAreLoggedAsTheyAreJudged(t *testing.T) {
	d := rig.OnSQLite(t, rig.Options{Keys: rig.KeyConfig("plain", rig.ArrayKey(0), "    allow: [\"* /order\"]\n")})
	plain, full := d.Login(rig.ArrayKey(0), "demo"), d.Login(rig.FullKey, "demo")
	require.Equal(t, 403, d.Call("GET", "/order/1?fields=orderlines", plain, "").Status)
	require.Equal(t, 403, d.Call("POST", "/order", plain, rig.OrderWithLine).Status)
	id := d.Create(full, "order", rig.OrderWithLine)
	d.Create(plain, "order", rig.BareOrder+"}")
	require.Equal(t, 409, d.Call("PUT", fmt.Sprintf("/order/%d", id), full, `{"orderlines":[{}]}`).Status)

	d.Shutdown()
	for _, line := range []string{
		`"endpoint":"/order/{id}","query":["fields"],"status":403,"reason":"field_not_in_model"~"needs":["GET /orderline"],"lacks":["GET /orderline"]`,
		`"key":"plain"~"endpoint":"/order","query":[],"status":403,"reason":"field_not_in_model"~"needs":["POST /orderline"],"lacks":["POST /orderline"]`,
		`"key":"full"~"endpoint":"/order","query":[],"status":201~"needs":["POST /orderline"],"cause"`,
		`"key":"plain"~"endpoint":"/order","query":[],"status":201~"needs":[],"cause"`,
		`"endpoint":"/order/{id}","query":[],"status":409~"needs":[],"cause"`,
	} {
		requireLine(t, d.Log.String(), strings.Split(line, "~"))
	}
}

// requireLine holds one line of a log to having all of the parts.
func requireLine(t *testing.T, log string, parts []string) {
	t.Helper()
	for line := range strings.Lines(log) {
		missing := false
		for _, part := range parts {
			missing = missing || !strings.Contains(line, part)
		}
		if !missing {
			return
		}
	}
	t.Errorf("no line has %q", parts)
}

// TestArraysAreExplained tells what an array lacks, and where one is missing in
// silence.
func TestArraysAreExplained(t *testing.T) {
	toolsFolder(t, arrayKeys)
	ask := func(key, request, body string) string {
		require.NoError(t, os.WriteFile("body.json", []byte(body), 0o600))
		args := []string{"explain", "--config", "frontdesk.yaml", "--key", key, request}
		if body != "" {
			args = append(args, "--body", "body.json")
		}
		code, out, problems := cli("", args...)
		require.Zero(t, code, problems)
		return out
	}
	out := ask("plain", "GET /order/5?fields=orderlines", "")
	require.Contains(t, out, "plain: GET /order/5 is REFUSED, answered 403\n  decided by allowlist, of an array that the request names\n")
	require.Contains(t, out, `to grant   add to its allow:  - "GET /orderline"`)
	require.Contains(t, out, rig.NoOrderlines)
	out = ask("plain", "GET /order/5", "")
	require.Contains(t, out, "is ALLOWED\n")
	require.Contains(t, out, "  without    orderlines, which need GET /orderline\n")
	out = ask("plain", "POST /order", rig.OrderWithLine)
	require.Contains(t, out, `to grant   add to its allow:  - "POST /orderline"`)
	require.NotContains(t, ask("whole", "GET /order/5?fields=orderlines", ""), "orderlines")
}
