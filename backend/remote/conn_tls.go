package remote

import (
	"errors"
	"net"
)

// quiet is a connection that can be inspected without waiting. TLS runs on top of it.
type quiet struct {
	net.Conn
	is      func() bool // reports whether nothing has come; nil if that cannot be known
	looking bool        // Read returns what has come, and does not wait
	records records
}

// Read implements net.Conn.
func (q *quiet) Read(b []byte) (int, error) {
	if q.looking && q.is() {
		return 0, errNothing
	}
	n, err := q.Conn.Read(b)
	q.records.follow(b[:n])
	return n, err
}

// errNothing is what reading returns while a connection is inspected and no data has come. TLS
// takes it for a time-out, after which it can go on reading.
var errNothing error = nothing{}

type nothing struct{}

func (nothing) Error() string   { return "nothing has come" }
func (nothing) Timeout() bool   { return true }
func (nothing) Temporary() bool { return true }

// isQuietTLS lets TLS process what has come, and reports whether none of it was data. Messages
// of TLS itself, such as session tickets, may come at any time. Data that was not asked for
// makes the connection unusable, and so does an unfinished record, which may become data;
// except on a new connection, where nothing was asked yet and it can only be a ticket.
func (c *conn) isQuietTLS() bool {
	c.quiet.looking = true
	n, err := c.stream.Read(make([]byte, 1))
	c.quiet.looking = false
	return n == 0 && errors.Is(err, errNothing) && (!c.again || c.quiet.records.isWhole())
}

// records follows the records of TLS as they come, by the lengths in their heads.
type records struct {
	head [5]byte
	have int // bytes of a head
	left int // bytes of a record after its head
}

func (r *records) follow(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left -= n
			b = b[n:]
			continue
		}
		n := copy(r.head[r.have:], b)
		b = b[n:]
		if r.have += n; r.have == len(r.head) {
			r.have, r.left = 0, int(r.head[3])<<8|int(r.head[4])
		}
	}
}

// isWhole reports whether the last record that began has ended.
func (r *records) isWhole() bool { return r.have == 0 && r.left == 0 }
