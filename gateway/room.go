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
	in := x.incoming
	if in == nil || bytes <= smallAnswer {
		return nil
	}
	in.handOver(&in.talk.room)
	if !in.talk.room.grow(x.user().Client.ID, bytes) {
		return overloaded()
	}
	return nil
}

// pageRoom is room for the records of a page, which may have Options.PageLimit in all
// where they are several.
func (g *Gateway) pageRoom(x *Exchange) func(bytes, records int) error {
	return func(bytes, records int) error {
		if g.o.PageLimit > 0 && bytes > g.o.PageLimit && records > 1 {
			return mapping.Fail(mapping.PageTooLarge)
		}
		return x.room(bytes)
	}
}

// writeRoom is an error where the answers that a client has not fetched take more than
// its share: those of writes that were done come whatever is left, see mustHave.
func (x *Exchange) writeRoom() error {
	if in := x.incoming; in != nil && in.talk.server.bodies.over(x.user().Client.ID) {
		return overloaded()
	}
	return nil
}

// mustHave takes room for the answer to a write, which was done.
func (x *Exchange) mustHave(bytes int) {
	if x.room(bytes) != nil {
		x.incoming.talk.room.force(x.user().Client.ID, bytes)
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

// force has room for an answer of that size, beyond what its client may take.
func (r *answerRoom) force(client int64, bytes int) {
	if more := bytes - r.taken; more > 0 {
		r.bodies.force(client, more)
		r.client = client
		r.taken += more
	}
}

// end gives the room back.
func (r *answerRoom) end() {
	if r.taken > 0 {
		r.bodies.give(r.client, r.taken)
		r.taken = 0
	}
}
