package desk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// Desk is a running frontdesk. Its fields stand in the order in which build opens them.
type Desk struct {
	*basis
	front   *front
	started *config.Config // the configuration at the start, without api_keys
	config  *config.Config // started, with the address of the listener, which only the listener knows if the port was 0
	parts   partFiles      // the files that it was built from

	// The administration behind the gateway.
	hasher *auth.Hasher
	system *System
	past   *past
	client *backend.Client

	// What the gateway stores, shared with other gateways or its own.
	common  *common
	store   *ownStore
	keyEnds *keyEnds
	acts    *acts

	// The gateway itself, and what carries out callbacks.
	live      *atomic.Pointer[snapshot] // what a reload replaces
	logins    *logins
	Gateway   *gateway.Gateway
	looks     *looks
	callbacks *webhook.Orchestrator

	// What operators see.
	reloads  reloads    // the number and outcome of reloads
	Ops      *opsServer // nil where operators have no listener
	pages    fasthttp.RequestHandler
	commands *opsServer // nil where there is no socket for commands
	drift    *drift     // nil where there is one gateway
	counts   *cached[map[webhook.State]int]
	pending  *cached[pending]
	queues   *queues
	room     *cached[webhook.Room] // for results
	backups  backups
	unwell   atomic.Pointer[time.Time] // since when /readyz is not ok; nil while it is ok
	draining atomic.Bool               // the desk is to stop, and takes requests only for a while longer

	// Parts of front.
	server       *gateway.Server
	certificates *certificates // nil without TLS
}

// basis is what every part may use; it depends on no part.
type basis struct {
	supervisor *Supervisor
	log        *zap.Logger
	logs       *Logs
	after      func(time.Duration) <-chan time.Time
	now        func() time.Time // for callbacks and derived fields
	metrics    *instrument.Instrument
	tracing    *tracing // nil if tracing is off
	bounds     Bounds
	releases
}

// Close releases what Build opened.
func (b *basis) Close() {
	if err := b.release(); err != nil {
		b.log.Error("a part could not be closed", zap.Error(err))
	}
}

// releases close what was opened, last first.
type releases []func() error

func (r *releases) onClose(f func() error) { *r = append(*r, f) }

