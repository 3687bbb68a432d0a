package simulation

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"
)

// operator is whoever looks at the operators' pages.
const operator = "operator"

// network connects everybody in memory. Everybody has a name, by which he can be cut off for good.
type network struct {
	delay func() time.Duration // before each write

	mu    sync.Mutex
	ports map[string]*port // by address
	gone  map[string]bool  // who was cut off
	shut  map[string]bool  // addresses that refuse connections
	conns map[*end]bool
}

func newNetwork(delay func() time.Duration) *network {
	return &network{delay: delay, ports: map[string]*port{}, gone: map[string]bool{}, shut: map[string]bool{}, conns: map[*end]bool{}}
}

// port is where somebody listens.
type port struct {
	net     *network
	owner   string
	at      net.TCPAddr
	waiting chan net.Conn
	done    chan struct{}
	close   sync.Once
}

// end is one end of a connection.
type end struct {
	net.Conn
	net    *network
	owner  string
	remote net.Addr
	other  *end
}

var errRefused = errors.New("connection refused")

func (n *network) listen(owner, address string) (net.Listener, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	at := net.TCPAddr{IP: net.ParseIP(host)}
	at.Port, _ = strconv.Atoi(number)
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &port{net: n, owner: owner, at: at, waiting: make(chan net.Conn), done: make(chan struct{})}
	n.ports[address] = p
	return p, nil
}

// refuse has an address refuse connections, or not.
func (n *network) refuse(address string, shut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut[address] = shut
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Addr() net.Addr { return &p.at }

func (p *port) Close() error {
	p.close.Do(func() { close(p.done) })
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	for address, other := range p.net.ports {
		if other == p {
			delete(p.net.ports, address)
		}
	}
	return nil
}

// addressOf is where somebody is: the operator on the gateway's machine.
func addressOf(owner string) net.Addr {
	if owner == operator {
		return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	}
	return &net.TCPAddr{IP: net.IPv4(198, 51, 100, 7), Port: 4711}
}

// dialer connects somebody.
func (n *network) dialer(owner string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		n.mu.Lock()
		p := n.ports[address]
		if p == nil || n.shut[address] || n.gone[owner] || n.gone[p.owner] {
			n.mu.Unlock()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
		}
		a, b := net.Pipe()
		near := &end{Conn: a, net: n, owner: owner, remote: &p.at}
		far := &end{Conn: b, net: n, owner: p.owner, remote: addressOf(owner), other: near}
		near.other = far
		n.conns[near], n.conns[far] = true, true
		n.mu.Unlock()
		select {
		case p.waiting <- far:
			return near, nil
		case <-p.done:
			_ = near.Close()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
		case <-ctx.Done():
			_ = near.Close()
			return nil, ctx.Err()
		}
	}
}

func (e *end) RemoteAddr() net.Addr { return e.remote }

func (e *end) Write(b []byte) (int, error) {
	time.Sleep(e.net.delay())
	return e.Conn.Write(b)
}

func (e *end) Close() error {
	e.net.mu.Lock()
	delete(e.net.conns, e)
	delete(e.net.conns, e.other)
	e.net.mu.Unlock()
	return errors.Join(e.Conn.Close(), e.other.Conn.Close())
}

// cut ends the connections of somebody, who gets no others; for good, or these alone.
func (n *network) cut(owner string, forGood bool) {
	n.mu.Lock()
	n.gone[owner] = n.gone[owner] || forGood
	var ends []*end
	for e := range n.conns {
		if e.owner == owner {
			ends = append(ends, e)
		}
	}
	n.mu.Unlock()
	for _, e := range ends {
		_ = e.Close()
	}
}
