package remotetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"frontdesk/backend/sqlrecord/sqltest"
)

// FaultProxy stands before an address and passes on what comes, but for the
// faults that the test switches on. Nothing in it is left to chance. It reads
// HTTP/1.1, so that a fault strikes a request whether or not its connection is
// new; of TLS it knows no requests, and passes on bytes: then Storm, EndlessBody,
// SlowBody, Truncate, ResetAfter and ResetMidAnswer reset like ResetBefore.
//
// It is safe for concurrent use.
type FaultProxy struct {
	target string
	addr   string
	done   chan struct{}
	wg     sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	fault    Fault
	queue    []Fault
	conns    map[net.Conn]bool // of clients
	stats    FaultStats
	changed  chan struct{} // closed with every change of what can be waited for
	closed   bool
}

// FaultStats are what a FaultProxy has seen.
type FaultStats struct {
	Accepted int // connections, ever
	Open     int // connections now
	Requests int // requests begun: their first line has arrived
	Passed   int // requests that the target has answered
}

// NewFaultProxy starts a proxy before target (host:port), on a port of its own
// on loopback.
func NewFaultProxy(target string) (*FaultProxy, error) {
	port, err := sqltest.FreePort()
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	p := &FaultProxy{
		target: target, addr: fmt.Sprintf("127.0.0.1:%d", port), done: make(chan struct{}),
		conns: map[net.Conn]bool{}, changed: make(chan struct{}),
	}
	return p, p.listen()
}

// Addr is the host and port that the proxy listens on. It stays the same.
func (p *FaultProxy) Addr() string { return p.addr }

// URL is the same as an http address.
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
		for conn := range p.conns {
			reset(conn)
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

// Stats tells what was seen until now.
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
	close(p.done)
	var err error
	if p.listener != nil {
		err = p.listener.Close()
	}
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	return err
}

// note changes the statistics.
func (p *FaultProxy) note(f func(*FaultStats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked(f)
}

func (p *FaultProxy) noteLocked(f func(*FaultStats)) {
	f(&p.stats)
	close(p.changed)
	p.changed = make(chan struct{})
}

// listen takes the port, for the first time or back again, and accepts connections
// there. It is called under the mutex once others know the proxy.
func (p *FaultProxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("fault proxy: %w", err)
	}
	p.listener = listener
	p.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				p.accept(conn)
			}
		}
	})
	return nil
}

func (p *FaultProxy) accept(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked(func(s *FaultStats) { s.Accepted++ })
	if p.closed || p.fault.Kind == ResetOnAccept || p.fault.Kind == Refuse {
		reset(conn)
		return
	}
	p.conns[conn] = true
	p.noteLocked(func(s *FaultStats) { s.Open++ })
	p.wg.Go(func() {
		defer func() {
			_ = conn.Close()
			p.mu.Lock()
			delete(p.conns, conn)
			p.noteLocked(func(s *FaultStats) { s.Open-- })
			p.mu.Unlock()
		}()
		newRelay(p, conn).run()
	})
}

// begin counts a request and tells what is to happen to it.
func (p *FaultProxy) begin(path string) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked(func(s *FaultStats) { s.Requests++ })
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
