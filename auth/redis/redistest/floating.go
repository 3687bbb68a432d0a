package redistest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// Floating is an address that leads to one server after another, as a virtual one or a
// name does: open connections stay open when it moves on.
type Floating struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu   sync.Mutex
	to   *Redis // nil where the address is cut off
	open []net.Conn
	lose string // beginning of the next answer that is to be lost; "" for none
}

// Float returns an address that leads to a server until it is moved, and is gone when the
// test ends.
func Float(t testing.TB, to *Redis) *Floating {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Floating{listener: listener, to: to}
	f.serving.Go(f.serve)
	t.Cleanup(f.close)
	return f
}

// URL returns the address, as sessions.store has it.
func (f *Floating) URL() string { return "redis://" + f.listener.Addr().String() }

// Move leads new connections to another server.
func (f *Floating) Move(to *Redis) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = to
}

// Cut closes all connections and takes no more, until the address is moved.
func (f *Floating) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = nil
	for _, conn := range f.open {
		_ = conn.Close()
	}
	f.open = nil
}

// LoseAnswer has the next answer that begins so lost, with its connection.
func (f *Floating) LoseAnswer(beginning string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose = beginning
}

// loses reports whether an answer of the server is to be lost.
func (f *Floating) loses(answer []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	lost := f.lose != "" && strings.HasPrefix(string(answer), f.lose)
	if lost {
		f.lose = ""
	}
	return lost
}

func (f *Floating) serve() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		if to, err := f.dial(); err != nil {
			_ = from.Close()
		} else {
			f.open = append(f.open, from, to)
			f.pass(to, from, func([]byte) (lost bool) { return false })
			f.pass(from, to, f.loses)
		}
		f.mu.Unlock()
	}
}

func (f *Floating) dial() (net.Conn, error) {
	if f.to == nil {
		return nil, errors.New("it is cut off")
	}
	return net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.to.port))
}

// pass forwards bytes until either end closes, or an answer is to be lost.
func (f *Floating) pass(to, from net.Conn, loses func([]byte) bool) {
	f.serving.Go(func() {
		buffer := make([]byte, 16<<10)
		for {
			n, err := from.Read(buffer)
			if err != nil || loses(buffer[:n]) {
				break
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
		}
		_ = errors.Join(from.Close(), to.Close())
	})
}

func (f *Floating) close() {
	_ = f.listener.Close()
	f.mu.Lock()
	for _, conn := range f.open {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.serving.Wait()
}
