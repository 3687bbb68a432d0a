package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/reference"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

func TestMain(m *testing.M) { os.Exit(runTests(m, everythingMet)) }

// runTests runs the tests of a package, and what has to hold after them: that no
// goroutine is left, and whatever else the package says.
func runTests(m *testing.M, after ...func() error) int {
	code := legacytest.Run(m)
	for _, check := range append(after, removeBinary, findLeaks) {
		if err := check(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// findLeaks finds goroutines that are left. fasthttp keeps the date in one that
// never ends, and its pools' cleaners notice only at their next tick that they
// were stopped.
func findLeaks() error {
	return goleak.Find(
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// sampleOrders is how many orders the databases of the tests begin with.
const sampleOrders = 40

// engines are the databases that the built-in administration runs on; each test
// gets its own copy of the sample data.
var engines = []struct {
	name  string
	dsn   func(t testing.TB) string
	empty func(t testing.TB) string // the same without anything in it
}{
	{"sqlite", func(t testing.TB) string {
		file := filepath.Join(t.TempDir(), databaseFile)
		data, err := sampleFile()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, data, 0o600))
		return "sqlite:" + file
	}, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), databaseFile) }},
	{"postgres", func(t testing.TB) string {
		return sqltest.PostgresLike(t, "sample", func(dsn string) error { return seedDatabase(dsn, sampleOrders) })
	}, func(t testing.TB) string { return sqltest.Postgres(t) }},
}

// sampleFile is a SQLite database with the sample data.
var sampleFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "frontdesk-sample-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, databaseFile)
	if err := seedDatabase("sqlite:"+file, sampleOrders); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// onEngines runs a test on every engine; PostgreSQL is skipped by name where it
// is not installed.
func onEngines(t *testing.T, test func(t *testing.T, dsn string)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { test(t, e.dsn(t)) })
	}
}

// desk is the real program, started by its own command line in this process.
type desk struct {
	t    testing.TB
	base string // without a slash at the end
	ops  string
	mail string // the folder that mails are written to
	log  *lockedBuffer
	http *http.Client

	stop    context.CancelFunc
	stopped chan struct{}
	code    int
}

// deskOptions vary how a desk is started.
type deskOptions struct {
	dsn     string     // an engine's copy of the sample data; "" where backend says what there is instead
	wrap    wrapDriver // put around the driver
	server  string     // more lines for the section server, two blanks in front
	backend string     // more members of the section backend, a comma in front
	extra   string     // more sections
	keys    string     // more api_keys

	edit *strings.Replacer // of the whole configuration, if set
	now  func() time.Time  // in place of time.Now, see program; not for a child

	descriptors int // that a child may have open; 0 for the usual number
}

// startDesk starts frontdesk serve on free ports. The
// desk stops when the test ends, and must stop cleanly.
func startDesk(t testing.TB, o deskOptions) *desk {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	d := &desk{t: t, ops: freeAddress(t), mail: filepath.Join(dir, "mail"), log: new(lockedBuffer), stopped: make(chan struct{})}
	require.NoError(t, os.WriteFile(file, o.config(d, dir), 0o600))

	d.http = &http.Client{Transport: d.heldToContract(t, file, &http.Transport{MaxIdleConnsPerHost: 64}), Timeout: 60 * time.Second}
	d.serve(program{wrap: o.wrap, now: o.now}, file, true)
	return d
}

// config is the configuration of a desk that keeps its files in dir.
func (o deskOptions) config(d *desk, dir string) []byte {
	text := fmt.Sprintf(deskConfig, o.server, d.ops, o.dsn, o.backend, d.mail, withFolder(o.extra, dir), o.keys)
	text = strings.Replace(text, `dsn: "", `, "", 1)
	if o.edit != nil {
		text = o.edit.Replace(text)
	}
	return []byte(text)
}

// serve serves a configuration, in a program that differs from the usual one by
// what p has, until the test ends. It returns when that is ready.
func (d *desk) serve(p program, file string, watch bool) {
	d.t.Helper()
	d.start(p, func(p program) error { return serveConfig(p, file, watch) })
}

// start runs what serves until the test ends. It returns when that is ready.
func (d *desk) start(p program, serve func(program) error) {
	d.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	read, write := io.Pipe()
	p.ctx, p.stdin, p.stdout, p.stderr = ctx, strings.NewReader(""), write, d.log
	go func() {
		defer close(d.stopped)
		if err := serve(p); err != nil {
			d.code = 1
			fmt.Fprintln(d.log, "frontdesk:", err)
		}
		write.Close()
	}()
	d.t.Cleanup(d.shutdown)
	for scanner := bufio.NewScanner(read); scanner.Scan(); {
		if base, ok := strings.CutPrefix(scanner.Text(), "ready: "); ok {
			d.base = strings.TrimSuffix(base, "/")
			go io.Copy(io.Discard, read)
			return
		}
	}
	<-d.stopped
	d.t.Fatalf("frontdesk did not start (exit code %d):\n%s", d.code, d.log)
}

// heldToContract has every answer that the desk's client gets held to the
// description of the desk's configuration.
func (d *desk) heldToContract(t testing.TB, file string, transport *http.Transport) http.RoundTripper {
	t.Helper()
	c, err := loadConfig(file)
	if err != nil {
		return transport // the desk will say what is wrong with it
	}
	held, err := contractOf(c, productionEnvironment)
	require.NoError(t, err)
	return &holding{RoundTripper: transport, contract: held, base: &d.base, fault: func(err error) { t.Error(err) }}
}

