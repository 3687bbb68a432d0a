package desk

import (
	"time"

	"frontdesk/gateway"
)

// Bounds are what no configuration sets. A test may set them otherwise.
type Bounds struct {
	CircuitFailures int           // of reads, or of writes, of a resource in a row, that open its circuit
	CircuitPause    time.Duration // until a call is let through to see
	Queue           int           // calls that wait for the administration; one more is refused, of whoever has most of them
	BodyMemory      int           // that large bodies and answers under way may take, in bytes; twice server.body_limit at least
	Connections     int           // of clients; less where the process may not open as many. The default fits into a pod of 512 MiB
	PerAddress      int           // from one address that is not in server.trusted_proxies; 0 for a quarter of them
	WriteTimeout    time.Duration // for a whole answer to leave; of a download, for each piece
	ResultSpace     int64         // that results of callbacks may take, in bytes
}

// idleTimeout is how long a connection may wait for its next request.
const idleTimeout = 75 * time.Second

// defaultBounds are those of the program.
func defaultBounds() Bounds {
	return Bounds{CircuitFailures: 10, CircuitPause: 5 * time.Second, Queue: 1024, BodyMemory: 64 << 20, Connections: 4096, WriteTimeout: 30 * time.Second, ResultSpace: 10 << 30}
}

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
