package gateway

import (
	"bufio"
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
	serving int32 = iota
	resting       // nothing is asked: it may be closed
	ended         // it was closed at rest
)

// conn is one client's connection.
type conn struct {
	net.Conn
	from   *listener
	origin auth.Origin   // that it counts for; "" for a trusted proxy, and what has no address
	peer   Peer          // its certificate is known once something was read
	out    *bufio.Writer // what is being answered
	failed bool          // nothing more can be read: the client has sent its last byte, or was too slow
	state  atomic.Int32

	// Of a result that is being downloaded: how long its client may take nothing of it,
	// and when it must have left; zero where none is.
	patience time.Duration
	until    time.Time

	// The deadlines that are set; zero for none.
	reads, writes time.Time
	// A request has begun whose deadline for reading is not set yet: most come in one piece,
	// and nothing more is read of them.
	unset       bool
	readTimeout time.Duration
}

// latest is how much later than it says a time-out may end a connection that rests or takes
// no answer: so a connection in constant use has its deadlines set a few times a second and
// not for each request.
const latest = 100 * time.Millisecond

// restWithin bounds how long the connection may rest; 0 is no bound.
func (c *conn) restWithin(timeout time.Duration) error {
	c.unset = false
	if at, ok := moved(c.reads, timeout); ok {
		return c.SetReadDeadline(at)
	}
	return nil
}

// writeWithin bounds how long an answer may take to be written; 0 is no bound.
func (c *conn) writeWithin(timeout time.Duration) error {
	if at, ok := moved(c.writes, timeout); ok {
		return c.SetWriteDeadline(at)
	}
	return nil
}

// moved tells whether a deadline that is set is not what a time-out from now on may be, and
// what to set then.
func moved(set time.Time, timeout time.Duration) (at time.Time, ok bool) {
	if timeout == 0 {
		return at, !set.IsZero()
	}
	slack := min(timeout/8, latest)
	earliest := time.Now().Add(timeout)
	if set.Before(earliest) || set.After(earliest.Add(slack)) {
		return earliest.Add(slack), true
	}
	return set, false
}

// readRest bounds the reading of the rest of a request, if that was not done yet.
func (c *conn) readRest() error {
	if !c.unset {
		return nil
	}
	c.unset = false
	return c.SetReadDeadline(after(c.readTimeout))
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.reads = at
	return c.Conn.SetReadDeadline(at)
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.writes = at
	return c.Conn.SetWriteDeadline(at)
}

// Read sends pending answers before it waits for more.
func (c *conn) Read(p []byte) (int, error) {
	if c.out.Buffered() > 0 {
		if err := c.out.Flush(); err != nil {
			return 0, err
		}
	}
	if err := c.readRest(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if err == nil || err == io.EOF && n > 0 { // over TLS both can come at once; the next read says the end again
		return n, nil
	}
	c.failed = true
	if unverified, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		// There is no request to log: nobody would know why the client is kept out.
		c.from.log.Warn("connection refused: the client's certificate does not hold", zap.String("address", c.peer.Address), zap.Error(unverified.Err))
	}
	return n, err
}

// Write sends. A download may take as long as its client keeps reading.
func (c *conn) Write(p []byte) (int, error) {
	if !c.until.IsZero() {
		deadline := after(c.patience)
		if deadline.IsZero() || deadline.After(c.until) {
			deadline = c.until
		}
		if err := c.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// beginDownload allows the longer write times that a download needs.
func (c *conn) beginDownload(patience time.Duration) {
	boundUnsent(c.Conn)
	c.patience, c.until = patience, after(downloadTimeout)
}

func (c *conn) endDownload() { c.until = time.Time{} }

// rest says that no request is under way on the connection; false if it is to end.
func (c *conn) rest() bool {
	c.state.Store(resting)
	return c.from.stopping.Err() == nil
}

// wake ends rest; false if the connection was closed meanwhile.
func (c *conn) wake() bool { return c.state.CompareAndSwap(resting, serving) }

func (c *conn) Close() error {
	c.from.forget(c)
	return c.Conn.Close()
}

// linger reads what a refused client still sends: closing with unread bytes resets the
// connection, and the client could lose the answer.
func (c *conn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.Conn.SetReadDeadline(time.Now().Add(lingering)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c.Conn) // it ends by the deadline at the latest
}
