package gateway

import (
	"bytes"
	"context"
	"io"

	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

const (
	// smallBody is how much of a body is always read, even when the memory for bodies is
	// used up: as much as of a header. Without a session no more may be sent.
	smallBody = HeaderLimit
	// firstBuffer is what the first read of a body makes room for.
	firstBuffer = 1 << 10
	// drained is how much of an unwanted body is read, so that the connection can serve
	// the next request.
	drained = 64 << 10
)

// chunked is the length of a body that does not announce it.
const chunked = -1

// incoming is the body of a request. fasthttp has read at most 8 KiB of it when a request begins;
// the rest is read only when the body stage asks for it, and takes memory as it arrives.
type incoming struct {
	conn   *conn
	header *fasthttp.RequestHeader
	stream io.Reader // nil where there is no body, or it was read in full
	length int       // as announced
	came   int       // bytes that have arrived
	fields int       // of the header, before the body; more of them later are a trailer
	broken bool      // its end cannot be known
}

// begin is called when the header was read.
func (b *incoming) begin(rc *fasthttp.RequestCtx, c *conn) {
	b.conn, b.header, b.length = c, &rc.Request.Header, rc.Request.Header.ContentLength()
	if b.length > 0 || b.length == chunked {
		b.stream = rc.RequestBodyStream()
	}
	if b.length == chunked {
		b.fields = b.header.Len()
	}
}

// receive reads the body, now that all earlier stages have passed. The time it takes
// depends on the client, so it does not count as time of the request.
func (g *Gateway) receive(ctx context.Context, x *Exchange) (err error) {
	switch {
	case x.conn == nil:
		x.sent = x.request.Body()
		return nil
	case x.incoming.stream == nil:
		return nil
	}
	began := g.o.Clock()
	defer func() { x.bodyTime += g.o.Clock().Sub(began) }()
	limit := x.conn.server.o.BodyLimit
	switch {
	case x.Operation.form == nil && !x.Operation.ownBody:
		return x.incoming.skip(limit)
	case x.Operation.open:
		limit = min(limit, smallBody)
	case x.Operation.ownBody:
		limit = min(limit, mostMessage)
	}
	if coding, sent := x.headerSent("Content-Encoding"); sent && !bytes.EqualFold(bytes.TrimSpace(coding), []byte("identity")) {
		x.response.Header.Set("Accept-Encoding", "identity")
		return mapping.Fail(mapping.EncodingUnsupported, string(coding))
	}
	x.sent, err = x.incoming.readAll(ctx, x.user().Client.ID, limit, x.room[:0])
	if cap(x.sent) <= smallBody {
		x.room = x.sent
	}
	return err
}

// readAll reads the body, at most limit bytes, into data or what is larger. Bytes beyond a small
// body are taken from the client's share of the memory, and wait for room there.
func (b *incoming) readAll(ctx context.Context, client int64, limit int, data []byte) ([]byte, error) {
	if b.length > limit {
		return nil, mapping.Fail(mapping.BodyTooLarge)
	}
	most := b.length
	if most == chunked {
		most = limit + 1 // one byte more shows that it is too large
	}
	for b.stream != nil {
		if len(data) == cap(data) {
			size := min(max(2*cap(data), firstBuffer), most)
			if room := b.room(size, limit); room > 0 && !b.take(ctx, client, room) {
				b.broken = true
				return nil, overloaded()
			}
			data = append(make([]byte, 0, size), data...)
		}
		n, err := b.stream.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err := b.count(n, err, limit); err != nil {
			return nil, err
		}
	}
	b.conn.share.keep(cap(data)) // a body in chunks may have taken more
	return data, nil
}

// room returns how much memory a body needs to reach that size: all that it announced, so that
// it can be completed once begun, or the next part of one in chunks.
func (b *incoming) room(size, limit int) int {
	switch {
	case size <= smallBody:
		return 0
	case b.length == chunked:
		return min(size, limit) - b.conn.share.taken
	default:
		return b.length - b.conn.share.taken
	}
}

// skip reads and discards the body, at most limit bytes.
func (b *incoming) skip(limit int) error {
	if b.length > limit {
		return mapping.Fail(mapping.BodyTooLarge)
	}
	scratch := make([]byte, firstBuffer)
	for b.stream != nil {
		n, err := b.stream.Read(scratch)
		if err := b.count(n, err, limit); err != nil {
			return err
		}
	}
	return nil
}

// count adds what a read brought. After the last read there is no stream any more.
func (b *incoming) count(n int, err error, limit int) error {
	b.came += n
	switch {
	case b.came > limit:
		b.broken = true
		return mapping.Fail(mapping.BodyTooLarge)
	case err == nil:
		return nil
	case err == io.EOF && b.came >= b.length && (b.length != chunked || b.endsWell()):
		b.stream = nil
		return nil
	default: // also an end that came early, or with a trailer
		b.broken = true
		return mapping.Fail(mapping.RequestMalformed)
	}
}

// endsWell reports whether a body in chunks ended as it should: fasthttp also takes a
// failed connection for the end. A trailer would be treated as part of the header, but no
// proxy has judged it.
func (b *incoming) endsWell() bool { return !b.conn.failed && b.header.Len() == b.fields }

// take takes from the client's share of the memory; false if there was none in the time
// that a request may take. A body that had to wait gets that time again.
func (b *incoming) take(ctx context.Context, client int64, size int) bool {
	patience := b.conn.server.o.ReadTimeout
	waited, ok := b.conn.share.wait(ctx, client, size, patience)
	return ok && (!waited || b.conn.SetReadDeadline(after(patience)) == nil)
}

// endBody reads the rest of a body if that is short and arrives soon, so that the next request can
// follow. Otherwise the connection ends after the answer. It also ends if the client asked for that,
// or if the server stops.
func (x *Exchange) endBody() {
	b := &x.incoming
	if b.broken || b.stream != nil && !b.drain() || x.conn.from.stopping.Err() != nil || x.closeAfter {
		x.conn.lingers = true
		x.response.SetConnectionClose()
	}
}

// drain reads the rest of the body, and reports whether the next request can follow. The answer is sent
// after that.
func (b *incoming) drain() bool {
	return b.length-b.came <= drained && b.conn.SetReadDeadline(after(lingering)) == nil && b.skip(b.came+drained) == nil
}
