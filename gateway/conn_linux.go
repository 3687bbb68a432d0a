package gateway

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// mostUnsent is how many bytes of a download wait in the system for a client that does
// not take them.
const mostUnsent = 128 << 10

// boundUnsent has the system take more of a download as soon as the client has taken
// that much. It would keep megabytes else, and say for minutes of a slow client that it
// took nothing.
func boundUnsent(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) { // without it a download only has to be taken faster
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, mostUnsent)
	})
}
