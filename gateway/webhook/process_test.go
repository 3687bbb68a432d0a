package webhook_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// clock is set by the test; each look at it takes step.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.Advance(c.step) }

func (c *clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// engine is a database that may be opened several times.
type engine struct {
	connect func() (sqlrecord.DB, error)
}

func sqliteEngine(t *testing.T) engine {
	file := filepath.Join(t.TempDir(), "jobs.db")
	return engine{func() (sqlrecord.DB, error) { return sqlrecord.OpenSQLite(file, sqlrecord.Options{}) }}
}

// onEngines runs a test on each engine, beside others; alone is for what measures the process, or does so again and again.
func onEngines(t *testing.T, f func(t *testing.T, e engine)) {
	t.Parallel()
	alone(t, f)
}

func alone(t *testing.T, f func(t *testing.T, e engine)) {
	t.Run("sqlite", func(t *testing.T) { f(t, sqliteEngine(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, postgresEngine(t)) })
}

func postgresEngine(t *testing.T) engine {
	dsn := sqltest.Postgres(t)
	return engine{func() (sqlrecord.DB, error) {
		return sqlrecord.OpenPostgres(context.Background(), dsn, sqlrecord.Options{Readers: 8})
	}}
}

// open opens the jobs of a process of its own.
func (e engine) open(t *testing.T) *watched {
	t.Helper()
	db := must.Have(e.connect())(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store := must.Have(jobstore.Open(t.Context(), db))(t)
	return &watched{Store: store}
}

// watched is a store of which a test can wait for what comes about.
type watched struct {
	*jobstore.Store
	waits func(webhook.Job) // what happens before a change is given the job, if set
	ended atomic.Int32      // callbacks that were delivered
}

func (w *watched) Change(ctx context.Context, id string, f func(webhook.Job) (webhook.Job, *webhook.Try, error)) (webhook.Job, error) {
	j, err := w.Store.Change(ctx, id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
		if w.waits != nil {
			w.waits(j)
		}
		return f(j)
	})
	if err == nil && j.State == webhook.CalledBack {
		w.ended.Add(1)
	}
	return j, err
}

// until returns when reached does, which another process may bring about.
func (w *watched) until(t *testing.T, reached func() bool) {
	t.Helper()
	await.True(t, reached)
}

func (w *watched) job(t *testing.T, id string) webhook.Job {
	t.Helper()
	return must.Have(w.Get(t.Context(), id))(t)
}

func (w *watched) untilState(t *testing.T, id string, s webhook.State) webhook.Job {
	t.Helper()
	var j webhook.Job
	t.Cleanup(func() {
		if t.Failed() {
			tries, _ := w.Journal(context.Background(), id)
			t.Logf("%+v\n%+v", j, tries)
		}
	})
	w.until(t, func() bool {
		j = w.job(t, id)
		return j.State == s
	})
	return j
}

func (w *watched) untilTries(t *testing.T, id string, n int) webhook.Job {
	t.Helper()
	var j webhook.Job
	w.until(t, func() bool {
		j = w.job(t, id)
		return j.Tries == n && j.Lease.IsZero()
	})
	return j
}

// receivers are the HTTPS servers of a test.
type receivers struct {
	authority *webhooktest.Authority
	ports     []uint16
}

func newReceivers(t *testing.T) *receivers {
	return &receivers{authority: webhooktest.NewAuthority(t)}
}

// add starts a receiver and returns its address.
func (r *receivers) add(t *testing.T, handler http.HandlerFunc) *url.URL {
	t.Helper()
	port := webhooktest.Port(t, r.authority.Serve(t, receiverName, handler))
	r.ports = append(r.ports, port)
	return must.Have(url.Parse("https://" + receiverName + ":" + strconv.Itoa(int(port)) + "/hook"))(t)
}

func (r *receivers) caller(t *testing.T) webhook.CallerConfig {
	return webhook.CallerConfig{
		Rules:    webhook.Rules{AllowHosts: []string{receiverName}, Ports: r.ports},
		Roots:    r.authority.Roots(),
		Resolver: resolver(t, func(int) string { return "127.0.0.1" }),
		Timeout:  time.Minute, ConnectTimeout: time.Minute,
	}
}

// process is an orchestrator and what it works with.
type process struct {
	*webhook.Orchestrator
	store  *watched
	caller webhook.CallerConfig
	folder string
	tick   chan time.Time
}

// Bytes of results: where tests fill it, and where they accept jobs at will, as long as
// none of them is done that tells how large they are.
const (
	space = 1 << 20
	roomy = 1 << 40
)

// start starts an orchestrator with two workers whose work "echo" returns its
// data. The test may tune it before.
func start(t *testing.T, c *clock, store *watched, caller webhook.CallerConfig, tune ...func(*webhook.Config)) *process {
	t.Helper()
	if caller.Clock == nil {
		caller.Clock = c.Now
	}
	p := &process{store: store, caller: caller, folder: t.TempDir(), tick: make(chan time.Time)}
	cfg := webhook.Config{
		Store: store, Caller: webhook.NewCaller(caller), Runners: map[string]webhook.Runner{"echo": echo},
		Secrets: func(string) []string { return nil }, Workers: 2, Calls: 16,
		Space: roomy, WorkLease: time.Hour, CallLease: time.Minute, Schedule: webhook.NewSchedule(func() float64 { return 0.5 }),
		Clock: c.Now, Random: rand.Reader, Log: zaptest.NewLogger(t), Tick: p.tick,
	}
	for _, f := range tune {
		f(&cfg)
	}
	if cfg.Results == nil {
		cfg.Results = openFiles(t, p.folder)
	}
	p.Orchestrator = webhook.Start(cfg)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// working starts a process that works on what is in a database, with a receiver of its callbacks.
func working(t *testing.T, e engine, receiver http.HandlerFunc, tune ...func(*webhook.Config)) (p *process, c *clock, store *watched, to *url.URL) {
	t.Helper()
	rs, c, store := newReceivers(t), newClock(), e.open(t)
	to = rs.add(t, receiver)
	return start(t, c, store, rs.caller(t), tune...), c, store, to
}

func openFiles(t *testing.T, folder string) *webhook.Files {
	t.Helper()
	return must.Have(webhook.OpenFiles(folder))(t)
}

// look has the orchestrator look for what is due, and returns when it has
// cleaned up where that was due.
func (p *process) look() {
	p.tick <- time.Time{}
	p.tick <- time.Time{}
}

func echo(_ context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
	_, err := w.Write(j.Work.Data)
	return webhook.Content{Name: "echo.txt", Type: "text/plain"}, err
}

func owner(client int64) webhook.Owner {
	return webhook.Owner{User: auth.User{ID: client, Client: auth.Client{ID: client}}, Key: "test"}
}

// accept promises work of that kind to client 1.
func (p *process) accept(t *testing.T, to *url.URL, kind string) string {
	t.Helper()
	return p.acceptOf(t, 1, to, kind)
}

func (p *process) acceptOf(t *testing.T, client int64, to *url.URL, kind string) string {
	t.Helper()
	return must.Have(p.Accept(t.Context(), owner(client), to, webhook.Work{Kind: kind, Data: []byte("hello")}))(t)
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// addresses are where the receivers are.
func (r *receivers) addresses(t *testing.T) (all []*url.URL) {
	t.Helper()
	for _, port := range r.ports {
		u := must.Have(url.Parse("https://" + receiverName + ":" + strconv.Itoa(int(port)) + "/hook"))(t)
		all = append(all, u)
	}
	return all
}

// addJob keeps a job that was accepted when nobody worked.
func addJob(t *testing.T, store *watched, c *clock, n int, client int64, to *url.URL) {
	err := store.Add(t.Context(), webhook.Job{
		ID: "job" + strconv.Itoa(n), Owner: owner(client), Callback: to.String(), State: webhook.Accepted,
		Work: webhook.Work{Kind: "echo", Data: []byte("hello")}, Created: c.Now(),
	})
	assert.NoError(t, err)
}

// peak remembers the highest number it sees.
type peak struct {
	mu   sync.Mutex
	high int
}

func (p *peak) see(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.high = max(p.high, n)
}

func (p *peak) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.high
}
