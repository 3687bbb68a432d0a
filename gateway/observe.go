package gateway

import (
	"cmp"
	"net/http"
	"sync/atomic"
	"time"

	"frontdesk/auth"
)

// Meter counts what the gateway does, by names of the configuration and of the
// endpoint table, never by anything that a client made up. It is safe for
// concurrent use.
type Meter interface {
	// Timer returns what the answers of an operation with one status are timed by.
	// The gateway asks once for each and keeps it. Method and endpoint are empty
	// for requests that found no operation.
	Timer(method, endpoint string, status int) Timer
	// Refused counts a request that got an error, by the api_key's name ("" where
	// none is known) and the reason of the first error.
	Refused(key, reason string)
	// Shadowed counts a request that was served although the allowlist, which is
	// on trial, says no.
	Shadowed(key, method, endpoint string)
	// Used notes that an api_key was used at that moment, by one of its hashes.
	Used(hash [32]byte, at time.Time)
}

// Timer is told how long something took, in seconds.
type Timer interface{ Observe(seconds float64) }

// statuses are those the gateway answers with; others share the last place.
var statuses = [...]int{
	http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusPartialContent, http.StatusNotModified,
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
	http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable,
	http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusInternalServerError,
	http.StatusServiceUnavailable,
}

// timers are those of one operation, by status, each made at its first answer.
type timers [len(statuses) + 1]atomic.Pointer[Timer]

// of returns the timer of a status; make may run more than once.
func (t *timers) of(status int, make func() Timer) Timer {
	place := 0
	for place < len(statuses) && statuses[place] != status {
		place++
	}
	if timer := t[place].Load(); timer != nil {
		return *timer
	}
	timer := make()
	t[place].Store(&timer)
	return timer
}

// observe counts an exchange that was answered.
func (g *Gateway) observe(x *Exchange) {
	took := g.took(x)
	if x.Operation != nil && took > slowAnswer {
		x.Operation.slow.Add(1)
	}
	if g.o.Meter == nil {
		return
	}
	method, endpoint, kept := "", "", &g.nowhere
	if x.Operation != nil {
		method, endpoint, kept = x.Operation.Method, x.Operation.Template, x.Operation.timers
	}
	status := x.response.StatusCode()
	kept.of(status, func() Timer { return g.o.Meter.Timer(method, endpoint, status) }).Observe(took.Seconds())
	if x.keyHash != nil {
		g.o.Meter.Used(x.keyHash.Hash, x.started)
	}
	if x.reason != "" {
		g.o.Meter.Refused(x.refusedBecause())
	}
	if x.shadow != "" {
		g.o.Meter.Shadowed(x.keyName, method, endpoint)
	}
}

// took is how long the gateway has been at work on an exchange.
func (g *Gateway) took(x *Exchange) time.Duration {
	return g.o.Clock().Sub(x.started) - x.arriving
}

// refusedBecause is what a refusal is counted under: an api_key of the configuration, and
// a reason that can be closer than the one the client sees. What else is known of who was
// not let in, the log alone tells.
func (x *Exchange) refusedBecause() (key, reason string) {
	switch {
	case x.past:
		return "", string(x.reason)
	case x.why == auth.CauseAddress, x.why == auth.CauseCertificate:
		return x.keyName, string(x.why)
	default:
		return x.keyName, cmp.Or(x.cause, string(x.reason))
	}
}

// Connections tells how many connections of clients are open.
func (s *Server) Connections() int { return int(s.app.Server().GetOpenConnectionsCount()) }

// RefusedConnections tells how many connections were turned away because there
// were as many as there may be.
func (s *Server) RefusedConnections() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return 0
	}
	return s.listener.refused.Load()
}

// Bodies tells how many bytes are set aside for bodies and answers that are not small, how
// many there may be, and how many bodies wait for room.
func (s *Server) Bodies() (taken, most, waiting int) {
	taken, waiting = s.bodies.load()
	return taken, s.bodies.most, waiting
}
