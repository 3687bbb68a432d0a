package desk

import (
	"go.uber.org/zap"

	"frontdesk/config"
	"frontdesk/gateway"
)

const (
	// usualConnections is the default limit of client connections. With the memory that each takes
	// they fit into a pod of 512 MiB.
	usualConnections = 4096
	// mostReserved is the largest number of file descriptors that are reserved for databases,
	// receivers, files and operators.
	mostReserved = 1024
)

// bounds returns the limits of client connections for a process that may open that many
// descriptors; 0 means unknown.
func bounds(c config.Connections, descriptors int, log *zap.Logger) gateway.ConnectionBounds {
	b := gateway.ConnectionBounds{Most: c.Max, PerAddress: c.PerAddress}
	if b.Most == 0 {
		b.Most = usualConnections
	}
	if room := descriptors - min(descriptors/4, mostReserved); descriptors > 0 && room < b.Most {
		if c.Max > 0 {
			log.Warn("server.connections.max is more than the process may open", zap.Int("configured", c.Max), zap.Int("held_to", room), zap.Int("descriptors", descriptors))
		}
		b.Most = room
	}
	if b.PerAddress == 0 {
		b.PerAddress = max(b.Most/4, 1)
	}
	return b
}
