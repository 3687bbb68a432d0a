package backendtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// operation is a method of an endpoint at which rows are tested.
type operation struct {
	method, path string    // as the description has it: /order/{id}
	resource     *Resource // whose records it is about, or the fields of its body; nil for neither
	form         bool      // resource describes the fields of its body
}

// endpoint is the path without the record.
func (o *operation) endpoint() string {
	return strings.TrimSuffix(strings.TrimSuffix(o.path, "/{id}"), "/{name}")
}

// scopes are the scopes in which the messages of its errors are looked up.
func (o *operation) scopes() []mapping.Scope {
	of := map[string]mapping.Scope{"POST": mapping.OpCreate, "GET": mapping.OpGet, "PUT": mapping.OpUpdate, "DELETE": mapping.OpDelete}[o.method]
	switch {
	case o.method == "GET" && o.record() && o.path == o.endpoint():
		of = mapping.OpList
	case o.endpoint() == platePath:
		of = mapping.OpUpdate
	}
	return []mapping.Scope{mapping.Scope(o.method + " " + o.endpoint()), mapping.Scope(o.endpoint()), of}
}

// of is the record operation that this one is, or is most like: its errors are worded the same way.
func (o *operation) of() mapping.Scope { return o.scopes()[2] }

// record reports whether it is one of the operations of every resource.
func (o *operation) record() bool { return o.resource != nil && !o.form }

// operation is what the description calls a method of a path.
func (t *T) operation(method, path string) *operation {
	o := &operation{method: method, path: path}
	switch name := o.endpoint()[1:]; {
	case t.known(name) != nil:
		o.resource = t.known(name)
	case t.oneOf(path) != nil:
		o.resource, o.form = &Resource{Name: severalName, Fields: []*Field{{Name: severalName, Array: true, Required: true}}}, true
	default:
		o.resource = t.formOf(path)
		o.form = o.resource != nil
	}
	return o
}

// operations are the operations that at names: one, or one for every resource.
func (t *T) operations(at string) (all []*operation) {
	method, path, _ := strings.Cut(at, " ")
	before, after, any := strings.Cut(path, "*")
	switch {
	case t.resource != nil:
		return []*operation{t.operation(method, before+t.resource.Name+after)}
	case !any:
		return []*operation{t.operation(method, path)}
	}
	for _, r := range t.resources {
		all = append(all, &operation{method: method, path: before + r.Name + after, resource: r})
	}
	return all
}

// subEndpoints are the endpoints below those of resources that are not records.
var subEndpoints = []string{"bulk", "checkaddress", "info", "publishstart", "publishstop"}

// operationOf is the operation that a request is for.
func (t *T) operationOf(method, path string) *operation {
	path, query, _ := strings.Cut(path, "?")
	above := path[:strings.LastIndexByte(path, '/')]
	switch {
	case slices.Contains(subEndpoints, path[len(above)+1:]):
	case above == "/model":
		path = above + "/{name}"
	case above != "" && t.known(above[1:]) != nil:
		path = above + "/{id}"
	case t.known(strings.TrimPrefix(path, "/")) != nil && (method == "PUT" || method == "DELETE" || method == "GET" && strings.Contains("&"+query, "&id")):
		path += "/{id}"
	}
	return t.operation(method, path)
}

// allowed ends a case whose operation may not be called.
func (t *T) allowed() {
	if t.op.record() {
		if obstacle := t.obstacle(t.op.method, t.op.resource); obstacle != nil {
			panic(*obstacle)
		}
	} else if !t.given && !t.can(t.op.method, concrete(t.op.path)) {
		t.needs(keyThat+"%s %s", t.op.method, t.op.endpoint())
	}
}

// concrete is a path of the description with its parameters filled in.
func concrete(path string) string {
	return strings.NewReplacer("{id}", "1", "{name}", "order").Replace(path)
}

