package remote

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// secured returns a connection of a pool with TLS, the server's side of it, and the
// bytes under that, which a test can send itself.
func secured(t *testing.T) (near *conn, far *tls.Conn, under net.Conn) {
	server := httptest.NewTLSServer(nil)
	config := server.TLS.Clone()
	server.Close()
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = listener.Close() }()
	shaken := make(chan error, 1)
	go func() {
		var err error
		if under, err = listener.Accept(); err == nil {
			far = tls.Server(under, config)
			err = far.Handshake() // sends a session ticket at its end
		}
		shaken <- err
	}()
	p := newPool(listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}, 1, Options{}.withDefaults())
	near = must.Have(p.take(bg(), time.Now().Add(ample), true))(t)
	require.NoError(t, <-shaken)
	t.Cleanup(func() {
		p.give(near, false)
		p.close()
		_ = far.Close()
	})
	return near, far, under
}

// TestQuietTLS: a session ticket that comes late leaves a connection as good as it
// was; data that nobody asked for does not, however little of it has come, and be it
// behind a ticket or hidden behind an answer.
func TestQuietTLS(t *testing.T) {
	for name, test := range map[string]struct {
		send  func(t *testing.T, c *conn, far *tls.Conn, under net.Conn)
		alive bool
	}{
		"nothing but a ticket": {func(*testing.T, *conn, *tls.Conn, net.Conn) {}, true},
		"data": {func(t *testing.T, c *conn, far *tls.Conn, _ net.Conn) {
			must.Have(far.Write([]byte("HTTP/1.1 200 OK\r\n")))(t)
		}, false},
		"a part of a record": {func(t *testing.T, c *conn, _ *tls.Conn, under net.Conn) {
			c.again = true // or it could be a session ticket
			must.Have(under.Write([]byte{0x17, 3, 3, 0}))(t)
		}, false},
		"data behind an answer": {func(t *testing.T, c *conn, far *tls.Conn, _ net.Conn) {
			must.Have(far.Write([]byte("A")))(t)
			must.Have(far.Write([]byte("B")))(t)
			must.Have(c.in.ReadByte())(t)
		}, false},
		"the end": {func(t *testing.T, c *conn, far *tls.Conn, _ net.Conn) {
			require.NoError(t, far.CloseWrite())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, far, under := secured(t)
			// The ticket may come before the first look or after it: both are well.
			await.True(t, func() bool { require.True(t, c.alive()); return c.quiet.records.isWhole() })
			test.send(t, c, far, under)
			if test.alive {
				must.Have(far.Write([]byte("answer")))(t)
				b := make([]byte, 6)
				must.Have(c.in.Read(b))(t)
				require.Equal(t, "answer", string(b))
			}
			await.True(t, func() bool { return c.alive() == test.alive }, "once it has come")
		})
	}
}
