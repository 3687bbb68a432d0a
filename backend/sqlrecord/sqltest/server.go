package sqltest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// Server is a server program that a test runs. It ends with this process, however
// that ends.
type Server struct {
	cmd     *exec.Cmd
	release func()
	ended   chan struct{} // closed when the program's output has ended
}

// Start starts a server program and returns when a line of what it prints holds
// ready. The command must not be started yet, nor have an output.
func Start(cmd *exec.Cmd, ready string) (*Server, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	release, err := startBound(cmd)
	_ = write.Close() // the program has its own
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	s := &Server{cmd: cmd, release: release, ended: make(chan struct{})}
	serves, lines := make(chan struct{}), []string(nil)
	go func() {
		defer close(s.ended)
		defer read.Close()
		for scan := bufio.NewScanner(read); scan.Scan(); {
			lines = append(lines, scan.Text())
			if strings.Contains(scan.Text(), ready) {
				close(serves)
				break
			}
		}
		_, _ = io.Copy(io.Discard, read) // a full pipe would stop the server
	}()
	select {
	case <-serves:
		return s, nil
	case <-s.ended:
		err := cmd.Wait()
		release()
		return nil, fmt.Errorf("%s did not start: %w\n%s", cmd.Path, err, strings.Join(lines, "\n"))
	}
}

// Stop ends the server by a signal and waits until it is gone.
func (s *Server) Stop(signal os.Signal) {
	_ = s.cmd.Process.Signal(signal)
	<-s.ended
	_ = s.cmd.Wait()
	s.release()
}

// Process is the server's, for tests that do more to it than stopping.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// ports are those that FreePort looks at, one after the other from anywhere among
// them: tests side by side must not be given the same one before they listen.
var ports = func() *atomic.Uint32 {
	from := new(atomic.Uint32)
	from.Store(rand.Uint32N(portCount))
	return from
}()

const portCount = 20000

// FreePort is a port of this machine that nothing listens on, another one each time.
// It is below those that the system gives out by itself: a client that tries to reach a
// server while it is stopped could be given the server's own port, and keep it from
// starting again.
func FreePort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12000+ports.Add(1)%portCount))
		if err == nil {
			return l.Addr().(*net.TCPAddr).Port, l.Close()
		}
	}
	return 0, errors.New("there is no free port")
}
