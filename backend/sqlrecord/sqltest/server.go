package sqltest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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
