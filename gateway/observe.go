package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Meter counts what the gateway does. Labels are names of the configuration and of the
// endpoint table, never texts of a client. It is safe for concurrent use.
type Meter interface {
	// Timer returns the timer for answers of an operation with one status. The gateway
	// asks once for each and keeps it. Method and endpoint are empty for requests that
	// found no operation.
	Timer(method, endpoint string, status int) Timer
	// Refused counts a request that got an error, by the api_key's name ("" where
	// none is known) and the reason of the first error.
	Refused(key, reason string)
	// Deprecated counts a request of an api_key that has to do with something that is
	// going away: it names it, or else its answer holds it.
	Deprecated(key, what string, named bool)
	// Wrote counts records of requests that write several, by the status of each.
	Wrote(method, endpoint string, status, records int)
	// Used notes that an api_key was used at that moment, by one of its hashes.
	Used(hash [32]byte, at time.Time)
}

// Historian is told of each answer, once. It is safe for concurrent use, and keeps no
// request waiting.
type Historian interface{ Note(Answer) }

// Answer is what is told of an answer. Its texts are names of the configuration, of the
// interface and of the administration, never values that a client sent.
type Answer struct {
	At            time.Time // when the request was answered
	Took, Backend time.Duration
	RequestID     string
	Method        string
	Endpoint      string   // as it is documented; "" where none was found
	Key, Client   string   // "" where they are not known
	User          string   // whose session it was; "" where there was none
	Grant         string   // of the allowlist, that was taken: GET /order; "" where none was needed, or it was refused
	Needs         []string // what was taken of it besides; only lent
	Status, Sent  int      // Sent in bytes of the body
	Reason, Cause string   // of the first error
	Address       string
}

// Timer is told how long something took, in seconds.
type Timer interface{ Observe(seconds float64) }

// statuses are those that the gateway answers with; all others share the last timer.
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

// withMetrics counts a request once it is answered.
func (g *Gateway) withMetrics(c *fiber.Ctx) error {
	err := c.Next()
	g.observe(exchangeOf(c))
	return err
}

// observe counts an exchange that was answered.
func (g *Gateway) observe(x *Exchange) {
	took := g.took(x)
	if x.Operation != nil && took > slowAnswer {
		x.Operation.slow.Add(1)
	}
	if g.o.History != nil {
		g.o.History.Note(g.answerOf(x, took))
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
	for _, u := range x.deprecated {
		g.o.Meter.Deprecated(x.keyName, u.what, u.named)
	}
}

// answerOf is what history is told.
func (g *Gateway) answerOf(x *Exchange, took time.Duration) Answer {
	a := Answer{
		At: x.started.Add(x.arriving + took), Took: took, Backend: x.asked, RequestID: x.RequestID, Method: x.knownMethod(), Key: x.keyName, Client: x.client,
		Status: x.response.StatusCode(), Sent: max(x.answered(), 0), Reason: string(x.reason), Cause: cmp.Or(x.cause, string(x.why)), Address: x.Address,
		Endpoint: x.endpoint(), User: x.user().Username,
	}
	a.Grant, a.Needs = x.granted()
	return a
}

// granted is what a request took of its api_key's allowlist.
func (x *Exchange) granted() (grant string, needs []string) {
	switch {
	case x.Session == nil || x.Key == nil || x.Operation == nil || x.Operation.free():
		return "", nil
	case x.lacks == nil:
		if x.reason == mapping.EndpointUnknown || x.reason == mapping.MethodUnsupported {
			return "", nil
		}
		return x.Operation.grant, x.needs
	default: // an array of it was refused, and only for that it is copied
		return x.Operation.grant, slices.DeleteFunc(slices.Clone(x.needs), func(need string) bool { return slices.Contains(x.lacks, need) })
	}
}

// took is how long the gateway has worked on an exchange.
func (g *Gateway) took(x *Exchange) time.Duration {
	return g.o.Clock().Sub(x.started) - x.arriving
}

// refusedBecause is what a refusal is counted under: an api_key of the configuration, and
// a reason that can be more precise than the one the client sees. Only the log says more
// about a caller that was refused.
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

// Connections returns how many connections of clients are open.
func (s *Server) Connections() int { return int(s.app.Server().GetOpenConnectionsCount()) }

// RefusedConnections returns how many connections were refused because the bound was
// reached.
func (s *Server) RefusedConnections() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return 0
	}
	return s.listener.refused.Load()
}

// Bodies returns how many bytes large bodies and answers have taken, how many they may
// take, and how many bodies wait for room.
func (s *Server) Bodies() (taken, most, waiting int) {
	taken, waiting = s.bodies.load()
	return taken, s.bodies.most, waiting
}

// Spent has a value once large bodies and answers returned so much room since it was last
// received from that their memory should be given back to the system.
func (s *Server) Spent() <-chan struct{} { return s.bodies.spent }
