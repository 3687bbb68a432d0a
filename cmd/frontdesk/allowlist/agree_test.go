package allowlist

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// TestToolsAgreeWithServing sends 10,000 random requests (a million in the soak)
// through the gateway in front of the built-in administration.
// No allowlist is got round: what was answered is held to a judge that knows the contract's
// text alone. What explain said, what the access log says, and what whatif makes of that,
// is held to what was answered.
func TestToolsAgreeWithServing(t *testing.T) {
	requests := 5_000
	if sqltest.Soak() {
		requests = 500_000
	}
	for n := range uint64(2) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			seed := sqltest.Seed(t) + n
			a := newAgreement(t, rand.New(rand.NewPCG(seed, seed)))
			for i := range requests {
				a.request(int(seed>>2) + i)
				if t.Failed() {
					return
				}
			}
			a.summary()
		})
	}
}

// agreement is a gateway that is asked, and the allowlists of its configuration.
type agreement struct {
	t        *testing.T
	random   *rand.Rand
	desk     *desk.Desk
	lists    *Lists
	naive    naive
	logs     *desk.Logs
	lines    *rig.LockedBuffer
	calls    atomic.Int64 // of the backend
	sessions []auth.Session
	tokens   []string
	rules    [][]string // of each api_key; all where its allowlist is on trial
	all      map[use]*counted
	outcomes map[string]int
}

const agreementKeys = 40

func newAgreement(t *testing.T, random *rand.Rand) *agreement {
	a := &agreement{t: t, random: random, lines: new(rig.LockedBuffer), all: map[use]*counted{}, outcomes: map[string]int{}}
	a.naive = newNaive(t, "/webservice_v2")
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	keys := a.writeConfig(file)
	c := must.Have(desk.LoadConfig(file))(t)
	a.lists = must.Have(Of(c, desk.ProductionEnvironment))(t)

	a.logs = must.Have(desk.NewLogs(c.Log, a.lines, desk.LogDelay))(t)
	t.Cleanup(a.logs.Stop)
	counted := func(d backend.Driver) backend.Driver { return countedDriver{d.(*reference.Store), &a.calls} }
	a.desk = must.Have(desk.Build(desk.Program{Ctx: context.Background(), Wrap: counted}, c, desk.ProductionEnvironment, a.logs))(t)
	t.Cleanup(a.desk.Close)
	a.logIn(keys)
	return a
}

// writeConfig writes a configuration with random allowlists, and returns the api_keys.
func (a *agreement) writeConfig(file string) (keys []string) {
	database := filepath.Join(filepath.Dir(file), desk.DatabaseFile)
	data := must.Have(rig.SampleFile())(a.t)
	require.NoError(a.t, os.WriteFile(database, data, 0o600))
	var text strings.Builder
	fmt.Fprintf(&text, "server: {listen: 127.0.0.1:0}\nops: {listen: \"\"}\nbackend: {dsn: %q}\nmail: {folder: %q}\ncallbacks: [GET /employee, PUT /contact]\napi_keys:\n",
		"sqlite:"+database, filepath.Join(filepath.Dir(file), "mail"))
	grants := ofDemo(a.t).grants
	for i := range agreementKeys {
		key := uuid.NewString()
		keys = append(keys, key)
		fmt.Fprintf(&text, "  - name: key-%d\n    key_sha256: [%x]\n", i, sha256.Sum256([]byte(key)))
		rules := map[string]bool{}
		entries := a.random.IntN(25)
		if i%5 == 4 { // what is laid out for many must not judge otherwise than what is for few
			entries = 3 * len(grants)
		}
		for range entries {
			grant := grants[a.random.IntN(len(grants))]
			rules[[]string{grant.Method, grant.Method, grant.Method, "*"}[a.random.IntN(4)]+" "+grant.Path] = true
		}
		if i == 0 {
			rules["* /*"] = true
		}
		a.rules = append(a.rules, a.takeFields(slices.Sorted(maps.Keys(rules))))
		text.WriteString("    allow:\n")
		for _, rule := range a.rules[i] {
			fmt.Fprintf(&text, "      - %s\n", must.Have(config.ParseRule(rule))(a.t).YAML())
		}
	}
	require.NoError(a.t, os.WriteFile(file, []byte(text.String()), 0o600))
	return keys
}

// takeFields has some entries take fields away that can be taken, and that no other entry grants.
func (a *agreement) takeFields(rules []string) []string {
	g := ofDemo(a.t).gateway
	for i, rule := range rules {
		method, path, _ := strings.Cut(rule, " ")
		r := g.Model().Resource(path[1:])
		beside := slices.ContainsFunc(rules, func(other string) bool {
			m, p, _ := strings.Cut(other, " ")
			return other != rule && p == path && (m == "*" || method == "*")
		})
		if r == nil || method == "DELETE" || beside || slices.Contains(rules, "* /*") || a.random.IntN(2) == 0 {
			continue
		}
		f := r.Fields[a.random.IntN(r.IsSystem)]
		if field := []string{f.Name}; f.InLists() && g.RightsFaults(mapping.Rights{r.Name: {Reads: field, Creates: field, Updates: field}}, func(string, string) bool { return true }) == nil {
			rules[i] += ": {without: [" + f.Name + "]}"
		}
	}
	return rules
}

