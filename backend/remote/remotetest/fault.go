package remotetest

import "time"

// FaultKind is a way to misbehave.
type FaultKind uint8

// The faults. Unless a fault says otherwise, it strikes when the head of a request has
// arrived, on connections that are kept alive too.
const (
	// Healthy passes everything on; with Gate, late.
	Healthy FaultKind = iota
	// Refuse takes no connections: those who dial get ECONNREFUSED. The ones
	// that are open are reset.
	Refuse
	// ResetOnAccept resets connections as soon as they are there. The ones that
	// are open are reset.
	ResetOnAccept
	// ResetBefore resets before anything of the request is passed on.
	ResetBefore
	// ResetAfter passes the request on, has it done, and resets instead of
	// answering: the client cannot know.
	ResetAfter
	// ResetMidAnswer resets when Bytes of the answer have been sent, counted
	// from its status line.
	ResetMidAnswer
	// Truncate ends the connection in order when Bytes of the answer's body have
	// been sent.
	Truncate
	// HalfOpen swallows what comes and never answers.
	HalfOpen
	// SlowBody sends the head of the answer at once and its body byte by byte,
	// one for each value of Gate.
	SlowBody
	// EndlessBody answers 200 with Body and then white space without end, and
	// passes nothing on.
	EndlessBody
	// Storm answers with Status, passes nothing on.
	Storm
	// TLSGarbage answers with what looks like a TLS record and is none.
	TLSGarbage
)

// Fault is what a FaultProxy does to requests.
type Fault struct {
	Kind FaultKind
	// Path, if not "", narrows the fault to requests whose path begins so; not
	// for Refuse and ResetOnAccept, which strike connections.
	Path string
	// Gate, where it is not nil, holds a request until a value can be received
	// from it or it is closed; with SlowBody each byte of the body.
	Gate <-chan struct{}

	Bytes      int           // ResetMidAnswer, Truncate
	Status     int           // Storm; 0 for 503
	RetryAfter time.Duration // Storm; 0 for no such header
	Type       string        // Storm, EndlessBody: Content-Type; "" for application/json
	Body       string        // Storm, EndlessBody: what the body begins with
}
