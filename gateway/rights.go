package gateway

import (
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// The fields that an api_key may not use are not in the model that it gets: its requests are served by
// the operations of a gateway of that model, which calls a view of the administration. All that is made
// of the model follows. This file gives a request its operation, and so decides that.

// administration is a backend.Client, or a backend.View of one.
type administration interface {
	backend.Reader
	Create(ctx context.Context, client auth.Client, body *mapping.Body, w backend.Write) (mapping.Record, error)
	Update(ctx context.Context, client auth.Client, id int32, body *mapping.Body, w backend.Write) (mapping.Record, error)
	Delete(ctx context.Context, client auth.Client, r *mapping.Resource, id int32, w backend.Write) error
	Together(r *mapping.Resource, op mapping.Scope, underKey bool) int
	WriteSeveral(ctx context.Context, s *backend.Several) error
	Recall(ctx context.Context, client auth.Client, r *mapping.Resource, request *backend.Idempotency) error
	Keep(ctx context.Context, client auth.Client, r *mapping.Resource, request *backend.Idempotency, answer []byte) error
	PublishStart(ctx context.Context, client auth.Client, id int32, judgeOnly bool, w backend.Write) (mapping.Record, error)
	PublishStop(ctx context.Context, client auth.Client, id int32, w backend.Write) (mapping.Record, error)
	ChangeLicensePlate(ctx context.Context, client auth.Client, id int32, plate string, w backend.Write) (mapping.Record, error)
	Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error)
	Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (backend.Digest, error)
	DescribeModel(ctx context.Context, name string) ([]byte, error)
	FindAddress(ctx context.Context, a backend.Address) (found backend.Address, known bool, err error)
	Capabilities() backend.Capabilities
	Parallel() int
	State() string
	Timeout() time.Duration
}

// keptViews is how many gateways are kept, one for each set of rights, of some 2 MB each. Most api_keys
// with rights share a few sets.
const keptViews = 64

// within returns the gateway for api_keys with these rights.
func (g *Gateway) within(rights mapping.Rights) *Gateway {
	if rights == nil {
		return g
	}
	name := rights.String()
	if v, kept := g.views.Get(name); kept {
		return v
	}
	of := g.o.Offer.Model.View(rights)
	v := &Gateway{o: g.o, catalogue: g.catalogue, publicPath: g.publicPath, help: g.help, running: g.running, protocol: g.protocol}
	v.o.Offer, v.backend = g.o.Offer.Within(of), g.o.Backend.View(of)
	v.routes = v.newRoutes(g.routes)
	g.views.Add(name, v)
	return v
}

// narrow replaces the operation of a request by that of the model of its rights.
func (g *Gateway) narrow(x *Exchange) error {
	if x.rights == nil || x.Operation.page {
		return nil
	}
	x.routes = g.within(x.rights).routes
	e := x.routes.endpoints[trimStar(x.Endpoint.Path)]
	if e != nil {
		for _, op := range e.all {
			if op.Method == x.Operation.Method && op.Template == x.Operation.Template {
				x.Endpoint, x.Operation = e, op
				return nil
			}
		}
	}
	return refusal(e.refuses(x.Key), x.Method, x.Path)
}

// Withheld is what an operation without a resource of its own needs and the rights of an api_key take away,
// so that it is not offered to it: a field, as employee.email, or all of them.
func (g *Gateway) Withheld(key *auth.Key, op *Operation) []string {
	if key.Rights == nil || op.Endpoint.Resource != nil || !op.isFor(key) {
		return nil
	}
	return g.within(key.Rights).o.Offer.Lacks(op.Endpoint.Path)
}

// EndpointNeed is an operation that an allowlist grants, and what Withheld says of it.
type EndpointNeed struct {
	Grant Grant
	Lacks []string
}

// EndpointsWithheld returns the operations that an api_key is granted and not offered.
func (g *Gateway) EndpointsWithheld(key *auth.Key) (all []EndpointNeed) {
	for op := range g.routes.operations {
		if lacks := g.Withheld(key, op); lacks != nil {
			grant, _ := op.Grant()
			all = append(all, EndpointNeed{grant, lacks})
		}
	}
	return all
}

// noteFields notes for the log which fields a request was refused for that its api_key may not use.
func (x *Exchange) noteFields(err error) {
	if x.rights == nil || x.Endpoint == nil || x.Endpoint.Resource == nil || x.Operation == nil || x.Operation.single != nil || x.routes.whole == nil {
		return // among others: a body with several records has members that are no fields
	}
	found, _ := mapping.AsViolations(err)
	for _, e := range found {
		isFilter := e.Reason == mapping.QueryUnsupported && x.Operation == x.Endpoint.list["GET"]
		if !isFilter && e.Reason != mapping.FieldNotInModel {
			continue
		}
		r, name := x.Endpoint.Resource, e.Args[0]
		if array, inner, ok := strings.Cut(name, "]."); ok {
			array, _, _ = strings.Cut(array, "[")
			if f := r.Field(array); f != nil && f.Type == mapping.Array {
				r, name = f.Target(), inner
			}
		}
		name, _ = mapping.CutOperator(name)
		if isFilter && !x.routes.whole.endpoints[x.Endpoint.Path].list["GET"].takes[e.Args[0]] {
			continue // no api_key can filter by it
		}
		if field := r.Name + "." + name; slices.Contains(x.rights[r.Name].By(x.Method), name) && !slices.Contains(x.lacksFields, field) {
			x.lacksFields = append(x.lacksFields, field)
		}
	}
}
