package gateway

import (
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// What an api_key may do is decided in this file and nowhere else.

// hidesFrom reports whether an api_key gets the endpoint that this one hides, because it has no
// right to this one.
func (e *Endpoint) hidesFrom(key *auth.Key) bool {
	return e.hides != nil && !slices.ContainsFunc(e.all, func(op *Operation) bool { return key.May(op.Number) })
}

// fallBack gives an exchange the endpoint that its own one hides, where the path names a record. It
// returns why the api_key may not use that; "" if it may.
func (x *Exchange) fallBack() mapping.Reason {
	x.Endpoint, x.Item = x.Endpoint.hides, x.Path[len(x.Endpoint.hides.Path)+1:]
	if x.Operation = x.Endpoint.item[x.Method]; x.Operation == nil {
		return mapping.MethodUnsupported
	}
	return permit(x.Key, x.Operation)
}

// permit says why an api_key may not use an operation; "" if it may. What the key may not
// use is answered like what does not exist.
func permit(key *auth.Key, op *Operation) mapping.Reason {
	if op.free() || op.isFor(key) {
		return ""
	}
	return op.Endpoint.refuses(key)
}

// refuses returns the reason for a method that an api_key may not use at the endpoint. Both may be
// nil: there is no such endpoint, or no api_key.
func (e *Endpoint) refuses(key *auth.Key) mapping.Reason {
	if e != nil && key != nil && slices.ContainsFunc(e.all, func(other *Operation) bool { return other.isFor(key) }) {
		return mapping.MethodUnsupported
	}
	return mapping.EndpointUnknown
}

// isFor reports whether an api_key has the rights to an operation that is not open to all: an
// operation on several records needs the right to that on one, too.
func (op *Operation) isFor(key *auth.Key) bool {
	return key.May(op.Number) && (op.single == nil || key.May(op.single.Number))
}

// refusal words what lookup and permit found; nil where they found nothing.
func refusal(reason mapping.Reason, method, path string) error {
	switch reason {
	case "":
		return nil
	case mapping.MethodUnsupported:
		return mapping.Fail(reason, method, path)
	default:
		return mapping.Fail(reason, path)
	}
}

// Decision is what the endpoint table and an api_key's allowlist say of a request.
type Decision struct {
	Operation *Operation     // nil where no api_key has one
	Reason    mapping.Reason // why it is refused; "" where it is not
	Lacks     string         // the right that an array in the query needs, if that is why: GET /orderline
}

// Logged finds the operation that a line of the access log is about, by its method
// and the template of its operation; nil where there is none.
func (g *Gateway) Logged(method, template string) *Operation {
	path, _, _ := strings.Cut(template, "/{")
	if e := g.routes.endpoints[path]; e != nil {
		for _, op := range slices.Backward(e.all) { // where there is a page too, it comes first
			if op.Method == method && op.Template == template {
				return op
			}
		}
	}
	return nil
}

// DecideLogged judges a request by its line in the access log: method and template, and
// the rights that its arrays need.
func (g *Gateway) DecideLogged(key *auth.Key, method, template string, needs []string) Decision {
	op := g.Logged(method, template)
	if op == nil {
		return Decision{Reason: mapping.EndpointUnknown}
	}
	if reason := permit(key, op); reason != "" {
		return Decision{Operation: op, Reason: reason}
	}
	if !op.page && g.within(key.Rights).Logged(method, template) == nil {
		return Decision{Operation: op, Reason: mapping.EndpointUnknown}
	}
	for _, need := range needs {
		method, path, _ := strings.Cut(need, " ")
		if !g.routes.rightTo(method, path).of(key) {
			return Decision{Operation: op, Reason: mapping.FieldNotInModel, Lacks: need}
		}
	}
	return Decision{Operation: op}
}

// Grant returns the entry of an allowlist that the operation needs; false if it is open to
// every api_key.
func (op *Operation) Grant() (Grant, bool) {
	return Grant{Method: op.Method, Path: op.Endpoint.Path}, !op.free()
}

// ByCallback reports whether the operation always answers by callback because the
// configuration says so, or the backend needs it.
func (op *Operation) ByCallback() bool { return op.direct != nil || op.mustCall }
