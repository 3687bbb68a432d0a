package desk

import "frontdesk/gateway"

// mostReserved is the largest number of file descriptors that are reserved for databases,
// receivers, files and operators.
const mostReserved = 1024

// connectionBounds are the limits of client connections for a process that may open that many
// descriptors; 0 means unknown.
func connectionBounds(o Bounds, descriptors int) gateway.ConnectionBounds {
	b := gateway.ConnectionBounds{Most: o.Connections, PerAddress: o.PerAddress}
	if room := descriptors - min(descriptors/4, mostReserved); descriptors > 0 {
		b.Most = min(b.Most, room)
	}
	if b.PerAddress == 0 {
		b.PerAddress = max(b.Most/4, 1)
	}
	return b
}
