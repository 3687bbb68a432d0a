package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
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
	Marks []instrument.Mark
	Past  *pastJSON

	Notices []desk.Notice `json:"stands_out"`
}

func (p pastJSON) sum() (sum [3]int) {
	for _, point := range p.Points {
		sum[0], sum[1], sum[2] = sum[0]+point.Requests, sum[1]+point.Refused, sum[2]+point.Failed
	}
	return sum
}

// askJSON asks the operators' listener as a program does; into is nil where the status alone matters.
func askJSON(t *testing.T, d *rig.Desk, path string, into any, headers ...string) int {
	t.Helper()
	a := d.AskOps(path, append([]string{"Accept", "application/json"}, headers...)...)
	if into != nil {
		require.Equal(t, 200, a.Status, path)
		require.NoError(t, json.Unmarshal(a.Body, into), path)
	}
	return a.Status
}

// accessed returns the access line of a request, which comes after its answer.
func accessed(t *testing.T, d *rig.Desk, id string) (found accesslog.Line) {
	t.Helper()
	await.True(t, func() bool {
		for text := range strings.Lines(d.Log.String()) {
			if l := (accesslog.Line{}); l.Read([]byte(text)) && l.RequestID == id {
				found = l
				return true
			}
		}
		return false
	})
	return found
}

// loggedTally is what an access log counts, and the last of what it has.
type loggedTally struct {
	all      [3]int // requests, refused, failed
	of       map[string]map[string]*[3]int
	recent   []accesslog.Line // the last few
	refusals []accesslog.Line // the last instrument.MostRefusals
	cut      []byte           // a line that is still being written
}

// ofLogged are the names that a line counts under.
var ofLogged = map[string]func(*accesslog.Line) string{
	"key": func(l *accesslog.Line) string { return l.Key }, "client": func(l *accesslog.Line) string { return l.Client }, "endpoint": func(l *accesslog.Line) string { return grantOf(*l) },
	"reason": func(l *accesslog.Line) string { return cmp.Or(l.Cause, l.Reason) },
}

// read counts lines until the one of that request.
func (w *loggedTally) read(t *testing.T, log *rig.LockedBuffer, last string) {
	t.Helper()
	await.True(t, func() bool {
		text := append(w.cut, log.Reset()...)
		end := bytes.LastIndexByte(text, '\n') + 1
		w.cut = text[end:]
		for line := range bytes.Lines(text[:end]) {
			if l := (accesslog.Line{}); l.Read(line) {
				w.count(&l)
			}
		}
		return len(w.recent) > 0 && w.recent[len(w.recent)-1].RequestID == last
	})
}

func (w *loggedTally) count(l *accesslog.Line) {
	one := [3]int{1, btoi(l.Status >= 400 && l.Status < 500), btoi(l.Status >= 500)}
	add := func(to *[3]int) {
		for i := range one {
			to[i] += one[i]
		}
	}
	add(&w.all)
	for kind, name := range ofLogged {
		if w.of == nil {
			w.of = map[string]map[string]*[3]int{}
		}
		if w.of[kind] == nil {
			w.of[kind] = map[string]*[3]int{}
		}
		if w.of[kind][name(l)] == nil {
			w.of[kind][name(l)] = new([3]int)
		}
		add(w.of[kind][name(l)])
	}
	w.recent = append(w.recent[max(0, len(w.recent)-4):], *l)
	if l.Reason != "" {
		w.refusals = append(w.refusals[max(0, len(w.refusals)-instrument.MostRefusals+1):], *l)
	}
}

// windowAsks are requests of every sort, with the token of one of several sessions.
var windowAsks = []struct{ method, path, body string }{
	{"GET", "/vehicle?page_size=2", ""}, {"GET", "/order/1", ""}, {"GET", "/order?nope=1", ""}, {"GET", "/vehicle/99999", ""}, {"DELETE", "/order/1", ""}, {"POST", "/vehicle", "{"}, {"GET", "/nowhere", ""}, {"PATCH", "/order/1", "{}"},
}

