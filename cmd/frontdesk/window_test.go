package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/history"
	"frontdesk/cmd/frontdesk/rig"
)

// pastJSON is what a test reads of the history.
type pastJSON struct {
	Points  []struct{ Requests, Refused, Failed int }
	Busiest []struct {
		Kind string
		Rows []struct {
			Name                      string
			Requests, Refused, Failed int
		}
	}
	Marks []history.Mark
	Past  *pastJSON
}

func (p pastJSON) sum() (sum [3]int) {
	for _, point := range p.Points {
		sum[0], sum[1], sum[2] = sum[0]+point.Requests, sum[1]+point.Refused, sum[2]+point.Failed
	}
	return sum
}

func askJSON(t *testing.T, d *rig.Desk, path string, into any, headers ...string) int {
	t.Helper()
	req, err := http.NewRequest("GET", "http://"+d.Ops+path, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.HTTP.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	if into != nil {
		require.Equal(t, 200, resp.StatusCode, path)
		require.NoError(t, json.NewDecoder(resp.Body).Decode(into), path)
	}
	return resp.StatusCode
}

// TestWindowIsTheLog: every count of the operators' pages is that of the access log, also
// after a restart.
func TestWindowIsTheLog(t *testing.T) {
	o := rig.Options{DSN: rig.Engines[0].DSN(t)}
	d := rig.Start(t, o)
	random := rand.New(rand.NewPCG(3, 4))
	tokens := []string{d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo"), d.Login(rig.FullKey, "other"), "wrong"}
	asks := []struct{ method, path, body string }{
		{"GET", "/vehicle?page_size=2", ""}, {"GET", "/order/1", ""}, {"GET", "/order?nope=1", ""}, {"GET", "/vehicle/99999", ""}, {"DELETE", "/order/1", ""}, {"POST", "/vehicle", "{"}, {"GET", "/nowhere", ""}, {"PATCH", "/order/1", "{}"},
	}
	for range 400 {
		a := asks[random.IntN(len(asks))]
		d.Call(a.method, a.path, tokens[random.IntN(len(tokens))], a.body)
	}
	d.Call("GET", "/order/1", tokens[0], "", "X-Request-Id", "the-last-one-of-all")
	accessed(t, d, "the-last-one-of-all")

	var lines []accesslog.Line
	for text := range strings.Lines(d.Log.String()) {
		if l := (accesslog.Line{}); l.Read([]byte(text)) {
			lines = append(lines, l)
		}
	}
	require.Greater(t, len(lines), 400)
	counted := func(want func(accesslog.Line) bool) (sum [3]int) {
		for _, l := range lines {
			if want(l) {
				sum[0]++
				sum[1] += btoi(l.Status >= 400 && l.Status < 500)
				sum[2] += btoi(l.Status >= 500)
			}
		}
		return sum
	}
	ofLine := map[string]func(accesslog.Line) string{
		"key": func(l accesslog.Line) string { return l.Key }, "client": func(l accesslog.Line) string { return l.Client }, "endpoint": grantOf,
		"reason": func(l accesslog.Line) string {
			if l.Cause != "" {
				return l.Cause
			}
			return l.Reason
		},
	}
	compare := func(d *rig.Desk) {
		t.Helper()
		for _, span := range []string{"30m", "2h", "24h"} {
			var of pastJSON
			askJSON(t, d, "/?span="+span, &of)
			require.Equal(t, counted(func(accesslog.Line) bool { return true }), of.Past.sum(), span)
			require.Len(t, of.Past.Busiest, 4)
			for _, table := range of.Past.Busiest {
				require.NotEmpty(t, table.Rows, table.Kind)
				for _, row := range table.Rows {
					want := counted(func(l accesslog.Line) bool { return ofLine[table.Kind](l) == row.Name })
					require.Equal(t, want, [3]int{row.Requests, row.Refused, row.Failed}, "%s %s in %s", table.Kind, row.Name, span)
					var one pastJSON
					askJSON(t, d, "/history?"+url.Values{table.Kind: {row.Name}, "span": {span}}.Encode(), &one)
					require.Equal(t, want, one.sum(), "%s %s in %s", table.Kind, row.Name, span)
				}
			}
		}
		for kind, of := range ofLine {
			for _, l := range lines[len(lines)-5:] {
				var found struct{ Refusals []history.Refusal }
				askJSON(t, d, "/refusals?"+url.Values{kind: {of(l)}}.Encode(), &found)
				var ids, want []string
				for _, r := range found.Refusals {
					ids = append(ids, r.ID)
				}
				for _, other := range slices.Backward(lines) {
					if other.Reason != "" && of(other) == of(l) {
						want = append(want, other.RequestID)
					}
				}
				require.Equal(t, want, ids, "%s %s", kind, of(l))
			}
		}
	}
	compare(d)

	code, stdout, stderr := cli("", "top", "--ops", d.Ops, "--span", "2h")
	require.Equal(t, 0, code, stderr)
	all := counted(func(accesslog.Line) bool { return true })
	require.Contains(t, stdout, fmt.Sprintf("last 2h   %d requests, %d refused, %d failed, p95 at most ", all[0], all[1], all[2]))
	full := counted(func(l accesslog.Line) bool { return l.Key == "full" })
	require.Regexp(t, fmt.Sprintf(`(?m)^full +%d +%d +%d +[0-9.]+ ms$`, full[0], full[1], full[2]), stdout)
	code, stdout, _ = cli("", "top", "--ops", d.Ops, "--all")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "sessions.store is memory: there is one gateway only.")
	d.Shutdown()
	code, _, stderr = cli("", "top", "--ops", d.Ops)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no frontdesk answers at "+d.Ops)
	again := rig.Start(t, o)
	compare(again)
	var of pastJSON
	askJSON(t, again, "/", &of)
	require.Len(t, of.Past.Marks, 2)
	require.Equal(t, "start", of.Past.Marks[1].Kind)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func grantOf(l accesslog.Line) string {
	if l.Endpoint == "" {
		return l.Method
	}
	return l.Method + " " + l.Endpoint
}

// TestWindowIsForOperators: who is served, and refused, is for this machine, and for who has
// ops.token; health and figures without names are for all who reach the listener.
func TestWindowIsForOperators(t *testing.T) {
	const token = "a-token-of-operators-0123"
	for name, o := range map[string]rig.Options{"none": {}, "token": {Edit: strings.NewReplacer("ops: {", `ops: {token: "`+token+`", `)}} {
		o.DSN = rig.Engines[0].DSN(t)
		told := history.New(time.Now)
		told.Mark("key", "api_key ended: webshop")
		told.Mark("configuration", "configuration refused: keys.d/webshop.yaml:3:5: expected a list")
		require.NoError(t, told.Save(strings.TrimPrefix(o.DSN, "sqlite:")+"-history"))
		d := rig.Start(t, o)
		d.Call("GET", "/vehicle", d.Login(rig.FullKey, "demo"), "")
		var shown, hidden pastJSON
		askJSON(t, d, "/", &shown)
		require.NotEmpty(t, shown.Past.Busiest)
		elsewhere := []string{"X-Forwarded-For", "192.0.2.7"} // through a proxy on this machine
		askJSON(t, d, "/", &hidden, elsewhere...)
		require.Empty(t, hidden.Past.Busiest)
		require.NotEmpty(t, hidden.Past.Points)
		require.Contains(t, fmt.Sprint(shown.Past.Marks), "webshop")
		require.Len(t, hidden.Past.Marks, len(shown.Past.Marks))
		require.NotContains(t, string(d.AskOps("/", elsewhere...).Body), "webshop")
		for _, path := range []string{"/history?key=full", "/refusals"} {
			require.Equal(t, 200, askJSON(t, d, path, nil), path)
			refused := map[string]int{"none": 403, "token": 401}[name]
			require.Equal(t, refused, askJSON(t, d, path, nil, elsewhere...), path)
			require.Equal(t, refused, askJSON(t, d, path, nil, append(elsewhere, "Authorization", "Bearer "+token+"x")...), path)
			want := map[string]int{"none": 403, "token": 200}[name]
			require.Equal(t, want, askJSON(t, d, path, nil, append(elsewhere, "Authorization", "Bearer "+token)...), path)
			req := &http.Request{Header: http.Header{}}
			for _, other := range []string{"X-Forwarded-Host", "X-Real-IP", "Via"} {
				require.Equal(t, refused, askJSON(t, d, path, nil, other, "192.0.2.7"), other)
			}
			require.Equal(t, want, askJSON(t, d, path, nil, append(elsewhere, "Authorization", "bearer "+token)...), "schemes have no case")
			req.SetBasicAuth("anybody", token)
			require.Equal(t, want, askJSON(t, d, path, nil, append(elsewhere, "Authorization", req.Header.Get("Authorization"))...), path)
		}
		d.Shutdown()
	}
}
