package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// HeaderLimit is how large a request's header may be, in bytes.
const HeaderLimit = 16 << 10

// downloadTimeout is how long the result of a callback may take to leave: as
// long as its address is valid.
const downloadTimeout = webhook.LinkValidity

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
	log    *zap.Logger
	cancel context.CancelFunc

	mu       sync.Mutex
	listener net.Listener // since Serve
	stopped  bool         // Shutdown was called
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
		// A body is JSON whatever Content-Type says.
		DisablePreParseMultipartForm: true,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			refuse(g, c.Context(), unreadable(err))
			return nil
		},
	})
	server := app.Server()
	server.NoDefaultServerHeader = true
	server.NoDefaultContentType = true
	server.CloseOnShutdown = true
	server.HeaderReceived = func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		if bytes.HasPrefix(h.RequestURI(), []byte(g.o.BasePath+downloadPath+"?")) {
			return fasthttp.RequestConfig{WriteTimeout: downloadTimeout}
		}
		return fasthttp.RequestConfig{}
	}
	server.ExpectHandler = func(rc *fasthttp.RequestCtx) int {
		if rc.Request.Header.ContentLength() <= o.BodyLimit {
			return fasthttp.StatusContinue
		}
		refuse(g, rc, mapping.BodyTooLarge)
		return rc.Response.StatusCode()
	}
	// Past Fiber's router: the endpoint table is the only one there is, and
	// Fiber would answer methods it does not know by itself, and not in JSON.
	server.Handler = func(rc *fasthttp.RequestCtx) {
		if twoLengths(&rc.Request.Header) {
			refuse(g, rc, mapping.RequestMalformed)
			return
		}
		g.Serve(ctx, &rc.Request, &rc.Response, peerOf(rc))
	}
	return &Server{app: app, tls: o.TLS, log: g.o.Log, cancel: cancel}
}

// refuse answers what is no request, and has the connection closed.
func refuse(g *Gateway, rc *fasthttp.RequestCtx, reason mapping.Reason) {
	if c, ok := rc.Conn().(*conn); ok {
		if !c.heard.Load() {
			return // nothing was asked
		}
		c.refused.Store(true)
	}
	g.Refuse(&rc.Request, &rc.Response, peerOf(rc), reason)
}

// twoLengths tells whether a request gave its length twice, as Content-Length
// and by Transfer-Encoding. A proxy may have believed the other one: what comes
// next on the connection could be the rest of this request, made by somebody
// else (request smuggling).
func twoLengths(h *fasthttp.RequestHeader) bool {
	if n := h.ContentLength(); n != -1 && n != 0 { // how a chunked body looks, and an empty one
		return false
	}
	var length, chunked bool
	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		chunked = chunked || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	return length && chunked
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

// Serve answers requests until Shutdown, and closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if s.tls != nil {
		l = tls.NewListener(l, s.tls)
	}
	l = newListener(l, s.log)
	s.mu.Lock()
	s.listener = l
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return l.Close()
	}
	return s.app.Listener(l)
}

// Shutdown stops taking requests, lets those under way end, and gives up on
// them when ctx does.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	s.stopped = true
	listener := s.listener
	s.mu.Unlock()
	err := s.app.ShutdownWithContext(ctx)
	if listener != nil {
		// Fiber does not know it yet where Serve has only just begun.
		_ = listener.Close()
	}
	return err
}
