package desk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
)

// standIn answers at the doors until there is a desk: clients that the administration does not
// answer, operators why.
type standIn struct {
	why     atomic.Pointer[string]
	config  *config.Config
	began   time.Time
	log     *zap.Logger
	server  *gateway.Server
	ops     *opsServer // nil where operators have no listener
	doors   *doors
	serving sync.WaitGroup
}

// newStandIn begins to answer, until stop.
func newStandIn(p Program, c *config.Config, logs *Logs, at *doors, why string) (*standIn, error) {
	s := &standIn{config: c, began: time.Now(), log: logs.Log, doors: at}
	s.why.Store(&why)
	offer, err := OfferOf(c)
	if err != nil {
		return nil, err
	}
	own := *c
	own.Server.Listen = at.public.Addr().String()
	o := describing(&own, offer, c.Server.Environment)
	o.Log, o.Access, o.TrustedProxies = logs.Log, logs.access, prefixes(c.Server.TrustedProxies)
	o.Away = func() error { return errors.New(*s.why.Load()) }
	policy := &gateway.Policy{Hash: c.Hash(), AccessLog: c.Log.Access}
	o.Policy = func() *gateway.Policy { return policy }
	g, err := newGateway(o)
	if err != nil {
		return nil, err
	}
	serve := g.Handler(policy)
	if s.server, _, err = openServer(p.bounds(), c, g, func() fasthttp.RequestHandler { return serve }); err != nil {
		return nil, err
	}
	s.serving.Go(func() { _ = s.server.Serve(at.public.lend()) })
	if at.ops.Listener != nil {
		answers := newProbes(c.Ops, s.health)
		s.ops = newOps(at.ops.lend(), s.log, answers)
		s.ops.Get("/*", ownOrigin, answers.readyz) // whatever is asked for: why there is nothing yet
		s.serving.Go(func() { _ = s.ops.serve() })
	}
	return s, nil
}

func (s *standIn) health(context.Context) Health {
	return Health{
		Status: healthUnavailable, Version: Version(), Reasons: []string{*s.why.Load()}, Backend: healthUnavailable, Circuit: backend.CircuitClosed,
		Jobs: healthUnavailable, Sessions: healthUnavailable, Config: ConfigHealth{Hash: s.config.Hash(), Loaded: s.began},
	}
}

// standInStops bounds the wait for answers under way.
const standInStops = 2 * time.Second

// stop lets the answers under way leave, and gives the doors back. It is nothing to a nil standIn.
func (s *standIn) stop() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), standInStops)
	defer cancel()
	_ = s.server.Shutdown(ctx) // who is late finds the connection closed
	s.ops.stop(ctx)
	s.serving.Wait()
	if err := s.doors.take(); err != nil {
		s.log.Error("the listeners cannot be used any more", zap.Error(err))
	}
}
