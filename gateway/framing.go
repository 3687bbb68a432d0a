package gateway

import (
	"bytes"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// unambiguous refuses a request that a proxy before frontdesk may read otherwise, and ends its
// connection: what follows on it could be the rest of this request, written by somebody else
// (request smuggling). And Fiber must route the path as it was sent: it cuts /order#5 at the #, and
// without a Host takes //order/5 for the path /5 of another.
func unambiguous(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if ambiguous(&x.request.Header) {
		x.incoming.broken = true
		return mapping.Fail(mapping.RequestMalformed)
	}
	if c.Path() != x.whole {
		return atNowhere(c)
	}
	return c.Next()
}

// ends tells whether a client wants its connection to end: fasthttp reads no other spelling of it
// than close, alone.
func ends(h *fasthttp.RequestHeader) bool {
	return slices.ContainsFunc(h.PeekAll("Connection"), func(line []byte) bool {
		for token := range bytes.SplitSeq(line, []byte{','}) {
			if bytes.EqualFold(bytes.TrimSpace(token), []byte("close")) {
				return true
			}
		}
		return false
	})
}

// ambiguous tells of what fasthttp takes and others read otherwise: the length given twice, as
// Content-Length and by Transfer-Encoding, a coding other than chunked, which does not say where
// the body ends (RFC 9112 6.3), a blank in the name of a header or before it (RFC 9112 5.1 and
// 5.2), a version that is not HTTP/1.
func ambiguous(h *fasthttp.RequestHeader) bool {
	if !h.IsHTTP11() && !bytes.HasPrefix(h.Protocol(), []byte("HTTP/1.")) {
		return true
	}
	var length, coded bool
	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		if bytes.ContainsAny(name, " \t") {
			return true
		}
		if len(name) < len("Content-Length") { // shorter than both, as most are
			continue
		}
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		coded = coded || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	return coded && (length || h.ContentLength() != chunked)
}
