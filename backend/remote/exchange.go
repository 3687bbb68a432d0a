package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"

	"frontdesk/backend"
)

// request is one call of a service.
type request struct {
	method string
	target string // path and query, escaped
	head   []byte // further header lines, each with its CRLF
	body   []byte
	// write tells that the call changes something, so that it is sent once.
	write bool
	// alone tells that nothing else is asked on its connection, before or after, so
	// that no other answer can be taken for its own.
	alone bool
	// secret tells that the call has somebody's credentials: it is sent once, and alone.
	secret  bool
	page    bool          // a page for people is an answer too
	timeout time.Duration // of all its tries together
}

func (r *request) isOnce() bool { return r.write || r.secret }

func (r *request) isAlone() bool { return r.alone || r.secret }

// answer is what a service answered.
type answer struct {
	status int
	body   string
	header fasthttp.ResponseHeader
	// conn is what it came over, which waits for the answer to be believed; again
	// tells that it can be used again then.
	conn  *conn // nil where it is closed by now
	again bool
}

// wire sends requests to one address.
type wire struct {
	pool      *pool
	host      string
	maxAnswer int
	retries   int
	random    func() float64
	now       func() time.Time
	answers   sync.Pool // *answer
	buffers   sync.Pool // *[]byte
}

// errTooLarge says that an answer was not read to its end.
var errTooLarge = errors.New("the answer is too large")

// errTimeout says that a call took longer than its own time-out allows.
var errTimeout = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)

// broken is a call that got no answer.
type broken struct {
	err   error
	again bool // another try may fare better
	stale bool // the connection had been idle, and was closed by then
}

func (b *broken) Error() string { return b.err.Error() }
func (b *broken) Unwrap() error { return b.err }

// do sends a request and reads its answer, which is to be released or concluded; its
// connection is kept for nobody else until then. A read is tried again where the
// connection failed, or where the service answers that it does not work; a write
// never is, nor is what has credentials.
func (w *wire) do(ctx context.Context, r *request) (*answer, error) {
	deadline := w.now().Add(r.timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	tries, fresh := 0, false
	for {
		a, err := w.try(ctx, r, deadline, fresh)
		last := r.isOnce() || tries >= w.retries
		if err == nil {
			if last || !isOverloaded(a.status) {
				return a, nil
			}
			w.release(a)
		} else {
			var b *broken
			if r.isOnce() || !errors.As(err, &b) || !b.again {
				return nil, err
			}
			fresh = true
			if b.stale { // says nothing of the service
				continue
			}
			if last {
				return nil, err
			}
		}
		tries++
		if err := w.pause(ctx, tries, deadline); err != nil {
			return nil, err
		}
	}
}

// isOverloaded tells of an answer that means: not now.
func isOverloaded(status int) bool { return status >= 502 && status <= 504 }

// The wait before a try is somewhere between half and all of this, doubled with
// each, so that those who failed together do not come back together.
const retryPause = 60 * time.Millisecond

func (w *wire) pause(ctx context.Context, tries int, deadline time.Time) error {
	d := time.Duration(float64(retryPause<<(tries-1)) * (0.5 + w.random()/2))
	if w.now().Add(d).After(deadline) {
		return fmt.Errorf("try again: %w", errTimeout)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("try again: %w", ctx.Err())
	}
}

// try sends a request once.
func (w *wire) try(ctx context.Context, r *request, deadline time.Time, fresh bool) (*answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := w.connect(ctx, r, deadline, fresh)
	if err != nil {
		return nil, &broken{err: err, again: ctx.Err() == nil && !errors.Is(err, errClosed)}
	}
	c.expireAt(deadline, r.timeout/8)
	used := c.again
	a, begun, again, err := w.converse(c, r)
	again = c.settle() && again
	if r.write && c.wrote {
		noteLeft(ctx, true)
	}
	if err != nil {
		w.pool.give(c, false)
		return nil, &broken{err: w.reason(ctx, err), again: isConnection(err), stale: used && !begun && isConnection(err)}
	}
	if r.isAlone() {
		w.pool.give(c, false)
	} else {
		a.conn, a.again = c, again
	}
	if !r.page && a.isPage() {
		err := fmt.Errorf("not the service but a page answers, with %d", a.status)
		if !r.secret { // what was sent may be in it
			err = fmt.Errorf("%w: %.300q", err, a.body)
		}
		a.again = false
		w.release(a)
		return nil, &broken{err: err}
	}
	return a, nil
}

// isPage tells of an answer that looks like success and is a page for people: of whoever
// stands before a service that is away, or wants somebody to log in.
func (a *answer) isPage() bool {
	if !isSuccess(a.status) {
		return false
	}
	begins := strings.ToLower(strings.TrimSpace(a.body[:min(len(a.body), 64)]))
	rest, html := strings.CutPrefix(begins, "<html")
	return strings.HasPrefix(begins, "<!doctype html") || html && (rest == "" || strings.ContainsAny(rest[:1], "> \t\r\n"))
}

// connect returns a connection whose call ends when ctx does. A write leaves over it at
// once.
func (w *wire) connect(ctx context.Context, r *request, deadline time.Time, fresh bool) (*conn, error) {
	for {
		c, err := w.take(ctx, r, deadline, fresh)
		if err != nil {
			return nil, err
		}
		good := c.watch(ctx)
		if good && r.write {
			var took bool
			took, err = aboutToLeave(ctx)
			good = err == nil && (!took || c.alive())
		}
		if good {
			return c, nil
		}
		w.pool.give(c, false)
		if err != nil {
			return nil, err
		}
	}
}

func (w *wire) take(ctx context.Context, r *request, deadline time.Time, fresh bool) (*conn, error) {
	fresh = fresh || r.isAlone()
	if !fresh {
		if c := w.pool.ready(); c != nil {
			return c, nil
		}
	}
	if d, ok := ctx.Deadline(); !ok || deadline.Before(d) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer cancel()
	}
	return w.pool.take(ctx, fresh)
}