// logIn makes a session for each api_key: one by logging in, the others like it.
func (a *agreement) logIn(keys []string) {
	var req fasthttp.Request
	req.SetRequestURI("/webservice_v2" + rig.LoginPath(keys[0], "demo", "demo"))
	resp := a.answer(&req)
	require.Equal(a.t, 200, resp.StatusCode(), "%s", resp.Body())
	hash, ok := auth.HashToken(strings.Split(string(resp.Body()), `"`)[3])
	require.True(a.t, ok)
	session := must.Have(a.desk.Sessions().Get(context.Background(), hash))(a.t)
	for _, key := range keys {
		own, token := *session, uuid.NewString()
		own.Key = sha256.Sum256([]byte(key))
		own.Token, _ = auth.HashToken(token)
		a.sessions, a.tokens = append(a.sessions, own), append(a.tokens, token)
		require.NoError(a.t, a.desk.Sessions().Put(context.Background(), &own))
	}
	require.NoError(a.t, a.logs.Log.Sync())
	a.lines.Reset()
}

// answer has the desk answer a request.
func (a *agreement) answer(req *fasthttp.Request) *fasthttp.Response {
	rc := new(fasthttp.RequestCtx)
	rc.Init(req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, nil)
	a.desk.Handler()(rc)
	return &rc.Response
}

var drawnBodies = []string{"", "", " ", "{}", `{"id":5}`, `{"colour":1}`, `{"notes":"x"}`, `{"id":1,"id":2}`, "nope", `{"webhook_url":"http://x"}`, `{"orderlines":[{}]}`}

// request sends one request, and compares.
func (a *agreement) request(n int) {
	k, body, ask := a.random.IntN(agreementKeys), drawnBodies[a.random.IntN(len(drawnBodies))], a.method(n)+" "+a.target(n)
	if a.random.IntN(8) == 0 {
		ask, body = a.named(k)
	}
	var req fasthttp.Request
	text := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nToken: %s\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
		ask, a.tokens[k], gateway.ExplainedID, len(body), body)
	if req.Read(bufio.NewReader(strings.NewReader(text))) != nil {
		a.outcomes["no request"]++ // the server answers it, before there is anything to judge
		return
	}
	method, target, key := string(req.Header.Method()), string(req.Header.RequestURI()), &a.lists.keys[k]
	said := a.explain(method, target, req.Body(), key)
	wide := *key.auth
	wide.Rights = nil
	otherwise := a.explain(method, target, req.Body(), &Key{Key: key.Key, auth: &wide})
	before := a.calls.Load()
	resp := a.answer(&req)
	called := a.calls.Load() - before
	line := a.line()
	what := fmt.Sprintf("%s %q %q %q: %d %s", key.Name, method, target, body, resp.StatusCode(), resp.Body())

	if said.Status != 0 {
		require.Equal(a.t, said.Status, resp.StatusCode(), what)
		require.Equal(a.t, string(said.Answer), string(resp.Body()), what)
		require.Zero(a.t, called, what)
	}
	require.Equal(a.t, said.Fields != nil && said.Stopped != "" || said.Stopped == gateway.StageAllowlist && (otherwise.Stopped != said.Stopped || otherwise.Reason != said.Reason), string(said.Answer) != string(otherwise.Answer), what)
	require.Equal(a.t, said.Fields, line.Fields, what)
	u := useOf(&line)
	require.Equal(a.t, expectedOutcome(said), u.Then, what)
	hidden := line.Reason == "endpoint_unknown" || line.Reason == "method_unsupported"
	refusal := a.naive.judge(a.rules[k], method, target)
	require.Equal(a.t, refusal != "", hidden, what)
	if hidden && utf8.RuneCountInString(target) < 100 && utf8.ValidString(target) {
		var answer rig.ErrorBody
		require.NoError(a.t, json.Unmarshal(resp.Body(), &answer), what)
		require.Equal(a.t, refusal, answer.Message, what)
	}
	require.False(a.t, hidden && called > 0, what)
	require.Equal(a.t, u.Then == wasRefused || u.Then == wasElsewhere, hidden || u.Then == wasRefused && (line.Reason == "field_not_in_model" && line.Lacks != nil || line.Fields != nil), what)
	if u.Then <= wasRefused {
		require.Equal(a.t, u.Then == wasRefused, a.lists.judgeUse(u, time.Now()) != "", what)
	}
	sum(a.all, useOf(&line), counted{1, line.At()})
	a.outcomes[fmt.Sprint(said.Stopped, " ", u.Then, " ", called > 0)]++
	if said.Operation != nil && said.Operation.Template == "/authenticate/logout" {
		require.NoError(a.t, a.desk.Sessions().Put(context.Background(), &a.sessions[k]))
	}
}

