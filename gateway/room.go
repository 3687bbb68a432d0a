package gateway

import "frontdesk/mapping"

const (
	// smallAnswer is how much of texts and contents an answer may have, whatever else
	// is under way.
	smallAnswer = 256 << 10
	// answerStep is what the room of an answer grows by.
	answerStep = 1 << 20
)

// answerRoom is what an answer with long texts and contents takes of its client's
// share of the memory for bodies, until it has left.
type answerRoom struct {
	bodies *bodyMemory
	client int64
	taken  int
}

// room is an error where the answer may not have that many bytes of texts and
// contents: beyond what is small, no more than its client's share. What is kept as the
// result of a callback takes nothing of that.
func (x *Exchange) room(bytes int) error {
	if in := x.incoming; in != nil && bytes > smallAnswer && !in.talk.room.grow(x.user().Client.ID, bytes) {
		return overloaded()
	}
	return nil
}

// pageRoom is room for the records of a page, which may have Options.PageLimit in all.
func (g *Gateway) pageRoom(x *Exchange) func(bytes int) error {
	return func(bytes int) error {
		if g.o.PageLimit > 0 && bytes > g.o.PageLimit {
			return mapping.Fail(mapping.PageTooLarge)
		}
		return x.room(bytes)
	}
}

// grow has room for an answer of that size; false where the client has its share.
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

// end gives the room back.
func (r *answerRoom) end() {
	if r.taken > 0 {
		r.bodies.give(r.client, r.taken)
		r.taken = 0
	}
}
