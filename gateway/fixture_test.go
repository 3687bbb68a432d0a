package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// fixture is a gateway on a real administration: the sample data with four orders.
type fixture struct {
	*Gateway
	t        testing.TB
	store    *reference.Store
	sessions auth.Sessions
	clock    *authtest.Clock
	mail     string // the folder that mails are written to
	lines    *observer.ObservedLogs

	mu      sync.Mutex
	policy  *Policy
	handler fasthttp.RequestHandler
}

// keyAll is an api_key that may do everything.
const keyAll = "11111111-1111-4111-8111-111111111111"

// The request id of what a fixture is asked.
const askedID = "asked"

var sampleModel = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

// sampleFile is a SQLite database with the sample data, in which a password costs
// next to nothing to verify.
var sampleFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "frontdesk-gateway-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "sample.db")
	model, err := sampleModel()
	if err != nil {
		return nil, err
	}
	store, err := openStore(file, model, time.Now)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(fill(store), store.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// fill makes the sample data.
func fill(store *reference.Store) error {
	if err := reference.Seed(context.Background(), store, reference.SeedOptions{Records: 4}); err != nil {
		return err
	}
	for _, name := range []string{"demo", "other", "external", "noemail", "bademail"} {
		hash, err := argon2id.CreateHash(name, &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
		if err := errors.Join(err, store.SetPassword(context.Background(), name, hash)); err != nil {
			return err
		}
	}
	return nil
}

func openStore(file string, model *mapping.Model, clock func() time.Time) (*reference.Store, error) {
	return reference.Open(context.Background(), reference.Options{DSN: "sqlite:" + file, Model: model, Hasher: auth.NewHasher(), Now: clock})
}

// inBubble runs a test by the clock of a bubble. What the process has once is begun before.
func inBubble(t *testing.T, test func(*testing.T)) {
	must.Have(sampleFile())(t)
	require.NotEmpty(t, new(fasthttp.ResponseHeader).Header(), "with its Date, by a clock of fasthttp's own")
	synctest.Test(t, test)
}

// newFixture opens a fixture for a test. Each tune may change what the
// gateway is made of.
func newFixture(t testing.TB, tune ...func(*fixture, *Options)) *fixture {
	t.Helper()
	return fixtureOf(t, must.Have(sampleModel())(t), tune...)
}

// onDriver has a fixture ask a driver in front of its store.
func onDriver(of func(*fixture) backend.Driver) func(*fixture, *Options) {
	return func(h *fixture, o *Options) {
		o.Backend = must.Have(backend.NewClient(of(h), o.Offer.Model, backend.Options{Timeout: time.Hour}))(h.t)
	}
}

// fixtureOf is a fixture of that model.
func fixtureOf(t testing.TB, model *mapping.Model, tune ...func(*fixture, *Options)) *fixture {
	t.Helper()
	data := must.Have(sampleFile())(t)
	file := filepath.Join(t.TempDir(), "f.db")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	h := &fixture{t: t, clock: authtest.NewClock(), mail: t.TempDir()}
	h.store = must.Have(openStore(file, model, h.clock.Now))(t)
	t.Cleanup(func() { require.NoError(t, h.store.Close()) })
	client := must.Have(backend.NewClient(h.store, model, backend.Options{Timeout: time.Hour}))(t)
	memory := auth.NewMemory(h.clock.Now)
	t.Cleanup(func() { require.NoError(t, memory.Close()) })
	h.sessions = memory
	core, lines := observer.New(zap.InfoLevel)
	h.lines = lines
	o := Options{
		BasePath: "/webservice_v2", PublicURL: "https://api.example.nl/webservice_v2", Vendor: "Example", Environment: "test", Version: "1.2.3",
		Location: time.UTC, SessionTTL: auth.MaxTTL, Offer: client.Offer(), Backend: client, Sessions: memory, Limits: auth.NewMemoryLimits(time.UTC),
		Policy: h.current, Clock: h.clock.Now, Log: zap.New(core), Access: zap.New(core),
	}
	h.openAccounts(&o, h.store)
	for _, f := range tune {
		f(h, &o)
	}
	h.Gateway = New(o)
	h.setKeys(keyOf(keyAll, "all", h.Grants()...))
	return h
}

// openAccounts makes what logs in, and what resets passwords.
func (h *fixture) openAccounts(o *Options, of auth.Accounts) {
	accounts := o.Backend.Accounts(of)
	var err error
	o.Login, err = auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: o.Sessions, TTL: auth.MaxTTL, Vendor: o.Vendor, Clock: h.clock.Now, Random: rand.Reader, Log: o.Log,
		Throttle: auth.NewThrottle(auth.NewMemoryGuessCounter(), h.clock.Now, func(context.Context, time.Duration) error { return nil }),
		Queue:    auth.NewLoginQueue(auth.LoginsAtOnce, h.clock.Now),
	})
	require.NoError(h.t, err)
	mailer := must.Have(auth.NewFolderMailer(h.mail, "frontdesk@example.nl", h.clock.Now, rand.Reader))(h.t)
	resets := must.Have(auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: auth.NewHasher(), Sessions: o.Sessions, Mailer: mailer, Base: o.PublicURL, Clock: h.clock.Now, Random: rand.Reader, Log: o.Log,
	}))(h.t)
	h.t.Cleanup(func() { require.NoError(h.t, resets.Close()) })
	o.Resets = resets
}

