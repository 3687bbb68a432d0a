package desk

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// WrapDriver lets a test put a driver of its own around the real one.
type WrapDriver func(backend.Driver) backend.Driver

// A desk is built in stages. Each has the parts of the stage before, and is made from that one
// alone: basis, opened, listening, storing, answering, Desk.

// opened has the administration behind the gateway.
type opened struct {
	*basis
	hasher *auth.Hasher
	parts  partFiles // that it was built from
	system *System
	past   *past
	client *backend.Client
}

// listening has the address that clients call. Its settings need a restart.
type listening struct {
	opened
	started  *config.Config // as it was read at the start, without api_keys
	config   *config.Config // the same with the address that the listener has, which was not known if the port was 0
	listener net.Listener
}

// storing has what the gateway keeps, alone and with others.
type storing struct {
	listening
	common  *common
	store   *ownStore
	keyEnds *keyEnds
	acts    *acts
}

// answering has the gateway itself, and what carries out callbacks.
type answering struct {
	storing
	live         *config.Live[snapshot] // what a reload can change
	logins       *logins
	Gateway      *gateway.Gateway
	server       *gateway.Server
	certificates *certificates // nil without TLS
	looks        looks
	callbacks    *webhook.Orchestrator
}

// Desk is a running frontdesk: there is one only once all of its parts are open.
type Desk struct {
	answering
	reloads  reloads    // their number and outcome
	Ops      *opsServer // nil where operators have no listener
	commands *opsServer // nil where there is no socket for them
	drift    *drift     // nil where there is one gateway
	counts   *cached[map[webhook.State]int]
	pending  *cached[pending]
	queues   *queues
	room     *cached[webhook.Room] // of results
	draining atomic.Bool           // it is to stop, and takes requests only for a while yet
}

// Build opens everything and listens, but serves nothing yet. Whatever was
// opened is closed again when something fails.
func Build(p Program, c *config.Config, environment string, logs *Logs) (*Desk, error) {
	var at doors
	err := at.open(p.Supervisor, c)
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	h, err := build(p, c, environment, logs, at)
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	h.onClose(at.close)
	return h, nil
}

// build is Build with doors that are open, and stay the caller's.
func build(p Program, c *config.Config, environment string, logs *Logs, at doors) (h *Desk, err error) {
	tracing, err := openTracing(p.Ctx, c.Tracing, logs.Log)
	if err != nil {
		return nil, err
	}
	b := newBasis(p, logs, tracing)
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	o, err := openAdministration(b, p, c)
	if err != nil {
		return nil, err
	}
	s, err := openStores(p.Ctx, listenTo(o, c, at))
	if err != nil {
		return nil, err
	}
	a, err := openGateway(s, c, environment, newLooks(p.disk(), s.config.Mail, s.store))
	if err != nil {
		return nil, err
	}
	return openForOperators(a, at.ops.Listener)
}

func openAdministration(b *basis, p Program, c *config.Config) (o opened, err error) {
	o = opened{basis: b, hasher: auth.NewHasher(), parts: partsOf(c)} // before the files are used, so that a change between is found
	if o.system, err = OpenSystem(p.Ctx, c, o.hasher, b.log); err != nil {
		return o, err
	}
	b.onClose(o.system.Close)
	o.past = openHistory(b, o.system.Own.file)
	o.client, err = openClient(b, c.Backend, o.system, p.Wrap, o.past.History)
	return o, err
}

func listenTo(o opened, c *config.Config, at doors) listening {
	started := *c
	started.APIKeys = nil
	own := started
	own.Server.Listen = at.public.Addr().String()
	return listening{o, &started, &own, at.public.Listener}
}

func openStores(ctx context.Context, l listening) (s storing, err error) {
	s = storing{listening: l}
	if s.common, err = openCommon(l.config); err != nil {
		return s, err
	}
	l.onClose(s.common.close)
	if s.store, err = openOwnStore(ctx, l.basis, l.system.Own); err != nil {
		return s, err
	}
	s.keyEnds = newKeyEnds(s.store, s.common.sessions.Sessions)
	s.acts = &acts{basis: l.basis}
	return s, s.firstEnds(ctx)
}

// openGateway fills two parts in late: what is live, which the gateway asks for at each request,
// and has to judge before; and the orchestrator of callbacks, which does what the gateway tells
// it to run.
func openGateway(s storing, c *config.Config, environment string, disks looks) (a answering, err error) {
	a = answering{storing: s, live: new(config.Live[snapshot]), looks: disks}
	accounts := s.client.Accounts(s.system.accounts)
	if a.logins, err = openLogins(s, accounts); err != nil {
		return a, err
	}
	callbacks := newCallbacks(s, accounts)
	if a.Gateway, err = newGateway(a.options(environment, callbacks)); err != nil {
		return a, err
	}
	if err = a.live.Reload(func(*snapshot) (*snapshot, error) { return newSnapshot(c, a.Gateway, &s.keyEnds.ring) }); err != nil {
		return a, err
	}
	if a.server, a.certificates, err = openServer(s.bounds, s.config, a.Gateway, a.Handler); err != nil {
		return a, err
	}
	err = startCallbacks(a, callbacks)
	a.callbacks = callbacks.Orchestrator
	return a, err
}

func openForOperators(a answering, ops net.Listener) (h *Desk, err error) {
	h = &Desk{
		answering: a, drift: newDrift(a), queues: newQueues(a.client, a.logins.queue, a.server),
		counts: newCached(a.store.jobs.States, a.now), pending: newCached(a.store.pending(a.now), a.now), room: newCached(a.callbacks.Room, a.now),
	}
	h.past.of, h.past.others = h, newGathering(a.common, a.config.Server.Listen, h.past.History)
	h.Ops = listenOps(h, ops)
	h.commands, err = listenCommands(h)
	return h, err
}

// Handler serves the requests that begin now.
func (a answering) Handler() fasthttp.RequestHandler { return a.live.Current().serve }

// Sessions are those of all gateways of the service.
func (h *Desk) Sessions() auth.Sessions { return h.common.sessions }
