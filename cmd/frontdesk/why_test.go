package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"

	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"

	"github.com/stretchr/testify/require"
)

// TestWhy tells in sentences what was asked, what was answered, why, and what to do.
func TestWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	log := accesslogtest.Night("2026-11-22")
	require.NoError(t, os.WriteFile("night.log", []byte(log), 0o600))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, log)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile("night.log.gz", packed.Bytes(), 0o600))

	require.NoError(t, os.WriteFile("lost.log", []byte(accesslogtest.Line("2026-11-22T02:00:00.000Z", "msg", "lines of the log were lost: whoever reads it did not take them", "lines", 7)), 0o600))
	require.NoError(t, os.WriteFile("many.log", []byte(strings.Repeat(accesslogtest.Request("2026-11-22T02:00:00.000Z", "r-many", "webshop", "Garage Jansen", "/order", 200), 9)), 0o600))

	const revoked = `At 2026-11-22 02:13:07 UTC Garage Jansen with the api_key webshop asked for GET /order from 203.0.113.9 (request r-revoked).
It was answered 401 token_invalid after 400µs, of which the administration took 0s.
Why:   The api_key of the session, or the hash that it was opened by, is no longer in the configuration, or was ended at another gateway. (key_revoked)
Cure:  If that was not meant, put it back (/readyz tells who ended it elsewhere); the audit lines of the log tell when it went. Else hand out the new api_key, and the client logs in with it.
It was judged by the configuration 928fc90c649e.
`
	changed := "\nChanged in the hour before:\n"
	for line := range strings.Lines(log) { // the configuration that was refused, the one that was taken up, and its key
		if at, is := strings.CutPrefix(line, `{"level":"info","ts":"2026-11-22T0`); is && strings.Contains(line, "config") && !strings.Contains(line, `"request"`) && !strings.HasPrefix(at, "0:") || strings.Contains(line, `"logger":"audit"`) {
			changed += fmt.Sprintf("2026-11-22 0%s UTC  %s", at[:7], line)
		}
	}
	require.Equal(t, 5, strings.Count(changed, "\n"))
	for _, args := range [][]string{{"r-revoked", "night.log"}, {"r-revoked", "night.log.gz"}, {"r-revoked", "-"}} {
		code, out, problems := cli(log, append([]string{"why"}, args...)...)
		require.Zero(t, code, problems)
		require.Equal(t, revoked+changed, out)
	}
	code, out, problems := cli("", "why", "--client", "garage jansen", "--at", "2026-11-22 02:13", "--limit", "1", "night.log")
	require.Zero(t, code, problems)
	require.Equal(t, revoked+`
Besides, garage jansen was refused: 1 × 401 key_revoked.

In that time requests of nobody known were refused, too: 2 × 401 unknown.
`+changed, out)

	for args, want := range map[string][]string{
		"--client,Garage Smit,night.log,--limit,1": {"(request r-old)", "Besides, Garage Smit was refused: 1 × 400 endpoint_unknown, 1 × 400 method_unsupported, 1 × 403 field_not_in_model, 1 × 500 backend_unavailable.\n"},
		"--key,webshop,--at,2026-11-22 02:13:10,--within,1s,night.log": {
			"the api_key webshop asked for GET /authenticate from 203.0.113.9 (request r-password)", "Why:   The password is not that of the user. Of a service that only says no, it may be that there is no such user. (wrong_password)\n",
		},
		"--client,Garage Jansen,--at,2026-11-22 01:00,night.log": {"Nothing was refused to Garage Jansen from 2026-11-22 00:55 UTC to 2026-11-22 01:05 UTC; 1 request served.\n"},
		"r-many,many.log,--limit,2":                              {"(request r-many)", "\nThe log has 7 more requests of that id.\n"},
		"r-served,night.log":                                     {"asked for GET /order/{id} from", "It was answered 200 after 12ms, of which the administration took 8.5ms.\nWhy:   Nothing was wrong with it.\n"},
		"r-failed,night.log":                                     {"It was answered 500 backend_unavailable after 2.31s, of which the administration took 2.29s.\n", "Error: connection refused\n", "Cure:  Wait as long as the header Retry-After says"},
		"r-unknown,night.log":                                    {"somebody unknown asked for GET /order", "Why:   No session is known of that token"},
		"r-allowlist,night.log":                                  {"asked for DELETE /order/{id} from", `the allowlist of planner does not grant it.`, `add "DELETE /order" to allow of the key; frontdesk explain --config FILE --key planner 'DELETE /order/1' shows`},
		"r-nowhere,night.log":                                    {"asked for GET of what is no endpoint from", "Why:   There is no endpoint at this path"},
		"r-arrays,night.log":                                     {"The allowlist of planner does not grant POST /orderline, which arrays of the request need."},
		"r-old,night.log":                                        {"The log says made_up, which this version of frontdesk does not know. (made_up)\nCure:  Start at page=1"},
	} {
		code, out, problems := cli("", append([]string{"why"}, strings.Split(args, ",")...)...)
		require.Zero(t, code, "%s: %s", args, problems)
		for _, part := range want {
			require.Contains(t, out, part, args)
		}
	}
	for args, want := range map[string]string{
		"r-none,lost.log":                                        "these logs have no request r-none; but lines of them were lost, as they say (a request comes into the log up to a second after its answer, and not without log.access)\n",
		"r-none,night.log":                                       "these logs have no request r-none (a request comes into the log up to a second after its answer, and not without log.access)\n",
		"r-only-failed,night.log":                                "these logs have no request r-only-failed (a request comes into the log up to a second after its answer, and not without log.access)\n",
		"--client,Garage Jansn,night.log":                        "these logs have no request of Garage Jansn\n",
		"--key,webshp,night.log":                                 "these logs have no request of the api_key webshp\n",
		"--client,Nobody,--at,2026-11-22 02:13,night.log":        "these logs have no request of Nobody from 2026-11-22 02:08 UTC to 2026-11-22 02:18 UTC; requests of nobody known were refused then: 2 × 401 unknown\n",
		"--client,Garage Jansen,--at,2026-11-22 05:00,night.log": "these logs have no request of Garage Jansen from 2026-11-22 04:55 UTC to 2026-11-22 05:05 UTC\n",
	} {
		code, out, problems := cli("", append([]string{"why"}, strings.Split(args, ",")...)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, out, args)
		require.Equal(t, "frontdesk: "+want, problems, args)
	}
	for args, want := range map[string]string{
		"r-none":                         "expected a request id and a log, --client NAME --at 02:13 and a log, or --record order/4711 and a log\n",
		",night.log":                     "expected a request id and a log",
		"--at,02:13,night.log,night.log": "expected a request id and a log", // and no --client
		"r-none,none.log":                "access log: open none.log: no such file or directory\n",
		"--client,X,--at,soon,night.log": `--at: expected a time span such as 14d or 36h, or a date such as 2026-11-01, or a time such as 02:13 or 2026-11-01T02:13:00Z` + "\n",
	} {
		code, _, problems := cli("", append([]string{"why"}, strings.Split(args, ",")...)...)
		require.Equal(t, 2, code, args)
		require.Contains(t, problems, "frontdesk: "+want, args)
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
