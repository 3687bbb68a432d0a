package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
)

// lingering is how long the rest of a refused client's request is read after the answer.
const lingering = time.Second

// The states of a connection.
const (
	resting int32 = iota // no request is under way: a server that stops may close the connection
	serving
	ended // a server that stops has closed the connection
)

// conn is one client's connection. It adds what fasthttp leaves out: deadlines are set only when they
// have moved, a stop leaves requests under way alone, and unread bytes are read before a close.
type conn struct {
	net.Conn
	server    *Server
	from      *listener
	origin    auth.Origin // the address that it counts for; "" for a trusted proxy, and without an address
	peer      Peer
	peerKnown bool // the certificate of peer was read
	failed    bool // nothing more can be read: the client has sent its last byte, or was too slow
	readSince bool // something was read since the last request began
	idle      bool // the last answer was sent, and no request has begun
	lingers   bool // part of a request may be unread when the connection is closed
	state     atomic.Int32

	share share // of memory, until the answer is sent

	reads, writes deadline
}

// deadline is one of a connection. It is set only when something is to be read or written, and only
// where it has moved: a connection in constant use has its deadlines set a few times a second, and
// not for each request.
type deadline struct{ wanted, set time.Time }

// latest is how much later than it says a deadline may end a connection.
const latest = 100 * time.Millisecond

// hold sets the deadline, unless the one that is set is equal or a little later.
func (d *deadline) hold(set func(time.Time) error) error {
	switch {
	case d.wanted.IsZero() && d.set.IsZero(), !d.wanted.IsZero() && !d.set.Before(d.wanted) && !d.set.After(d.wanted.Add(latest)):
		return nil
	case d.wanted.IsZero():
		d.set = d.wanted
	default:
		d.set = d.wanted.Add(latest)
	}
	return set(d.set)
}

// after returns the time at that distance from now; the zero time for 0.
func after(timeout time.Duration) time.Time {
	if timeout == 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.reads.wanted = at
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.writes.wanted = at
	return nil
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.idle && !c.rest() {
		return 0, io.EOF
	}
	if err := c.reads.hold(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	c.readSince = true
	n, err := c.Conn.Read(p)
	if n > 0 && c.idle {
		if !c.state.CompareAndSwap(resting, serving) {
			return 0, net.ErrClosed
		}
		c.idle = false
	}
	if err == nil || err == io.EOF && n > 0 { // over TLS both can come at once; the next read returns the end again
		return n, nil
	}
	c.failed = true
	if unverified, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		// There is no request to log: nobody would know why the client is kept out.
		c.server.gateway().o.Log.Warn("connection refused: the client's certificate does not hold", zap.String("address", c.peer.Address), zap.Error(unverified.Err))
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.writes.wanted.IsZero() { // before 100 Continue fasthttp sets none
		c.writes.wanted = after(c.server.o.WriteTimeout)
	}
	if err := c.writes.hold(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// verified returns the peer with its certificate. Something must have been read: the handshake is over.
func (c *conn) verified() Peer {
	if !c.peerKnown {
		c.peer.Certificate, c.peerKnown = certificateOf(c.Conn), true
	}
	return c.peer
}

// rest notes that no request is under way. It returns false if the connection must end, because the
// server stops.
func (c *conn) rest() bool {
	c.state.Store(resting)
	return c.from.stopping.Err() == nil
}

// sent is called when an answer was sent, or never will be.
func (c *conn) sent() {
	c.share.keep(0)
	c.writes.wanted, c.idle = time.Time{}, true
}

// Close implements net.Conn. It reads what a refused client still sends: closing with unread bytes
// resets the connection, and the client could lose the answer.
func (c *conn) Close() error {
	if c.lingers {
		c.linger()
	}
	c.from.forget(c)
	return c.Conn.Close()
}

func (c *conn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.Conn.SetReadDeadline(time.Now().Add(lingering)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c.Conn) // until the deadline at the latest
}
