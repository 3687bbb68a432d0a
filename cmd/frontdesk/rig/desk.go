package rig

import (
	"bufio"
	"cmp"
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

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/reference"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/mapping"
)

// Main runs the tests of a package, and what has to hold after them: that no
// goroutine is left, and whatever else the package says.
func Main(m *testing.M, after ...func() error) int {
	code := legacytest.Run(m)
	for _, check := range append(after, removeBinary) {
		if err := check(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		await.Goroutines(await.LeftByFasthttp...)
	}
	return code
}

// SampleOrders is how many orders the databases of the tests begin with.
const SampleOrders = 40

// Engines are the databases that the built-in administration runs on; each test
// gets its own copy of the sample data.
var Engines = []struct {
	Name  string
	DSN   func(t testing.TB) string
	Empty func(t testing.TB) string // the same without anything in it
}{
	{"sqlite", func(t testing.TB) string {
		file := filepath.Join(t.TempDir(), desk.DatabaseFile)
		data, err := SampleFile()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, data, 0o600))
		return "sqlite:" + file
	}, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), desk.DatabaseFile) }},
	{"postgres", func(t testing.TB) string {
		return sqltest.PostgresLike(t, "sample", seedSample)
	}, func(t testing.TB) string { return sqltest.Postgres(t) }},
}

// SampleFile is a SQLite database with the sample data.
var SampleFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "frontdesk-sample-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, desk.DatabaseFile)
	if err := seedSample("sqlite:" + file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// OnEngines runs a test on every engine; PostgreSQL is skipped by name where it
// is not installed.
func OnEngines(t *testing.T, test func(t *testing.T, dsn string)) {
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) { test(t, e.DSN(t)) })
	}
}

// Desk is a frontdesk that serves in the test's own process.
type Desk struct {
	T    testing.TB
	Base string // without a slash at the end
	Ops  string
	Mail string // the folder that mails are written to
	DSN  string // of what it was started on; not of a child
	Log  *LockedBuffer
	HTTP *http.Client

	Stop    context.CancelFunc
	Stopped chan struct{}
	Code    int

	net *Network
}

// Options vary how a desk is started.
type Options struct {
	DSN     string          // an engine's copy of the sample data; "" where Backend says what there is instead
	Wrap    desk.WrapDriver // put around the driver
	Server  string          // more lines for the section server, two blanks in front
	Backend string          // more members of the section backend, a comma in front
	Extra   string          // more sections
	Keys    string          // more api_keys
	Environ []string        // that a child has beside the test's own

	Edit *strings.Replacer // of the whole configuration, if set
	Now  func() time.Time  // in place of time.Now, see desk.Program; not for a child
	Disk desk.LookAtDisk   // in place of the system's, likewise

	After func(time.Duration) <-chan time.Time // in place of time.After, likewise
	Bound func(*desk.Bounds)                   // changes what no configuration sets, likewise

	Descriptors int      // that a child may have open; 0 for the usual number
	Stderr      *os.File // that a child writes its log to; nil for Desk.Log

	net *Network // see InBubble
}

// BySheet are the options of a desk behind a mapping sheet, which is put into a folder of
// its own, with what it keeps; values are what stands for what in its text.
func BySheet(t testing.TB, driver, sheet string, values ...string) (o Options, folder string) {
	t.Helper()
	folder = t.TempDir()
	file := filepath.Join(folder, "sheet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer(values...).Replace(sheet)), 0o600))
	return Options{Backend: fmt.Sprintf(", driver: %s, sheet: %q", driver, file)}, folder
}

// Start serves on free ports. The desk stops when the test ends, and must stop
// cleanly.
func Start(t testing.TB, o Options) *Desk {
	t.Helper()
	d, ready := Begin(t, o)
	ready()
	return d
}

// Begin is Start that does not wait until the desk is ready, as ready does.
func Begin(t testing.TB, o Options) (d *Desk, ready func()) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	d = &Desk{T: t, Ops: FreeAddress(t), Mail: filepath.Join(dir, "mail"), Log: new(LockedBuffer), Stopped: make(chan struct{}), DSN: o.DSN, net: o.net}
	require.NoError(t, os.WriteFile(file, o.unhurried().config(d), 0o600))

	d.HTTP = &http.Client{Transport: d.heldToContract(t, file, o.net.transport())}
	program := desk.Program{Wrap: o.Wrap, Now: o.Now, Disk: o.Disk, After: o.After, Bound: o.Bound}
	o.net.into(&program)
	return d, d.start(program, serving(file, true))
}

