package desk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// WrapDriver lets a test put a driver of its own around the real one.
type WrapDriver func(backend.Driver) backend.Driver

// Desk is a running frontdesk: every part, wired top to bottom.
type Desk struct {
	config        *config.Config // that the parts were built from; what a reload can change is in live
	started       *config.Config // the same, as it was read at the start
	live          *config.Live[snapshot]
	parts         partFiles // that it was built from
	reloads       reloads   // their number and outcome
	metrics       *metrics
	tracing       *tracing // nil if tracing is off
	log           *zap.Logger
	logs          *Logs
	after         func(time.Duration) <-chan time.Time
	now           func() time.Time // of callbacks
	supervisor    *Supervisor
	system        *System
	client        *backend.Client
	hasher        *auth.Hasher
	logins        *auth.LoginQueue
	common        *common
	sessions      *endedSessions // those of common
	Gateway       *gateway.Gateway
	server        *gateway.Server
	certificates  *certificates // nil without TLS
	listener      net.Listener
	ops           *http.Server // nil where there is none
	OpsAt         net.Listener
	jobs          *jobstore.Store
	ledger        *ledger.Ledger
	acted         chan ledger.Act      // by requests, and not in the ledger yet
	drift         *drift               // nil where there is one gateway
	results       webhook.Results      // of callbacks
	resultsFolder string               // that they are in; "" where they are in the database
	looks         map[string]*diskLook // by what the disk holds
	counts        *cached[map[webhook.State]int]
	pending       *cached[pending]
	queues        *queues
	room          *cached[webhook.Room] // of results
	callbacks     *webhook.Orchestrator
	draining      atomic.Bool // it is to stop, and takes requests only for a while yet
	releases      []func() error
}

// Build opens everything and listens, but serves nothing yet. Whatever was
// opened is closed again when something fails.
func Build(p Program, c *config.Config, environment string, logs *Logs) (h *Desk, err error) {
	own := *c
	own.APIKeys, own.Expect = nil, nil
	started, log := own, logs.Log
	h = &Desk{config: &own, started: &started, parts: partsOf(c), log: log, logs: logs, supervisor: p.Supervisor, after: p.timer(), now: p.clock(), metrics: newMetrics(), acted: make(chan ledger.Act, actsWaiting)}
	defer func() {
		if err != nil {
			h.Close()
			h = nil
		}
	}()
	if h.tracing, err = openTracing(p.Ctx, c.Tracing, log); err != nil {
		return h, err
	}
	h.onClose(h.tracing.close)
	h.hasher = auth.NewHasher()
	if h.system, err = OpenSystem(p.Ctx, c, h.hasher, log); err != nil {
		return h, err
	}
	h.onClose(h.system.Close)
	if err := h.openClient(p.Wrap); err != nil {
		return h, err
	}
	if h.listener, err = h.listen(PublicSocket, c.Server.Listen); err != nil {
		return h, err
	}
	own.Server.Listen = h.listener.Addr().String() // which is known only now where the port was 0
	callbacks, err := h.wire(environment)
	if err != nil {
		return h, err
	}
	first, err := h.newSnapshot(c)
	if err != nil {
		return h, err
	}
	h.live = config.NewLive(first)
	h.drift = newDrift(h)
	h.openDisks(p.disk())
	h.queues = h.openQueues()
	if err := h.startCallbacks(callbacks); err != nil {
		return h, err
	}
	return h, h.listenOps()
}

// openClient makes the client of the administration.
func (h *Desk) openClient(wrap WrapDriver) (err error) {
	driver, c := h.system.driver, h.config.Backend
	if wrap != nil {
		driver = wrap(driver)
	}
	h.client, err = backend.NewClient(driver, h.system.model, backend.Options{
		Timeout: c.Timeout, MaxConcurrent: c.MaxConcurrent, MaxQueue: c.MaxQueue,
		CircuitFailures: c.Circuit.Failures, CircuitPause: c.Circuit.Pause, Observe: h.observeCall, Trace: h.tracing.call(),
		OnState: func(c backend.Circuit, from string) {
			h.log.Warn("circuit breaker", zap.String("resource", c.Resource), zap.String("from", from), zap.String("to", c.State), zap.String("calls", c.Calls))
		},
	})
	return err
}

