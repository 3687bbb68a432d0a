package rig

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"frontdesk/cmd/frontdesk/desk"
)

// InBubble starts a desk on SQLite in a synctest bubble, where time passes when all wait, and
// talks to it in memory. It compresses nothing.
func InBubble(t *testing.T, o Options, f func(t *testing.T, d *Desk)) {
	t.Helper()
	// A gateway in a folder of so long a name has no socket, at which nobody could wait for a command.
	folder := filepath.Join(t.TempDir(), strings.Repeat("far-", 24))
	require.NoError(t, os.Mkdir(folder, 0o700))
	o.OnDisk(t, folder)
	o.net = &network{ports: map[string]*port{}}
	keepDate()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // in which the pools of fasthttp notice that they were stopped
		f(t, Start(t, o))
	})
}

// keepDate starts the goroutine of fasthttp that keeps the date, and never ends, outside of all
// bubbles.
var keepDate = sync.OnceFunc(func() {
	l := fasthttputil.NewInmemoryListener()
	server := fasthttp.Server{Handler: func(*fasthttp.RequestCtx) {}}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	if conn, err := l.Dial(); err == nil {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, _ = io.ReadFull(conn, make([]byte, 32))
		_ = conn.Close()
	}
	_ = server.Shutdown()
	serving.Wait()
})

// network connects desks in memory with those who ask them. nil is the system's.
type network struct {
	mu    sync.Mutex
	ports map[string]*port // by address
}

// port is where a desk listens.
type port struct {
	at      *net.TCPAddr
	waiting chan net.Conn
	done    chan struct{}
	close   func()
}

// loopback is an end of a connection, whose other end is on this machine.
type loopback struct {
	net.Conn
	remote net.Addr
}

func (l loopback) RemoteAddr() net.Addr { return l.remote }

func (l loopback) Write(b []byte) (int, error) {
	if len(b) == 0 { // which a pipe would tell the other end
		return 0, nil
	}
	return l.Conn.Write(b)
}

// into has a program listen here and reach nobody.
func (n *network) into(p *desk.Program) {
	if n != nil {
		p.Listen, p.Dial, p.Signals, p.LogDelay = n.listen, n.dial, make(chan os.Signal), time.Second
	}
}

// transport is that of a client of the desk.
func (n *network) transport() *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 64}
	if n != nil {
		t.DialContext, t.DisableCompression = n.dial, true
	}
	return t
}

// connect connects to an address.
func (n *network) connect(t testing.TB, address string) net.Conn {
	t.Helper()
	dial := n.dial
	if n == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(context.Background(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (n *network) listen(_, address string) (net.Listener, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	at := &net.TCPAddr{IP: net.ParseIP(host)}
	at.Port, _ = strconv.Atoi(number)
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Port == 0 {
		at.Port = 1 + len(n.ports)
	}
	p := &port{at: at, waiting: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	n.ports[at.String()] = p
	return p, nil
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	p := n.ports[address]
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	if p == nil {
		return nil, refused
	}
	near, far := net.Pipe()
	select {
	case p.waiting <- loopback{far, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}}:
		return loopback{near, p.at}, nil
	case <-p.done:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Addr() net.Addr { return p.at }

func (p *port) Close() error {
	p.close()
	return nil
}
