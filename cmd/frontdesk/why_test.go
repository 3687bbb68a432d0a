package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// line is a line of a log: members come in pairs.
func line(at string, members ...any) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"level":"info","ts":%q`, at)
	for i := 0; i < len(members); i += 2 {
		name, _ := json.Marshal(members[i])
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, `,%s:%s`, name, value)
	}
	return b.String() + "}\n"
}

// requestLine is a line of the access log; more members replace what is usual.
func requestLine(at, id, key, client, endpoint string, status int, more ...any) string {
	return line(at, append([]any{
		"msg", "request", "request_id", id, "key", key, "client", client, "method", "GET", "endpoint", endpoint, "query", []string{}, "status", status,
		"duration", 0.012, "backend", 0.0085, "address", "203.0.113.9", "config", "928fc90c649e",
	}, more...)...)
}

// nightLog is a log of a night, in the zone of this machine.
func nightLog(day string) string {
	at := func(clock string) string {
		t, err := time.ParseInLocation(time.DateTime, day+" "+clock, time.Local)
		if err != nil {
			panic(err)
		}
		return t.Format("2006-01-02T15:04:05.000Z0700")
	}
	refused := func(clock, id, key, client, reason, cause string) string {
		return requestLine(at(clock), id, key, client, "/order", 401, "reason", reason, "cause", cause, "duration", 0.0004, "backend", 0)
	}
	return line(at("00:00:01"), "msg", "serving", "base_url", "http://x", "config", "df71783b058e", "version", "1.2") +
		requestLine(at("01:00:00"), "r-served", "webshop", "Garage Jansen", "/order/{id}", 200) +
		line(at("02:11:58"), "logger", "audit", "msg", "configuration changed", "from", "df71783b058e", "to", "928fc90c649e", "trigger", "file change",
			"files", []any{map[string]any{"file": "keys.d/webshop.yaml", "owner": "root(0)", "written": "2026-11-22T02:11:58Z"}}, "changes", []string{}, "api_keys", []string{"webshop"}) +
		line(at("02:11:58"), "logger", "audit", "msg", "api_key changed", "key", "webshop", "changes", []string{"removed"}) +
		refused("02:13:07", "r-revoked", "webshop", "Garage Jansen", "token_invalid", "key_revoked") +
		refused("02:13:08", "r-unknown", "", "", "token_invalid", "unknown") +
		refused("02:13:09", "r-unknown2", "", "", "token_invalid", "unknown") +
		requestLine(at("02:13:10"), "r-password", "webshop", "", "/authenticate", 401, "reason", "credentials_invalid", "cause", "wrong_password") +
		refused("02:14:00", "r-again", "webshop", "Garage Jansen", "token_invalid", "key_revoked") +
		"panic: something that another program wrote\n" +
		line(at("02:20:00"), "level", "error", "msg", "request failed", "request_id", "r-failed", "key", "planner", "client", "Garage Smit", "method", "GET", "endpoint", "/vehicle", "error", "connection refused") +
		requestLine(at("02:20:00"), "r-failed", "planner", "Garage Smit", "/vehicle", 500, "reason", "backend_unavailable", "duration", 2.31, "backend", 2.29) +
		line(at("02:30:00"), "msg", "request failed", "request_id", "r-only-failed", "key", "planner", "client", "Garage Smit", "method", "GET", "endpoint", "/vehicle", "error", "no route") +
		requestLine(at("03:00:00"), "r-allowlist", "planner", "Garage Smit", "/order/{id}", 400, "reason", "method_unsupported", "method", "DELETE") +
		requestLine(at("03:00:01"), "r-nowhere", "planner", "Garage Smit", "", 400, "reason", "endpoint_unknown") +
		requestLine(at("03:00:02"), "r-arrays", "planner", "Garage Smit", "/order", 403, "reason", "field_not_in_model", "lacks", []string{"POST /orderline"}) +
		requestLine(at("03:00:03"), "r-trial", "planner", "Garage Smit", "/vehicle", 200, "shadow", "endpoint_unknown") +
		strings.ReplaceAll(requestLine(at("03:00:04"), "r-old", "planner", "Garage Smit", "/vehicle", 400, "reason", "page_invalid", "cause", "made_up"), `,"backend":0.0085`, "")
}

// TestWhy tells in sentences what was asked, what was answered, why, and what to do.
func TestWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	log := nightLog("2026-11-22")
	require.NoError(t, os.WriteFile("night.log", []byte(log), 0o600))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, log)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile("night.log.gz", packed.Bytes(), 0o600))

	require.NoError(t, os.WriteFile("lost.log", []byte(line("2026-11-22T02:00:00.000Z", "msg", "lines of the log were lost: whoever reads it did not take them", "lines", 7)), 0o600))
	require.NoError(t, os.WriteFile("many.log", []byte(strings.Repeat(requestLine("2026-11-22T02:00:00.000Z", "r-many", "webshop", "Garage Jansen", "/order", 200), 9)), 0o600))

	const revoked = `At 2026-11-22 02:13:07 Garage Jansen, with the api_key webshop, asked for GET /order from 203.0.113.9 (request r-revoked).
