package gateway

import (
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// What a request may do is decided here and nowhere else: serving takes the two
// steps one after the other, with the session found between them, and the tools
// for operators take them together, as Decide.

// lookup finds the operation that method and path name, both exactly as they were
// sent; the raw query tells one record from many. Without an operation the reason
// says why there is none.
func (r *routes) lookup(method, path string, rawQuery []byte) (e *Endpoint, op *Operation, item string, reason mapping.Reason) {
	e, item = r.find(path)
	if e == nil {
		return nil, nil, "", mapping.EndpointUnknown
	}
	if op = e.operation(method, item, rawQuery); op == nil {
		return e, nil, item, mapping.MethodUnsupported
	}
	return e, op, item, ""
}

// permit says why an api_key may not use an operation; "" where it may. What it
// may not use is answered like what does not exist.
func permit(key *auth.Key, op *Operation) mapping.Reason {
	if op.free() || key.May(op.Number) {
		return ""
	}
	for _, other := range op.Endpoint.operations() {
		if key.May(other.Number) {
			return mapping.MethodUnsupported
		}
	}
	return mapping.EndpointUnknown
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
	Operation *Operation     // nil where there is none, whoever asks
	Reason    mapping.Reason // why it is refused; "" where it is not
}

// Decide judges a method and a path below the base path, both as they are sent,
// as serving judges them. It allocates nothing.
func (g *Gateway) Decide(key *auth.Key, method, path string, rawQuery []byte) Decision {
	_, op, _, reason := g.routes.lookup(method, path, rawQuery)
	if reason == "" {
		reason = permit(key, op)
	}
	return Decision{Operation: op, Reason: reason}
}

// Logged finds the operation that a line of the access log is about, by its method
// and the template of its operation; nil where there is none.
func (g *Gateway) Logged(method, template string) *Operation {
	path, _, item := strings.Cut(template, "/{")
	e := g.routes.endpoints[path]
	if e == nil {
		return nil
	}
	op := e.list[method]
	if item {
		op = e.item[method]
	}
	if op == nil || op.Template != template {
		return nil
	}
	return op
}

// DecideLogged judges a request by what the access log keeps of it, as Logged has
// it.
func (g *Gateway) DecideLogged(key *auth.Key, method, template string) Decision {
	op := g.Logged(method, template)
	if op == nil {
		return Decision{Reason: mapping.EndpointUnknown}
	}
	return Decision{Operation: op, Reason: permit(key, op)}
}

// Grant is what an allowlist has to grant for the operation; false where it is
// open to every api_key.
func (op *Operation) Grant() (Grant, bool) {
	return Grant{Method: op.Method, Path: op.Endpoint.Path}, !op.free()
}

// ByCallback tells whether the operation answers by callback although it need not,
// as the configuration says.
func (op *Operation) ByCallback() bool { return op.direct != nil }