// askMany asks on one connection, many at once, and has the log counted.
func askMany(t *testing.T, d *rig.Desk, w *loggedTally, requests int, tokens []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	conn := must.Have(net.Dial("tcp", d.Host()))(t)
	defer conn.Close()
	in := bufio.NewReader(conn)
	var out []byte
	var resp fasthttp.Response
	const atOnce = 32
	for i := 0; i < requests; i += atOnce {
		out = out[:0]
		for n := range atOnce {
			a := windowAsks[random.IntN(len(windowAsks))]
			out = fmt.Appendf(out, "%s /webservice_v2%s HTTP/1.1\r\nHost: desk\r\nToken: %s\r\nX-Request-Id: the-%08d-of-all\r\nContent-Length: %d\r\n\r\n%s", a.method, a.path, tokens[random.IntN(len(tokens))], i+n, len(a.body), a.body)
		}
		must.Have(conn.Write(out))(t)
		for range atOnce {
			require.NoError(t, resp.Read(in))
		}
		w.read(t, d.Log, fmt.Sprintf("the-%08d-of-all", i+atOnce-1))
	}
}

// TestWindowIsTheLog: every count of the operators' pages is that of the access log, over 20,000
// requests, in the soak over 1,000,000; also after a restart.
func TestWindowIsTheLog(t *testing.T) {
	o := rig.Options{DSN: rig.Engines[0].DSN(t)}
	d := rig.Start(t, o)
	tokens := []string{d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo"), d.Login(rig.FullKey, "other"), "wrong"}
	requests := 20_000
	if sqltest.Soak() {
		requests = 1_000_000
	}
	var logged loggedTally
	askMany(t, d, &logged, requests, tokens)
	require.Greater(t, logged.all[0], requests)
	counted := func(kind, name string) [3]int { return *logged.of[kind][name] }
	compare := func(d *rig.Desk) {
		t.Helper()
		for _, span := range []string{"30m", "2h", "24h"} {
			var of pastJSON
			askJSON(t, d, "/?span="+span, &of)
			require.Equal(t, logged.all, of.Past.sum(), span)
			require.Len(t, of.Past.Busiest, 4)
			for _, table := range of.Past.Busiest {
				require.NotEmpty(t, table.Rows, table.Kind)
				for _, row := range table.Rows {
					want := counted(table.Kind, row.Name)
					require.Equal(t, want, [3]int{row.Requests, row.Refused, row.Failed}, "%s %s in %s", table.Kind, row.Name, span)
					var one pastJSON
					askJSON(t, d, "/history?"+url.Values{table.Kind: {row.Name}, "span": {span}}.Encode(), &one)
					require.Equal(t, want, one.sum(), "%s %s in %s", table.Kind, row.Name, span)
				}
			}
		}
		for kind, of := range ofLogged {
			for _, l := range logged.recent {
				var found struct{ Refusals []instrument.Refusal }
				askJSON(t, d, "/refusals?"+url.Values{kind: {of(&l)}}.Encode(), &found)
				var ids, want []string
				for _, r := range found.Refusals {
					ids = append(ids, r.ID)
				}
				for _, other := range slices.Backward(logged.refusals) {
					if of(&other) == of(&l) {
						want = append(want, other.RequestID)
					}
				}
				require.Equal(t, want, ids, "%s %s", kind, of(&l))
			}
		}
	}
	compare(d)

	d.Shutdown()
	again := rig.Start(t, o)
	compare(again)
	var of pastJSON
	askJSON(t, again, "/", &of)
	require.Len(t, of.Past.Marks, 3)
	require.Equal(t, "stop", of.Past.Marks[1].Kind)
	require.Equal(t, "start", of.Past.Marks[2].Kind)
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
		told := instrument.New(time.Now)
		told.Mark("key", "api_key ended: webshop")
		told.Mark("configuration", "configuration refused: keys.d/webshop.yaml:3:5: expected a list")
		require.NoError(t, told.Save(strings.TrimPrefix(o.DSN, "sqlite:")+"-history"))
		d := rig.Start(t, o)
		d.Call("GET", "/vehicle", d.Login(rig.FullKey, "demo"), "")
		for range 3 {
			d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "")
		}
		var shown, hidden pastJSON
		askJSON(t, d, "/", &shown)
		shown.Notices = slices.DeleteFunc(shown.Notices, func(n desk.Notice) bool {
			return strings.Contains(n.Text, " took up to ") // on a machine with much else to do
		})
		require.Len(t, shown.Notices, 1)
		require.Contains(t, shown.Notices[0].Text, "with the key full were refused: wrong_password")
		require.NotEmpty(t, shown.Past.Busiest)
		elsewhere := []string{"X-Forwarded-For", "192.0.2.7"} // through a proxy on this machine
		askJSON(t, d, "/", &hidden, elsewhere...)
		require.Empty(t, hidden.Past.Busiest)
		require.Empty(t, hidden.Notices)
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
			basic := &http.Request{Header: http.Header{}}
			basic.SetBasicAuth("anybody", token)
			for _, other := range []string{"X-Forwarded-Host", "X-Real-IP", "Via"} {
				require.Equal(t, refused, askJSON(t, d, path, nil, other, "192.0.2.7"), other)
			}
			require.Equal(t, want, askJSON(t, d, path, nil, append(elsewhere, "Authorization", "bearer "+token)...), "schemes have no case")
			require.Equal(t, want, askJSON(t, d, path, nil, append(elsewhere, "Authorization", basic.Header.Get("Authorization"))...), path)
		}
		for _, path := range []string{"/", "/?span=10m", "/refusals", "/backends", "/callbacks"} {
			times := regexp.MustCompile(`\b\d\d:\d\d(:\d\d)?\b( CES?T\b)?`).FindAllString(string(d.AskOps(path).Body), -1)
			require.Equal(t, path == "/callbacks", len(times) == 0, path)
			for _, at := range times {
				require.Contains(t, at, " CE", "%s: a command may tell the same moment in another zone, which it names too", path)
			}
		}
		d.Shutdown()
	}
}

