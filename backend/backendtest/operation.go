package backendtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// operation is a method of an endpoint, which a row is asked of.
type operation struct {
	method, path string    // as the description has it: /order/{id}
	resource     *Resource // whose records it is about, or the fields of its body; nil for neither
	form         bool      // resource is the fields of its body
}

// endpoint is the path without the record.
func (o *operation) endpoint() string {
	return strings.TrimSuffix(strings.TrimSuffix(o.path, "/{id}"), "/{name}")
}

// scopes are the scopes in which the words of its errors are looked up.
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

// record tells whether it is one of the operations of every resource.
func (o *operation) record() bool { return o.resource != nil && !o.form }

// request is a valid request, until something in it is changed.
type request struct {
	method, path, query, token string
	fields                     values // of the body; nil for none
	body                       string // in their place
	headers                    []string
	id                         int // of the record that it is about
}

// and adds to the query.
func (r request) and(query string) request {
	if r.query != "" {
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

// named are the requests like this one in which its record is called id: in the
// path and in the query, or where else the operation takes it, and in the body of
// a PUT.
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

// ask sends a request.
func (t *T) ask(r request) answer {
	if !t.told && t.op != nil && !t.can(r.method, t.op.endpoint()) {
		t.needs("an api_key that may call %s %s", r.method, t.op.endpoint())
	}
	if r.query != "" {
		r.path += "?" + r.query
	}
	a := t.send(r.token, r.method, r.path, r.text(), r.headers...)
	if a.status == 201 && t.op != nil && t.op.record() {
		t.keep(t.op.resource, a) // it must go, also where it should have been refused
	}
	return a
}

// asks tells whether the case is to ask this method.
func (t *T) asks(method string) bool { return t.op == nil || t.op.method == method }

// about is the operation that a case asks: the one that it is told, else that of
// the first resource which has it.
func (t *T) about() *operation {
	if t.op != nil {
		return t.op
	}
	method, item := "GET", "/{id}"
	var r *Resource
	switch t.c.scope {
	case mapping.OpCreate:
		r, _ = t.choose("POST", "records to make", anyField)
		method, item = "POST", ""
	case mapping.OpUpdate:
		r, method = t.changeable(), "PUT"
	case mapping.OpDelete:
		r, method = t.changeable(), "DELETE"
	case mapping.OpGet:
		r = t.some()
	default:
		r, item = t.some(), ""
	}
	return t.ofRecord(method, r, item)
}

// ofRecord has the case ask an operation of a resource.
func (t *T) ofRecord(method string, r *Resource, item string) *operation {
	t.op = &operation{method: method, path: "/" + r.Name + item, resource: r}
	return t.op
}

// right is a request of the operation that a case asks which is answered as it
// should be.
func (t *T) right() request {
	o := t.about()
	r := request{method: o.method, path: o.path, token: t.session()}
	if fill := endpoints[o.method+" "+o.path]; fill != nil {
		return fill(t, r)
	}
	if one := t.oneOf(o.path); one != nil {
		return r.with(values{severalName: []values{t.oneOfMany(o.method, one)}})
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
		if r.id = 1; t.told { // else what is asked is judged before a record is looked for
			r.id = t.record(o.resource)
		}
	case mapping.OpUpdate:
		r.id, r.fields = t.record(o.resource), values{}
		if t.anew {
			r.id = t.create(o.resource, nil)
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

const platePath = "/updatelicenseplate"

// endpoints make valid requests of the operations that are not about records. A request that
// begins a job asks for a callback that nobody waits for.
var endpoints = map[string]func(*T, request) request{
	"GET /authenticate": func(t *T, r request) request {
		r.path, r.query, _ = strings.Cut(t.loginPath(t.APIKey, t.Login), "?")
		r.token = ""
		return r
	},
	"GET /authenticate/logout": func(t *T, r request) request {
		r.token = t.again()
		return r
	},
	"POST /authenticate/forgotpassword": func(_ *T, r request) request { return r.with(values{"username": "conform-nobody"}) },
	"GET /util/environment":             func(_ *T, r request) request { return r.and("username=conform") },
	"GET /empoyee/email": func(t *T, r request) request {
		name := t.unique(30)
		t.create(t.on("employee", "username", "email"), values{"username": name, "email": "conform@example.nl"})
		return r.and("username=" + name)
	},
	"GET /model/{name}": func(t *T, r request) request {
		r.path = "/model/" + t.resources[0].Name
		return r
	},
	"GET /changes":        func(_ *T, r request) request { return r },
	"GET /changes/digest": func(t *T, r request) request { return r.and("resource=" + t.resources[0].Name) },
	"GET /document/info": func(t *T, r request) request {
		r.id = t.create(t.on("document", "external_url"), values{"external_url": "https://files.example.nl/a"})
		return r.and("id=" + status(r.id))
	},
	"GET /contact/checkaddress": func(t *T, r request) request {
		return r.and("Postcode=3511%20EV&CountryId=" + t.countryID())
	},
	"GET /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstop": ofVehicle,
	"PUT " + platePath: ofPlate, "POST " + platePath: ofPlate,
	"POST /changes": func(t *T, r request) request {
		var now struct{ Cursor string }
		a := t.ok(t.call("GET", "/changes", ""))
		t.check(json.Unmarshal(a.body, &now) == nil, "the cursor of now", "a text", string(a.body))
		return r.with(values{"webhook_url": "https://receiver.invalid/done", "after": now.Cursor, "wait": 0})
	},
	"POST /backup/owner":    func(_ *T, r request) request { return r.with(values{"webhook_url": "https://receiver.invalid/done"}) },
	"DELETE /changes":       func(_ *T, r request) request { return r.and("id=" + absentJob) },
	"GET /webhook":          func(_ *T, r request) request { return r.and("id=" + absentJob) },
	"GET /webhook/download": func(_ *T, r request) request { r.token = ""; return r.and("id=" + absentJob) },
}

const absentJob = "00000000000000000000000000000000"

// ofVehicle is about a new vehicle that can be published.
func ofVehicle(t *T, r request) request {
	_, r.id = t.advertised(values{"tax_kind": "vat"})
	return r.and("id=" + status(r.id))
}

func ofPlate(t *T, r request) request {
	v := t.on("vehicle", "license_plate")
	r.id = t.create(v, nil)
	return r.with(values{"id": r.id, "license_plate": t.textValue(v.field("license_plate"))})
}

// formOf are the fields that an endpoint takes in its body, nil where it takes
// none. No model tells of them.
func (t *T) formOf(path string) *Resource {
	id := Field{Name: "id", Datatype: "int4", Primary: true}
	switch path {
	case "/vehicle/publishstart", "/vehicle/publishstop":
		return &Resource{Name: "publish", Fields: []*Field{&id}}
	case platePath:
		plate := *t.on("vehicle", "license_plate").field("license_plate")
		plate.Required, plate.Unique = true, true
		return &Resource{Name: "plate", Fields: []*Field{&id, &plate}}
	case "/authenticate/forgotpassword":
		return &Resource{Name: "forgot", Fields: []*Field{{Name: "username", Datatype: "varchar", Length: 64, Required: true}}}
	case "/changes":
		return &Resource{Name: "changes", Fields: []*Field{
			{Name: "webhook_url", Datatype: "varchar", Length: 2048, Required: true, Validation: "https"},
			{Name: "after", Datatype: "varchar", Required: true}, {Name: "resource", Datatype: "varchar", Length: 1000}, {Name: "wait", Datatype: "int4"},
		}}
	case "/backup/owner":
		return &Resource{Name: "backup", Fields: []*Field{{Name: "webhook_url", Datatype: "varchar", Length: 2048, Required: true, Validation: "https"}}}
	}
	return nil
}

// operation is what the description calls a method of a path.
func (t *T) operation(method, path string) *operation {
	o := &operation{method: method, path: path}
	switch o.resource = t.known(o.endpoint()[1:]); {
	case t.oneOf(path) != nil:
		o.resource, o.form = &Resource{Name: severalName, Fields: []*Field{{Name: severalName, Array: true, Required: true}}}, true
	case o.resource == nil:
		o.resource = t.formOf(path)
		o.form = o.resource != nil
	}
	return o
}

// severalName is the member of a body that holds many records.
const severalName = "records"

// oneOf is the resource whose records an operation writes many of; nil for others.
func (t *T) oneOf(path string) *Resource {
	name, many := strings.CutSuffix(path[1:], "/bulk")
	if !many {
		return nil
	}
	return t.known(name)
}

// oneOfMany is one record as it is sent among many.
func (t *T) oneOfMany(method string, r *Resource) values {
	if method == "PUT" {
		return values{"id": t.record(r)}
	}
	return t.valid(r)
}

// again is the token of a session beside the case's own.
func (t *T) again() string {
	token, err := t.login(t.Login)
	t.check(err == nil, "a second session", "a token", text(err))
	return token
}

// kinds are requests of every kind of operation, about records that do not exist; if the case was
// told which operation to ask, a valid one of that.
func (t *T) kinds() []request {
	if t.op != nil {
		return []request{t.right()}
	}
	name, absent := "/"+t.some().Name, "/"+t.some().Name+"/"+status(absentID)
	all := []request{
		{method: "GET", path: name}, {method: "GET", path: absent}, {method: "GET", path: "/model" + name},
		{method: "GET", path: "/util/environment", query: "username=conform"},
		{method: "POST", path: name, body: "{}"}, {method: "PUT", path: absent, body: "{}"}, {method: "DELETE", path: absent},
	}
	for i := range all {
		all[i].token = t.session()
	}
	return slices.DeleteFunc(all, func(r request) bool { return !t.can(r.method, r.path) || t.ReadOnly && r.method != "GET" })
}

// number is an id as JSON has it, a text where it is none.
func number(id string) any {
	if n, err := strconv.Atoi(id); err == nil && status(n) == id {
		return n
	}
	return id
}

// asked tells whether an exchange asked the operation.
func (o *operation) asked(x Exchange, base string) bool {
	target, query, _ := strings.Cut(strings.TrimPrefix(x.URL, base), "?")
	switch one := target != o.endpoint() || strings.HasPrefix("&"+query, "&id") || strings.Contains(query, "&id"); {
	case x.Method != o.method:
		return false
	case o.record() && o.method == "GET" && one != (o.path != o.endpoint()):
		return false
	default:
		return target == o.endpoint() || o.path != o.endpoint() && strings.HasPrefix(target, o.endpoint()+"/")
	}
}
