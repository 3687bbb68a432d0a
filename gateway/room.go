package gateway

import "frontdesk/mapping"

const (
	// smallAnswer is how many bytes of texts and contents an answer may always have, even
	// if the memory is used up.
	smallAnswer = 256 << 10
	// answerStep is the step in which the memory of an answer grows.
	answerStep = 1 << 20
)

// answerRoom is the memory that an answer with long texts and contents takes from its
// client's share until it was sent.
type answerRoom struct {
	bodies *bodyMemory
	client int64
	taken  int
}

// hold returns an error if the answer may not have that many bytes of texts and contents:
// an answer that is not small must fit into its client's share. Answers that become the
// result of a callback take no such memory.
func (x *Exchange) hold(bytes int) error {
	if x.conn == nil || bytes <= smallAnswer {
		return nil
	}
	x.incoming.handOver(&x.conn.room)
	if !x.conn.room.grow(x.user().Client.ID, bytes) {
		return overloaded()
	}
	return nil
}

// pageRoom is room for the records of a page; several records may have Options.PageLimit
// in all.
func (g *Gateway) pageRoom(x *Exchange) func(bytes, records int) error {
	return func(bytes, records int) error {
		if g.o.PageLimit > 0 && bytes > g.o.PageLimit && records > 1 {
			return mapping.Fail(mapping.PageTooLarge)
		}
		return x.hold(bytes)
	}
}

// writeRoom returns an error if the client's unread answers exceed its share. The answer
// to a write that was done is sent in any case, see mustHave.
func (x *Exchange) writeRoom() error {
	if x.conn != nil && x.conn.server.bodies.over(x.user().Client.ID) {
		return overloaded()
	}
	return nil
}

// mustHave takes memory for the answer to a write that was done, even beyond the share.
func (x *Exchange) mustHave(bytes int) {
	if x.hold(bytes) != nil {
		x.conn.room.force(x.user().Client.ID, bytes)
	}
}

// grow takes memory for an answer of that size; false if it exceeds the client's share.
func (r *answerRoom) grow(client int64, bytes int) bool {
	if bytes <= r.taken {
		return true
	}
	more := max(bytes-r.taken, answerStep)
	if !r.bodies.takeNow(client, more) {
		if more = bytes - r.taken; !r.bodies.takeNow(client, more) {
			return false
		}
	}
	r.client = client
	r.taken += more
	return true
}

// force takes memory for an answer of that size, even beyond the client's share.
func (r *answerRoom) force(client int64, bytes int) {
	if more := bytes - r.taken; more > 0 {
		r.bodies.force(client, more)
		r.client = client
		r.taken += more
	}
}

// end returns the memory.
func (r *answerRoom) end() {
	if r.taken > 0 {
		r.bodies.give(r.client, r.taken)
		r.taken = 0
	}
}
