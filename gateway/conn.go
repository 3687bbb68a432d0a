package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// lingering is how long a refused client is listened to after its answer.
const lingering = time.Second

// listener hands out connections that know whether anything was asked of them.
// Clients open some in advance and never use them; the server would count those
// as busy until the read time-out, and answer them then.
type listener struct {
	net.Listener
	log *zap.Logger

	mu     sync.Mutex
	silent map[*conn]struct{} // of whom nothing was read yet
	closed bool
}

func newListener(l net.Listener, log *zap.Logger) *listener {
	return &listener{Listener: l, log: log, silent: map[*conn]struct{}{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, from: l, peer: Peer{Address: addressOf(accepted.RemoteAddr())}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = accepted.Close()
		return nil, net.ErrClosed
	}
	l.silent[c] = struct{}{}
	return c, nil
}

// Close implements net.Listener. It also hangs up on clients that have said
// nothing yet, who would keep the server from stopping.
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.silent {
		_ = c.Conn.Close()
	}
	clear(l.silent)
	return err
}

func (l *listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.silent, c)
}

// conn is one client's connection.
type conn struct {
	net.Conn
	from    *listener
	peer    Peer        // its certificate is known once something was read
	heard   atomic.Bool // something was read
	refused atomic.Bool // it is closed with more to be read
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.heard.Load() {
		c.peer.Certificate = certificateOf(c.Conn)
		c.heard.Store(true)
		c.from.forget(c)
	}
	var unverified *tls.CertificateVerificationError
	if err != nil && errors.As(err, &unverified) {
		// There is no request to log: nobody would know why the client is kept out.
		c.from.log.Warn("connection refused: the client's certificate does not hold", zap.String("address", c.peer.Address), zap.Error(unverified.Err))
	}
	return n, err
}

// Write fails as long as nothing was asked: a client would take what it gets
// for the answer to its first request.
func (c *conn) Write(p []byte) (int, error) {
	if !c.heard.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

func (c *conn) Close() error {
	c.from.forget(c)
	if c.refused.Load() {
		c.linger()
	}
	return c.Conn.Close()
}

// linger reads what a refused client still sends. To close with bytes unread
// resets the connection, which can cost the client the answer.
func (c *conn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.Conn.SetReadDeadline(time.Now().Add(lingering)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c.Conn) // it ends by the deadline at the latest
}
