package gateway

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
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
func TestDownloadDeadlines(t *testing.T) { synctest.Test(t, downloadDeadlines) }

func downloadDeadlines(t *testing.T) {
	client, accepted := net.Pipe()
	defer client.Close()
	defer accepted.Close()
	go io.Copy(io.Discard, client)
	at := &noted{Conn: accepted}
	s := &Server{o: ServerOptions{WriteTimeout: time.Minute}}
	c := &conn{Conn: at, server: s}
	d := (&Exchange{conn: c}).download(strings.NewReader("several pieces"), nil).(*download)
	require.Equal(t, time.Now().Add(downloadTimeout), d.until)
	piece := func() error {
		_, err := d.Read(make([]byte, 1))
		require.NoError(t, err)
		_, err = c.Write([]byte("piece"))
		return err
	}
	last := func() time.Time { return at.deadlines[len(at.deadlines)-1] }
	require.NoError(t, piece())
	require.Equal(t, time.Now().Add(time.Minute+latest), last())
	s.o.WriteTimeout = 10 * time.Minute
	require.NoError(t, piece())
	require.Equal(t, time.Now().Add(10*time.Minute+latest), last())
	time.Sleep(downloadTimeout - time.Second)
	require.NoError(t, piece())
	require.Equal(t, d.until.Add(latest), last())
	time.Sleep(time.Second + latest + 1)
	require.ErrorContains(t, piece(), "timeout")
	c.sent()
	_, err := c.Write([]byte("another answer"))
	require.NoError(t, err)
	require.Equal(t, time.Now().Add(10*time.Minute+latest), last())
	require.Len(t, at.deadlines, 4)
}
