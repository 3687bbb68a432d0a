package gateway

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noted is a connection that notes until when its writes may take.
type noted struct {
	net.Conn
	deadlines []time.Time
}

func (n *noted) SetWriteDeadline(t time.Time) error {
	n.deadlines = append(n.deadlines, t)
	return n.Conn.SetWriteDeadline(t)
}

// TestDownloadDeadlines: each piece of a download that was taken gives the next one its
// time, but none beyond the address, and nothing else has any time but its own.
func TestDownloadDeadlines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	accepted, err := listener.Accept()
	require.NoError(t, err)
	defer accepted.Close()
	at := &noted{Conn: accepted}
	s := &Server{o: ServerOptions{WriteTimeout: time.Minute}}
	c := &conn{Conn: at, server: s}
	write := func() {
		_, err := c.Write([]byte("piece"))
		require.NoError(t, err)
	}
	x := &Exchange{conn: c}
	until := time.Now().Add(downloadTimeout)
	d := x.download(strings.NewReader("several pieces"), nil).(*download)
	require.WithinRange(t, d.until, until, time.Now().Add(downloadTimeout))
	next := func() {
		_, err := d.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	began := time.Now()
	next()
	write()
	require.WithinRange(t, at.deadlines[0], began.Add(time.Minute), time.Now().Add(time.Minute+latest))
	s.o.WriteTimeout = time.Hour
	began = time.Now()
	next()
	write()
	require.WithinRange(t, at.deadlines[1], began.Add(time.Hour), time.Now().Add(time.Hour+latest))
	d.until = time.Now().Add(time.Second)
	next()
	write()
	require.Equal(t, d.until.Add(latest), at.deadlines[2])
	d.until = time.Now().Add(-latest)
	next()
	_, err = c.Write([]byte("too late"))
	require.ErrorContains(t, err, "timeout")
	c.sent()
	began = time.Now()
	write()
	require.WithinRange(t, at.deadlines[4], began.Add(time.Hour), time.Now().Add(time.Hour+latest))
	require.Len(t, at.deadlines, 5)
}