// request is a valid request, until something in it is changed.
type request struct {
	method, path, query, token string
	fields                     values // of the body; nil for none
	body                       string // replaces fields
	headers                    []string
	id                         int // of the record that it is about
}

// and adds to the query.
func (r request) and(query string) request {
	if r.query != "" && query != "" {
		query = r.query + "&" + query
	}
	r.query = query
	return r
}

// with adds to the body.
func (r request) with(more values) request {
	r.fields = r.fields.with(more)
	return r
}

// without leaves a field out of the body.
func (r request) without(name string) request {
	r.fields = r.fields.with(nil)
	delete(r.fields, name)
	return r
}

// text is the body.
func (r request) text() string {
	if r.fields == nil || r.body != "" {
		return r.body
	}
	return r.fields.json()
}

// named are variants of the request with id as the record's ID: in the path and in the query,
// or wherever the operation takes it, and in the body of a PUT.
func (t *T) named(r request, id string) (all []request) {
	if r.method != "GET" && r.method != "DELETE" {
		in := r.with(values{"id": number(id)})
		in.path, in.query = t.op.endpoint(), ""
		all = append(all, in)
	}
	if t.op.endpoint() == platePath {
		return all
	}
	in := r
	in.path, in.query = t.op.endpoint(), "id="+id
	if !t.op.record() {
		return append(all, in)
	}
	r.path = t.op.endpoint() + "/" + id
	return append(all, in, r)
}

// number is an id as JSON: a number, or a text if it is no number.
func number(id string) any {
	if n, err := strconv.Atoi(id); err == nil && status(n) == id {
		return n
	}
	return id
}

// ask sends a request.
func (t *T) ask(r request) answer {
	if r.query != "" {
		r.path += "?" + r.query
	}
	a := t.send(r.token, r.method, r.path, r.text(), r.headers...)
	if a.status == 201 && t.op.record() && a.header.Get("Idempotent-Replayed") == "" {
		t.keep(t.op.resource, a) // a record that should have been refused must be deleted, too
	}
	return a
}

// attempt sends values that must be refused.
func (t *T) attempt(change values) answer { return t.ask(t.right().with(change)) }

// elementOf are values for an element of an array, which names no parent.
func (t *T) elementOf(array *Field) values {
	target := t.known(array.Reference)
	element := t.valid(target)
	for _, parent := range target.requires {
		delete(element, parent)
	}
	return element
}

// right is a valid request of the case's operation.
func (t *T) right() request {
	t.allowed()
	o := t.op
	r := request{method: o.method, path: o.path, token: t.session()}
	if fill := endpoints[o.method+" "+o.path]; fill != nil {
		return fill(t, r)
	}
	if one := t.oneOf(o.path); one != nil && o.method == "PUT" {
		return r.with(values{severalName: []values{{"id": t.record(one)}}})
	} else if one != nil {
		return r.with(values{severalName: []values{t.valid(one)}})
	}
	if !o.record() {
		return r
	}
	switch o.of() {
	case mapping.OpCreate:
		r.fields = t.valid(o.resource)
	case mapping.OpList:
		r.query = t.listed(o.resource)
	case mapping.OpGet:
		r.id = t.record(o.resource)
	case mapping.OpUpdate:
		r.fields = values{}
		if t.given {
			r.id = t.create(o.resource, nil)
		} else {
			r.id = t.own(o.resource)
		}
	case mapping.OpDelete:
		r.id = t.create(o.resource, nil)
	}
	r.path = strings.Replace(r.path, "{id}", status(r.id), 1)
	return r
}

// listed are the parameters that a list needs.
func (t *T) listed(r *Resource) string {
	sofar := values{}
	var query []string
	for _, name := range r.requires {
		sofar[name] = t.valueFor(r, r.field(name), sofar)
		query = append(query, fmt.Sprintf("%s=%v", name, sofar[name]))
	}
	return strings.Join(query, "&")
}
