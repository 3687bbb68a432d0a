package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook/webhooktest"
)

// question is a command of docs/operators.md, and what it is said to print.
type question struct{ command, want string }

var nightQuestion = regexp.MustCompile("(?s)```sh\n(frontdesk [^\n]*)\n```\n(?:\n```text\n(.*?)```)?")

// nightQuestions are those of the page.
func nightQuestions(t *testing.T) (all []question) {
	t.Helper()
	for _, match := range nightQuestion.FindAllStringSubmatch(section(t, "operators.md", "At night"), -1) {
		all = append(all, question{match[1], match[2]})
	}
	return all
}

// variables are what differs from one night to the next.
var variables = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\b[a-z2-7]{26}\b`), "ID"},
	{regexp.MustCompile(`\d+\.\d+\.\d+\.\d+(:\d+)?`), "ADDRESS"},
	{regexp.MustCompile(`\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{4})`), "MOMENT"},
	{regexp.MustCompile(`\d{4}-\d{2}-\d{2}`), "DAY"},
	{regexp.MustCompile(`\d{2}:\d{2}(:\d{2})? (UTC|CET)`), "CLOCK"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "HASH"},
	{regexp.MustCompile(`\b(\d+[dhms])+\b|\b[\d.]+(µs|ms|s)\b`), "AGE"},
	{regexp.MustCompile(`\b\d[\d.,]*( ms| s)?(\s|$)`), "NUMBER "},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// shape is an output without what differs from one night to the next.
func shape(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		for _, v := range variables {
			line = v.pattern.ReplaceAllString(line, v.name)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// looksLike reports whether an output has the shape that is written, in which … is any text
// of a line.
func looksLike(output, want string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shape(want)), "…", `[^\n]*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(shape(output))
}

var words = regexp.MustCompile(`"[^"]*"|\S+`)

// TestNightQuestions runs each command of the section "At night" against the log of a gateway
// on which it happened, and compares what it prints with what is written.
func TestNightQuestions(t *testing.T) {
	questions := nightQuestions(t)
	require.Len(t, questions, 3)
	file, refused, record := aNight(t)
	for i, q := range questions {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			command := strings.NewReplacer("frontdesk ", "", "02:13", refused.At().Local().Format("15:04"), "order/4711", record, "$C", file).Replace(q.command)
			args := words.FindAllString(command, -1)
			for i := range args {
				args[i] = strings.Trim(args[i], `"`)
			}
			code, out, problems := cli("", args...)
			require.Zero(t, code, "%s: %s", q.command, problems)
			require.True(t, looksLike(out, q.want), "%s prints\n%s\nwhere the page says\n%s", q.command, out, q.want)
		})
	}
}

// aNight has a gateway serve two api_keys, ends one of them, and leaves its log in night.log,
// in the folder that the test is in from then on. It returns the configuration, the request that was
// refused for that, and a record that was deleted.
func aNight(t *testing.T) (file string, refused accesslog.Line, record string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "frontdesk.yaml")
	keys := strings.NewReplacer("name: full", "name: webshop", "name: orders", "name: planner", `["GET /order"]`+"\n", `["GET /vehicle", "GET /country"]`+"\n").Replace(rig.KeptKey(`"* /order", "GET /model/*"`) + rig.KeptOrders)
	authority := webhooktest.NewAuthority(t)
	receiver := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), fmt.Sprintf("callbacks: [GET /country]\nwebhooks: {allow_hosts: [127.0.0.1], ports: [443, %d], ca_file: %q}",
		webhooktest.Port(t, receiver), authority.File(t)), keys)
	k := rig.StartKept(t, file, rig.KeysApart(t, file, text), false)
	webshop, planner := k.Login(rig.FullKey, "demo"), k.Login(rig.OrdersKey, "demo")
	ask := func(times int, path, token string) {
		t.Helper()
		for range times {
			require.Equal(t, 200, k.Status("GET", path, token), path)
		}
	}
	ask(3, "/order", webshop)
	ask(3, "/order/1", webshop)
	record = fmt.Sprint("order/", k.Create(webshop, "order", fmt.Sprintf(rig.NewOrder, 1, "")))
	ask(3, "/"+record, webshop)
	require.Equal(t, 200, k.Call("PUT", "/"+record, webshop, `{"reference":"R1"}`).Status)
	require.Equal(t, 200, k.Call("DELETE", "/"+record, webshop, "").Status)
	ask(50, "/vehicle", planner)
	k.Call("GET", "/country?webhook_url="+url.QueryEscape(receiver.URL), planner, "").Promise(t)
	k.RequireLogged(`"msg":"callback"`)
	code, _, problems := cli("", "key", "revoke", "webshop", "--config", file)
	require.Zero(t, code, problems)
	k.HangUp()
	require.Equal(t, 401, k.Status("GET", "/order", ""))
	a := k.Gets(401, "GET", "/order", webshop, "")
	refused = accessed(t, &k.Desk, a.Failure(t).RequestID)
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("night.log", []byte(k.Log.String()), 0o600))
	return file, refused, record
}

