package desk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
)

// front holds the listeners for clients and operators, and their servers. It is open before there is a
// desk. Until then clients are answered as if the administration did not answer, and operators get the
// reason.
type front struct {
	config       *config.Config
	public       net.Listener
	server       *gateway.Server
	certificates *certificates // nil without TLS
	ops          *opsServer    // nil where operators have no listener
	began        time.Time
	why          atomic.Pointer[string] // the reason why there is no desk yet
	desk         atomic.Pointer[Desk]

	begin   sync.Once
	serving sync.WaitGroup
	failed  chan error // why either server ended
}

// openFront listens, and answers nobody yet.
func openFront(p Program, c *config.Config, environment string, logs *Logs) (f *front, err error) {
	f = &front{config: c, began: time.Now(), failed: make(chan error, 2)}
	f.starts("the start is under way")
	if f.public, err = listen(p, PublicSocket, c.Server.Listen); err != nil {
		return nil, err
	}
	if f.server, err = f.openServer(p, environment, logs); err != nil {
		return nil, errors.Join(err, f.close())
	}
	ops, err := listen(p, opsSocket, c.Ops.Listen)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	if ops != nil {
		answers := newProbes(c.Ops, f.health)
		f.ops = newOps(ops, logs.Log, answers)
		f.ops.Use(func(c *fiber.Ctx) error {
			if h := f.desk.Load(); h != nil {
				h.pages(c.Context())
				return nil
			}
			return answers.readyz(c) // for every path
		})
	}
	return f, nil
}

// openServer makes the server, with a gateway that refuses all requests until there is a desk.
func (f *front) openServer(p Program, environment string, logs *Logs) (*gateway.Server, error) {
	c, b := f.config.Server, p.bounds()
	offer, err := OfferOf(f.config)
	if err != nil {
		return nil, err
	}
	away := describing(f.addressed(f.config), offer, environment)
	away.Log, away.Access, away.TrustedProxies = logs.Log, logs.access, prefixes(c.TrustedProxies)
	away.Away = func() error { return errors.New(*f.why.Load()) }
	policy := &gateway.Policy{Hash: f.config.Hash(), AccessLog: f.config.Log.Access}
	away.Policy = func() *gateway.Policy { return policy }
	g, err := newGateway(away)
	if err != nil {
		return nil, err
	}
	refuse := g.Handler(policy)
	options := gateway.ServerOptions{
		BodyLimit:    int(c.BodyLimit),
		BodyMemory:   max(b.BodyMemory, 2*int(c.BodyLimit)),
		ReadTimeout:  c.ReadTimeout,
		WriteTimeout: b.WriteTimeout,
		IdleTimeout:  idleTimeout,
		Connections:  connectionBounds(b, descriptors()),
		Current: func() (*gateway.Gateway, fasthttp.RequestHandler) {
			if h := f.desk.Load(); h != nil {
				return h.Gateway, h.Handler()
			}
			return g, refuse
		},
	}
	if c.TLS.Enabled() {
		if f.certificates, err = openCertificates(c.TLS); err != nil {
			return nil, err
		}
		options.TLS = f.certificates.serverConfig()
	}
	return gateway.NewServer(options), nil
}

// listen opens the listener of an address, or takes the one that systemd handed over by that name. It
// returns nil where operators have no address. Its error names the usual cause: another program has the
// address.
func listen(p Program, name, address string) (net.Listener, error) {
	if l, err := p.Supervisor.activated(name); l != nil || err != nil {
		return l, err
	}
	if address == "" && name != PublicSocket {
		return nil, nil
	}
	l, err := p.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("cannot serve on %s: %w by another program", address, syscall.EADDRINUSE)
	}
	return l, err
}

// addressed returns a configuration with the address of the listener.
func (f *front) addressed(c *config.Config) *config.Config {
	own := *c
	own.Server.Listen = f.public.Addr().String()
	return &own
}

// starts sets the reason why there is no desk yet.
func (f *front) starts(why string) { f.why.Store(&why) }

// answer begins to answer, until close. Only the first call has an effect.
func (f *front) answer() {
	f.begin.Do(func() {
		f.serving.Go(func() { f.failed <- f.server.Serve(f.public) })
		if f.ops != nil {
			f.serving.Go(func() { f.failed <- f.ops.serve() })
		}
	})
}

func (f *front) health(ctx context.Context) Health {
	if h := f.desk.Load(); h != nil {
		return h.health(ctx)
	}
	return Health{
		Status: healthUnavailable, Version: Version(), Reasons: []string{*f.why.Load()}, Backend: healthUnavailable, Circuit: backend.CircuitClosed,
		Jobs: healthUnavailable, Sessions: healthUnavailable, Config: ConfigHealth{Hash: f.config.Hash(), Loaded: f.began},
	}
}

// closePatience bounds the wait for answers under way. It is short, since a desk has already let them leave.
const closePatience = 2 * time.Second

// close lets the answers under way leave.
func (f *front) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	err := f.public.Close() // Shutdown closes it only if Serve was called
	if f.server != nil {
		_ = f.server.Shutdown(ctx)
	}
	f.ops.stop(ctx)
	f.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
