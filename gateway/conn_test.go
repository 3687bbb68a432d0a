package gateway

import (
	"net"
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
	c := &conn{Conn: at}
	write := func() {
		_, err := c.Write([]byte("piece"))
		require.NoError(t, err)
	}
	write()
	require.Empty(t, at.deadlines)

	began := time.Now()
	c.beginDownload(time.Minute)
	write()
	between := time.Now()
	write()
	require.Len(t, at.deadlines, 2)
	require.WithinRange(t, at.deadlines[0], began.Add(time.Minute), between.Add(time.Minute))
	require.WithinRange(t, at.deadlines[1], between.Add(time.Minute), time.Now().Add(time.Minute))
	c.until = time.Now().Add(time.Second)
	write()
	require.Equal(t, c.until, at.deadlines[2])
	c.until = time.Now()
	_, err = c.Write([]byte("too late"))
	require.ErrorContains(t, err, "timeout")
	c.endDownload()
	require.NoError(t, c.SetWriteDeadline(time.Time{}))
	write()
	require.Len(t, at.deadlines, 5)
}
