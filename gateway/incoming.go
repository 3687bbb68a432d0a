package gateway

import (
	"context"
	"io"

	"frontdesk/mapping"
)

const (
	// smallBody is how much of a body always comes in, whatever else is under way:
	// as much as of a header. It is also all that may be sent without a session.
	smallBody = HeaderLimit
	// firstBuffer is what the first read of a body makes room for.
	firstBuffer = 1 << 10
	// drained is how much of a body that nobody wants is read, for the sake of the
	// next request of the connection.
	drained = 64 << 10
)

// chunked is the length of a body that does not announce it.
const chunked = -1

// goOn is for a client that waits with its body (Expect: 100-continue).
const goOn = "HTTP/1.1 100 Continue\r\n\r\n"

// incoming is the body of a request. It stays with the client until it is asked
// for, and takes memory as it comes.
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

// reset is for a request whose header was not read yet.
func (b *incoming) reset() { *b = incoming{talk: b.talk, kept: b.kept} }

// begin takes up the body of the request whose header was read.
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

// limit is how many bytes the body may have.
func (b *incoming) limit() int { return b.talk.server.o.BodyLimit }

// receive reads the body, at most limit bytes, into the request. What is beyond a
// small body takes of the client's share of the memory, and waits for that.
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

// room is what a body has to take before it has that size: all of what it announced,
// so that it can end once it has begun, or what more it is of one in chunks.
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

// skip reads the body, at most limit bytes, and keeps nothing of it.
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

// open has the client send, unless it has announced too much.
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

// count notes what a read brought. After the last one there is no stream any more.
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

// endsWell tells whether a body in chunks has come to its own end: fasthttp takes a
// connection that failed there for that end too. What has come behind it (a trailer)
// would count for the request as its header does, but no proxy has judged it.
func (b *incoming) endsWell() bool { return !b.talk.failed && b.talk.req.Header.Len() == b.fields }

// take takes of the client's share; false where there was nothing to be had in the
// time that a request may take. One that had to wait has that time once more.
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

// What of a body was not read when its request is answered.
type unread int

const (
	nothing unread = iota
	some           // at most drained, as far as is known
	endless        // more than that, or nobody knows
)

// end gives back what the body took, once nobody looks at it any more.
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

// handOver gives what the body took to the answer, which is made of it: the body is
// not needed any more once there is one.
func (b *incoming) handOver(r *answerRoom) {
	if b.taken > 0 {
		r.client = b.client
		r.taken += b.taken
		b.taken = 0
	}
}

// drain reads what is unread, and tells whether the next request can follow.
func (b *incoming) drain() bool { return b.skip(b.came+drained) == nil }
