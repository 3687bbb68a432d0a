package gateway

import (
	"context"
	"io"

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

// goOn tells a client to send its body now (Expect: 100-continue).
const goOn = "HTTP/1.1 100 Continue\r\n\r\n"

// incoming is the body of a request. It is read only when the body stage asks for it, and
// takes memory as it arrives.
type incoming struct {
	talk   *talk
	kept   []byte    // for small bodies, from one request to the next
	stream io.Reader // nil where there is no body, or it was read in full
	length int       // as announced
	came   int       // of it, in bytes
	waits  bool      // the client wants to be told before it sends
	fields int       // of the header, before the body
	broken bool      // where it ends will not be known
	client int64     // whose share of the memory was taken
	taken  int
}

// reset prepares for a request whose header was not read yet.
func (b *incoming) reset() { *b = incoming{talk: b.talk, kept: b.kept} }

// begin is called when the header was read.
func (b *incoming) begin() {
	req := &b.talk.req
	b.length = req.Header.ContentLength()
	if b.length == chunked {
		b.fields = req.Header.Len()
	}
	if b.length != chunked && b.length <= 0 {
		return
	}
	// With a limit of 0 it reads nothing ahead, and so should meet no error.
	b.broken = req.ContinueReadBodyStream(b.talk.in, 0, false) != nil
	b.stream = req.BodyStream()
	b.waits = req.MayContinue() && req.Header.IsHTTP11()
}

// isComing tells whether there is more of the body than has come with the header.
func (b *incoming) isComing() bool {
	return b.stream != nil && (b.length == chunked || b.length > b.talk.in.Buffered())
}

// limit is how many bytes the body may have.
func (b *incoming) limit() int { return b.talk.server.o.BodyLimit }

// receive reads the body, at most limit bytes, into the request. Bytes beyond a small
// body are taken from the client's share of the memory, and wait for room there.
func (b *incoming) receive(ctx context.Context, client int64, limit int) error {
	if err := b.open(limit); err != nil {
		return err
	}
	most := b.length
	if most == chunked {
		most = limit + 1 // one byte too many tells
	}
	data := b.kept[:0]
	for b.stream != nil {
		if len(data) == cap(data) {
			size := min(max(2*cap(data), firstBuffer), most)
			if room := b.room(size, limit); room > 0 && !b.take(ctx, client, room) {
				b.broken = true
				return overloaded()
			}
			data = append(make([]byte, 0, size), data...)
		}
		n, err := b.stream.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err := b.count(n, err, limit); err != nil {
			return err
		}
	}
	if b.taken == 0 {
		b.kept = data
	} else if spare := b.taken - cap(data); spare > 0 { // it came in chunks
		b.talk.server.bodies.give(b.client, spare)
		b.taken -= spare
	}
	b.talk.req.SetBodyRaw(data)
	return nil
}

// room is how much memory a body needs to reach that size: all that it announced, so that
// it can be completed once begun, or the next part of one in chunks.
func (b *incoming) room(size, limit int) int {
	switch {
	case size <= smallBody:
		return 0
	case b.length == chunked:
		return min(size, limit) - b.taken
	default:
		return b.length - b.taken
	}
}

// skip reads and discards the body, at most limit bytes.
func (b *incoming) skip(limit int) error {
	if err := b.open(limit); err != nil {
		return err
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

// open tells a waiting client to send, unless it has announced too much.
func (b *incoming) open(limit int) error {
	if b.length > limit {
		return mapping.Fail(mapping.BodyTooLarge)
	}
	if b.waits && b.talk.SetWriteDeadline(after(b.talk.server.o.WriteTimeout)) == nil {
		b.waits = false
		_, _ = b.talk.out.WriteString(goOn) // an error is met again by what is written next
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
	default: // also an end that came early, or with what belongs into a header
		b.broken = true
		return mapping.Fail(mapping.RequestMalformed)
	}
}

// endsWell tells whether a body in chunks ended as it should: fasthttp also takes a
// failed connection for the end. A trailer would be treated as part of the header, but no
// proxy has judged it.
func (b *incoming) endsWell() bool { return !b.talk.failed && b.talk.req.Header.Len() == b.fields }

// take takes from the client's share of the memory; false if there was none in the time
// that a request may take. A body that had to wait gets that time again.
func (b *incoming) take(ctx context.Context, client int64, size int) bool {
	bodies, patience := b.talk.server.bodies, b.talk.server.o.ReadTimeout
	waited, ok := bodies.take(ctx, client, size, patience)
	if !ok {
		return false
	}
	b.client = client
	b.taken += size
	return !waited || b.talk.SetReadDeadline(after(patience)) == nil
}

// How much of the body is unread when the request is answered.
type unread int

const (
	nothing unread = iota
	some           // at most drained, as far as is known
	endless        // more than that, or nobody knows
)

// end returns the body's memory when nobody uses it any more.
func (b *incoming) end() unread {
	if b.taken > 0 {
		b.talk.req.SetBodyRaw(nil)
		b.talk.server.bodies.give(b.client, b.taken)
		b.taken = 0
	}
	switch {
	case b.broken || b.waits || b.length-b.came > drained:
		return endless
	case b.stream != nil:
		return some
	default:
		return nothing
	}
}

// handOver gives the body's memory to the answer: once there is an answer, the body is
// not needed any more.
func (b *incoming) handOver(r *answerRoom) {
	if b.taken > 0 {
		r.client = b.client
		r.taken += b.taken
		b.taken = 0
	}
}

// drain reads the rest of the body, and tells whether the next request can follow.
func (b *incoming) drain() bool { return b.skip(b.came+drained) == nil }
