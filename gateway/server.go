package gateway

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"frontdesk/gateway/webhook"
)

// HeaderLimit is how large a request's header may be, in bytes.
const HeaderLimit = 16 << 10

// downloadTimeout is how long the download of a result may take, if the client reads some
// of it within each WriteTimeout. It is as long as an address of the result is valid.
const downloadTimeout = webhook.LinkValidity

// ServerOptions limit what clients can use of the server.
type ServerOptions struct {
	BodyLimit    int           // of one request, in bytes
	BodyMemory   int           // that large bodies and answers may take at once, in bytes; at least twice BodyLimit
	ReadTimeout  time.Duration // for a whole request, header and body
	WriteTimeout time.Duration // for an answer, or the next piece of a download
	IdleTimeout  time.Duration // between two requests of a connection
	Connections  ConnectionBounds
	TLS          *tls.Config // nil for plain HTTP
}

// Server is the gateway behind a listener.
type Server struct {
	gateway *Gateway
	o       ServerOptions
	app     *fiber.App
	bodies  *bodyMemory
	talks   sync.Pool // of *talk
	running context.Context
	cancel  context.CancelFunc

	mu       sync.Mutex
	listener *listener // since Serve
	stopped  bool      // Shutdown was called
}

// NewServer returns a server of the gateway. Fiber tracks and stops the connections; talk
// reads and answers the requests on them.
func NewServer(g *Gateway, o ServerOptions) *Server {
	s := &Server{gateway: g, o: o, bodies: newBodyMemory(o.BodyMemory)}
	s.running, s.cancel = context.WithCancel(context.Background())
	s.app = fiber.New(fiber.Config{AppName: "frontdesk", DisableStartupMessage: true})
	// No protocol was negotiated: TLS, where there is any, is the listener's.
	s.app.Server().NextProto("", func(c net.Conn) error {
		s.converse(c.(*conn))
		return nil
	})
	return s
}

// Serve answers requests until Shutdown, and closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS)
	}
	clients := newListener(l, s.gateway, s.o.Connections)
	s.mu.Lock()
	s.listener = clients
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return clients.Close()
	}
	return s.app.Listener(clients)
}

// Shutdown stops accepting requests and waits for those under way, until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	s.stopped = true
	listener := s.listener
	s.mu.Unlock()
	err := s.app.ShutdownWithContext(ctx)
	if listener != nil {
		// Fiber does not know the server yet if Serve has only just begun.
		_ = listener.Close()
	}
	return err
}
