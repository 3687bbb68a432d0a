package remote

import (
	"bufio"
	"context"
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
	quiet  *quiet
	used   time.Time
	// expires is the deadline that was set last.
	expires time.Time
	// watched ends the present call, stop has it watched no longer, and last is
	// what was watched in the call before.
	watched, last <-chan struct{}
	stop          func() bool
	again         bool // served a call before
	wrote         bool // a byte of the present request may have gone out
}

func newConn(raw net.Conn) *conn {
	c := &conn{raw: raw, stream: raw, quiet: newQuiet(raw)}
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

// alive tells whether a connection can be used: the other side has neither closed it
// nor said anything unasked. If not, the caller closes it. On a system where we cannot
// look, only a connection is used that nothing was asked on before.
func (c *conn) alive() bool {
	switch {
	case c.in.Buffered() > 0:
		return false
	case !canLook:
		return !c.again
	case c.stream == c.raw:
		return c.quiet.is()
	default:
		return c.isQuietTLS()
	}
}

// deadlineSlack is how much later than the context a connection gives up, so that
// it is the context's end that a call ends with, and its cause known.
const deadlineSlack = 20 * time.Millisecond

// expireAt makes reading and writing end after a deadline, though up to a slack
// late: a connection that is in use all the time need not be told every time. It
// may be the second to end a call, after the end of the context, which is on time.
func (c *conn) expireAt(deadline time.Time, slack time.Duration) {
	slack = min(slack, 100*time.Millisecond)
	earliest := deadline.Add(deadlineSlack)
	if c.expires.Before(earliest) || c.expires.After(earliest.Add(slack)) {
		c.expires = earliest.Add(slack)
		_ = c.stream.SetDeadline(c.expires)
	}
}

// bounded is a context that ends at its deadline, and else with another one.
type bounded interface{ Unbounded() context.Context }

// watch has a call end when ctx does. It is false where the connection cannot be
// used any more. Of a context that sees to nothing but a deadline beside, which
// expireAt does here, the other one is watched.
func (c *conn) watch(ctx context.Context) bool {
	if b, ok := ctx.(bounded); ok {
		ctx = b.Unbounded()
	}
	done := ctx.Done()
	if done == c.watched {
		return true
	}
	if !c.unwatch() {
		return false
	}
	if done != nil {
		c.watched, c.stop = done, context.AfterFunc(ctx, func() { _ = c.raw.SetDeadline(longAgo) })
	}
	return true
}

// unwatch is false where what was watched has ended: its deadline may come into
// the next call.
func (c *conn) unwatch() bool {
	if c.stop == nil {
		return true
	}
	stopped := c.stop()
	c.watched, c.stop = nil, nil
	return stopped
}

// settle ends a call, as unwatch does. What two calls in a row were ended by is
// watched on: it is the server's own context, and the next call will be of it too.
func (c *conn) settle() bool {
	same := c.watched == c.last
	c.last = c.watched
	return same || c.unwatch()
}

// longAgo is a deadline that ends all reading and writing at once.
var longAgo = time.Unix(1, 0)

// close closes without TLS's farewell, which a half-open peer would hold up.
func (c *conn) close() {
	c.unwatch()
	_ = c.raw.Close()
}
