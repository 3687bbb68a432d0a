package desk

import (
	"time"

	"frontdesk/gateway"
)

// Bounds are limits that no configuration sets. Only tests change them.
type Bounds struct {
	CircuitFailures int           // consecutive failures of reads, or of writes, of a resource that open its circuit
	CircuitPause    time.Duration // how long a circuit stays open before a call is let through as a probe
	Queue           int           // calls that may wait for the administration; one more, and the client with most of them loses one
	BodyMemory      int           // bytes that large bodies and answers under way may take; at least twice server.body_limit
	Connections     int           // connections of clients; fewer where the process may not open as many. The default fits into a pod of 512 MiB
	PerAddress      int           // connections from one address that is not in server.trusted_proxies; 0 for a quarter of Connections
	WriteTimeout    time.Duration // for sending a whole answer; of a download, for each piece
	ResultSpace     int64         // bytes that results of callbacks may take
}

// idleTimeout is how long a connection may wait for its next request.
const idleTimeout = 75 * time.Second

// defaultBounds returns the bounds of the program.
func defaultBounds() Bounds {
	return Bounds{CircuitFailures: 10, CircuitPause: 5 * time.Second, Queue: 1024, BodyMemory: 64 << 20, Connections: 4096, WriteTimeout: 30 * time.Second, ResultSpace: 10 << 30}
}

// mostReserved is the largest number of file descriptors that are reserved for databases,
// receivers, files and operators.
const mostReserved = 1024

// connectionBounds returns the limits of client connections for a process that may open that many
// file descriptors; 0 means unknown.
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