var opsPaths = []string{"/", "/refusals", "/backends", "/status.json", "/metrics", "/healthz", "/readyz"}

// TestOpsHosts: the operators' listener answers those who ask for it by a name of its own,
// and none of its answers is for the pages of others. A name that somebody else owns may
// lead here as well.
func TestOpsHosts(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Edit: strings.NewReplacer("ops: {", "ops: {hosts: [Gateway.internal], ")})
	_, port, _ := strings.Cut(d.Ops, ":")
	ask := func(path, host string, headers ...string) rig.Answer {
		t.Helper()
		a := d.AskOps(path, append(headers, "Host", host)...)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "same-origin", a.Header.Get("Cross-Origin-Resource-Policy"), path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		return a
	}
	for _, path := range opsPaths {
		for _, host := range []string{
			d.Ops, "127.0.0.1", "10.1.2.3:9090", "[::1]:" + port, "[::1]", "localhost:" + port, "LOCALHOST", "localhost.:9090", "gateway.internal", "GATEWAY.internal.:" + port, "[2001:db8::1]",
		} {
			require.Equal(t, 200, ask(path, host).Status, "%s of %s", path, host)
		}
		for _, host := range []string{
			"evil.example", "evil.example:" + port, "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost", "gateway", "internal", "0x7f.1", "2130706433", "gateway.internal:1:2",
		} {
			a := ask(path, host)
			if path == "/healthz" || path == "/readyz" { // as a load balancer asks that sends the name of its group
				require.Equal(t, 200, a.Status, "%s of %s", path, host)
				require.JSONEq(t, `{"status": "ok"}`, string(a.Body))
				continue
			}
			require.Equal(t, http.StatusMisdirectedRequest, a.Status, "%s of %s", path, host)
			require.NotContains(t, string(a.Body), "frontdesk_")
			require.Contains(t, string(a.Body), "ops.hosts")
		}
	}
	require.Equal(t, 404, ask("/nowhere", d.Ops).Status)
	require.Equal(t, http.StatusMisdirectedRequest, ask("/nowhere", "evil.example").Status)

	// As HAProxy asks.
	conn := must.Have(net.Dial("tcp", d.Ops))(t)
	defer conn.Close()
	must.Have(io.WriteString(conn, "GET /readyz HTTP/1.0\r\n\r\n"))(t)
	require.Equal(t, "HTTP/1.0 200 OK\r\n", must.Have(bufio.NewReader(conn).ReadString('\n'))(t))

	for _, test := range []struct {
		status  int // of what is for programs; the page may be come to from anywhere
		headers []string
	}{
		{200, []string{"Sec-Fetch-Site", "same-origin"}},
		{200, []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Dest", "document"}},
		{200, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}}, // a link
		{200, []string{"Origin", "http://" + d.Ops}},
		{403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}},
		{403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}},
		{403, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Dest", "empty"}}, // another port of this machine
		{403, []string{"Origin", "https://evil.example"}},
		{403, []string{"Origin", "http://127.0.0.1:1"}},
		{403, []string{"Origin", "null"}},
	} {
		for _, path := range opsPaths {
			want := test.status
			if path == "/" {
				want = 200
			}
			a := ask(path, d.Ops, test.headers...)
			require.Equal(t, want, a.Status, "%s with %s", path, test.headers)
			require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
		}
	}
}
