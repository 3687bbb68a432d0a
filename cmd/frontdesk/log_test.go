package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestWhyRecord: who wrote a record, alone or among several, is told by its primary ID, also once it
// is gone.
func TestWhyRecord(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	token := d.Login(rig.FullKey, "demo")
	id := d.Create(token, "contact", `{"kind":"person","name":"Jansen"}`)
	path := fmt.Sprint("/contact/", id)
	require.Equal(t, 200, d.Call("GET", path, token, "").Status)
	require.Equal(t, 200, d.Call("PUT", path, token, `{"name":"De Wit"}`).Status)
	bulk := d.Call("PUT", "/contact/bulk", token, fmt.Sprintf(`{"records":[{"id":%d,"note":"a"},{"id":%d,"colour":1},{"id":2000000000,"note":"b"}]}`, id, id))
	require.Equal(t, 200, bulk.Status, "%s", bulk.Body)
	require.Equal(t, 403, d.Call("PUT", path, token, `{"colour":1}`).Status)
	require.Equal(t, 200, d.Call("DELETE", path, token, "").Status)
	gone := d.Call("GET", path, token, "")
	require.Equal(t, 404, gone.Status)
	var failure struct {
		RequestID string `json:"request_id"`
	}
	require.NoError(t, json.Unmarshal(gone.Body, &failure))
	require.Equal(t, accesslog.Line{Record: int32(id), User: "demo"}, accesslog.Line{Record: accessed(t, d, failure.RequestID).Record, User: accessed(t, d, failure.RequestID).User})
	file := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(file, []byte(d.Log.String()), 0o600))

	code, out, problems := cli("", "why", "--record", fmt.Sprint("contact/", id), file)
	require.Zero(t, code, problems)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 6, out)
	for i, want := range []string{"POST /contact 201", "PUT /contact/{id} 200", "PUT /contact/bulk 200", "DELETE /contact/{id} 200"} {
		require.Contains(t, strings.Join(strings.Fields(lines[i+1]), " "), want+" demo Demo Garage full 127.0.0.1 ")
	}
	require.Equal(t, fmt.Sprintf("Beside that, 3 requests of contact/%d read it or were refused.", id), lines[5])

	written := out
	var halves [2]string // of two gateways, the later first, and a file that is given twice
	for i, line := range slices.Collect(strings.Lines(d.Log.String())) {
		halves[i%2] += line
	}
	var files []string
	for i, half := range halves {
		files = append(files, filepath.Join(t.TempDir(), fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(files[i], []byte(half), 0o600))
	}
	code, out, problems = cli("", "why", "--record", fmt.Sprint("contact/", id), files[1], files[0], files[1])
	require.Zero(t, code, problems)
	require.Equal(t, strings.Split(written, "\n")[:5], strings.Split(out, "\n")[:5])

	code, out, problems = cli("", "why", "--record", fmt.Sprint("contact/", id), "--limit", "30", "--at", "2020-01-01 02:13", file)
	require.Equal(t, 1, code, out)
	require.Contains(t, problems, fmt.Sprintf("these logs have no request about contact/%d", id))
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
		parts := strings.Split(line, "~")
		require.True(t, slices.ContainsFunc(slices.Collect(strings.Lines(d.Log.String())), func(logged string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(logged, part) })
		}), "no line has %q", parts)
	}
}
