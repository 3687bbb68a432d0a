package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// toolsConfig is a configuration for the tools; %s is what api_keys it has.
const toolsConfig = `
server: {listen: 127.0.0.1:0}
backend: {dsn: "sqlite:none.db"}
api_keys:
%s`

const webshop = `  - name: webshop
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    expires: 2099-12-31
    rate: {per_second: 50, burst: 100}
    allow:
      - GET /order
      - "* /vehicle"
      - GET /contact
      - GET /model/*
`

const orders = `  - name: orders
    key_sha256: ["c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"]
    allow: ["GET /order"]
`

// toolsFolder holds frontdesk.yaml with the keys, and is where the test runs.
func toolsFolder(t *testing.T, keys ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("frontdesk.yaml", fmt.Appendf(nil, toolsConfig, strings.Join(keys, "")), 0o600))
}

// logLine is a line of the access log as the gateway writes it.
func logLine(at, key, method, endpoint string, status int, reason string) string {
	return fmt.Sprintf(`{"level":"info","ts":%q,"msg":"request","request_id":"x","key":%q,"client":"Demo","method":%q,"endpoint":%q,"query":[],"status":%d,"reason":%q,"duration":0.001,"bytes":10,"address":"127.0.0.1","config":""}`+"\n",
		at, key, method, endpoint, status, reason)
}

// writeLogs writes a log of the week before and a packed one, with other lines
// between those of the access log.
func writeLogs(t *testing.T) {
	t.Helper()
	recent := logLine("2026-11-10T10:00:00.000Z", "webshop", "GET", "/order", 200, "") +
		logLine("2026-11-10T11:00:00.000Z", "webshop", "GET", "/order/{id}", 404, "record_not_found") +
		`{"level":"info","ts":"2026-11-10T11:00:00.000Z","msg":"config loaded"}` + "\n" +
		"panic: something that another program wrote\n" +
		logLine("2026-11-11T10:00:00.000Z", "webshop", "GET", "/vehicle", 200, "") +
		logLine("2026-11-12T10:00:00.000Z", "webshop", "POST", "/contact", 201, "") +
		logLine("2026-11-12T10:30:00.000Z", "webshop", "DELETE", "/order/{id}", 400, "method_unsupported") +
		logLine("2026-11-12T11:00:00.000Z", "webshop", "GET", "/authenticate/acces", 200, "") +
		logLine("2026-11-12T11:30:00.000Z", "", "GET", "", 400, "endpoint_unknown") +
		logLine("2026-11-12T11:40:00.000Z", "", "GET", "/order", 401, "token_invalid") +
		logLine("2026-11-12T12:00:00.000Z", "orders", "GET", "/order", 200, "")
	require.NoError(t, os.WriteFile("access.log", []byte(recent), 0o600))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, logLine("2026-10-01T10:00:00.000Z", "webshop", "GET", "/contact/{id}", 200, ""))
	fmt.Fprint(w, logLine("2026-11-09T10:00:00.000+0100", "webshop", "GET", "/old/{id}", 200, ""))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile("access.log.1.gz", packed.Bytes(), 0o600))
}

const shortLogs = "frontdesk: the logs cover 3d3h only: what is done once a month or once a year does not show in them\n"

