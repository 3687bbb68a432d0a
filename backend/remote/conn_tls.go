package remote

import "errors"

// errNothing is what a connection that is looked at has where nothing has come. To
// TLS it is a time-out, after which it can be read again.
var errNothing error = nothing{}

type nothing struct{}

func (nothing) Error() string   { return "nothing has come" }
func (nothing) Timeout() bool   { return true }
func (nothing) Temporary() bool { return true }

// isQuietTLS has TLS take in what has come. Messages of its own may come at any
// time, session tickets often late, and say nothing; data was not asked for. Nor was
// a part of a record that may become data, but on a new connection that is a ticket:
// nothing was asked there that could be answered.
func (c *conn) isQuietTLS() bool {
	c.quiet.looking = true
	n, err := c.stream.Read(c.quiet.one[:])
	c.quiet.looking = false
	return n == 0 && errors.Is(err, errNothing) && (!c.again || c.quiet.records.isWhole())
}

// records follows the records of TLS as they come, by the lengths in their heads.
type records struct {
	head [5]byte
	have int // bytes of a head
	left int // bytes of a record behind its head
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

// isWhole tells whether no record has begun that has not ended.
func (r *records) isWhole() bool { return r.have == 0 && r.left == 0 }
