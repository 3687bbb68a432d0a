package gateway

import (
	"context"
	"slices"

	"frontdesk/mapping"
)

// Many records at once: POST and PUT of /<resource>/bulk. Each record is treated like a request
// of its own to the resource: the same stages judge it (decode, record), the same backend.Client
// writes it, and its errors are those of that request. An api_key needs the right to that
// request, too. The records are done in order, each by itself; see bulk_run.go.

// bulkPart follows the resource's path in the path of such an operation.
const bulkPart = "/bulk"

// bulkRoutes adds the operations that write several records of a resource.
func (g *Gateway) bulkRoutes(r *routes, of *Endpoint) {
	if g.o.Offer.Distant && g.o.Callbacks == nil {
		return
	}
	for _, method := range [...]string{"POST", "PUT"} {
		single := of.list[method]
		if single == nil {
			continue
		}
		e := r.endpoints[of.Path+bulkPart]
		if e == nil {
			e = r.add(of.Path+bulkPart, nil)
			e.Resource, e.hides = of.Resource, of
		}
		r.on(e, method, &Operation{
			single: single, deprecated: single.deprecated, form: of.Resource, idempotent: true, scopes: single.scopes[len(single.scopes)-1:],
			check: g.checkSeveral, serve: g.bulk, about: aboutBulk(of.Resource, method),
		})
	}
}

// noteSingle notes for the log that an operation on several records also needs the right to
// the operation on one.
func (x *Exchange) noteSingle() {
	single := x.Operation.single
	if single == nil || !x.Key.May(x.Operation.Number) {
		return
	}
	x.needs = append(x.needs, single.grant)
	if !x.Key.May(single.Number) {
		x.lacks = append(x.lacks, single.grant)
	}
}

// decodeSeveral takes the records out of a body, without decoding them.
func (x *Exchange) decodeSeveral(data []byte) (err error) {
	receiver := ""
	if x.Operation.mayCall {
		receiver = webhookURL
	}
	x.several, err = mapping.DecodeSeveral(data, receiver)
	return err
}

// checkSeveral judges the members of a body other than its records.
func (g *Gateway) checkSeveral(x *Exchange) mapping.Violations {
	v := x.several.Violations
	if called := !x.several.Other.IsAbsent(); called || x.Operation.mustCall && !x.background {
		v = append(v, x.takeCallback(g, x.several.Other)...)
	}
	return v
}

// bulk writes several records, or promises to. Several records have no entity tag, so only
// If-Match: * holds.
func (g *Gateway) bulk(ctx context.Context, x *Exchange) error {
	if match, sent := x.headerSent("If-Match"); sent && !etagMatches(string(match), "", false) {
		return mapping.Fail(mapping.PreconditionChanged)
	}
	if err := g.charge(ctx, x, len(x.several.Records)-1); err != nil {
		return err
	}
	if x.callback == nil {
		return g.writeSeveral(ctx, x)
	}
	x.storedBody = slices.Concat([]byte(`{"`+mapping.SeveralField+`":`), x.several.All, []byte{'}'})
	x.without = x.withheld()
	return g.acceptRequest(ctx, x)
}

// withheld returns the arrays that the records of a request may not have.
func (x *Exchange) withheld() (names []string) {
	for _, f := range mapping.Each(x.Endpoint.Resource.Fields) {
		if f.Type == mapping.Array && !x.knows(f, x.Operation.sent()) {
			names = append(names, f.Name)
		}
	}
	return names
}