func TestAllowLearn(t *testing.T) {
	toolsFolder(t, webshop, orders)
	writeLogs(t)
	code, out, problems := cli("", "allow", "learn", "--config", "frontdesk.yaml", "--key", "webshop", "--since", "2026-11-01", "access.log", "access.log.1.gz")
	require.Zero(t, code, problems)
	require.Equal(t, shortLogs, problems)
	list, rest, _ := strings.Cut(out, "# of the present")
	require.Equal(t, `# webshop (frontdesk.yaml:5): 10 requests from 2026-11-09 09:00 UTC to 2026-11-12 12:00 UTC, 1 older one left out, 2 other lines passed over
allow:
  - "GET /order"    # 2 requests, last 2026-11-10 11:00 UTC
  - "POST /contact" # 1 request, last 2026-11-12 10:00 UTC
  - "GET /vehicle"  # 1 request, last 2026-11-11 10:00 UTC
`, list)
	require.Equal(t, ` list these are left out:
#   * /vehicle  used in part: 1 of the 4 that it grants
#   GET /contact  not used
#   GET /model/*  not used
# was refused, and is not included:
#   DELETE /order  1 request, last 2026-11-12 10:30 UTC
`, rest)

	learned := strings.Replace(orders, "orders", "webshop", 1)
	_, list, _ = strings.Cut(list, "\n")
	learned = learned[:strings.Index(learned, "    allow:")] + "    " + strings.ReplaceAll(strings.TrimSpace(list), "\n", "\n    ") + "\n"
	toolsFolderWith(t, "learned.yaml", learned)
	code, out, problems = cli("", "whatif", "--config", "learned.yaml", "--key", "webshop", "--since", "2026-11-10", "access.log")
	require.Zero(t, code, "with what was learned nothing of it is refused: %s%s", out, problems)
	code, out, _ = cli("", "allow", "learn", "--config", "learned.yaml", "--key", "webshop", "access.log")
	require.Zero(t, code)
	require.NotContains(t, out, "left out:", "every entry was used in full")
}

// toolsFolderWith puts a further configuration into the folder.
func toolsFolderWith(t *testing.T, file string, keys ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, toolsConfig, strings.Join(keys, "")), 0o600))
}

// TestForgedLines: a line that the gateway did not write forges nothing, on no screen
// and in no allowlist.
func TestForgedLines(t *testing.T) {
	toolsFolder(t, webshop)
	line := `{"ts":"2026-11-10T10:00:00.000Z","msg":"request","key":"webshop","method":"GET","endpoint":%q,"status":200}` + "\n"
	require.NoError(t, os.WriteFile("access.log", []byte(fmt.Sprintf(line, "/order")+
		strings.ReplaceAll(fmt.Sprintf(line, "/x\n  - \"* /*\" # \x1b[31m"), `\x1b`, `\u001b`)), 0o600))
	for _, command := range []string{"allow learn --key webshop", "audit", "whatif"} {
		_, out, problems := cli("", append(strings.Fields(command), "--config", "frontdesk.yaml", "access.log")...)
		require.NotContains(t, out+problems, "\x1b", command)
		require.NotContains(t, out+problems, "\n  - \"* /*\"", command)
	}
	_, out, _ := cli("", "whatif", "--config", "frontdesk.yaml", "access.log")
	require.Contains(t, out, `GET     "/x\n  - \"* /*\" # \x1b[31m"  1 `, "it is told, and quoted")
}

func TestAllowLearnNothing(t *testing.T) {
	toolsFolder(t, webshop, orders)
	writeLogs(t)
	code, out, problems := cli("", "allow", "learn", "--config", "frontdesk.yaml", "--key", "orders", "--since", "2026-11-13", "access.log")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Equal(t, "frontdesk: nothing was learned: no line of an access log in that time, 9 older ones left out, 2 other lines passed over, and none of them was one of orders that an allowlist governs and that was served\n", problems)
}

