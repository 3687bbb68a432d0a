package remote

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
)

// connected returns a connection, and its other end.
func connected(t *testing.T) (*conn, net.Conn) {
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = listener.Close() }()
	near := must.Have(net.Dial("tcp", listener.Addr().String()))(t)
	far := must.Have(listener.Accept())(t)
	c := newConn(near)
	t.Cleanup(func() {
		c.close()
		_ = far.Close()
	})
	return c, far
}

// TestConnWatches: what ends a call ends its reading, be it watched since the call
// before or not, and spoils the connection for whoever else would use it next.
func TestConnWatches(t *testing.T) {
	for _, calls := range []int{0, 1, 3} {
		c, _ := connected(t)
		server, cancel := context.WithCancel(context.Background())
		for range calls {
			require.True(t, c.watch(server))
			require.True(t, c.settle())
		}
		require.True(t, c.watch(server))
		cancel()
		require.Error(t, must.Fail(c.Read(make([]byte, 1))))
		c.settle()
		if calls > 0 {
			assert.NotNil(t, c.stop, "watched on, as the calls before were of the same context")
		}
		if c.stop != nil {
			assert.False(t, c.watch(context.Background()))
		}
	}
}

// TestConnForgets: a context that one call was of cannot end the next one.
func TestConnForgets(t *testing.T) {
	c, far := connected(t)
	server, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, of := range []context.Context{server, server, nil, server, nil, nil, server} {
		if of != nil {
			require.True(t, c.watch(of))
			require.True(t, c.settle())
			continue
		}
		one, end := context.WithTimeout(context.Background(), time.Hour)
		require.True(t, c.watch(one))
		require.True(t, c.settle())
		end()
	}
	_, err := far.Write([]byte("x"))
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	assert.NoError(t, err)
}

// TestConnWatchesWhatIsBounded: of a context with a deadline beside, the one that
// it is of.
func TestConnWatchesWhatIsBounded(t *testing.T) {
	c, _ := connected(t)
	server, cancel := context.WithCancel(context.Background())
	for range 2 {
		require.True(t, c.watch(besides{server}))
		require.True(t, c.settle())
	}
	assert.Equal(t, server.Done(), c.watched)
	cancel()
	require.Error(t, must.Fail(c.Read(make([]byte, 1))))
}

type besides struct{ context.Context }

func (b besides) Unbounded() context.Context { return b.Context }
