package rig

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	o.net = new(Network)
	KeepDate()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // in which the pools of fasthttp notice that they were stopped
		f(t, Start(t, o))
	})
}

// KeepDate starts the goroutine of fasthttp that keeps the date, and never ends, outside of all
// bubbles.
var KeepDate = sync.OnceFunc(func() {
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

// into has a program listen here and reach nobody.
func (n *Network) into(p *desk.Program) {
	if n != nil {
		p.Listen = func(_, address string) (net.Listener, error) { return n.Listen("desk", address) }
		p.Dial, p.Signals, p.LogDelay = n.Dialer("desk"), make(chan os.Signal), time.Second
	}
}

// transport is that of a client of the desk.
func (n *Network) transport() *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 64}
	if n != nil {
		t.DialContext, t.DisableCompression = n.Dialer("client"), true
	}
	return t
}

// connect connects to an address.
func (n *Network) connect(t testing.TB, address string) net.Conn {
	t.Helper()
	dial := new(net.Dialer).DialContext
	if n != nil {
		dial = n.Dialer("client")
	}
	conn, err := dial(context.Background(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