// TestNight has everything go wrong that wakes people. Each time the first page says what it
// is, and the command beside it tells more.
func TestNight(t *testing.T) {
	n := rig.StartNight(t, t.TempDir())
	for _, step := range n.Steps() {
		t.Run(step.Name, func(t *testing.T) { toldOfANight(t, n, step) })
	}
}

// TestNightDiskFills is the same of a disk.
func TestNightDiskFills(t *testing.T) {
	folder := t.TempDir()
	rig.TinyDisk(t, folder, "16m")
	n := rig.StartNight(t, folder)
	toldOfANight(t, n, n.DiskFills())
}

func toldOfANight(t *testing.T, n *rig.Night, step rig.NightStep) {
	t.Helper()
	step.Play()
	notice, command := n.NightNotice(step)
	require.Equal(t, 200, n.AskOps(notice.Page).Status, notice.Page)
	if notice.Command != "" {
		await.True(t, func() bool { // lines of the log are written behind their answers
			_, out, problems := cli("", command...)
			return strings.Contains(out+problems, step.Tells)
		}, "%s to tell %q", notice.Command, step.Tells)
	}
	if step.Mend != nil {
		step.Mend()
	}
}

// TestLogsOfSomebodyElse: what a log holds does nothing to the terminal of who reads it.
func TestLogsOfSomebodyElse(t *testing.T) {
	const trick = "\x1b[31m"
	at := "2026-11-22T02:00:00.000Z"
	log := accesslogtest.Request(at, "id"+trick, trick, trick, trick, 400, "reason", trick, "cause", trick, "method", trick, "query", []string{trick}, "address", trick, "config", trick, "lacks", []string{trick}) +
		accesslogtest.Request(at, "id"+trick, trick, trick, trick, 200, "reason", trick) + accesslogtest.Request(at, "id"+trick, trick, trick, trick, 403, "lacks", []string{trick}, "reason", trick) +
		accesslogtest.Request(at, "id"+trick, trick, trick, trick, 400, "reason", "endpoint_unknown") +
		accesslogtest.Line(at, "msg", "request failed", "request_id", "id"+trick, "key", trick, "client", trick, "method", trick, "endpoint", trick, "error", trick) +
		accesslogtest.Line(at, "logger", "audit", "msg", trick, trick, trick, "changes", []string{trick})
	for _, args := range [][]string{
		{"why", "id" + trick, "-", "--limit", "9"}, {"why", "--client", trick, "-"}, {"why", "--key", trick, "-"}, {"why", "--key", "x" + trick, "-"}, {"why", "x" + trick, "-"},
	} {
		_, out, problems := cli(log, args...)
		require.NotContains(t, out+problems, "\x1b", "%q", args)
		require.Contains(t, out+problems, `\x1b[31m`, "%q", args)
	}
}
