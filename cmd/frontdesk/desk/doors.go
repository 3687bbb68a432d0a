package desk

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"frontdesk/config"
)

// doors are the listeners of clients and of operators. They are open before there is a desk.
type doors struct {
	public, ops door // ops has no listener where operators have none
}

type door struct {
	net.Listener
	address string // as it was configured
	handed  bool   // by systemd, which would not hand it over again
}

// open opens the doors of a configuration. A door that is open at its address stays so.
func (d *doors) open(s *Supervisor, c *config.Config) error {
	if err := d.public.open(s, PublicSocket, c.Server.Listen); err != nil {
		return err
	}
	return d.ops.open(s, opsSocket, c.Ops.Listen)
}

func (d *doors) close() error { return errors.Join(d.public.close(), d.ops.close()) }

// open opens the listener of an address, or takes the one that systemd handed over by that name.
// Its error says plainly that another program has the address, which is the usual cause.
func (d *door) open(s *Supervisor, name, address string) error {
	if d.Listener != nil && (d.handed || d.address == address) {
		return nil
	}
	if err := d.close(); err != nil {
		return err
	}
	l := s.activated(name)
	d.address, d.handed = address, l != nil
	var err error
	if l == nil && (address != "" || name == PublicSocket) {
		l, err = net.Listen("tcp", address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("cannot serve on %s: %w by another program", address, syscall.EADDRINUSE)
	}
	if err != nil {
		return err
	}
	d.Listener = l
	return nil
}

func (d *door) close() error {
	if d.Listener == nil {
		return nil
	}
	err := d.Close()
	d.Listener = nil
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// lent is a door for who stands in: it stays open when that one closes it.
type lent struct{ net.Listener }

// lend gives a door to who stands in, until take.
func (d *door) lend() net.Listener { return lent{d.Listener} }

// take has the doors be as they were before they were lent.
func (d *doors) take() (err error) {
	for _, one := range []*door{&d.public, &d.ops} {
		if one.Listener != nil {
			err = errors.Join(err, setDeadline(one.Listener, time.Time{}))
		}
	}
	return err
}

// Accept implements net.Listener.
func (l lent) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = net.ErrClosed
	}
	return c, err
}

// Close implements net.Listener.
func (l lent) Close() error { return setDeadline(l.Listener, time.Now()) }

// setDeadline has Accept of a listener end then, which is one of TCP or one that systemd made.
func setDeadline(l net.Listener, at time.Time) error {
	return l.(interface{ SetDeadline(time.Time) error }).SetDeadline(at)
}