func serving(file string, watch bool) func(desk.Program) error {
	return func(p desk.Program) error { return desk.ServeConfig(p, file, watch) }
}

// unhurried has no call and no request end for want of time, on whatever machine, unless the
// options say when.
func (o Options) unhurried() Options {
	if !strings.Contains(o.Backend, "timeout:") {
		o.Backend += fmt.Sprintf(", timeout: %s", Patience)
	}
	if !strings.Contains(o.Server, "read_timeout:") {
		o.Server = strings.TrimPrefix(fmt.Sprintf("%s\n  read_timeout: %s", strings.TrimRight(o.Server, "\n"), Patience), "\n")
	}
	return o
}

// config is the configuration of a desk.
func (o Options) config(d *Desk) []byte {
	text := fmt.Sprintf(DeskConfig, o.Server, d.Ops, o.DSN, o.Backend, d.Mail, o.Extra, o.Keys)
	text = strings.Replace(text, `dsn: "", `, "", 1)
	if o.Edit != nil {
		text = o.Edit.Replace(text)
	}
	return []byte(text)
}

// Serve serves a configuration, in a program that differs from the usual one by
// what p has, until the test ends. It returns when that is ready.
func (d *Desk) Serve(p desk.Program, file string, watch bool) {
	d.T.Helper()
	d.start(p, serving(file, watch))()
}

// start runs what serves until the test ends; ready waits for it.
func (d *Desk) start(p desk.Program, serve func(desk.Program) error) (ready func()) {
	d.T.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d.Stop = stop
	read, write := io.Pipe()
	p.Ctx, p.Stdin, p.Stdout, p.Stderr, p.LogDelay = ctx, strings.NewReader(""), write, d.Log, cmp.Or(p.LogDelay, time.Millisecond)
	go func() {
		defer close(d.Stopped)
		if err := serve(p); err != nil {
			d.Code = 1
			fmt.Fprintln(d.Log, "frontdesk:", err)
		}
		write.Close()
	}()
	d.T.Cleanup(d.Shutdown)
	return func() {
		d.T.Helper()
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			if base, ok := strings.CutPrefix(scanner.Text(), "ready: "); ok {
				d.Base = strings.TrimSuffix(base, "/")
				go io.Copy(io.Discard, read)
				return
			}
		}
		<-d.Stopped
		d.T.Fatalf("frontdesk did not start (exit code %d):\n%s", d.Code, d.Log)
	}
}

// heldToContract has every answer that the desk's client gets held to the
// description of the desk's configuration.
func (d *Desk) heldToContract(t testing.TB, file string, transport *http.Transport) http.RoundTripper {
	t.Helper()
	c, err := desk.LoadConfig(file)
	if err != nil {
		return transport // the desk will say what is wrong with it
	}
	held, err := ContractOf(c, desk.ProductionEnvironment)
	require.NoError(t, err)
	return &Holding{RoundTripper: transport, Contract: held, Base: &d.Base, Fault: func(err error) { t.Error(err) }}
}

