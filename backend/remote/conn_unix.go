//go:build unix

package remote

import (
	"errors"
	"net"
	"syscall"
)

// quiet tells whether nothing has come over an idle connection.
type quiet struct {
	raw  syscall.RawConn // nil where the connection is none of the system's
	look func(fd uintptr)
	yes  bool
}

func newQuiet(c net.Conn) *quiet {
	q := &quiet{}
	if s, ok := c.(syscall.Conn); ok {
		q.raw, _ = s.SyscallConn()
	}
	q.look = func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		q.yes = errors.Is(err, syscall.EAGAIN)
	}
	return q
}

// is tells whether neither a byte nor an end nor a reset has come. It takes one
// system call and waits for nothing.
func (q *quiet) is() bool {
	if q.raw == nil {
		return true
	}
	return q.raw.Control(q.look) == nil && q.yes
}
