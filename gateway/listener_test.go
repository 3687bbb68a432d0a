package gateway

import (
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

type failing struct {
	net.Listener
	with error
}

func (f failing) Accept() (net.Conn, error) { return nil, f.with }

// What ends the listener of fasthttp is only what ends ours.
func TestPatientAccepts(t *testing.T) {
	for cause, want := range map[error]error{
		syscall.EMFILE: os.ErrDeadlineExceeded, syscall.ENFILE: os.ErrDeadlineExceeded, syscall.EINVAL: syscall.EINVAL, net.ErrClosed: net.ErrClosed,
	} {
		l := Patient(failing{with: &net.OpError{Op: "accept", Err: os.NewSyscallError("accept", cause)}}, zap.NewNop(), "connections")
		_, err := l.Accept()
		require.ErrorIs(t, err, want)
	}
}
