package gateway

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// mostUnsent is how many bytes of a download the system buffers for a client that does
// not read them.
const mostUnsent = 128 << 10

// boundUnsent limits the system's send buffer for a download. Otherwise it would hold
// megabytes, and a slow client would seem to read nothing for minutes.
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
		return // the connection is closed
	}
	_ = raw.Control(func(fd uintptr) { // if it fails, a client only has to read a download faster
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, mostUnsent)
	})
}
