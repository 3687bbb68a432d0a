package remotetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"

	"frontdesk/backend/sqlrecord/sqltest"
)

// FaultProxy stands before an HTTP service and passes on what comes, but for the
// faults that the test switches on, which strike a request whether or not its
// connection is new. Nothing in it is left to chance. It is safe for concurrent use.
type FaultProxy struct {
	addr    string
	forward *httputil.ReverseProxy
	server  *http.Server
	serving sync.WaitGroup
	ctx     context.Context // until Close
	end     context.CancelFunc

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	fault    Fault
	queue    []Fault
	clients  map[*client]bool
	stats    FaultStats
	changed  chan struct{} // closed with every change of what can be waited for
	closed   bool
}

// FaultStats are what a FaultProxy has seen.
type FaultStats struct {
	Accepted int // connections, ever
	Open     int // connections now
	Requests int // requests begun: their head has arrived
}

// NewFaultProxy starts a proxy before target (host:port), on a port of its own
// on loopback.
func NewFaultProxy(target string) (*FaultProxy, error) {
	port, err := sqltest.FreePort()
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	p := &FaultProxy{addr: fmt.Sprintf("127.0.0.1:%d", port), clients: map[*client]bool{}, changed: make(chan struct{})}
	p.ctx, p.end = context.WithCancel(context.Background())
	nobody := log.New(io.Discard, "", 0)
	p.server = &http.Server{Handler: p, ErrorLog: nobody}
	p.forward = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", target },
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
		// The target does not answer. The client sees that as if there were no proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     nobody,
	}
	return p, p.listen()
}

// URL is where the proxy listens. It stays the same.
func (p *FaultProxy) URL() string { return "http://" + p.addr }

// Set makes f what happens to every request from now on, and forgets what Next
// was told. Those under way end as they began. It fails only where the port
// cannot be had back after Refuse.
func (p *FaultProxy) Set(f Fault) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.fault, p.queue = f, nil
	if f.Kind == Refuse || f.Kind == ResetOnAccept {
		for c := range p.clients {
			reset(c.Conn)
		}
	}
	switch {
	case f.Kind == Refuse && p.listener != nil:
		err := p.listener.Close()
		p.listener = nil
		return err
	case f.Kind != Refuse && p.listener == nil:
		return p.listen()
	}
	return nil
}

// Next makes each of the faults happen to one request, in this order, before
// the one that is set goes on. Refuse and ResetOnAccept are for Set alone.
func (p *FaultProxy) Next(faults ...Fault) {
	for _, f := range faults {
		if f.Kind == Refuse || f.Kind == ResetOnAccept {
			panic("remotetest: Next with a fault of connections")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, faults...)
}

// Stats returns what was seen so far.
func (p *FaultProxy) Stats() FaultStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Wait returns once the statistics satisfy f, or with the context's error.
func (p *FaultProxy) Wait(ctx context.Context, f func(FaultStats) bool) error {
	for {
		p.mu.Lock()
		stats, changed := p.stats, p.changed
		p.mu.Unlock()
		if f(stats) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends all connections and waits for everything that the proxy started.
// Closing again does nothing.
func (p *FaultProxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	for c := range p.clients {
		_ = c.Conn.Close() // also connections that the server has handed over
	}
	p.mu.Unlock()
	p.end()
	err := p.server.Close()
	if errors.Is(err, net.ErrClosed) { // by Set, a moment ago
		err = nil
	}
	p.serving.Wait()
	p.forward.Transport.(*http.Transport).CloseIdleConnections()
	return errors.Join(err, p.Wait(context.Background(), func(s FaultStats) bool { return s.Open == 0 }))
}

// note changes the statistics, under the mutex.
func (p *FaultProxy) note(f func(*FaultStats)) {
	f(&p.stats)
	close(p.changed)
	p.changed = make(chan struct{})
}

// listen takes the port, for the first time or back again, and serves there. It is
// called under the mutex once others know the proxy.
func (p *FaultProxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("fault proxy: %w", err)
	}
	p.listener = listener
	p.serving.Go(func() { _ = p.server.Serve(door{listener, p}) }) // until somebody closes it
	return nil
}

// door lets clients in, unless a fault keeps them out.
type door struct {
	net.Listener
	proxy *FaultProxy
}

// Accept implements net.Listener.
func (d door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := d.proxy.admit(conn); c != nil {
			return c, nil
		}
	}
}

// client is a connection of a client, which counts as open until it is closed.
type client struct {
	net.Conn
	proxy *FaultProxy
}

func (p *FaultProxy) admit(conn net.Conn) *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(func(s *FaultStats) { s.Accepted++ })
	if p.closed || p.fault.Kind == ResetOnAccept || p.fault.Kind == Refuse {
		reset(conn)
		return nil
	}
	p.note(func(s *FaultStats) { s.Open++ })
	c := &client{conn, p}
	p.clients[c] = true
	return c
}

// Close implements net.Conn.
func (c *client) Close() error {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	if c.proxy.clients[c] {
		delete(c.proxy.clients, c)
		c.proxy.note(func(s *FaultStats) { s.Open-- })
	}
	return c.Conn.Close()
}

// begin counts a request and returns the fault for it.
func (p *FaultProxy) begin(path string) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(func(s *FaultStats) { s.Requests++ })
	for i, f := range p.queue {
		if strings.HasPrefix(path, f.Path) {
			p.queue = slices.Delete(p.queue, i, i+1)
			return f
		}
	}
	if !strings.HasPrefix(path, p.fault.Path) {
		return Fault{}
	}
	return p.fault
}

// reset closes a connection with RST instead of FIN.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