func (h *fixture) current() *Policy {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.policy
}

// heldKey is an api_key with what its allowlist grants.
type heldKey struct {
	auth.Key
	grants []Grant
}

func keyOf(text, name string, grants ...Grant) heldKey {
	return heldKey{auth.Key{Name: name, Hashes: []auth.KeyHash{{Hash: sha256.Sum256([]byte(text))}}}, grants}
}

// setKeys makes these the api_keys, as a new configuration does.
func (h *fixture) setKeys(keys ...heldKey) {
	all := make([]auth.Key, len(keys))
	for i, k := range keys {
		all[i] = k.Key
		all[i].Allowed = keyFor(h.Gateway, k.grants...).Allowed
	}
	ring := must.Have(auth.NewKeyring(all, nil))(h.t)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.policy = &Policy{Keys: ring, Hash: "c0ffee", AccessLog: true}
	h.handler = h.Handler(h.policy)
}

// session returns the token of a new session.
func (h *fixture) session(key, username string) string {
	return h.sessionUntil(key, username, h.clock.Now().Add(auth.MaxTTL))
}

func (h *fixture) sessionUntil(key, username string, ends time.Time) string {
	h.t.Helper()
	user := must.Have(h.store.FindUser(context.Background(), username))(h.t)
	token := uuid.NewString()
	hash, ok := auth.HashToken(token)
	require.True(h.t, ok)
	require.NoError(h.t, h.sessions.Put(context.Background(), &auth.Session{
		Token: hash, Key: sha256.Sum256([]byte(key)), User: user, Issued: ends.Add(-auth.MaxTTL), Expires: ends,
	}))
	return token
}

// serve answers a request that does not come over a connection.
func (h *fixture) serve(req *fasthttp.Request) *fasthttp.Response {
	h.mu.Lock()
	handler := h.handler
	h.mu.Unlock()
	rc := new(fasthttp.RequestCtx)
	rc.Init(req, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, nil)
	handler(rc)
	return &rc.Response
}

// visitor asks a fixture with one session; without any where its token is empty.
type visitor struct {
	h     *fixture
	token string
}

func (h *fixture) as(username string) visitor { return visitor{h, h.session(keyAll, username)} }

// answered is an answer as it is sent.
type answered struct {
	status int
	body   string
	header *fasthttp.ResponseHeader
}

func (a answered) head(name string) string { return string(a.header.Peek(name)) }

// ask sends a request, which a fixture answers without any connection. Headers are
// name, value pairs.
func (c visitor) ask(method, target, body string, headers ...string) answered {
	var req fasthttp.Request
	req.Header.SetMethod(method)
	req.SetRequestURI("/webservice_v2" + target)
	req.Header.Set("X-Request-Id", askedID)
	if c.token != "" {
		req.Header.Set("Token", c.token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	req.SetBodyString(body)
	resp := c.h.serve(&req)
	return answered{resp.StatusCode(), string(resp.Body()), &resp.Header}
}

// decode reads an answer of the type that a test expects.
func decode[T any](t testing.TB, a answered) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}

// fault is what a client reads of one violation.
type fault struct {
	status  int
	message string
	reason  mapping.Reason
	field   string
}

func (f fault) members() string {
	members := fmt.Sprintf(`"message":%q,"reason":%q`, f.message, f.reason)
	if f.field != "" {
		members += fmt.Sprintf(`,"field":%q`, f.field)
	}
	return members
}

// refused holds an answer to the violations that it should tell, word for word.
func refused(t testing.TB, a answered, faults ...fault) {
	t.Helper()
	body := fmt.Sprintf(`{"errorCode":%d,%s,"request_id":%q`, faults[0].status, faults[0].members(), askedID)
	if len(faults) > 1 {
		var all []string
		for _, f := range faults {
			all = append(all, "{"+f.members()+"}")
		}
		body += `,"errors":[` + strings.Join(all, ",") + "]"
	}
	require.Equal(t, body+"}", position.ReplaceAllString(a.body, ""))
	require.Equal(t, faults[0].status, a.status)
	require.Equal(t, "application/json", a.head("Content-Type"))
}

// position is where a body is not JSON, which refusedAt judges.
var position = regexp.MustCompile(`,"position":\{"line":\d+,"column":\d+\}`)

func TestMain(m *testing.M) { await.Run(m, await.LeftByFasthttp...) }
