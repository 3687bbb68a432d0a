package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// HeaderLimit is how large a request's header may be, in bytes.
const HeaderLimit = 16 << 10

// ServerOptions bound what a client can take of the server.
type ServerOptions struct {
	BodyLimit    int           // bytes
	ReadTimeout  time.Duration // for a whole request, header and body
	WriteTimeout time.Duration // for an answer
	IdleTimeout  time.Duration // between two requests of a connection
	TLS          *tls.Config   // nil for plain HTTP
}

// Server is the gateway behind a listener.
type Server struct {
	app    *fiber.App
	tls    *tls.Config
	cancel context.CancelFunc
}

// NewServer returns a server of the gateway. Fiber sets it up, words what could
// not be read, and stops it; every request of whatever path and method goes to
// Gateway.Serve.
func NewServer(g *Gateway, o ServerOptions) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	app := fiber.New(fiber.Config{
		AppName:               "frontdesk",
		DisableStartupMessage: true,
		ReadBufferSize:        HeaderLimit,
		BodyLimit:             o.BodyLimit,
		ReadTimeout:           o.ReadTimeout,
		WriteTimeout:          o.WriteTimeout,
		IdleTimeout:           o.IdleTimeout,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			g.Refuse(c.Request(), c.Response(), unreadable(err))
			return nil
		},
	})
	server := app.Server()
	server.NoDefaultServerHeader = true
	server.NoDefaultContentType = true
	// Past Fiber's router: the endpoint table is the only one there is, and
	// Fiber would answer methods it does not know by itself, and not in JSON.
	server.Handler = func(rc *fasthttp.RequestCtx) {
		g.Serve(ctx, &rc.Request, &rc.Response, rc.RemoteIP().String())
	}
	return &Server{app: app, tls: o.TLS, cancel: cancel}
}

// unreadable names what kept the server from reading a request.
func unreadable(err error) mapping.Reason {
	var fe *fiber.Error
	if errors.As(err, &fe) {
		switch fe.Code {
		case fiber.StatusRequestEntityTooLarge:
			return mapping.BodyTooLarge
		case fiber.StatusRequestHeaderFieldsTooLarge:
			return mapping.HeaderTooLarge
		}
	}
	return mapping.RequestMalformed
}

// Serve answers requests until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if s.tls != nil {
		l = tls.NewListener(l, s.tls)
	}
	return s.app.Listener(l)
}

// Shutdown stops taking requests, lets those under way end, and gives up on
// them when ctx does.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	return s.app.ShutdownWithContext(ctx)
}
