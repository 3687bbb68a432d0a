//go:build !unix

package remote

import "net"

// quiet cannot look without waiting on this system; a connection that was closed
// by the other side is then noticed when it is used.
type quiet struct{}

func newQuiet(net.Conn) *quiet { return &quiet{} }

func (*quiet) is() bool { return true }
