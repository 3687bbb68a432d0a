//go:build unix

package remote

import (
	"errors"
	"net"
	"syscall"
)

// lookAt returns a function that reports whether no byte, no end and no reset has come on a
// connection. It takes one system call and waits for nothing. It returns nil for a connection that
// the system does not know.
func lookAt(c net.Conn) func() bool {
	known, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := known.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var one [1]byte
	var why error
	peek := func(fd uintptr) {
		_, _, why = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return func() bool { return raw.Control(peek) == nil && errors.Is(why, syscall.EAGAIN) }
}