// withFolder keeps the results of callbacks in a folder of the test's, unless
// the sections say where.
func withFolder(sections, dir string) string {
	if strings.Contains(sections, "webhooks:") {
		return sections
	}
	return sections + fmt.Sprintf("\nwebhooks: {folder: %q}", filepath.Join(dir, "callbacks"))
}

const deskConfig = `
server:
  listen: 127.0.0.1:0
  vendor: Example
%s
ops: {listen: "%s"}
backend: {dsn: "%s"%s}
mail: {folder: "%s"}
%s
api_keys:
  - name: full
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    allow: ["* /*"]
  - name: orders
    key_sha256: ["c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"]
    allow: ["GET /order", "GET /orderline", "GET /model/*"]
%s
`

// freeAddress is one on this machine that nothing listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := sqltest.FreePort()
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// shutdown stops the desk as Ctrl-C does, and waits for it.
func (d *desk) shutdown() {
	d.stop()
	select {
	case <-d.stopped:
	case <-time.After(60 * time.Second):
		d.t.Error("frontdesk did not stop")
		return
	}
	d.http.CloseIdleConnections()
	if d.code != 0 {
		d.t.Errorf("frontdesk ended with exit code %d:\n%s", d.code, d.log)
	}
}

func seedDatabase(dsn string, records int) error {
	store, err := openAdministration(dsn)
	if err != nil {
		return err
	}
	err = reference.Seed(context.Background(), store, reference.SeedOptions{Records: records})
	return errors.Join(err, store.Close())
}

// openAdministration opens what is behind a desk, beside it.
func openAdministration(dsn string) (*reference.Store, error) {
	model, err := mapping.LoadModel("")
	if err != nil {
		return nil, err
	}
	return reference.Open(context.Background(), reference.Options{DSN: dsn, Model: model, Hasher: auth.NewHasher(), Now: time.Now})
}

// answer is what the desk answered.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// errorBody is the one shape of an error answer.
type errorBody struct {
	ErrorCode int          `json:"errorCode"`
	Message   string       `json:"message"`
	Reason    string       `json:"reason"`
	Field     string       `json:"field"`
	RequestID string       `json:"request_id"`
	Errors    []errorEntry `json:"errors"`
}

type errorEntry struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Field   string `json:"field"`
}

// failure reads an error answer.
func (a answer) failure(t testing.TB) errorBody {
	t.Helper()
	var e errorBody
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&e), "%s", a.Body)
	return e
}

// judge checks what every answer must be, and every error answer beyond it. The
// pages for people and the problems of RFC 9457 have other shapes.
func (a answer) judge(t testing.TB, what string) {
	t.Helper()
	require.NotEmpty(t, a.Header.Get("X-Request-Id"), what)
	require.Contains(t, []string{"no-store", "private, no-cache"}, a.Header.Get("Cache-Control"), what)
	kind := a.Header.Get("Content-Type")
	isError := bytes.HasPrefix(a.Body, []byte(`{"errorCode"`))
	if strings.HasPrefix(kind, "text/html") || kind == "application/problem+json" || len(a.Body) == 0 {
		return
	}
	require.Equal(t, "application/json", kind, what)
	require.True(t, json.Valid(a.Body), "%s: %s", what, a.Body)
	if a.Status < 400 && !isError {
		return
	}
	e := a.failure(t)
	require.Equal(t, a.Status, e.ErrorCode, what)
	require.Equal(t, a.Header.Get("X-Request-Id"), e.RequestID, what)
	require.NotEmpty(t, e.Message, what)
	require.Regexp(t, `^[a-z0-9_]+$`, e.Reason, what)
	if e.Errors != nil {
		require.Greater(t, len(e.Errors), 1, what)
		require.Equal(t, errorEntry{e.Message, e.Reason, e.Field}, e.Errors[0], what)
	}
}

// data reads {"data": {…}}.
func (a answer) data(t testing.TB) map[string]any {
	t.Helper()
	var body struct{ Data map[string]any }
	require.NoError(t, json.Unmarshal(a.Body, &body), "%s", a.Body)
	return body.Data
}

// id is the id of the record that was answered.
func (a answer) id(t testing.TB) int {
	t.Helper()
	id, ok := a.data(t)["id"].(float64)
	require.True(t, ok, "no id in %s", a.Body)
	return int(id)
}

// call sends one request. Headers come in pairs.
func (d *desk) call(method, path, token, body string, headers ...string) answer {
	d.t.Helper()
	a, err := d.try(method, path, token, body, headers...)
	require.NoError(d.t, err)
	a.judge(d.t, method+" "+path)
	return a
}

// try is call where the connection may fail.
func (d *desk) try(method, path, token, body string, headers ...string) (answer, error) {
	req, err := http.NewRequest(method, d.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}

// The api_keys of a desk.
const (
	fullKey   = "99999999-9999-4999-8999-999999999999"
	ordersKey = "88888888-8888-4888-8888-888888888888"
)

func loginPath(key, username, password string) string {
	return "/authenticate?api_key=" + key + "&organization_name=&username=" + username + "&password=" + password
}

// login returns the token of a new session; the password is the username.
func (d *desk) login(key, username string) string {
	d.t.Helper()
	a := d.call("GET", loginPath(key, username, username), "", "")
	require.Equal(d.t, 200, a.Status, "%s", a.Body)
	var body struct{ Token string }
	require.NoError(d.t, json.Unmarshal(a.Body, &body))
	return body.Token
}

// create posts a record that must be accepted, and returns its id.
func (d *desk) create(token, resource, body string) int {
	d.t.Helper()
	a := d.call("POST", "/"+resource, token, body)
	require.Equal(d.t, 201, a.Status, "%s: %s", resource, a.Body)
	return a.id(d.t)
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