// named is a request that names a field which some entry takes away, maybe of the api_key.
func (a *agreement) named(k int) (ask, body string) {
	for at := range agreementKeys {
		for _, rule := range a.rules[(k+at)%agreementKeys] {
			grant, fields, takes := strings.Cut(rule, ": {without: [")
			if _, path, _ := strings.Cut(grant, " "); takes {
				field := strings.TrimSuffix(fields, "]}")
				query := []string{"", "/5", "?" + field + "=1", "/5?" + field + "=1", "?fields=id," + field, "/5?fields=" + field, "?sort=" + field, "?" + field + "[null]=1", "/bulk"}
				return methodOrder[a.random.IntN(3)] + " " + a.naive.base + path + query[a.random.IntN(len(query))],
					[]string{"", `{"` + field + `":null}`, `{"records":[{"` + field + `":1}]}`}[a.random.IntN(3)]
			}
		}
	}
	return "GET /", ""
}

// explain asks as the command does, of a request as somebody types it who has seen it. A path
// that is not below the base path is taken for one that is, and needs a host in front.
func (a *agreement) explain(method, target string, body []byte, key *Key) gateway.Explanation {
	typed := target
	if strings.HasPrefix(target, "/") && !isBelow(target, a.naive.base) {
		typed = "http://x" + target
	}
	asked, err := a.lists.Request(method + " " + typed)
	if err != nil { // no command line says this
		a.outcomes["not typed"]++
		asked = Request{Hypothetical: gateway.Hypothetical{Method: method, Target: target}}
	}
	asked.Body = append([]byte{}, body...)
	asked.Key, asked.At = key.auth, time.Now()
	return a.lists.gateway.Explain(asked.Hypothetical)
}

// method is one of the interface's, mostly.
func (a *agreement) method(n int) string {
	if n%4 == 0 {
		return rapid.Custom(a.naive.drawMethod).Example(n)
	}
	return methodOrder[a.random.IntN(len(methodOrder))]
}

// target is one with a trick, or one that an honest client would send.
func (a *agreement) target(n int) string {
	if n%4 == 0 {
		return rapid.Custom(a.naive.drawTarget).Example(n)
	}
	grant := a.lists.grants[a.random.IntN(len(a.lists.grants))]
	path, any := strings.CutSuffix(grant.Path, "/*")
	if any || a.random.IntN(3) == 0 {
		path += []string{"/5", "/1", "/99999", "/0", "/order", "/x"}[a.random.IntN(6)]
	}
	query := []string{"", "", "", "?id=5", "?id=x", "?page=2", "?page=0", "?fields=id", "?fields=nothing", "?fields=orderlines", "?id=1&fields=orderlines,id", "?x=1", "?id=5&id=6", "?order_id=1", "?username=demo", "?webhook_url=http://x"}
	return a.naive.base + path + query[a.random.IntN(len(query))]
}

// expectedOutcome is how the access log has to tell what explain said.
func expectedOutcome(e gateway.Explanation) outcome {
	switch {
	case e.Operation == nil:
		return wasElsewhere
	case e.Stopped == gateway.StageAllowlist:
		return wasRefused
	case e.Lacks != nil, e.Fields != nil:
		return wasRefused
	case e.Session, e.Operation.Template == "/authenticate" && e.Stopped == "": // which reports whether the session lives
		return wasAllowed
	}
	return wasNobody
}

// line is that of the last request.
func (a *agreement) line() (line accesslog.Line) {
	require.NoError(a.t, a.logs.Log.Sync())
	logs := accesslog.Logs{Names: []string{"-"}, Stdin: bytes.NewReader(a.lines.Reset())}
	read := must.Have(logs.Requests(a.t.Context(), time.Time{}, func(l *accesslog.Line) { line = *l }))(a.t)
	require.EqualValues(a.t, 1, read.Lines)
	return line
}

// countedDriver is the built-in administration, and counts what it is asked.
type countedDriver struct {
	*reference.Store
	calls *atomic.Int64
}

func (d countedDriver) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	d.calls.Add(1)
	return d.Store.Get(ctx, r, q)
}

func (d countedDriver) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	d.calls.Add(1)
	return d.Store.List(ctx, r, q)
}

func (d countedDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	d.calls.Add(1)
	return d.Store.Write(ctx, f)
}

// summary tells what the requests came to: each way must have been gone, unless so few were
// drawn that chance may leave one out, and by the configuration that judged them nothing changes.
func (a *agreement) summary() {
	for way, n := range a.outcomes {
		a.t.Logf("%6d  %s", n, way)
	}
	for _, way := range []string{"endpoint 2 false", "allowlist 1 false", "query 0 false", "body 0 false", "record 0 false", " 0 true", " 3 false"} {
		require.True(a.t, a.outcomes[way] > 0, way)
	}
	w := a.lists.WhatIf(&Used{uses: a.all}, time.Now())
	require.Empty(a.t, w.changed)
}
