package gateway

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// Endpoint is one path of the interface with its operations. A resource's
// endpoint also answers /<resource>/<id>.
type Endpoint struct {
	Path     string // as the interface spells it: /order, /model/*
	Resource *mapping.Resource

	// hides is the resource's endpoint of which this path would otherwise name a record:
	// /order of /order/bulk. It still answers the methods that this endpoint does not have.
	hides *Endpoint

	all  []*Operation
	item map[string]*Operation // by method, for a path with a last part of its own
	list map[string]*Operation // by method, for the path itself
}

// Operation is what a method does at an endpoint.
type Operation struct {
	// Number is the operation's index in auth.Key.Allowed; operations of one method at
	// one endpoint share it. Operations that are open to every api_key have none.
	Number   int
	Method   string
	Endpoint *Endpoint
	Template string // for logs: /order/{id}

	open   bool                                 // needs no session
	scopes []mapping.Scope                      // where its errors are worded
	about  about                                // for the description
	params []param                              // query parameters
	takes  map[string]bool                      // names of params
	parse  func(x *Exchange) mapping.Violations // judges values, and what is missing
	form   *mapping.Resource                    // what the body is decoded as; nil for no body
	check  func(x *Exchange) mapping.Violations // judges the body alone
	serve  stage

	requires     []string             // parameters without which a request is refused
	ownOrder     bool                 // parse orders its violations itself, not by the table
	bodyOptional bool                 // with an id in the query, the body may be absent
	bodyFirst    bool                 // the body is read first: without one, the query must have the id
	ownBody      bool                 // the operation reads the body by itself
	idempotent   bool                 // takes an Idempotency-Key
	conditional  bool                 // takes If-Match
	deprecated   *mapping.Deprecation // nil where it is not
	page         bool                 // for people: the description leaves it out
	forPeople    *Operation           // the page that a browser is answered with instead; nil for none
	secretQuery  bool                 // the query may hold secrets: nothing of it is repeated

	// single is the operation that writes one of the records, if this one writes several.
	// mayCall says that it may be asked to answer by callback, mustCall that it must.
	single            *Operation
	mayCall, mustCall bool

	// direct is the operation itself, if it answers by callback; callbackInBody says
	// where the receiver's address is.
	direct         *Operation
	grant          string // the entry of an allowlist that it needs: GET /order
	callbackInBody bool
}

// openToAll is the Number of operations that need no entry of an allowlist.
const openToAll = -1

func (op *Operation) free() bool { return op.Number == openToAll }

// hasID reports whether a raw query names the parameter id, without decoding the whole
// query.
func hasID(raw []byte) bool {
	for part := range bytes.SplitSeq(raw, []byte{'&'}) {
		name, _, _ := bytes.Cut(part, []byte{'='})
		if string(name) == "id" || bytes.IndexByte(name, '%') >= 0 && unescape(name) == "id" {
			return true
		}
	}
	return false
}

// routes is the endpoint table.
type routes struct {
	endpoints  map[string]*Endpoint
	ordered    []*Endpoint
	numbered   []*Operation                   // the first of each Number
	children   map[*mapping.Field]childRights // of every array field
	followable []*mapping.Resource            // the resources of /changes
	front      *Operation                     // at the root of the host, for browsers
	whole      *routes                        // the table of the whole model, whose Numbers a narrowed one has; nil in that itself
}

// operations are those of all endpoints.
func (r *routes) operations(yield func(*Operation) bool) {
	for _, e := range r.ordered {
		for _, op := range e.all {
			if !yield(op) {
				return
			}
		}
	}
}

