package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// talk reads and answers the requests of a connection, one after the other. It is reused
// for other connections.
//
// fasthttp parses header and chunks and writes the answer; only the order is ours.
// fasthttp's own loop has no step between header and body in which the connection is
// accessible, and allocates memory for a body before any of it has arrived
// (valyala/fasthttp#2037).
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

// converse answers the requests of a connection until one side ends it.
func (s *Server) converse(c *conn) {
	t, reused := s.talks.Get().(*talk)
	if !reused {
		t = &talk{server: s, in: bufio.NewReaderSize(nil, HeaderLimit), out: bufio.NewWriterSize(nil, outputSize), room: answerRoom{bodies: s.bodies}}
		t.body.talk = t
	}
	t.conn, c.out, c.readTimeout = c, t.out, s.o.ReadTimeout
	t.in.Reset(c)
	t.out.Reset(c)
	if t.awaits(s.o.ReadTimeout) {
		c.peer.Certificate = certificateOf(c.Conn)
		for t.answer() && t.awaits(s.o.IdleTimeout) {
		}
	}
	t.conn = nil // The pooled talk must not keep the connection.
	t.in.Reset(nil)
	t.out.Reset(nil)
	s.talks.Put(t)
}

// awaits tells whether another request follows; it may have arrived together with the
// last one.
func (t *talk) awaits(timeout time.Duration) bool {
	if t.in.Buffered() > 0 {
		runtime.Gosched() // it need not wait for its client, and would have others wait for it
		return true
	}
	if t.out.Flush() != nil || !t.rest() || t.restWithin(timeout) != nil {
		return false
	}
	_, err := t.in.Peek(1)
	return t.wake() && err == nil
}

// after is the time at that distance from now; the zero time for 0.
func after(timeout time.Duration) time.Time {
	if timeout == 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}

// answer answers one request, and tells whether another can follow on the connection.
func (t *talk) answer() (more bool) {
	t.unset = true
	t.body.reset()
	t.resp.Header.SetNoDefaultContentType(true)
	switch reason, err := t.readHeader(); {
	case err == io.EOF:
		return false
	case err != nil:
		t.server.gateway.Refuse(&t.req, &t.resp, t.peer, reason)
	default:
		t.body.begin()
		if t.body.isComing() && t.readRest() != nil {
			return false
		}
		t.server.gateway.answer(t.server.running, &t.req, &t.resp, t.peer, &t.body)
	}
	return t.send()
}

var (
	errTwoLengths = errors.New("the length of the body is given twice")
	errBlank      = errors.New("a blank in the name of a header")
	errVersion    = errors.New("a version other than HTTP/1")
)

// readHeader reads the header of a request; reason is the answer's reason if it fails.
func (t *talk) readHeader() (reason mapping.Reason, err error) {
	h := &t.req.Header
	if err := h.Read(t.in); err != nil {
		if errors.As(err, new(*fasthttp.ErrSmallBuffer)) {
			return mapping.HeaderTooLarge, err
		}
		return mapping.RequestMalformed, err
	}
	if err := ambiguous(h); err != nil {
		return mapping.RequestMalformed, err
	}
	return mapping.RequestMalformed, t.uri.Parse(h.Host(), h.RequestURI())
}

// ambiguous refuses what fasthttp takes and a proxy may read otherwise, so that what follows
// on the connection could be the rest of this request, written by somebody else (request
// smuggling): the length given twice, as Content-Length and by Transfer-Encoding, a coding
// other than chunked, which does not say where the body ends (RFC 9112 6.3), a blank in the
// name of a header or before it (RFC 9112 5.1 and 5.2), a version that is not HTTP/1.
func ambiguous(h *fasthttp.RequestHeader) error {
	if !h.IsHTTP11() && !bytes.HasPrefix(h.Protocol(), []byte("HTTP/1.")) {
		return errVersion
	}
	var length, coded bool
	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		if bytes.IndexByte(name, ' ') >= 0 {
			return errBlank
		}
		if len(name) < len("Content-Length") { // shorter than both, as most are
			continue
		}
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		coded = coded || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	if coded && (length || h.ContentLength() != chunked) {
		return errTwoLengths
	}
	return nil
}

// send sends the answer, and tells whether another request can follow.
func (t *talk) send() (more bool) {
	rest := t.body.end()
	if t.resp.Header.ConnectionClose() {
		rest = endless // the request could not be read, so its end is unknown
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

// write writes the answer into the buffer. What is not sent yet is sent before the next
// read.
func (t *talk) write(last bool) error {
	switch {
	case last:
		t.resp.Header.SetConnectionClose()
	case !t.req.Header.IsHTTP11():
		t.resp.Header.Set("Connection", "keep-alive")
	}
	t.resp.SkipBody = t.req.Header.IsHead()
	timeout := t.server.o.WriteTimeout
	if err := t.writeWithin(timeout); err != nil {
		return err
	}
	if t.resp.IsBodyStream() { // the result of a callback
		t.beginDownload(timeout)
		defer t.endDownload()
	} else if tcp, ok := t.conn.Conn.(*net.TCPConn); ok && !t.resp.SkipBody && t.resp.StatusCode() == fasthttp.StatusOK && len(t.resp.Body()) > outputSize {
		return t.writeAtOnce(tcp)
	}
	return t.resp.Write(t.out)
}

// writeAtOnce sends an answer that the buffer has no room for, header and body together: in
// two parts the client would be woken twice.
func (t *talk) writeAtOnce(to *net.TCPConn) error {
	if err := t.out.Flush(); err != nil {
		return err
	}
	body := t.resp.Body()
	t.resp.Header.SetContentLength(len(body))
	parts := net.Buffers{t.resp.Header.Header(), body}
	_, err := parts.WriteTo(to)
	return err
}
