package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
)

// request is one call of a service.
type request struct {
	method   string
	target   string // path and query, escaped
	endpoint string // method and path without values, for backend.Asking
	head     []byte // further header lines, each with its CRLF
	body     []byte
	// write says that the call changes something, so that it is sent once.
	write   bool
	attempt *attempt // of a write
	// secret says that the call has somebody's credentials: it is sent once, on a connection that
	// serves nothing else, before or after, so that no other answer can be taken for its own.
	secret  bool
	page    bool          // a web page is an answer, too
	timeout time.Duration // of all its tries together
}

func (r *request) isOnce() bool { return r.write || r.secret }

// wire sends requests to one address.
type wire struct {
	pool      *pool
	host      string
	maxAnswer int
	retries   int
	random    func() float64
	now       func() time.Time
	buffers   sync.Pool // *[]byte
}

// errTooLarge says that an answer was too long and was not read to its end.
var errTooLarge = errors.New("the answer is too large")

// errTimeout says that a call took longer than its own time-out allows.
var errTimeout = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)

// broken is a call that got no answer.
type broken struct {
	err   error
	again bool // another try may succeed
	stale bool // the connection had been idle, and was closed meanwhile
}

func (b *broken) Error() string { return b.err.Error() }
func (b *broken) Unwrap() error { return b.err }

// do sends a request and reads its answer, which the caller releases or concludes; until then
// the connection serves nobody else. A read is repeated if the connection failed, or if the
// service answers that it does not work. A write or a call with credentials is never repeated.
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
			if b.stale { // the service itself may work
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

// isOverloaded reports whether an answer asks to come back later.
func isOverloaded(status int) bool { return status >= 502 && status <= 504 }

// The wait before a try is somewhere between half and all of this, doubled with
// each, so that those who failed together do not come back together.
const retryPause = 60 * time.Millisecond

func (w *wire) pause(ctx context.Context, tries int, deadline time.Time) error {
	d := time.Duration(float64(retryPause<<(tries-1)) * (0.5 + w.random()/2))
	if w.now().Add(d).After(deadline) {
		return fmt.Errorf("try again: %w", errTimeout)
	}
	if err := auth.Sleep(ctx, d); err != nil {
		return fmt.Errorf("try again: %w", err)
	}
	return nil
}

// try sends a request once.
func (w *wire) try(ctx context.Context, r *request, deadline time.Time, fresh bool) (*answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	backend.Asking(ctx, r.endpoint)
	c, err := w.connect(ctx, r, deadline, fresh)
	if err != nil {
		return nil, &broken{err: err, again: ctx.Err() == nil && !errors.Is(err, errClosed) && !errors.Is(err, backend.ErrBusy)}
	}
	c.expireAt(deadline, r.timeout/8)
	used := c.again
	if r.attempt != nil {
		if err := r.attempt.Send(); err != nil {
			w.pool.give(c, false)
			return nil, err
		}
	}
	a, begun, again, err := w.converse(c, r)
	again = c.settle() && again
	if r.attempt != nil && !c.wrote {
		r.attempt.Undone()
	}
	if err != nil {
		w.pool.give(c, false)
		return nil, &broken{err: w.reason(ctx, err), again: isConnection(err), stale: used && !begun && isConnection(err)}
	}
	a.conn, a.again = c, again && !r.secret
	if !r.page && a.isPage() {
		err := fmt.Errorf("a web page answered in place of the service, with %d", a.status)
		if !r.secret { // the error may quote what was sent
			err = fmt.Errorf("%w: %.300q", err, a.body)
		}
		a.again = false
		w.release(a)
		return nil, &broken{err: err}
	}
	return a, nil
}

// connect returns a connection whose call ends with ctx.
func (w *wire) connect(ctx context.Context, r *request, deadline time.Time, fresh bool) (*conn, error) {
	for {
		c, err := w.pool.take(ctx, deadline, fresh || r.secret)
		if err != nil {
			return nil, err
		}
		good := c.watch(ctx)
		if good && r.attempt != nil {
			var took bool
			took, err = r.attempt.Take(ctx)
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

// reason returns why a call got no answer. The end of a context appears as an I/O error.
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

// isConnection reports whether the connection failed, rather than an answer or a deadline.
func isConnection(err error) bool {
	var op *net.OpError
	return !errors.Is(err, os.ErrDeadlineExceeded) &&
		(errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op))
}

// converse sends a request over a connection and reads the answer. begun says that an answer
// had begun, again that the connection can be used again.
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
	// Other calls go on meanwhile. If there are many, the answer has arrived when this goroutine runs
	// again, and the poller need not wake it.
	runtime.Gosched()
	if _, err := c.in.Peek(1); err != nil {
		return nil, false, false, fmt.Errorf("await the answer: %w", err)
	}
	a = &answer{header: &c.header}
	if err := a.read(c, w.maxAnswer); err != nil {
		return nil, true, false, fmt.Errorf("read the answer: %w", err)
	}
	return a, true, !a.header.ConnectionClose() && c.in.Buffered() == 0, nil
}

// keptBuffer is the largest buffer that is kept for the next request.
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