func (r *releases) release() (err error) {
	for _, release := range slices.Backward(*r) {
		if failed := release(); !errors.Is(failed, net.ErrClosed) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// WrapDriver lets a test put a driver of its own around the real one.
type WrapDriver func(backend.Driver) backend.Driver

// Build opens everything and listens, but serves nothing yet. If something fails, it closes
// what was opened.
func Build(p Program, c *config.Config, environment string, logs *Logs) (*Desk, error) {
	p = p.whole()
	f, err := openFront(p, c, environment, logs)
	if err != nil {
		return nil, err
	}
	h, err := build(p, c, environment, logs, f)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	h.onClose(f.close)
	return h, nil
}

// build is Build with an open front, which the caller closes.
func build(p Program, c *config.Config, environment string, logs *Logs, f *front) (*Desk, error) {
	tracing, err := openTracing(p.Ctx, c.Tracing, logs.Log)
	if err != nil {
		return nil, err
	}
	started := *c
	started.APIKeys = nil
	h := &Desk{
		basis: &basis{supervisor: p.Supervisor, log: logs.Log, logs: logs, after: p.After, now: p.Now, metrics: instrument.New(time.Now), tracing: tracing, bounds: p.bounds()},
		front: f, started: &started, config: f.addressed(&started),
		parts: partsOf(c), // taken before the files are used, so that a change in between is found
		Ops:   f.ops, server: f.server, certificates: f.certificates,
	}
	h.onClose(tracing.close)
	for _, open := range []func() error{
		func() error { return h.openAdministration(p, c) },
		func() error { return h.openStores(p.Ctx) },
		func() error { return h.openGateway(p, c, environment) },
		h.openForOperators,
	} {
		if err := open(); err != nil {
			h.Close()
			return nil, err
		}
	}
	return h, nil
}

func (h *Desk) openAdministration(p Program, c *config.Config) (err error) {
	h.hasher = auth.NewHasher()
	if h.system, err = openSystem(p, c, h.hasher, h.log); err != nil {
		return err
	}
	h.onClose(h.system.Close)
	h.past = openHistory(h.basis, h.system.Own.file)
	driver := h.system.driver
	if p.Wrap != nil {
		driver = p.Wrap(driver)
	}
	h.client, err = backend.NewClient(driver, h.system.model, backend.Options{
		Timeout: c.Backend.Timeout, MaxConcurrent: c.Backend.MaxConcurrent, MaxQueue: &h.bounds.Queue,
		CircuitFailures: h.bounds.CircuitFailures, CircuitPause: h.bounds.CircuitPause, Now: h.now, Trace: h.tracing.call(),
		Observe: h.metrics.Called,
		OnState: func(c backend.Circuit, from string) {
			h.log.Warn("circuit breaker", zap.String("resource", c.Resource), zap.String("from", from), zap.String("to", c.State), zap.String("calls", c.Calls), zap.Int64("client", c.Client))
		},
	})
	return err
}

func (h *Desk) openStores(ctx context.Context) (err error) {
	if h.common, err = openCommon(h.config); err != nil {
		return err
	}
	h.onClose(h.common.close)
	if h.store, err = openOwnStore(ctx, h.basis, h.system.Own); err != nil {
		return err
	}
	h.keyEnds = newKeyEnds(h.store, h.common.sessions.Sessions)
	h.acts = &acts{basis: h.basis}
	if err := h.readEnds(ctx, h.config.Backend.Timeout); err != nil { // before anybody is let in
		return away{fmt.Errorf("whose sessions have ended cannot be read: %w", err)}
	}
	return nil
}

// openGateway fills in two parts late, because the gateway has to exist before them: the live snapshot,
// whose allowlists the gateway judges, and the orchestrator of callbacks, which runs the gateway's jobs.
func (h *Desk) openGateway(p Program, c *config.Config, environment string) (err error) {
	h.live, h.looks = new(atomic.Pointer[snapshot]), newLooks(p.Disk, c.Mail, h.store, h.log)
	h.onClose(h.looks.close)
	accounts := h.client.Accounts(h.system.accounts)
	if h.logins, err = openLogins(h, accounts); err != nil {
		return err
	}
	callbacks := newCallbacks(h, accounts)
	s := h.config.Server
	h.Gateway, err = newGateway(gateway.Options{
		BasePath: s.BasePath, PublicURL: s.BaseURL(), Environment: environment, Version: Version(),
		Location: s.TimeZone.Location, Vendor: s.Vendor, SessionTTL: c.Sessions.TTL, PageLimit: 2 * int(s.BodyLimit), Offer: h.client.Offer(), Backend: h.client,
		Sessions: h.common.sessions, KeyEnded: h.keyEnds.ended, Login: h.logins.login, Resets: h.logins.resets, Limits: h.common.limits, TrustedProxies: prefixes(s.TrustedProxies),
		Callbacks: callbacks, Policy: h.policy, Meter: h.metrics, Act: h.acts.note, Tracer: h.tracing.spans(),
		Clock: time.Now, Log: h.log, Access: h.logs.access,
	})
	if err != nil {
		return err
	}
	first, err := newSnapshot(c, h.Gateway, &h.keyEnds.ring)
	h.live.Store(first)
	if err != nil {
		return err
	}
	h.callbacks, err = startCallbacks(h, callbacks, p.Dial)
	return err
}

func (h *Desk) openForOperators() (err error) {
	h.backups.patterns = h.config.Ops.Backups
	h.drift, h.queues = newDrift(h), newQueues(h.client, h.logins.queue, h.server)
	h.counts, h.pending, h.room = newCached(h.store.jobs.States, h.now), newCached(h.store.pending(h.now), h.now), newCached(h.callbacks.Room, h.now)
	h.past.of, h.past.others = h, newGathering(h.common, h.config.Server.Listen, h.past.Instrument)
	if h.Ops != nil {
		h.pages = newPagesApp(h)
	}
	h.commands, err = listenCommands(h)
	return err
}

// policy returns the rules for a request that begins now; it keeps them to its end.
func (h *Desk) policy() *gateway.Policy { return &h.live.Load().policy }

// Handler returns the handler for requests that begin now.
func (h *Desk) Handler() fasthttp.RequestHandler { return h.live.Load().serve }

// Sessions returns the sessions of all gateways of the service.
func (h *Desk) Sessions() auth.Sessions { return h.common.sessions }

// keys returns the api_keys that are configured now.
func (h *Desk) keys() []config.Key { return h.live.Load().config.APIKeys }