It was answered 401 token_invalid after 0.4 ms, and the administration was not asked.
Why:   The api_key of the session, or the hash that it was opened by, is no longer in the configuration. (key_revoked)
Cure:  If that was not meant, put it back; frontdesk log changes tells when it went. Else hand out the new api_key, and the client logs in with it.
It was judged by the configuration 928fc90c649e.
`
	const changed = `
Changed in the hour before:
2026-11-22 02:11:58  configuration changed: from df71783b058e; to 928fc90c649e; trigger file change; files keys.d/webshop.yaml by root(0) at 2026-11-22T02:11:58Z; api_keys webshop
2026-11-22 02:11:58  api_key changed: key webshop; changes removed
`
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
			"somebody with the api_key webshop asked for GET /authenticate from 203.0.113.9 (request r-password)", "Why:   The password is not that of the user. Of a service that only says no, it may be that there is no such user. (wrong_password)\n",
		},
		"--client,Garage Jansen,--at,2026-11-22 01:00,night.log": {"Nothing was refused to Garage Jansen from 2026-11-22 00:55 to 2026-11-22 01:05; 1 request served.\n"},
		"--client,Garage Jansen,--at,2026-11-22 05:00,night.log": {"Nothing was refused to Garage Jansen from 2026-11-22 04:55 to 2026-11-22 05:05; 0 requests served.\n"},
		"r-many,many.log,--limit,2":                              {"(request r-many)", "\nThe log has 7 more requests of that id.\n"},
		"r-served,night.log":                                     {"asked for GET /order/{id} from", "It was answered 200 after 12 ms, of which the administration took 8.5 ms.\nWhy:   Nothing was wrong with it.\n"},
		"r-failed,night.log":                                     {"It was answered 500 backend_unavailable after 2.31 s, of which the administration took 2.29 s.\n", "Error: connection refused\n", "Cure:  Wait as long as the header Retry-After says"},
		"r-only-failed,night.log":                                {"Garage Smit, with the api_key planner, asked for GET /vehicle (request r-only-failed), and it failed. The log has no line of the request itself (log.access).\nError: no route\n"},
		"r-unknown,night.log":                                    {"somebody whose api_key is not known asked for GET /order", "Why:   No session is known of that token"},
		"r-allowlist,night.log":                                  {"asked for DELETE /order/{id} from", `the allowlist of planner does not grant it.`, `add "DELETE /order" to allow of the key; frontdesk explain --key planner 'DELETE /order' shows`},
		"r-nowhere,night.log":                                    {"asked for GET of what is no endpoint from", "Why:   There is no endpoint at this path"},
		"r-arrays,night.log":                                     {"The allowlist of planner does not grant POST /orderline, which arrays of the request need."},
		"r-trial,night.log":                                      {"It was answered 200 after", "served only because the allowlist of planner is on trial", `Add "GET /vehicle" to allow`},
		"r-old,night.log":                                        {"and the log does not tell how long the administration had it", "The log says made_up, which this version of frontdesk does not know. (made_up)\nCure:  Start at page=1"},
	} {
		code, out, problems := cli("", append([]string{"why"}, strings.Split(args, ",")...)...)
		require.Zero(t, code, "%s: %s", args, problems)
		for _, part := range want {
			require.Contains(t, out, part, args)
		}
	}
	for args, want := range map[string]string{
		"r-none,lost.log":                                 "these logs have no request r-none; but lines of them were lost, as they say\n",
		"r-none,night.log":                                "these logs have no request r-none\n",
		"--client,Garage Jansn,night.log":                 "these logs have no request of Garage Jansn, did you mean Garage Jansen?\n",
		"--key,webshp,night.log":                          "these logs have no request of the api_key webshp, did you mean webshop?\n",
		"--client,Nobody,--at,2026-11-22 02:13,night.log": "these logs have no request of Nobody; requests of nobody known were refused from 2026-11-22 02:08 to 2026-11-22 02:18: 2 × 401 unknown\n",
	} {
		code, out, problems := cli("", append([]string{"why"}, strings.Split(args, ",")...)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, out, args)
		require.Equal(t, "frontdesk: "+want, problems, args)
	}
	for args, want := range map[string]string{
		"r-none":                         "expected a request id and a log, or --client NAME --at 02:13 and a log\n",
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
	log := requestLine(at, "id"+trick, trick, trick, trick, 400, "reason", trick, "cause", trick, "method", trick, "query", []string{trick}, "address", trick, "config", trick, "lacks", []string{trick}) +
		requestLine(at, "id"+trick, trick, trick, trick, 200, "shadow", trick) + requestLine(at, "id"+trick, trick, trick, trick, 403, "lacks", []string{trick}, "reason", trick) +
		requestLine(at, "id"+trick, trick, trick, trick, 400, "reason", "endpoint_unknown") +
		line(at, "msg", "request failed", "request_id", "id"+trick, "key", trick, "client", trick, "method", trick, "endpoint", trick, "error", trick) +
		line(at, "logger", "audit", "msg", trick, trick, trick, "files", []any{map[string]any{"file": trick}})
	for _, args := range [][]string{
		{"why", "id" + trick, "-", "--limit", "9"}, {"why", "--client", trick, "-"}, {"why", "--key", trick, "-"}, {"why", "--key", "x" + trick, "-"}, {"why", "x" + trick, "-"},
		{"log", "top", "--by", "key", "-"}, {"log", "top", "--by", "client", "-"}, {"log", "top", "--by", "endpoint", "-"}, {"log", "changes", "-"},
	} {
		_, out, problems := cli(log, args...)
		require.NotContains(t, out+problems, "\x1b", "%q", args)
		require.Contains(t, out+problems, `\x1b[31m`, "%q", args)
	}
}

// TestEveryCauseHasHelp: whatever the log can have as a cause, or a reason, is explained.
func TestEveryCauseHasHelp(t *testing.T) {
	words := []string{"none", "malformed", "unknown", "logged_out", "expired", "key_revoked", "key_expired", "user_blocked", "new_password",
		"wrong_password", "unknown_user", "key_unknown", "key_malformed", "address", "certificate", "space"}
	for bound := auth.RateBound; bound <= auth.DayBound; bound++ {
		words = append(words, bound.String())
	}
	words = append(words, causesIn(t, rig.Repository(t, "auth"))...)
	for _, word := range words {
		require.NotEmpty(t, causeHelp[word].Cause, word)
		require.NotEmpty(t, causeHelp[word].Cure, word)
	}
	l := accessLine{Status: 400, Reason: string(mapping.PageInvalid)}
	require.Equal(t, mapping.HelpFor(mapping.PageInvalid), l.help())
}

// causesIn are the constants of type Cause in a folder of Go.
func causesIn(t *testing.T, folder string) (words []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Cause" && len(spec.Values) == 1 {
				if text, ok := spec.Values[0].(*ast.BasicLit); ok {
					word, err := strconv.Unquote(text.Value)
					require.NoError(t, err)
					words = append(words, word)
				}
			}
			return true
		})
	}
	return words
}

// endless is a log of so many lines, of which none is held.
type endless struct {
	lines, written int
	rest           []byte
}

func (e *endless) Read(b []byte) (int, error) {
	if len(e.rest) == 0 && e.written < e.lines {
		at := time.Date(2026, 11, 22, 2, 0, 0, e.written*int(time.Millisecond), time.UTC).Format("2006-01-02T15:04:05.000Z0700")
		id := fmt.Sprintf("id-%d", e.written)
		e.rest = []byte(requestLine(at, id, fmt.Sprint("key-", e.written%7), "Garage Jansen", "/order", 401+e.written%100, "reason", "token_invalid", "cause", "unknown", "duration", float64(e.written%997)/1000) +
			line(at, "msg", "request failed", "request_id", id, "client", "Garage Jansen", "error", strings.Repeat("x", 200)) +
			line(at, "logger", "audit", "msg", "api_key changed", "key", id))
		e.written++
	}
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestLogsOfAnySize: a long log takes no more memory than a short one.
func TestLogsOfAnySize(t *testing.T) {
	held := func(lines int) uint64 {
		q := inquiry{whyCommand: whyCommand{Client: "Garage Jansen", Limit: 3}}
		all := new(load)
		var l accessLine
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		read := &endless{lines: lines}
		require.NoError(t, logLines(desk.Program{Ctx: t.Context()}, read, func(text []byte) {
			q.take(text)
			if l.isAccessLine(text) {
				all.add(&l)
			}
		}))
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.EqualValues(t, lines, all.requests)
		require.Len(t, q.told, 3)
		runtime.KeepAlive(&q)
		return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
	}
	short, long := held(4_000), held(60_000)
	require.Less(t, long, short+4<<20, "of 4,000 requests %d bytes are held", short)
}
