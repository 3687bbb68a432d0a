package remote

import (
	"bufio"
	"net"
	"time"
)

// headLimit is how large the head of an answer may be: it must fit in the buffer
// that it is read with.
const headLimit = 16 << 10

// conn is one connection. It is used by one call at a time.
type conn struct {
	raw    net.Conn
	stream net.Conn // raw, or TLS over it
	in     *bufio.Reader
	used   time.Time
	// expires is the deadline that was set last.
	expires time.Time
	again   bool // served a call before
	wrote   bool // a byte of the present request may have gone out
}

func newConn(raw net.Conn) *conn {
	c := &conn{raw: raw, stream: raw}
	c.in = bufio.NewReaderSize(c, headLimit)
	return c
}

func (c *conn) Read(b []byte) (int, error) { return c.stream.Read(b) }

// send writes a whole request.
func (c *conn) send(request []byte) error {
	c.wrote = false
	n, err := c.stream.Write(request)
	// TLS does not tell how far it came, so that any try may have been enough.
	c.wrote = n > 0 || c.stream != c.raw
	return err
}

// alive tells whether an idle connection can be used: the other side has neither
// closed it nor said anything unasked.
func (c *conn) alive() bool {
	if c.in.Buffered() > 0 {
		return false
	}
	return isQuiet(c.raw)
}

// deadlineSlack is how much later than the context a connection gives up, so that
// it is the context's end that a call ends with, and its cause known.
const deadlineSlack = 20 * time.Millisecond

// expireAt makes reading and writing end after a deadline, though up to a slack
// late: a connection that is in use all the time need not be told every time. It
// is the second to end a call; the end of the context is on time.
func (c *conn) expireAt(deadline time.Time, slack time.Duration) {
	slack = min(slack, time.Second)
	earliest := deadline.Add(deadlineSlack)
	if c.expires.Before(earliest) || c.expires.After(earliest.Add(slack)) {
		c.expires = earliest.Add(slack)
		_ = c.stream.SetDeadline(c.expires)
	}
}

// longAgo is a deadline that ends all reading and writing at once.
var longAgo = time.Unix(1, 0)

// close closes without TLS's farewell, which a half-open peer would hold up.
func (c *conn) close() { _ = c.raw.Close() }
