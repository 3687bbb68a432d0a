package remote

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"github.com/valyala/fasthttp"
)

// answer is what a service answered.
type answer struct {
	status int
	target string // of the request
	body   string
	header *fasthttp.ResponseHeader // belongs to the connection
	// conn is the connection of the answer. It is kept until the answer is believed; again
	// says that it can be reused then.
	conn  *conn // nil if it is closed
	again bool
}

// isPage reports whether an answer looks successful but is a web page: from a proxy in front of
// a service that is down, or a login form.
func (a *answer) isPage() bool {
	if !isSuccess(a.status) {
		return false
	}
	begins := strings.TrimSpace(a.body[:min(len(a.body), 64)])
	if !strings.HasPrefix(begins, "<") { // JSON never begins so
		return false
	}
	begins = strings.ToLower(begins)
	rest, html := strings.CutPrefix(begins, "<html")
	return strings.HasPrefix(begins, "<!doctype html") || html && (rest == "" || strings.ContainsAny(rest[:1], "> \t\r\n"))
}

// conclude releases an answer after err. If the answer was not the requested one, or could not
// be understood, conclude closes the connection: the next answer on it may be wrong as well.
func (w *wire) conclude(a *answer, err *error) {
	a.again = a.again && !isShape(*err)
	w.release(a)
}

// release gives the connection of an answer back, and its header with it. The body stays valid.
func (w *wire) release(a *answer) {
	if a.conn != nil {
		w.pool.give(a.conn, a.again)
		a.conn = nil
	}
}

// maxInterim is how many 1xx answers may come before the final one.
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
			return errors.New("too many interim answers")
		}
	}
	if coding := a.header.ContentEncoding(); len(coding) > 0 && string(coding) != "identity" {
		return fmt.Errorf("the answer is encoded as %.20q, which was not asked for", coding)
	}
	if a.status == fasthttp.StatusNoContent || a.status == fasthttp.StatusNotModified {
		if a.announcesBody() { // if such a body comes, it must not be read as the next answer
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
	// The body is not written to again, so its texts can be slices of it: a record
	// costs one allocation for all of them.
	a.body = unsafe.String(unsafe.SliceData(body), len(body))
	return err
}

// announcesBody reports whether the head announces a body for an answer that cannot have one.
func (a *answer) announcesBody() bool {
	const chunked = -1
	length := a.header.ContentLength()
	return length > 0 || length == chunked
}

// readSized reads length bytes. Memory is taken as they arrive, not for what the head
// announces.
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

// readUnsized reads a body that is chunked, or that ends with the connection.
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

// truncated turns the early end of an answer into an error that says so.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
