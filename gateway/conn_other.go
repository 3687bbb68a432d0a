//go:build !linux

package gateway

import "net"

// boundUnsent does nothing where systems differ too much.
func boundUnsent(net.Conn) {}
