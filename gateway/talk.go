package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// talk is what it takes to answer the requests of a connection, kept from one
// connection to the next.
//
// Header, chunks and answer are fasthttp's, only their order is not: its own loop
// knows no moment between header and body at which the connection is at hand, and
// makes room for a body before anything of it came (valyala/fasthttp#2037).
type talk struct {
	*conn
	server *Server
	in     *bufio.Reader
	out    *bufio.Writer
	req    fasthttp.Request
	resp   fasthttp.Response
	uri    fasthttp.URI
	body   incoming
	room   answerRoom
}

// outputSize is how much of an answer is sent at once.
const outputSize = 4 << 10

// converse answers the requests of a connection until one side has enough.
func (s *Server) converse(c *conn) {
	t, reused := s.talks.Get().(*talk)
	if !reused {
		t = &talk{server: s, in: bufio.NewReaderSize(nil, HeaderLimit), out: bufio.NewWriterSize(nil, outputSize), room: answerRoom{bodies: s.bodies}}
		t.body.talk = t
	}
	t.conn, c.out = c, t.out
	t.in.Reset(c)
	t.out.Reset(c)
	if t.awaits(s.o.ReadTimeout) {
		c.peer.Certificate = certificateOf(c.Conn)
		for t.answer() && t.awaits(s.o.IdleTimeout) {
		}
	}
	t.conn = nil // which is not to be kept with it
	t.in.Reset(nil)
	t.out.Reset(nil)
	s.talks.Put(t)
}

// awaits tells whether there is another request; one may have come with the one
// before.
func (t *talk) awaits(timeout time.Duration) bool {
	if t.in.Buffered() > 0 {
		runtime.Gosched() // it need not wait for its client, and would have others wait for it
		return true
	}
	if t.out.Flush() != nil || !t.rest() || t.SetReadDeadline(after(timeout)) != nil {
		return false
	}
	_, err := t.in.Peek(1)
	return t.wake() && err == nil
}

// after is the deadline that is so far away; none for 0.
func after(timeout time.Duration) time.Time {
	if timeout == 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}

// answer answers one request, and tells whether there can be another.
func (t *talk) answer() (more bool) {
	if t.SetReadDeadline(after(t.server.o.ReadTimeout)) != nil {
		return false
	}
	t.body.reset()
	t.resp.Header.SetNoDefaultContentType(true)
	switch reason, err := t.readHeader(); {
	case err == io.EOF:
		return false
	case err != nil:
		t.server.gateway.Refuse(&t.req, &t.resp, t.peer, reason)
	default:
		t.body.begin()
		t.server.gateway.answer(t.server.running, &t.req, &t.resp, t.peer, &t.body)
	}
	return t.send()
}

var errTwoLengths = errors.New("the length of the body is given twice")

// readHeader reads all of a request but its body; reason is what to say of an
// error.
func (t *talk) readHeader() (reason mapping.Reason, err error) {
	h := &t.req.Header
	if err := h.Read(t.in); err != nil {
		if errors.As(err, new(*fasthttp.ErrSmallBuffer)) {
			return mapping.HeaderTooLarge, err
		}
		return mapping.RequestMalformed, err
	}
	if twoLengths(h) {
		return mapping.RequestMalformed, errTwoLengths
	}
	return mapping.RequestMalformed, t.uri.Parse(h.Host(), h.RequestURI())
}

// twoLengths tells whether a request gave its length twice, as Content-Length
// and by Transfer-Encoding. A proxy may have believed the other one: what comes
// next on the connection could be the rest of this request, made by somebody
// else (request smuggling). A coding other than chunked says nothing of where the
// body ends, and is refused too, as RFC 9112 6.3 wants.
func twoLengths(h *fasthttp.RequestHeader) bool {
	var length, coded bool
	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		coded = coded || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	return coded && (length || h.ContentLength() != chunked)
}

// send sends the answer, and tells whether another request can follow.
func (t *talk) send() (more bool) {
	rest := t.body.end()
	if t.resp.Header.ConnectionClose() {
		rest = endless // it could not be read: nobody knows where it ends
	}
	last := rest == endless || t.req.Header.ConnectionClose() || t.from.stopping.Err() != nil
	err := t.write(last)
	if err == nil && !last && rest == some {
		last = !t.body.drain()
	}
	if err == nil && last {
		err = t.out.Flush()
	}
	t.req.Reset()
	t.resp.Reset()
	t.room.end()
	if err == nil && last && rest != nothing {
		t.linger()
	}
	return err == nil && !last
}

// write makes the answer ready to be sent. What of it is not sent by then, is sent
// before anything more is read.
func (t *talk) write(last bool) error {
	switch {
	case last:
		t.resp.Header.SetConnectionClose()
	case !t.req.Header.IsHTTP11():
		t.resp.Header.Set("Connection", "keep-alive")
	}
	t.resp.SkipBody = t.req.Header.IsHead()
	timeout := t.server.o.WriteTimeout
	if err := t.SetWriteDeadline(after(timeout)); err != nil {
		return err
	}
	if t.resp.IsBodyStream() { // the result of a callback
		t.beginDownload(timeout)
		defer t.endDownload()
	}
	return t.resp.Write(t.out)
}
