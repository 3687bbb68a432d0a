package rig

import (
	"cmp"
	"context"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Network connects everybody in memory, as a synctest bubble needs it. Everybody has a name, by which
// he can be cut off. The zero value has everybody on this machine.
type Network struct {
	Delay func() time.Duration      // before each write; nil for none
	From  func(owner string) net.IP // where somebody is; nil for this machine

	mu    sync.Mutex
	ports map[string]*port // by address
	gone  map[string]bool  // who was cut off
	shut  map[string]bool  // addresses that refuse connections
	conns map[*end]bool
}

// port is where somebody listens.
type port struct {
	net     *Network
	owner   string
	at      *net.TCPAddr
	waiting chan net.Conn
	done    chan struct{}
	close   func()
}

// end is one end of a connection.
type end struct {
	net.Conn
	net    *Network
	owner  string
	remote net.Addr
	other  *end
}

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

// Listen has somebody listen at an address, where nobody else is heard from now on; port 0 is one that is free.
func (n *Network) Listen(owner, address string) (net.Listener, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	at := &net.TCPAddr{IP: net.ParseIP(host)}
	at.Port, _ = strconv.Atoi(number)
	n.mu.Lock()
	defer n.mu.Unlock()
	at.Port = cmp.Or(at.Port, 1+len(n.ports))
	p := &port{net: n, owner: owner, at: at, waiting: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	if n.ports == nil {
		n.ports, n.gone, n.shut, n.conns = map[string]*port{}, map[string]bool{}, map[string]bool{}, map[*end]bool{}
	}
	n.ports[net.JoinHostPort(host, strconv.Itoa(at.Port))] = p
	return p, nil
}

// Refuse has an address refuse connections, or not.
func (n *Network) Refuse(address string, shut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut[address] = shut
}

// Dialer connects somebody.
func (n *Network) Dialer(owner string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		p, near, far := n.pair(owner, address)
		if p == nil {
			return nil, errRefused
		}
		select {
		case p.waiting <- far:
			return near, nil
		case <-p.done:
			_ = near.Close()
			return nil, errRefused
		case <-ctx.Done():
			_ = near.Close()
			return nil, ctx.Err()
		}
	}
}

// pair makes the ends of a connection; there is no port where nobody listens, or lets this one in.
func (n *Network) pair(owner, address string) (p *port, near, far *end) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p = n.ports[address]; p == nil || n.shut[address] || n.gone[owner] || n.gone[p.owner] {
		return nil, nil, nil
	}
	ip := net.IPv4(127, 0, 0, 1)
	if n.From != nil {
		ip = n.From(owner)
	}
	a, b := net.Pipe()
	near = &end{Conn: a, net: n, owner: owner, remote: p.at}
	far = &end{Conn: b, net: n, owner: p.owner, remote: &net.TCPAddr{IP: ip, Port: 4711}, other: near}
	near.other = far
	n.conns[near], n.conns[far] = true, true
	return p, near, far
}

// Cut ends the connections of somebody; for good, if he gets no others.
func (n *Network) Cut(owner string, forGood bool) {
	n.mu.Lock()
	n.gone[owner] = n.gone[owner] || forGood
	var ends []*end
	for e := range n.conns {
		if e.owner == owner {
			ends = append(ends, e, e.other)
		}
	}
	n.mu.Unlock()
	for _, e := range ends {
		_ = e.Close()
	}
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Addr() net.Addr { return p.at }

func (p *port) Close() error {
	p.close()
	return nil
}

func (e *end) RemoteAddr() net.Addr { return e.remote }

func (e *end) Write(b []byte) (int, error) {
	if len(b) == 0 { // which a pipe would tell the other end
		return 0, nil
	}
	if e.net.Delay != nil {
		time.Sleep(e.net.Delay())
	}
	return e.Conn.Write(b)
}

func (e *end) Close() error {
	e.net.mu.Lock()
	delete(e.net.conns, e)
	e.net.mu.Unlock()
	return e.Conn.Close()
}
