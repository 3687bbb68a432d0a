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
	alive context.Context // parent of the requests' contexts; ends with stop
	end   context.CancelFunc
}

func opsConfig(log *zap.Logger, patience time.Duration) fiber.Config {
	return fiber.Config{
		CaseSensitive: true, StrictRouting: true, Immutable: true, DisableStartupMessage: true,
		ReadTimeout: 5 * time.Second, WriteTimeout: patience, ReadBufferSize: 8 << 10, BodyLimit: 8 << 10,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			answer := fiber.NewError(fiber.StatusInternalServerError, "it cannot be answered; the log says why")
			if !errors.As(err, &answer) {
				log.Error("operators were not answered", zap.String("path", c.Path()), zap.Error(err))
			}
			c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
			return c.Status(answer.Code).SendString(answer.Message + "\n")
		},
	}
}

// newOpsServer makes a server whose requests end after patience. It has no routes yet.
func newOpsServer(at net.Listener, patience time.Duration, log *zap.Logger) *opsServer {
	s := &opsServer{At: gateway.Patient(at, log, "connections of operators"), App: fiber.New(opsConfig(log, patience))}
	s.Server().HeaderReceived = func(h *fasthttp.RequestHeader) (as fasthttp.RequestConfig) {
		if new(fasthttp.URI).Parse(h.Host(), nil) != nil { // fasthttp would refuse it, but the probes answer any host
			h.SetHost("*")
		}
		return as
	}
	s.alive, s.end = context.WithCancel(context.Background())
	s.Use(recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(_ *fiber.Ctx, cause any) {
		log.Error("operators: panic", zap.Any("cause", cause), zap.Stack("stack"))
	}}), func(c *fiber.Ctx) error {
		if s.alive.Err() != nil { // the server has stopped
			return c.Context().Conn().Close()
		}
		ctx, cancel := context.WithTimeout(s.alive, patience)
		defer cancel()
		c.SetUserContext(ctx)
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Response().Header.SetProtocol(c.Request().Header.Protocol()) // HAProxy asks with HTTP/1.0
		return c.Next()
	})
	return s
}

// serve answers until stop.
func (s *opsServer) serve() error { return s.Listener(s.At) }

// stop lets the answers under way leave until ctx ends. It does nothing for a nil opsServer.
func (s *opsServer) stop(ctx context.Context) {
	if s == nil {
		return
	}
	_ = s.At.Close() // ends serve, even if that is called later
	_ = s.ShutdownWithContext(ctx)
	s.end()
}
