package gateway

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// unambiguous refuses a request whose end a proxy in front of frontdesk may see elsewhere, and ends
// its connection: the bytes that follow could be a request that somebody else has written (request
// smuggling).
func unambiguous(c *fiber.Ctx) error {
	x := exchangeOf(c)
	f := framingOf(&x.request.Header)
	if x.closeAfter = f.closeAfter; f.ambiguous {
		x.incoming.broken = true
		return mapping.Fail(mapping.RequestMalformed)
	}
	return c.Next()
}

// framing is what the header of a request says of where it ends.
type framing struct {
	// ambiguous says that fasthttp accepts a header which others may read differently: the length given
	// twice, as Content-Length and by Transfer-Encoding, a coding other than chunked, which does not say
	// where the body ends (RFC 9112 6.3), a blank in the name of a header or before it (RFC 9112 5.1
	// and 5.2), a version that is not HTTP/1.
	ambiguous bool
	// closeAfter says that the client wants the connection to end after the request. fasthttp sees that only
	// in a header that is close and nothing else.
	closeAfter bool
}

func framingOf(h *fasthttp.RequestHeader) (f framing) {
	f.ambiguous = !h.IsHTTP11() && !bytes.HasPrefix(h.Protocol(), []byte("HTTP/1."))
	var length, coded bool
	for line := range bytes.Lines(h.RawHeaders()) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		f.ambiguous = f.ambiguous || bytes.ContainsAny(name, " \t")
		switch {
		case len(name) < len("Connection"): // shorter than all of these, as most are
		case bytes.EqualFold(name, []byte("Content-Length")):
			length = true
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			coded = true
		case bytes.EqualFold(name, []byte("Connection")):
			f.closeAfter = f.closeAfter || hasToken(value, "close")
		}
	}
	f.ambiguous = f.ambiguous || coded && (length || h.ContentLength() != chunked)
	return f
}

func hasToken(list []byte, token string) bool {
	for one := range bytes.SplitSeq(list, []byte{','}) {
		if bytes.EqualFold(bytes.TrimSpace(one), []byte(token)) {
			return true
		}
	}
	return false
}
