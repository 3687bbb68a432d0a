package gateway

import (
	"cmp"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Meter counts what the gateway does. It is safe for concurrent use, and keeps no request waiting.
// Texts are names of the configuration, of the interface and of the administration, never values
// that a client sent.
type Meter interface {
	// Answered counts an answer, once.
	Answered(Answer)
	// Wrote counts records of requests that write several, by the status of each.
	Wrote(method, endpoint string, status, records int)
}

// Answer is what a Meter gets of an answer.
type Answer struct {
	At            time.Time // when the request was answered
	Took, Backend time.Duration
	RequestID     string
	Method        string
	Endpoint      string        // as it is documented; "" where none was found
	Record        int32         // the ID that the request named; 0 where it named none
	Key, Client   string        // "" where they are not known
	Hash          *auth.KeyHash // by which the api_key was used; nil where none was looked up
	User          string        // of the session; "" where there was none
	Grant         string        // the entry of the allowlist that was used: GET /order; "" where none was needed, or it was refused
	Needs         []string      // the other entries that were used; must not be kept
	Deprecated    []DeprecatedUse
	Status        int
	Reason, Cause string // of the first error
	Counted       string // the reason for counters that everybody may see: no cause that reports whether a user exists
	Address       string
}

// DeprecatedUse is something deprecated that a request has to do with.
type DeprecatedUse struct {
	What  string // DELETE /order/{id}, order.reference
	Named bool   // by the request; otherwise it is only part of the answer
}

// withMetrics counts a request once it is answered.
func (g *Gateway) withMetrics(c *fiber.Ctx) error {
	err := c.Next()
	g.observe(exchangeOf(c))
	return err
}

// observe counts an exchange that was answered.
func (g *Gateway) observe(x *Exchange) {
	if g.o.Meter == nil {
		return
	}
	took := g.took(x)
	a := Answer{
		At: x.started.Add(x.bodyTime + took), Took: took, Backend: x.backendTime, RequestID: x.RequestID, Method: x.knownMethod(), Key: x.keyName, Client: x.client, Hash: x.keyHash,
		Status: x.response.StatusCode(), Reason: string(x.reason), Cause: x.closerCause(), Address: x.Address, Record: x.ID,
		Endpoint: x.endpoint(), User: x.user().Username, Deprecated: x.deprecated,
	}
	a.Grant, a.Needs = x.granted()
	if a.Counted = cmp.Or(x.cause, a.Reason); x.why == auth.CauseAddress || x.why == auth.CauseCertificate {
		a.Counted = string(x.why)
	}
	g.o.Meter.Answered(a)
}

// closerCause returns why a request was refused, where more is known than the reason; "" otherwise.
func (x *Exchange) closerCause() string { return cmp.Or(x.cause, string(x.why)) }

// granted returns the entries of its api_key's allowlist that a request used.
func (x *Exchange) granted() (grant string, needs []string) {
	switch {
	case x.Session == nil || x.Key == nil || x.Operation == nil || x.Operation.free():
		return "", nil
	case x.lacks == nil:
		if x.reason == mapping.EndpointUnknown || x.reason == mapping.MethodUnsupported {
			return "", nil
		}
		return x.Operation.grant, x.needs
	default: // an array was refused: what it lacks was not used
		return x.Operation.grant, slices.DeleteFunc(slices.Clone(x.needs), func(need string) bool { return slices.Contains(x.lacks, need) })
	}
}

// took returns how long the gateway has worked on an exchange.
func (g *Gateway) took(x *Exchange) time.Duration {
	return g.o.Clock().Sub(x.started) - x.bodyTime
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
