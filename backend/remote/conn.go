package remote

import (
	"bufio"
	"context"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// headLimit is how large the head of an answer may be: it must fit in the buffer
// that it is read with.
const headLimit = 16 << 10

// conn is one connection. It is used by one call at a time.
type conn struct {
	raw    net.Conn
	stream net.Conn // raw, or TLS over it
	in     *bufio.Reader
	header fasthttp.ResponseHeader // of the current answer
	quiet  *quiet
	used   time.Time
	// expires is the deadline that was set last.
	expires time.Time
	// watched ends the current call when it is closed, stop ends the watch, and last is
	// what was watched in the call before.
	watched, last <-chan struct{}
	stop          func() bool
	again         bool // the connection has served a call before
	wrote         bool // a byte of the current request may have gone out
}

func newConn(raw net.Conn) *conn {
	c := &conn{raw: raw, stream: raw, quiet: &quiet{Conn: raw, is: lookAt(raw)}}
	c.in = bufio.NewReaderSize(c, headLimit)
	return c
}

func (c *conn) Read(b []byte) (int, error) { return c.stream.Read(b) }

// send writes a whole request.
func (c *conn) send(request []byte) error {
	c.wrote = false
	n, err := c.stream.Write(request)
	// TLS does not report how much it sent, so any attempt may have sent all.
	c.wrote = n > 0 || c.stream != c.raw
	return err
}

// alive reports whether a connection can be used: the other side has neither closed it nor sent
// anything unasked. If not, the caller closes it. On systems where a connection cannot be
// inspected, only a new one counts as alive.
func (c *conn) alive() bool {
	switch {
	case c.in.Buffered() > 0:
		return false
	case c.quiet.is == nil:
		return !c.again
	case c.stream == c.raw:
		return c.quiet.is()
	default:
		return c.isQuietTLS()
	}
}

// deadlineSlack is how much later than the context a connection gives up. So the context ends the
// call, and its cause is known.
const deadlineSlack = 20 * time.Millisecond

// expireAt bounds reading and writing by a deadline, which may take effect up to deadlineSlack
// late: a connection in constant use need not set it for every call. The context ends the call
// on time.
func (c *conn) expireAt(deadline time.Time, slack time.Duration) {
	slack = min(slack, 100*time.Millisecond)
	earliest := deadline.Add(deadlineSlack)
	if c.expires.Before(earliest) || c.expires.After(earliest.Add(slack)) {
		c.expires = earliest.Add(slack)
		_ = c.stream.SetDeadline(c.expires)
	}
}

// bounded is a context that ends at its own deadline or with another context.
type bounded interface{ Unbounded() context.Context }

// watch has a call end when ctx ends. It returns false if the connection can no longer be used. If
// a context only adds a deadline to another one, expireAt handles the deadline, and watch watches
// the other context.
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

// unwatch ends the watch over a context. It returns false if the context has ended already: then
// its deadline may still be set on the connection, which no other call may use.
func (c *conn) unwatch() bool {
	if c.stop == nil {
		return true
	}
	stopped := c.stop()
	c.watched, c.stop = nil, nil
	return stopped
}

// settle ends a call, as unwatch does, but if two calls in a row had the same context, the watch
// goes on: that context is the server's own, and the next call will have it too.
func (c *conn) settle() bool {
	same := c.watched == c.last
	c.last = c.watched
	return same || c.unwatch()
}

// longAgo is a deadline that ends all reading and writing at once.
var longAgo = time.Unix(1, 0)

// close closes the connection without TLS's closing message, which a half-open peer would
// delay.
func (c *conn) close() {
	c.unwatch()
	_ = c.raw.Close()
}
