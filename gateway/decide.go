package gateway

import (
	"bytes"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// What a request may do is decided in this file and nowhere else. Serving takes the two
// steps one after the other and finds the session in between; the operators' tools take
// both at once, with Decide.

// lookup finds the operation that method and path name, both exactly as they were
// sent; the raw query tells one record from many. Without an operation the reason
// says why there is none.
func (r *routes) lookup(method, path string, rawQuery []byte) (e *Endpoint, op *Operation, item string, reason mapping.Reason) {
	e, item = r.find(path)
	if e == nil {
		return nil, nil, "", mapping.EndpointUnknown
	}
	if op = e.operation(method, item, rawQuery); op == nil && e.hides != nil {
		e, op, item = e.behind(method, path, rawQuery)
	}
	if op == nil {
		return e, nil, item, mapping.MethodUnsupported
	}
	return e, op, item, ""
}

// behind is what the path would be without this endpoint: an item of the one that it hides.
func (e *Endpoint) behind(method, path string, rawQuery []byte) (of *Endpoint, op *Operation, item string) {
	item = path[len(e.hides.Path)+1:]
	return e.hides, e.hides.operation(method, item, rawQuery), item
}

// hidesFrom tells whether an api_key meets what is behind this endpoint, because it was given
// nothing of the endpoint itself.
func (e *Endpoint) hidesFrom(key *auth.Key) bool {
	return e.hides != nil && !slices.ContainsFunc(e.all, func(op *Operation) bool { return key.May(op.Number) })
}

// hidden is behind, judged for an api_key.
func (e *Endpoint) hidden(key *auth.Key, method, path string, rawQuery []byte) (of *Endpoint, op *Operation, item string, reason mapping.Reason) {
	if of, op, item = e.behind(method, path, rawQuery); op == nil {
		return of, nil, item, mapping.MethodUnsupported
	}
	return of, op, item, permit(key, op)
}

// permit says why an api_key may not use an operation; "" if it may. What the key may not
// use is answered like what does not exist.
func permit(key *auth.Key, op *Operation) mapping.Reason {
	if op.free() || op.isFor(key) {
		return ""
	}
	for _, other := range op.Endpoint.all {
		if other.isFor(key) {
			return mapping.MethodUnsupported
		}
	}
	return mapping.EndpointUnknown
}

// isFor tells whether an api_key has the rights to an operation that is not open to all: an
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
	Operation *Operation     // nil where there is none, whoever asks
	Reason    mapping.Reason // why it is refused; "" where it is not
	Lacks     string         // what an array takes that the query names, where that is why: GET /orderline
}

// Decide judges a method, a path below the base path and the arrays that a query
// names, all as they are sent, as serving judges them. It allocates nothing,
// unless the query is escaped.
func (g *Gateway) Decide(key *auth.Key, method, path string, rawQuery []byte) Decision {
	e, op, _, reason := g.routes.lookup(method, path, rawQuery)
	if reason == "" {
		if reason = permit(key, op); reason != "" && e.hidesFrom(key) {
			e, op, _, reason = e.hidden(key, method, path, rawQuery)
		}
	}
	d := Decision{Operation: op, Reason: reason}
	if reason == "" && e.Resource != nil && op.Method == "GET" {
		if d.Lacks = g.routes.lacking(key, e.Resource, rawQuery); d.Lacks != "" {
			d.Reason = mapping.FieldNotInModel
		}
	}
	return d
}

// lacking is the right that an api_key lacks for an array that a query chooses; "" if it
// lacks none.
func (r *routes) lacking(key *auth.Key, resource *mapping.Resource, rawQuery []byte) string {
	for i := range resource.Fields {
		f := &resource.Fields[i]
		if f.Type == mapping.Array && !r.mayUse(key, f, arrayRead) && chooses(rawQuery, f.Name) {
			return r.children[f].read.grant
		}
	}
	return ""
}

// chooses tells whether a raw query selects a field.
func chooses(raw []byte, field string) bool {
	for len(raw) > 0 {
		var part []byte
		part, raw, _ = bytes.Cut(raw, []byte{'&'})
		name, value, _ := bytes.Cut(part, []byte{'='})
		if !isNamed(name, fieldsName) {
			continue
		}
		if bytes.IndexByte(value, '%') >= 0 {
			value = []byte(unescape(value))
		}
		for len(value) > 0 {
			var one []byte
			if one, value, _ = bytes.Cut(value, []byte{','}); string(one) == field {
				return true
			}
		}
	}
	return false
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

// DecideLogged judges a request by its line in the access log, which Logged finds the
// operation of; needs is what its arrays required.
func (g *Gateway) DecideLogged(key *auth.Key, method, template string, needs []string) Decision {
	op := g.Logged(method, template)
	if op == nil {
		return Decision{Reason: mapping.EndpointUnknown}
	}
	if reason := permit(key, op); reason != "" {
		return Decision{Operation: op, Reason: reason}
	}
	for _, need := range needs {
		method, path, _ := strings.Cut(need, " ")
		if !g.routes.rightTo(method, path).of(key) {
			return Decision{Operation: op, Reason: mapping.FieldNotInModel, Lacks: need}
		}
	}
	return Decision{Operation: op}
}

// Grant is the entry of an allowlist that the operation needs; false if it is open to
// every api_key.
func (op *Operation) Grant() (Grant, bool) {
	return Grant{Method: op.Method, Path: op.Endpoint.Path}, !op.free()
}

// ByCallback tells whether the operation always answers by callback because the
// configuration says so, or the backend needs it.
func (op *Operation) ByCallback() bool { return op.direct != nil || op.mustCall }
