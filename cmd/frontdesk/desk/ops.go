package desk

import (
	"net"
	"time"

	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/helmet"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// listenOps makes the server of the listener for operators, which is never under the base
// path; nil where there is no listener.
func listenOps(h *Desk, listener net.Listener) *opsServer {
	if listener == nil {
		return nil
	}
	h.watch()
	h.metrics.registry.MustRegister(NewReloadMetrics(h))
	s, page := newOps(listener, h.log, newProbes(h.config.Ops, h.health)), newPages(h)
	s.Get("/", page.overview) // which a person may follow a link to
	s.Get("/history", ownOrigin, h.guarded, page.history)
	s.Get("/refusals", ownOrigin, h.guarded, page.refusals)
	s.Get("/config", ownOrigin, h.guarded, h.tellConfig)
	s.Get("/backends", ownOrigin, h.guarded, page.backends)
	s.Get("/callbacks", ownOrigin, h.guarded, page.callbacks)
	s.Get("/callbacks/:id", ownOrigin, h.guarded, page.job)
	s.Get("/status.json", ownOrigin, page.status)
	s.Get("/metrics", ownOrigin, adaptor.HTTPHandler(promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{})))
	return s
}

// newOps makes a server for operators with the probes: /healthz tells that the program runs,
// /readyz that it can serve. Further routes are for those only who ask by a name of its own.
func newOps(listener net.Listener, log *zap.Logger, answers probes) *opsServer {
	s := newOpsServer(listener, 15*time.Second, log)
	s.Use(helmet.New(helmet.Config{XFrameOptions: "DENY", ContentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'"}))
	s.Get("/healthz", ownOrigin, answers.healthz)
	s.Get("/readyz", ownOrigin, answers.readyz)
	s.Use(answers.ownHost)
	return s
}
