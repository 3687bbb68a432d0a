package desk

import (
	"net"
	"net/http"
	"sync/atomic"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// WrapDriver lets a test put a driver of its own around the real one.
type WrapDriver func(backend.Driver) backend.Driver

// Desk is a running frontdesk: there is one only once all of its parts are open.
type Desk struct {
	*basis
	config       *config.Config // that the parts were built from; what a reload can change is in live
	started      *config.Config // the same, as it was read at the start
	live         *config.Live[snapshot]
	parts        partFiles // that it was built from
	reloads      reloads   // their number and outcome
	system       *System
	client       *backend.Client
	common       *common
	logins       *logins
	Gateway      *gateway.Gateway
	server       *gateway.Server
	certificates *certificates // nil without TLS
	listener     net.Listener
	ops          *http.Server // nil where there is none
	OpsAt        net.Listener
	commands     *http.Server // nil where there is no socket for them
	commandsAt   net.Listener
	store        *ownStore
	acts         *acts
	past         *past
	book         *book
	drift        *drift // nil where there is one gateway
	looks        looks
	counts       *cached[map[webhook.State]int]
	pending      *cached[pending]
	queues       *queues
	room         *cached[webhook.Room] // of results
	callbacks    *webhook.Orchestrator
	draining     atomic.Bool // it is to stop, and takes requests only for a while yet
}

// Build opens everything and listens, but serves nothing yet. Whatever was
// opened is closed again when something fails.
func Build(p Program, c *config.Config, environment string, logs *Logs) (*Desk, error) {
	tracing, err := openTracing(p.Ctx, c.Tracing, logs.Log)
	if err != nil {
		return nil, err
	}
	b := newBasis(p, logs, tracing)
	h, err := build(b, p, c, environment)
	if err != nil {
		b.Close()
		return nil, err
	}
	return h, nil
}

// build opens the parts in the order in which they need each other: each is made by a function
// that takes those it needs. Two parts are filled in late: what is live, which the gateway asks
// for at each request, and must have judged before; and the orchestrator of callbacks, which
// does what the gateway tells it to run.
func build(b *basis, p Program, c *config.Config, environment string) (*Desk, error) {
	files := partsOf(c) // before they are used, so that a change between is found
	hasher := auth.NewHasher()
	system, err := OpenSystem(p.Ctx, c, hasher, b.log)
	if err != nil {
		return nil, err
	}
	b.onClose(system.Close)
	told, err := openHistory(b, c, system.Own.file)
	if err != nil {
		return nil, err
	}
	client, err := openClient(b, c.Backend, system, p.Wrap, told.History)
	if err != nil {
		return nil, err
	}
	listener, err := listen(b, PublicSocket, c.Server.Listen)
	if err != nil {
		return nil, err
	}
	started, own := settingsOf(c, listener)
	shared, err := openCommon(own)
	if err != nil {
		return nil, err
	}
	b.onClose(shared.close)
	accounts := client.Accounts(system.accounts)
	logins, err := openLogins(b, own, accounts, system.loginsAtOnce, hasher, shared)
	if err != nil {
		return nil, err
	}
	store, err := openOwnStore(b, own.Webhooks, system.Own)
	if err != nil {
		return nil, err
	}
	acts := newActs(b, own.Backend.Timeout, store.ledger)
	callbacks := newCallbacks(b, own, store, accounts)
	live := new(config.Live[snapshot]) // nothing is, before the gateway can judge it
	g, err := openGateway(b, own, environment, client, shared, logins, callbacks, acts, told.History, live)
	if err != nil {
		return nil, err
	}
	if err := live.Reload(func(*snapshot) (*snapshot, error) { return newSnapshot(c, g, files) }); err != nil {
		return nil, err
	}
	server, certificates, err := openServer(b, own, g)
	if err != nil {
		return nil, err
	}
	looks := newLooks(p.disk(), own.Mail, store)
	if err := startCallbacks(b, own.Webhooks, system.model, store, g, live, looks, callbacks); err != nil {
		return nil, err
	}
	h := &Desk{
		basis: b, config: own, started: started, parts: files, live: live, system: system, client: client, common: shared, logins: logins,
		Gateway: g, server: server, certificates: certificates, listener: listener, store: store, acts: acts, looks: looks, callbacks: callbacks.Orchestrator,
		drift: newDrift(b, own, files, shared, store, live), queues: newQueues(client, logins.queue, server),
		counts: newCached(store.jobs.States, b.now), pending: newCached(store.pending(b.now), b.now), room: newCached(callbacks.Orchestrator.Room, b.now),
	}
	h.book = openBook(b, configsFolder(store.file, own.Webhooks.Folder), store.ledger)
	told.of, told.others = h, newGathering(shared, own.Server.Listen, told.History)
	h.past = told
	if h.ops, h.OpsAt, err = listenOps(h); err != nil {
		return nil, err
	}
	h.commands, h.commandsAt, err = listenCommands(h)
	return h, err
}

// settingsOf are the settings that parts are built from, which need a restart: as they were
// read, and with the address that the listener has, which was not known if the port was 0.
func settingsOf(c *config.Config, l net.Listener) (started, own *config.Config) {
	read, used := *c, *c
	read.APIKeys, read.Expect, used.APIKeys, used.Expect = nil, nil, nil, nil
	used.Server.Listen = l.Addr().String()
	return &read, &used
}

// Sessions are those of all gateways of the service.
func (h *Desk) Sessions() auth.Sessions { return h.common.sessions }