// DeskConfig is the configuration of a desk: %s are lines for server, the address of ops,
// the DSN, members of backend, the mail folder, sections, and api_keys.
const DeskConfig = `
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

// FreeAddress is one on this machine that nothing listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := sqltest.FreePort()
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Shutdown stops the desk as Ctrl-C does, and waits for it.
func (d *Desk) Shutdown() {
	d.Stop()
	<-d.Stopped
	d.HTTP.CloseIdleConnections()
	if d.Code != 0 {
		d.T.Errorf("frontdesk ended with exit code %d:\n%s", d.Code, d.Log)
	}
}

// SeedDatabase fills a database with that many orders and what belongs to them.
func SeedDatabase(dsn string, records int) error {
	store, err := OpenAdministration(dsn)
	if err != nil {
		return err
	}
	err = reference.Seed(context.Background(), store, reference.SeedOptions{Records: records})
	if err == nil {
		_, err = jobstore.Open(context.Background(), store.Database()) // whose tables a desk would have to make
	}
	if err == nil {
		_, err = neighbours.Open(context.Background(), store.Database()) // likewise
	}
	return errors.Join(err, store.Close())
}

// seedSample makes the database that others are copied from. Its users log in at next to
// no cost: see PasswordHash.
func seedSample(dsn string) error {
	if err := SeedDatabase(dsn, SampleOrders); err != nil {
		return err
	}
	return rehash(dsn, PasswordHash)
}

// rehash hashes the passwords of the sample data's users anew, which are their names.
func rehash(dsn string, hash func(password string) string) error {
	statement := "UPDATE app_user SET password_hash = CASE username"
	for _, name := range []string{"demo", "external", "noemail", "bademail", "other"} {
		statement += fmt.Sprintf(" WHEN '%s' THEN '%s'", name, hash(name))
	}
	return alter(dsn, statement+" END")
}

// CostlyLogins has the users of the sample data log in at the cost that a hash has where
// frontdesk is used.
func CostlyLogins(t testing.TB, dsn string) {
	t.Helper()
	hasher := auth.NewHasher()
	require.NoError(t, rehash(dsn, func(password string) string {
		hash, err := hasher.Hash(t.Context(), password)
		require.NoError(t, err)
		return hash
	}))
}

// OpenAdministration opens what is behind a desk, beside it.
func OpenAdministration(dsn string) (*reference.Store, error) {
	model, err := mapping.LoadModel("")
	if err != nil {
		return nil, err
	}
	return reference.Open(context.Background(), reference.Options{DSN: dsn, Model: model, Hasher: auth.NewHasher(), Now: time.Now})
}

// Call sends one request. Headers come in pairs.
func (d *Desk) Call(method, path, token, body string, headers ...string) Answer {
	d.T.Helper()
	a, err := d.Try(method, path, token, body, headers...)
	require.NoError(d.T, err)
	a.Judge(d.T, method+" "+path)
	return a
}

// Gets sends one request that must be answered so.
func (d *Desk) Gets(status int, method, path, token, body string, headers ...string) Answer {
	d.T.Helper()
	a := d.Call(method, path, token, body, headers...)
	require.Equal(d.T, status, a.Status, "%s %s: %s", method, path, a.Body)
	return a
}

// Try is call where the connection may fail.
func (d *Desk) Try(method, path, token, body string, headers ...string) (Answer, error) {
	req, err := http.NewRequest(method, d.Base+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := d.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}

// The api_keys of a desk.
const (
	FullKey   = "99999999-9999-4999-8999-999999999999"
	OrdersKey = "88888888-8888-4888-8888-888888888888"
)

// LoginPath is what a log-in asks.
func LoginPath(key, username, password string) string {
	return "/authenticate?api_key=" + key + "&organization_name=&username=" + username + "&password=" + password
}

// Login returns the token of a new session; the password is the username.
func (d *Desk) Login(key, username string) string {
	d.T.Helper()
	return d.LoginAs(key, username, username)
}

// LoginAs returns the token of a new session.
func (d *Desk) LoginAs(key, username, password string) string {
	d.T.Helper()
	a := d.Call("GET", LoginPath(key, username, password), "", "")
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	var body struct{ Token string }
	require.NoError(d.T, json.Unmarshal(a.Body, &body))
	return body.Token
}

// Create posts a record that must be accepted, and returns its id.
func (d *Desk) Create(token, resource, body string) int {
	d.T.Helper()
	a := d.Call("POST", "/"+resource, token, body)
	require.Equal(d.T, 201, a.Status, "%s: %s", resource, a.Body)
	return a.ID(d.T)
}

// Patience is the timeout of a program whose requests and calls are to end before it on any machine.
const Patience = time.Minute