// listen opens the listener of an address, or takes the one that was handed over
// by that name. It says in plain words what is wrong most of the time.
func (h *Desk) listen(name, address string) (l net.Listener, err error) {
	if l = h.supervisor.activated(name); l == nil {
		l, err = net.Listen("tcp", address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("cannot serve on %s: %w by another program", address, syscall.EADDRINUSE)
	}
	if err != nil {
		return nil, err
	}
	h.onClose(l.Close)
	return l, nil
}

// wire makes the gateway and what it is handed.
func (h *Desk) wire(environment string) (*gateway.Callbacks, error) {
	c := h.config
	var err error
	if h.common, err = openCommon(c); err != nil {
		return nil, err
	}
	h.onClose(h.common.close)
	h.sessions = newEndedSessions(h.common.sessions)
	mailer, err := newMailer(c.Mail)
	if err != nil {
		return nil, err
	}
	accounts := h.client.Accounts(h.system.accounts)
	resets, err := auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: h.hasher, Sessions: h.sessions, Mailer: mailer, Base: c.Server.BaseURL(),
		Clock: time.Now, Random: rand.Reader, Log: h.log,
	})
	if err != nil {
		return nil, err
	}
	h.onClose(resets.Close)
	h.logins = auth.NewLoginQueue(h.system.loginsAtOnce, time.Now)
	login, err := auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: h.sessions, Throttle: auth.NewThrottle(h.common.guesses, time.Now, auth.Sleep), Queue: h.logins,
		TTL: c.Sessions.TTL, Vendor: c.Server.Vendor, Clock: time.Now, Random: rand.Reader, Log: h.log, Observe: h.metrics.countLogin,
	})
	if err != nil {
		return nil, err
	}
	callbacks, err := h.openCallbacks()
	if err != nil {
		return nil, err
	}
	h.Gateway, err = newGateway(gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Environment: environment, Version: Version(),
		Location: c.Server.TimeZone.Location, Vendor: c.Server.Vendor, SessionTTL: c.Sessions.TTL, PageLimit: 2 * int(c.Server.BodyLimit), Offer: h.client.Offer(), Backend: h.client, Sessions: h.sessions, Login: login,
		Limits: h.common.limits, TrustedProxies: prefixes(c.Server.TrustedProxies),
		Resets: resets, Callbacks: callbacks, Policy: h.policy, Meter: h.metrics, Act: h.act, Tracer: h.tracing.spans(), Clock: time.Now, Log: h.log, Access: h.logs.access,
	})
	if err != nil {
		return nil, err
	}
	return callbacks, h.openServer()
}

// openServer makes the server of the gateway, which is not started yet.
func (h *Desk) openServer() (err error) {
	c := h.config
	options := gateway.ServerOptions{
		BodyLimit: int(c.Server.BodyLimit), BodyMemory: int(c.Server.BodyBudget()), ReadTimeout: c.Server.ReadTimeout,
		WriteTimeout: c.Server.WriteTimeout, IdleTimeout: c.Server.IdleTimeout, Connections: bounds(c.Server.Connections, descriptors(), h.log),
	}
	if c.Server.TLS.Enabled() {
		if h.certificates, err = openCertificates(c.Server.TLS); err != nil {
			return err
		}
		options.TLS = h.certificates.serverConfig()
	}
	h.server = gateway.NewServer(h.Gateway, options)
	return nil
}

func newMailer(c config.Mail) (auth.Mailer, error) {
	if c.SMTP == "" {
		return auth.NewFolderMailer(c.Folder, c.From, time.Now, rand.Reader)
	}
	return auth.NewSMTPMailer(auth.SMTPConfig{URL: string(c.SMTP), From: c.From, Clock: time.Now, Random: rand.Reader})
}

// Sessions are those of all gateways of the service.
func (h *Desk) Sessions() auth.Sessions { return h.sessions }

// onClose has something released when the desk closes, last opened first.
func (h *Desk) onClose(release func() error) { h.releases = append(h.releases, release) }

// Close releases what Build opened.
func (h *Desk) Close() {
	for _, release := range slices.Backward(h.releases) {
		if err := release(); err != nil && !errors.Is(err, net.ErrClosed) {
			h.log.Error("close", zap.Error(err))
		}
	}
}
