//go:build !linux

package gateway

import "net"

// boundUnsent does nothing: other systems have no such limit, or another one each.
func boundUnsent(net.Conn) {}