// all returns all endpoints, also those of pages.
func (r *routes) all() []*Endpoint {
	all := slices.Clone(r.ordered)
	for _, path := range slices.Sorted(maps.Keys(r.endpoints)) {
		if e := r.endpoints[path]; !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// methods returns the methods of an endpoint at its own path: GET of a resource is one record, too.
func (e *Endpoint) methods() []string {
	methods := slices.Sorted(maps.Keys(e.list))
	if e.Resource != nil && e.item[http.MethodGet] != nil && e.list[http.MethodGet] == nil {
		methods = append(methods, http.MethodGet)
	}
	return methods
}

// isPart reports whether s can be a part of a path: without escapes, a semicolon and an asterisk.
func isPart(s string) bool {
	return s != "" && s != "." && s != ".." && strings.Trim(s, lettersAndDigits+"-_.~!$&'()+,=:@") == ""
}

const lettersAndDigits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// add puts an endpoint into the table.
func (r *routes) add(path string, resource *mapping.Resource) *Endpoint {
	e := &Endpoint{Path: path, Resource: resource, list: map[string]*Operation{}}
	if resource != nil || path != trimStar(path) {
		e.item = map[string]*Operation{}
	}
	r.endpoints[trimStar(path)] = e
	r.ordered = append(r.ordered, e)
	return e
}

// on puts an operation at the endpoint's own path.
func (r *routes) on(e *Endpoint, method string, op *Operation) {
	r.register(e, method, op)
	e.list[method] = op
}

// carried adds an operation at its own path, if the administration supports it.
func (g *Gateway) carried(r *routes, path, method string, op *Operation) {
	if !g.o.Offer.Carries(path) {
		return
	}
	e := r.endpoints[path]
	if e == nil {
		e = r.add(path, nil)
	}
	r.on(e, method, op)
}

// onItem adds an operation at the path with one more part.
func (r *routes) onItem(e *Endpoint, method, part string, op *Operation) {
	r.register(e, method, op)
	op.Template = trimStar(e.Path) + "/{" + part + "}"
	e.item[method] = op
}

func (r *routes) register(e *Endpoint, method string, op *Operation) {
	op.Method, op.Endpoint, op.Template = method, e, e.Path
	op.grant = Grant{Method: method, Path: e.Path}.String()
	op.secretQuery = op.secretQuery || isUnderAuthenticate(e.Path)
	op.settle()
	switch same := e.first(method); {
	case op.open || op.page || isUnderAuthenticate(e.Path):
		op.Number = openToAll
	case same != nil:
		op.Number = same.Number
	case r.whole != nil:
		op.Number = r.whole.endpoints[trimStar(e.Path)].first(method).Number
	default:
		op.Number = len(r.numbered)
		r.numbered = append(r.numbered, op)
	}
	e.all = append(e.all, op)
	op.scopes = append([]mapping.Scope{mapping.Scope(method + " " + trimStar(e.Path)), mapping.Scope(trimStar(e.Path))}, op.scopes...)
}

// first returns the first operation of a method, of those that share a Number.
func (e *Endpoint) first(method string) *Operation {
	for _, op := range e.all {
		if op.Method == method {
			return op
		}
	}
	return nil
}

func trimStar(path string) string { return strings.TrimSuffix(path, "/*") }

func isUnderAuthenticate(path string) bool {
	return path == "/authenticate" || strings.HasPrefix(path, "/authenticate/")
}

// Grant is a method at an endpoint, as an allowlist names it.
type Grant struct {
	Method string `json:"method" example:"GET"`
	Path   string `json:"path" example:"/order"`
}

// String returns the entry of an allowlist that grants only this: GET /order.
func (g Grant) String() string { return g.Method + " " + g.Path }

// newRoutes builds the table of all endpoints; without pages if whole is the table of the whole model.
func (g *Gateway) newRoutes(whole *routes) *routes {
	r := &routes{endpoints: map[string]*Endpoint{}, whole: whole}
	g.sessionRoutes(r)
	for _, resource := range g.o.Offer.Model.Resources {
		g.recordRoutes(r, resource)
	}
	g.changesRoutes(r)
	g.utilityRoutes(r)
	g.agentsRoute(r)
	if whole == nil {
		g.pageRoutes(r)
		r.front = g.front(r)
		g.descriptionRoute(r)
		g.refusalsRoute(r)
	}
	r.children = r.childRightsOf(g.o.Offer.Model)
	r.followable = r.findFollowable(g.o.Offer)
	if g.o.Callbacks == nil {
		return r
	}
	for op := range r.operations {
		switch long := !op.free() && g.o.Callbacks.Long(Grant{Method: op.Method, Path: op.Endpoint.Path}); {
		case op.single != nil:
			if op.mayCall, op.mustCall = true, long || g.o.Offer.Distant; op.mustCall {
				op.about.answers = answers{form: acceptForm}
			}
		case long:
			g.makeLong(op)
		}
	}
	g.callbackRoutes(r)
	return r
}

// served adapts a handler that cannot fail.
func served(f func(x *Exchange)) stage {
	return func(_ context.Context, x *Exchange) error {
		f(x)
		return nil
	}
}