// reason tells why a call got no answer: an end of the context shows as an I/O
// error.
func (w *wire) reason(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w (%w)", ctx.Err(), err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w (%w)", errTimeout, err)
	default:
		return err
	}
}

// isConnection tells of failures of the connection, rather than of what came
// over it or of time.
func isConnection(err error) bool {
	var op *net.OpError
	return !errors.Is(err, os.ErrDeadlineExceeded) &&
		(errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op))
}

// converse sends a request over a connection and reads the answer. begun tells
// that the answer had begun, again that the connection can be used again.
func (w *wire) converse(c *conn, r *request) (a *answer, begun, again bool, err error) {
	b, _ := w.buffers.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	*b = w.appendRequest((*b)[:0], r)
	err = c.send(*b)
	if cap(*b) <= keptBuffer {
		w.buffers.Put(b)
	}
	c.again = true
	if err != nil {
		return nil, false, false, fmt.Errorf("send: %w", err)
	}
	if _, err := c.in.Peek(1); err != nil {
		return nil, false, false, fmt.Errorf("await the answer: %w", err)
	}
	a = w.newAnswer()
	if err := a.read(c, w.maxAnswer); err != nil {
		w.free(a)
		return nil, true, false, fmt.Errorf("read the answer: %w", err)
	}
	return a, true, !a.header.ConnectionClose() && c.in.Buffered() == 0, nil
}

// keptBuffer is how large a buffer may be to be kept for the next request.
const keptBuffer = 64 << 10

func (w *wire) appendRequest(dst []byte, r *request) []byte {
	dst = append(dst, r.method...)
	dst = append(dst, ' ')
	dst = append(dst, r.target...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, w.host...)
	dst = append(dst, "\r\n"...)
	dst = append(dst, r.head...)
	if len(r.body) > 0 || r.method != "GET" && r.method != "DELETE" {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(r.body)), 10)
		dst = append(dst, "\r\n"...)
	}
	dst = append(dst, "\r\n"...)
	return append(dst, r.body...)
}

