package desk

import (
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/helmet"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/config"
)

// newPagesApp makes the routes for operators that need a desk.
func newPagesApp(h *Desk) fasthttp.RequestHandler {
	h.watch()
	h.metrics.Registry.MustRegister(NewReloadMetrics(h), h.logMetric())
	s, page := fiber.New(opsConfig(h.log, opsPatience)), newPages(h)
	s.Get("/", page.overview) // without ownOrigin, so that links of other sites lead here
	s.Get("/history", ownOrigin, h.guarded, page.history)
	s.Get("/refusals", ownOrigin, h.guarded, page.refusals)
	s.Get("/keys", ownOrigin, h.guarded, page.keys)
	s.Get("/config", ownOrigin, h.guarded, h.running)
	s.Get("/backends", ownOrigin, h.guarded, page.backends)
	s.Get("/callbacks", ownOrigin, h.guarded, page.callbacks)
	s.Get("/callbacks/:id", ownOrigin, h.guarded, page.job)
	s.Get("/status.json", ownOrigin, page.status)
	s.Get("/metrics", ownOrigin, adaptor.HTTPHandler(promhttp.HandlerFor(h.metrics.Registry, promhttp.HandlerOpts{})))
	return s.Handler()
}

// opsPatience is how long an answer to an operator may take.
const opsPatience = 15 * time.Second

// newOps makes the server of the listener for operators, which is never under the base path, with the
// probes: /healthz answers that the program runs, /readyz whether it can serve. The routes that are added
// later answer only requests for one of the listener's own names.
func newOps(listener net.Listener, log *zap.Logger, answers probes) *opsServer {
	s := newOpsServer(listener, opsPatience, log)
	s.Use(helmet.New(helmet.Config{XFrameOptions: "DENY", ContentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'"}))
	s.Get("/healthz", ownOrigin, answers.healthz)
	s.Get("/readyz", ownOrigin, answers.readyz)
	s.Use(answers.ownHost)
	return s
}

// Running is the configuration in force, as /config of the operators' listener answers it. It has no
// secrets, no values of variables, and of hashes only the first digits.
type Running struct {
	Config   string           `json:"config"` // its hash
	Since    time.Time        `json:"since"`
	Settings []config.Setting `json:"settings"`
	Waiting  []string         `json:"needs_restart"` // changed settings that wait for a restart
}

func (h *Desk) running(c *fiber.Ctx) error {
	current, state := h.live.Load(), h.reloads.state()
	return c.JSON(Running{
		Config: current.policy.Hash, Since: current.since, Settings: current.config.Settings(), Waiting: append([]string{}, state.needsRestart()...),
	})
}
