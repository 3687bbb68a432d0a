package desk

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Program is what the program takes from outside: its streams, and in tests a clock, a network and disks.
type Program struct {
	Ctx            context.Context // ends when the user wants to stop
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Wrap           WrapDriver
	Supervisor     *Supervisor // systemd; nil where it did not start the program

	Signals <-chan os.Signal                     // in place of each SIGHUP that the process gets; nil for these
	After   func(time.Duration) <-chan time.Time // in place of time.After; nil for this
	Now     func() time.Time                     // in place of time.Now where callbacks and derived fields are concerned; nil for this

	Disk   LookAtDisk                                                           // in place of the system's; nil for this
	Listen func(network, address string) (net.Listener, error)                  // in place of net.Listen; nil for this
	Dial   func(ctx context.Context, network, address string) (net.Conn, error) // in place of the system's, to services and receivers; nil for this

	LogDelay time.Duration // in place of LogDelay; 0 for this

	Bound func(*Bounds) // changes the bounds; nil leaves them
}

// whole fills in the defaults.
func (p Program) whole() Program {
	if p.After == nil {
		p.After = time.After
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Disk == nil {
		p.Disk = diskOf
	}
	if p.Listen == nil {
		p.Listen = net.Listen
	}
	p.LogDelay = cmp.Or(p.LogDelay, LogDelay)
	return p
}

// bounds returns the default bounds, with a test's changes.
func (p Program) bounds() Bounds {
	b := defaultBounds()
	if p.Bound != nil {
		p.Bound(&b)
	}
	return b
}

// Misuse is an error in the command line or in what it names, rather than in
// what the command does.
type Misuse struct{ error }

// Misused returns a Misuse with this message.
func Misused(format string, args ...any) error { return Misuse{fmt.Errorf(format, args...)} }