func (w *wire) newAnswer() *answer {
	a, _ := w.answers.Get().(*answer)
	if a == nil {
		a = &answer{}
	}
	return a
}

// conclude takes back an answer that err became of. What is not what was asked for,
// or not understood, may be the answer to something else, and the next one as well:
// its connection is closed.
func (w *wire) conclude(a *answer, err *error) {
	a.again = a.again && !errors.Is(*err, backend.ErrUnexpected)
	w.release(a)
}

// trust gives the connection of an answer back that is what was asked for.
func (w *wire) trust(a *answer) {
	if a.conn != nil {
		w.pool.give(a.conn, a.again)
		a.conn = nil
	}
}

// release takes back an answer. Its body stays valid.
func (w *wire) release(a *answer) {
	w.trust(a)
	w.free(a)
}

func (w *wire) free(a *answer) {
	a.header.Reset()
	a.body, a.status = "", 0
	w.answers.Put(a)
}

// maxInterim is how many 1xx answers may come before the answer.
const maxInterim = 10

func (a *answer) read(c *conn, limit int) error {
	for n := 0; ; n++ {
		if err := a.header.Read(c.in); err != nil {
			return truncated(err)
		}
		a.status = a.header.StatusCode()
		if a.status >= 200 {
			break
		}
		if a.announcesBody() {
			return errors.New("an interim answer with a body")
		}
		if n == maxInterim || a.status == fasthttp.StatusSwitchingProtocols {
			return errors.New("interim answers without end")
		}
	}
	if coding := a.header.ContentEncoding(); len(coding) > 0 && string(coding) != "identity" {
		return fmt.Errorf("the answer is encoded as %.20q, which was not asked for", coding)
	}
	if a.status == fasthttp.StatusNoContent || a.status == fasthttp.StatusNotModified {
		if a.announcesBody() { // which has none; should it come, it is not the next answer
			a.header.SetConnectionClose()
		}
		return nil
	}
	length := a.header.ContentLength()
	if length < 0 {
		return a.readUnsized(c, limit)
	}
	if length > limit {
		return errTooLarge
	}
	body, err := readSized(c, length)
	// The body is not written to again, so that the texts in it can be parts of
	// it: a record costs one allocation for all of them.
	a.body = unsafe.String(unsafe.SliceData(body), len(body))
	return err
}

// announcesBody tells whether the head of an answer that has no body says
// otherwise.
func (a *answer) announcesBody() bool {
	const chunked = -1
	length := a.header.ContentLength()
	return length > 0 || length == chunked
}

// readSized reads length bytes. What is only claimed to come takes no memory.
func readSized(c *conn, length int) ([]byte, error) {
	const step = 64 << 10
	body := make([]byte, min(length, step))
	have := 0
	for {
		n, err := io.ReadFull(c.in, body[have:])
		have += n
		if err != nil {
			return nil, truncated(err)
		}
		if have == length {
			return body, nil
		}
		more := make([]byte, min(length, 2*have))
		copy(more, body)
		body = more
	}
}

// readUnsized reads a body that is chunked, or that the end of the connection
// ends.
func (a *answer) readUnsized(c *conn, limit int) error {
	var r fasthttp.Response
	a.header.CopyTo(&r.Header)
	if err := r.ReadBody(c.in, limit); err != nil {
		if errors.Is(err, fasthttp.ErrBodyTooLarge) {
			return errTooLarge
		}
		return truncated(err)
	}
	if a.header.ContentLength() == -1 {
		if err := r.Header.ReadTrailer(c.in); err != nil {
			return truncated(err)
		}
	} else {
		a.header.SetConnectionClose()
	}
	a.body = string(r.Body())
	return nil
}

// truncated words an end where there should be more.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
