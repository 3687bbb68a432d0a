package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// ConnectionBounds are how many connections of clients may be open; 0 for any
// number.
type ConnectionBounds struct {
	Most       int // in all
	PerAddress int // from one IPv4 address or /64 of IPv6; trusted proxies may have more
}

// Patient returns a listener that survives a lack of descriptors or memory: it returns a time-out,
// the one error after which fasthttp tries again, a second later. what names the connections in the
// warning that it logs.
func Patient(l net.Listener, log *zap.Logger, what string) net.Listener {
	return &patient{Listener: l, log: log, what: what}
}

type patient struct {
	net.Listener
	log  *zap.Logger
	what string
	warn logLimit
}

// Accept implements net.Listener.
func (p *patient) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err == nil || !transient(err) {
		return c, err
	}
	if n := p.warn.due(time.Now()); n > 0 {
		p.log.Warn(p.what+" wait: none can be accepted now", zap.Int("times", n), zap.Error(err))
	}
	return nil, os.ErrDeadlineExceeded
}

// listener accepts the connections of clients, up to the bounds.
type listener struct {
	net.Listener
	server *Server
	bounds ConnectionBounds
	log    *zap.Logger

	refused     atomic.Int64
	stopping    context.Context // ends with Close
	stop        context.CancelFunc
	empty       chan struct{} // closed once the listener stops and no connection is open
	warnRefused logLimit

	mu   sync.Mutex
	open map[*conn]struct{}
	from map[auth.Origin]int // how many of open; "" has those that PerAddress does not count
}

func newListener(l net.Listener, s *Server) *listener {
	stopping, stop := context.WithCancel(context.Background())
	return &listener{
		Listener: Patient(l, s.gateway().o.Log, "connections"), server: s, bounds: s.o.Connections, log: s.gateway().o.Log, stopping: stopping, stop: stop, empty: make(chan struct{}),
		open: map[*conn]struct{}{}, from: map[auth.Origin]int{},
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(accepted); c != nil {
			return c, nil
		}
		if l.stopping.Err() != nil {
			return nil, net.ErrClosed
		}
	}
}

// transient reports whether an accept failed because a resource ran out for now, or because
// of that one connection: the listener itself still works.
func transient(err error) bool {
	for _, passes := range [...]syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO, syscall.EPERM,
	} {
		if errors.Is(err, passes) {
			return true
		}
	}
	return false
}

// admit returns an accepted connection; nil if it exceeds a bound, or if the listener is stopping.
func (l *listener) admit(accepted net.Conn) *conn {
	c := &conn{Conn: accepted, idle: true, server: l.server, from: l, share: share{of: l.server.bodies}, peer: Peer{Address: addressOf(accepted.RemoteAddr())}}
	if tcp, ok := accepted.RemoteAddr().(*net.TCPAddr); ok && !l.server.gateway().trusted(tcp.AddrPort().Addr()) {
		c.origin = auth.OriginOf(c.peer.Address)
	}
	l.mu.Lock()
	full := l.bounds.Most > 0 && len(l.open) >= l.bounds.Most
	crowded := l.bounds.PerAddress > 0 && c.origin != "" && l.from[c.origin] >= l.bounds.PerAddress
	stopped := l.stopping.Err() != nil
	if !full && !crowded && !stopped {
		l.open[c] = struct{}{}
		l.from[c.origin]++
	}
	l.mu.Unlock()
	switch {
	case stopped:
		_ = accepted.Close()
		return nil
	case full || crowded:
		l.refuse(c, full)
		return nil
	}
	return c
}

// refusalTimeout bounds the write of a refusal. The answer fits into the empty send buffer of
// a new connection, so only a starved processor exceeds it.
const refusalTimeout = 10 * time.Second

// refuse closes a connection, and answers first if that blocks nobody: the answer fits
// into the send buffer of a plain connection, while TLS would need a handshake first.
func (l *listener) refuse(c *conn, full bool) {
	l.refused.Add(1)
	if n := l.warnRefused.due(time.Now()); n > 0 {
		l.log.Warn("connections refused: there are as many as there may be", zap.Int("times", n), zap.Bool("in_all", full),
			zap.String("address", c.peer.Address))
	}
	if _, secure := c.Conn.(*tls.Conn); !secure && c.SetWriteDeadline(time.Now().Add(refusalTimeout)) == nil {
		_, _ = c.Write(l.server.gateway().busy())
	}
	_ = c.Conn.Close()
}

// Close implements net.Listener. It also closes connections without a request under way.
func (l *listener) Close() error {
	l.stop()
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if c.state.CompareAndSwap(resting, ended) {
			_ = c.Conn.Close()
		}
	}
	l.noteEmpty()
	return err
}

// noteEmpty closes empty, once, when the last connection has ended. The caller has the lock.
func (l *listener) noteEmpty() {
	if l.stopping.Err() == nil || len(l.open) > 0 {
		return
	}
	select {
	case <-l.empty:
	default:
		close(l.empty)
	}
}

func (l *listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if l.from[c.origin]--; l.from[c.origin] == 0 {
		delete(l.from, c.origin)
	}
	l.noteEmpty()
}

// logLimit limits how often a line is logged that could occur thousands of times.
type logLimit struct {
	last       time.Time
	suppressed int
}

// logPause is how long such a line is not repeated.
const logPause = time.Minute

// due counts an occurrence, and returns how many there were since the line was last
// logged; 0 if it should not be logged now.
func (l *logLimit) due(now time.Time) int {
	l.suppressed++
	if now.Sub(l.last) < logPause {
		return 0
	}
	n := l.suppressed
	l.last, l.suppressed = now, 0
	return n
}
