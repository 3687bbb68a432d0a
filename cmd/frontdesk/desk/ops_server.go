package desk

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/gateway"
)

// opsServer serves operators, or their commands.
type opsServer struct {
	*fiber.App
	At    net.Listener
	alive context.Context // of the requests; ends with stop
	end   context.CancelFunc
}

func opsConfig(log *zap.Logger, patience time.Duration) fiber.Config {
	return fiber.Config{
		CaseSensitive: true, StrictRouting: true, Immutable: true, DisableStartupMessage: true,
		ReadTimeout: 5 * time.Second, WriteTimeout: patience, ReadBufferSize: 8 << 10, BodyLimit: 8 << 10,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			said := fiber.NewError(fiber.StatusInternalServerError, "it cannot be answered; the log says why")
			if !errors.As(err, &said) {
				log.Error("operators were not answered", zap.String("path", c.Path()), zap.Error(err))
			}
			c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
			return c.Status(said.Code).SendString(said.Message + "\n")
		},
	}
}

// newOpsServer makes a server whose requests end after patience. It has no routes yet.
func newOpsServer(at net.Listener, patience time.Duration, log *zap.Logger) *opsServer {
	s := &opsServer{At: gateway.Patient(at, log, "connections of operators"), App: fiber.New(opsConfig(log, patience))}
	s.Server().HeaderReceived = func(h *fasthttp.RequestHeader) (as fasthttp.RequestConfig) {
		if new(fasthttp.URI).Parse(h.Host(), nil) != nil { // a stranger's, whom the probes answer and fasthttp would refuse
			h.SetHost("*")
		}
		return as
	}
	s.alive, s.end = context.WithCancel(context.Background())
	s.Use(recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(_ *fiber.Ctx, cause any) {
		log.Error("operators: panic", zap.Any("cause", cause), zap.Stack("stack"))
	}}), func(c *fiber.Ctx) error {
		if s.alive.Err() != nil { // who is late finds the connection closed
			return c.Context().Conn().Close()
		}
		ctx, cancel := context.WithTimeout(s.alive, patience)
		defer cancel()
		c.SetUserContext(ctx)
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Response().Header.SetProtocol(c.Request().Header.Protocol()) // of HTTP/1.0 as HAProxy asks
		return c.Next()
	})
	return s
}

// serve answers until stop.
func (s *opsServer) serve() error { return s.Listener(s.At) }

// stop lets the answers under way leave until ctx ends. It is nothing to a nil opsServer.
func (s *opsServer) stop(ctx context.Context) {
	if s == nil {
		return
	}
	_ = s.At.Close() // also where serve comes later, which ends by it
	_ = s.ShutdownWithContext(ctx)
	s.end()
}
