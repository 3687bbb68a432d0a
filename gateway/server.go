package gateway

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// HeaderLimit is how large a request's header may be, in bytes.
const HeaderLimit = 16 << 10

// ServerOptions limit what clients can use of the server.
type ServerOptions struct {
	BodyLimit    int           // of one request, in bytes
	BodyMemory   int           // bytes that large bodies and answers may take at once; at least twice BodyLimit
	ReadTimeout  time.Duration // for a whole request, header and body
	WriteTimeout time.Duration // for an answer, or the next piece of a download
	IdleTimeout  time.Duration // between two requests of a connection
	Connections  ConnectionBounds
	TLS          *tls.Config // nil for plain HTTP
	// Current returns the gateway that serves the requests that begin now, and a Handler of it.
	Current func() (*Gateway, fasthttp.RequestHandler)
}

// Server serves the current gateway on a listener.
type Server struct {
	o       ServerOptions
	app     *fiber.App
	bodies  *bodyMemory
	running context.Context
	cancel  context.CancelFunc

	mu       sync.Mutex
	listener *listener // since Serve
	stopped  bool      // Shutdown was called
}

// NewServer returns a server. Each request is served by the gateway and the app that are current when it
// begins.
func NewServer(o ServerOptions) *Server {
	s := &Server{o: o, bodies: newBodyMemory(o.BodyMemory)}
	s.running, s.cancel = context.WithCancel(context.Background())
	// This app only reads requests and writes answers: the current one has the routes. With
	// ReduceMemoryUsage it sends each answer before it reads on, and keeps no large buffers.
	s.app = fiber.New(fiber.Config{
		AppName: "frontdesk", DisableStartupMessage: true, DisableDefaultContentType: true, ErrorHandler: func(c *fiber.Ctx, err error) error { return s.gateway().handleError(c, err) },
		ReadBufferSize: HeaderLimit, StreamRequestBody: true, ReduceMemoryUsage: true, DisablePreParseMultipartForm: true, BodyLimit: max(o.BodyLimit, 1),
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, IdleTimeout: o.IdleTimeout,
	})
	server := s.app.Server()
	server.Handler = func(rc *fasthttp.RequestCtx) {
		_, serve := o.Current()
		serve(rc)
	}
	server.ConnState = func(c net.Conn, state fasthttp.ConnState) {
		if state == fasthttp.StateIdle || state == fasthttp.StateClosed {
			c.(*conn).sent()
		}
	}
	return s
}

func (s *Server) gateway() *Gateway {
	g, _ := s.o.Current()
	return g
}

// Serve answers requests until Shutdown, and closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS)
	}
	clients := newListener(l, s)
	s.mu.Lock()
	s.listener = clients
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return clients.Close()
	}
	return s.app.Listener(clients)
}

// Shutdown stops accepting requests and waits for those under way, until ctx ends. Fiber's own Shutdown
// could close connections that have just got a request: its clock counts seconds.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	s.stopped = true
	listener := s.listener
	s.mu.Unlock()
	if listener == nil {
		return nil
	}
	err := listener.Close()
	select {
	case <-listener.empty:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