func TestWhatif(t *testing.T) {
	toolsFolder(t, webshop, orders)
	writeLogs(t)
	code, out, problems := cli("", "whatif", "--config", "frontdesk.yaml", "--since", "2026-11-10", "access.log")
	require.Equal(t, 1, code)
	require.Equal(t, "frontdesk: 1 request would be newly refused\n", problems)
	require.Equal(t, `frontdesk.yaml judged against 9 requests from 2026-11-10 10:00 UTC to 2026-11-12 12:00 UTC, 2 other lines passed over
newly refused: 1 request; newly allowed: 0 requests; unchanged: 6 requests; not judged, without a session or for what nobody is offered: 2 requests

NEWLY    KEY      METHOD  ENDPOINT  REQUESTS  LAST SEEN             WHY
refused  webshop  POST    /contact  1         2026-11-12 10:00 UTC  not in its allowlist
`, out)

	toolsFolderWith(t, "new.yaml", strings.Replace(webshop, "GET /contact", "DELETE /order", 1))
	code, out, problems = cli("", "whatif", "--config", "new.yaml", "access.log", "access.log.1.gz")
	require.Equal(t, 1, code, "the key of orders is gone")
	require.Equal(t, "frontdesk: 4 requests would be newly refused\n", problems)
	for _, want := range []string{
		`(?m)^newly refused: 4 requests; newly allowed: 1 request; `, `(?m)^refused +orders +GET +/order +1 .* there is no such api_key: its sessions end$`, `(?m)^refused +webshop +POST +/contact +1 .* not in its allowlist$`,
		`(?m)^refused +webshop +GET +/contact/\{id\} +1 .* not in its allowlist$`, `(?m)^refused +webshop +GET +/old/\{id\} +1 .* there is no such operation$`,
		`(?m)^allowed +webshop +DELETE +/order/\{id\} +1 .* granted now$`,
	} {
		require.Regexp(t, want, out)
	}

	code, out, _ = cli("", "whatif", "--config", "new.yaml", "--at", "2100-01-02", "--key", "webshop", "access.log")
	require.Equal(t, 1, code)
	require.Contains(t, out, "the api_key has expired: its sessions end")
}

