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

// lines are the connections of a client. A server that becomes a replica keeps its
// connections open. After they are closed, new ones reach the new primary if the address,
// the name or the proxy leads there by then.
type lines struct {
	dialer dialer
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed time.Time // when hangUp did that last
}

// dialer is how rueidis has connections made.
type dialer func(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error)

// newLines returns lines that are made by a dialer; nil for the usual one.
func newLines(d dialer) *lines {
	if d == nil {
		d = usualDial
	}
	return &lines{dialer: d, open: map[net.Conn]struct{}{}}
}

func usualDial(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
	if c == nil {
		return d.DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{NetDialer: d, Config: c}).DialContext(ctx, "tcp", address)
}

func (l *lines) dial(ctx context.Context, address string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
	conn, err := l.dialer(ctx, address, d, c)
	if err != nil {
		return nil, err
	}
	own := &line{conn, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[own] = struct{}{}
	return own, nil
}

// hangUpEvery is the shortest time between two closings: if the server stays a replica,
// each request would otherwise dial anew.
const hangUpEvery = time.Second

// hangUp closes all connections, unless that was done a moment ago.
func (l *lines) hangUp() {
	l.mu.Lock()
	if time.Since(l.closed) < hangUpEvery {
		l.mu.Unlock()
		return
	}
	l.closed = time.Now()
	open := slices.Collect(maps.Keys(l.open))
	l.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close() // rueidis gets an error, and dials anew
	}
}

// closedSince reports whether hangUp has closed the connections since then.
func (l *lines) closedSince(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.closed.Before(t)
}

// line is a connection that lines has until it is closed.
type line struct {
	net.Conn
	of *lines
}

// Close implements net.Conn.
func (l *line) Close() error {
	l.of.mu.Lock()
	delete(l.of.open, l)
	l.of.mu.Unlock()
	return l.Conn.Close()
}
