package gateway

import (
	"context"
	"time"

	"frontdesk/mapping"
)

const (
	// smallAnswer is how many bytes of texts and contents an answer may always have, even
	// if the memory is used up.
	smallAnswer = 256 << 10
	// answerStep is the step in which the memory of an answer grows.
	answerStep = 1 << 20
)

// share is the memory that a large body takes from its client's share, and then the answer with
// long texts and contents, until it was sent.
type share struct {
	of     *bodyMemory
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
	if !x.conn.share.grow(x.user().Client.ID, bytes) {
		return overloaded()
	}
	return nil
}

// pageRoom is room for the records of a page; several records may have Options.PageLimit
// in all, and agentPageLimit for an agent.
func (g *Gateway) pageRoom(x *Exchange) func(bytes, records int) error {
	limit := g.o.PageLimit
	if x.tool != "" && (limit == 0 || limit > agentPageLimit) {
		limit = agentPageLimit
	}
	return func(bytes, records int) error {
		if limit > 0 && bytes > limit && records > 1 {
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

// mustHave takes memory for the answer to a write that was done, even if that exceeds the share.
func (x *Exchange) mustHave(bytes int) {
	if x.hold(bytes) != nil {
		x.conn.share.force(x.user().Client.ID, bytes)
	}
}

// wait takes memory for the body of a client, once there is some; ok is false if there was none in
// time.
func (s *share) wait(ctx context.Context, client int64, bytes int, patience time.Duration) (waited, ok bool) {
	if waited, ok = s.of.take(ctx, client, bytes, patience); ok {
		s.client, s.taken = client, s.taken+bytes
	}
	return waited, ok
}

// grow takes memory for an answer of that size; false if it exceeds the client's share.
func (s *share) grow(client int64, bytes int) bool {
	more := bytes - s.taken
	if more <= 0 {
		return true
	}
	if step := max(more, answerStep); s.of.takeNow(client, step) {
		more = step
	} else if !s.of.takeNow(client, more) {
		return false
	}
	s.client, s.taken = client, s.taken+more
	return true
}

// force takes memory for an answer of that size, even if that exceeds the client's share.
func (s *share) force(client int64, bytes int) {
	if more := bytes - s.taken; more > 0 {
		s.of.force(client, more)
		s.client, s.taken = client, s.taken+more
	}
}

// keep returns all memory but so many bytes.
func (s *share) keep(bytes int) {
	if more := s.taken - bytes; more > 0 {
		s.of.give(s.client, more)
		s.taken = bytes
	}
}