// An operation that answers by callback from now on refuses those who do not tell
// where to call.
func TestWhatifCallback(t *testing.T) {
	toolsFolder(t, webshop)
	writeLogs(t)
	text, err := os.ReadFile("frontdesk.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("frontdesk.yaml", append([]byte("callbacks: [GET /vehicle]\n"), text...), 0o600))
	_, out, _ := cli("", "whatif", "--config", "frontdesk.yaml", "--key", "webshop", "access.log")
	require.Regexp(t, `GET +/vehicle +1 .* answers by callback, and requires webhook_url`, out)
}

func TestExplainCommand(t *testing.T) {
	toolsFolder(t, webshop)
	code, out, problems := cli("", "explain", "--config", "frontdesk.yaml", "--key", "webshop", "DELETE /order/5?x=1")
	require.Zero(t, code, problems)
	require.Equal(t, `webshop: DELETE /order/5 is REFUSED, answered 400
  decided by allowlist
  operation  DELETE /order/{id}
  nearest    frontdesk.yaml:10  GET /order (the same endpoint, another method)
  to grant   add to its allow:  - "DELETE /order"
  key        frontdesk.yaml:5; its limits, addresses and certificates are not judged here
  answer     as sent, but for request_id, which is a placeholder:
{"errorCode":400,"message":"Method: DELETE not supported for endpoint: /order/5","reason":"method_unsupported","request_id":"00000000-0000-4000-8000-000000000000"}
`, out)
	for request, want := range map[string]string{
		"GET https://api.example.nl/webservice_v2/vehicle/5": "granted by frontdesk.yaml:11  * /vehicle\n",
		"GET /vehicle/5 HTTP/1.1":                            "webshop: GET /vehicle/5 is ALLOWED\n",
		"GET /webservice_v2/vehicle/5":                       "webshop: GET /vehicle/5 is ALLOWED\n",
		"GET /webservice_v2/vehicle/6?x=1":                   "hint       /webservice_v2 was read as the base path; if an answer says \"Invalid endpoint: /webservice_v2/vehicle/6\", the request had it twice\n",
		"GET https://x/webservice_v2/webservice_v2/vehicle":  "webshop: GET /webservice_v2/vehicle is REFUSED, answered 400\n",
		"GET /vehicle/":                                      "expected a path without / at the end: paths are compared as they are sent, nothing is decoded or cleaned\n",
		"GET /vehikle":                                       "there is no such endpoint, did you mean /vehicle?\n",
		"POST /vehicle/5":                                    "this path takes GET, PUT, DELETE",
		"GET https://api.example.nl/v1/order":                "the path is not below server.base_path, /webservice_v2\n",
		"PUT /vehicle/5":                                     "the body is judged next (give one with --body)",
		"GET /vehicle?page=0":                                "decided by query\n",
		"GET /contacts":                                      "did you mean /contact?",
	} {
		code, out, problems := cli("", "explain", "--config", "frontdesk.yaml", "--key", "webshop", request)
		require.Zero(t, code, problems)
		require.Contains(t, out, want, request)
	}
	require.NoError(t, os.WriteFile("body.json", []byte(`{"colour":1}`), 0o600))
	_, out, _ = cli("", "explain", "--config", "frontdesk.yaml", "--key", "webshop", "PUT", "/vehicle/5", "--body", "body.json")
	require.Contains(t, out, `"message":"Field: colour not found in model"`)
	_, out, _ = cli("", "explain", "--config", "frontdesk.yaml", "--key", "webshop", "--no-session", "GET /vehicle")
	require.Contains(t, out, "the request has no token: GET /authenticate gives one\n")
	_, out, _ = cli("", "explain", "--config", "frontdesk.yaml", "--key", "webshop", "GET /authenticate?username=geheim1&password=geheim2&api_key=geheim3&geheim4=1")
	require.NotContains(t, out, "geheim")
}

func TestExplainMisuse(t *testing.T) {
	toolsFolder(t, webshop)
	require.NoError(t, os.WriteFile("large", make([]byte, 16<<20+1), 0o600))
	for line, want := range map[string]string{
		"--key webshop order":                    "expected a method and a path that begins with /, such as 'DELETE /order/5?x=1'\n",
		"--key webshop GET order":                "expected a method and a path that begins with /, such as 'DELETE /order/5?x=1'\n",
		"--key webship GET /order":               "--key webship: there is no api_key of that name, did you mean webshop?; frontdesk key list shows which there are\n",
		"--key x9 GET /order":                    "--key x9: there is no api_key of that name; frontdesk key list shows which there are\n",
		"--key webshop POST /order --body large": "--body: more than 16,777,216 bytes, which the gateway answers with 413 before it judges anything (server.body_limit)\n",
	} {
		code, out, problems := cli("", append([]string{"explain"}, strings.Fields(line+" --config frontdesk.yaml")...)...)
		require.Equal(t, 2, code, line)
		require.Empty(t, out, line)
		require.Equal(t, "frontdesk: "+want, problems, line)
	}
}

func TestAccessLogThatCannotBeRead(t *testing.T) {
	toolsFolder(t, webshop)
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	broken := write("broken.gz", "\x1f\x8bnothing")
	long := write("long.log", strings.Repeat("x", 3<<20)+"\n"+logLine("2026-11-10T10:00:00.000Z", "webshop", "GET", "/order", 200, ""))
	for log, want := range map[string]string{
		"none.log": "access log: open none.log: no such file or directory\n",
		broken:     "access log: broken.gz: unexpected EOF\n",
	} {
		code, _, problems := cli("", "audit", "--config", "frontdesk.yaml", log)
		require.Equal(t, 2, code)
		require.Equal(t, "frontdesk: "+want, problems)
	}
	_, out, _ := cli("", "audit", "--config", "frontdesk.yaml", long)
	require.Contains(t, out, "1 request from 2026-11-10 10:00 UTC to 2026-11-10 10:00 UTC, 1 other line passed over.\n")
	data, err := os.ReadFile(long)
	require.NoError(t, err)
	_, same, _ := cli(string(data), "audit", "--config", "frontdesk.yaml", "-")
	require.Equal(t, out, same)
	code, _, problems := cli("", "audit", "--config", "frontdesk.yaml", "--since", "soon", filepath.Base(long))
	require.Equal(t, 2, code)
	require.Contains(t, problems, "expected a time span such as 14d or 36h, or a date such as 2026-11-01")
}
