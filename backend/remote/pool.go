package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"frontdesk/backend"
)

// The connections are our own, though the bytes of an answer's head are read by
// fasthttp, which is the fastest reader measured and comes with Fiber. Its
// HostClient would not do: it cannot be cancelled by a context, does not report
// whether any byte of a request went out, and leaks a goroutine.

const (
	// idleTime is how long a connection is kept without use: less than the 5 s
	// after which the usual servers close one themselves.
	idleTime = 4 * time.Second
	// connectTime bounds the wait for a connection.
	connectTime = 3 * time.Second
)

// errClosed is what calls get after Close.
var errClosed = errors.New("remote: the driver is closed")

// errUnsolicited says that an idle connection cannot be used: it has received data without a
// request, or was closed.
var errUnsolicited = errors.New("the service sent something before it was asked, or closed the connection")

// pool keeps the connections to one address. No more than cap(slots) are open.
type pool struct {
	address string
	tls     *tls.Config // nil for plain HTTP
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	now     func() time.Time
	slots   chan struct{}

	mu     sync.Mutex
	idle   []*conn // the one used last is the last
	busy   map[*conn]struct{}
	closed bool
}

func newPool(address string, config *tls.Config, connections int, o Options) *pool {
	return &pool{
		address: address, tls: config, now: o.Now, connect: o.Dial, slots: make(chan struct{}, connections), busy: map[*conn]struct{}{},
	}
}

// take returns a connection for one call, and waits for a free slot until the deadline, or ctx ends.
// It is one from the pool, or a new one if fresh. An idle connection is inspected right before it
// is used: nothing may have arrived on it, such as a repeated or late answer, or its end.
func (p *pool) take(ctx context.Context, deadline time.Time, fresh bool) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		ctx, cancel := context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer cancel()
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: wait for a connection to %s: %w", backend.ErrBusy, p.address, ctx.Err())
		}
	}
	c, err := p.usable(ctx, deadline, fresh)
	if err != nil {
		<-p.slots
	}
	return c, err
}

func (p *pool) usable(ctx context.Context, deadline time.Time, fresh bool) (*conn, error) {
	for !fresh {
		c, err := p.kept()
		if err != nil {
			return nil, err
		}
		if c == nil {
			break
		}
		if p.now().Sub(c.used) < idleTime && c.alive() {
			return c, nil
		}
		p.drop(c)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, errTimeout)
	defer cancel()
	c, err := p.dial(ctx)
	if err == nil && !c.alive() {
		p.drop(c)
		err = fmt.Errorf("connect to %s: %w", p.address, errUnsolicited)
	}
	return c, err
}

// kept returns the idle connection that was used last; nil for none.
func (p *pool) kept() (c *conn, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
		p.busy[c] = struct{}{}
	}
	return c, nil
}

// leave closes the idle connections that have been idle longest, except for most of them.
func (p *pool) leave(most int) {
	n := 0
	for n < len(p.idle) && (len(p.idle)-n > most || p.now().Sub(p.idle[n].used) >= idleTime) {
		p.idle[n].close()
		n++
	}
	p.idle = append(p.idle[:0], p.idle[n:]...)
}

func (p *pool) dial(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	p.leave(cap(p.slots) - len(p.slots))
	p.mu.Unlock()
	raw, err := p.connect(ctx, "tcp", p.address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", p.address, err)
	}
	c := newConn(raw)
	if p.tls != nil {
		secure := tls.Client(c.quiet, p.tls)
		ctx, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, fmt.Errorf("connect to %s: %w", p.address, err)
		}
		c.stream = secure
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.close()
		return nil, errClosed
	}
	p.busy[c] = struct{}{}
	return c, nil
}

// give takes a connection back after a call, to use it again or to close it.
func (p *pool) give(c *conn, again bool) {
	if !again {
		p.drop(c)
		<-p.slots
		return
	}
	p.mu.Lock()
	delete(p.busy, c)
	if p.closed {
		c.close()
	} else {
		c.used = p.now()
		p.idle = append(p.idle, c)
		p.leave(cap(p.slots))
	}
	p.mu.Unlock()
	<-p.slots
}

// drop closes a connection that is in use.
func (p *pool) drop(c *conn) {
	p.mu.Lock()
	delete(p.busy, c)
	p.mu.Unlock()
	c.close()
}

// close ends all connections, also those in use: their calls fail.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.leave(0)
	for c := range p.busy {
		_ = c.raw.Close() // the call that uses it does the rest
	}
}
