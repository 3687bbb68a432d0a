package redis

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// connections are the connections of a client. A server that becomes a replica keeps its
// connections open. After they are closed, new ones reach the new primary if the address,
// the name or the proxy leads there by then.
type connections struct {
	dialer dialer
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed time.Time // when closeAll last closed them
}

// dialer makes a connection for rueidis.
type dialer func(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error)

// newConnections returns connections that are made by a dialer; nil for the usual one.
func newConnections(d dialer) *connections {
	if d == nil {
		d = usualDial
	}
	return &connections{dialer: d, open: map[net.Conn]struct{}{}}
}

func usualDial(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
	if c == nil {
		return d.DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{NetDialer: d, Config: c}).DialContext(ctx, "tcp", address)
}

func (all *connections) dial(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
	conn, err := all.dialer(ctx, address, d, c)
	if err != nil {
		return nil, err
	}
	own := &connection{conn, all}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.open[own] = struct{}{}
	return own, nil
}

// closeEvery is the shortest time between two closings: if the server stays a replica,
// each request would otherwise dial anew.
const closeEvery = time.Second

// closeAll closes all connections, unless it has done so within closeEvery.
func (all *connections) closeAll() {
	all.mu.Lock()
	if time.Since(all.closed) < closeEvery {
		all.mu.Unlock()
		return
	}
	all.closed = time.Now()
	open := slices.Collect(maps.Keys(all.open))
	all.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close() // rueidis gets an error, and dials anew
	}
}

// closedSince reports whether closeAll has closed the connections since then.
func (all *connections) closedSince(t time.Time) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return !all.closed.Before(t)
}

// connection is an open connection. Close removes it from all.
type connection struct {
	net.Conn
	all *connections
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
