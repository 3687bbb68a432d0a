//go:build unix

package remote

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// canLook tells that a connection can be looked at without waiting.
const canLook = true

// quiet is a connection that can be inspected. TLS runs on top of it.
type quiet struct {
	net.Conn
	records records
	looking bool            // Read takes what is there, and does not wait
	raw     syscall.RawConn // nil where the connection is none of the system's
	peek    func(fd uintptr)
	take    func(fd uintptr)
	into    []byte // of take
	n       int
	err     error
	one     [1]byte
}

func newQuiet(c net.Conn) *quiet {
	q := &quiet{Conn: c}
	if s, ok := c.(syscall.Conn); ok {
		q.raw, _ = s.SyscallConn()
	}
	q.peek = func(fd uintptr) {
		_, _, q.err = syscall.Recvfrom(int(fd), q.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	q.take = func(fd uintptr) { q.n, _, q.err = syscall.Recvfrom(int(fd), q.into, syscall.MSG_DONTWAIT) }
	return q
}

// is tells whether no byte, no end and no reset has come. It takes one system call and waits
// for nothing.
func (q *quiet) is() bool {
	return q.raw != nil && q.raw.Control(q.peek) == nil && errors.Is(q.err, syscall.EAGAIN)
}

// Read implements net.Conn.
func (q *quiet) Read(b []byte) (n int, err error) {
	if q.looking {
		n, err = q.read(b)
	} else {
		n, err = q.Conn.Read(b)
	}
	q.records.follow(b[:n])
	return n, err
}

// read reads what is there.
func (q *quiet) read(b []byte) (int, error) {
	if q.raw == nil {
		return 0, io.ErrUnexpectedEOF
	}
	q.into = b
	err := q.raw.Control(q.take)
	q.into = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(q.err, syscall.EAGAIN):
		return 0, errNothing
	case q.err != nil:
		return 0, q.err
	case q.n == 0:
		return 0, io.EOF
	default:
		return q.n, nil
	}
}
