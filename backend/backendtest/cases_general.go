package backendtest

import (
	"strconv"
	"strings"

	"frontdesk/mapping"
)

func status(code int) string { return strconv.Itoa(code) }

// some is a resource that can be listed without a parent.
func (t *T) some() *Resource {
	r, _ := t.choose("GET", "a list of its own", func(r *Resource, f *Field) bool { return f.Primary && len(r.requires) == 0 })
	return r
}

// generalCases are the rows that hold for all methods.
func generalCases() []Case {
	const broken = "only a backend that breaks brings it about; the gateway's own tests break one"
	return []Case{
		notFromOutside(mapping.General, mapping.InternalError, broken),
		row(mapping.General, mapping.QueryRepeated, func(t *T) {
			for _, query := range []string{"page=1&page=1", "page=1&page=2", "page=&page", "page=1&p%61ge=2"} {
				t.everywhere(func(r request) request { return r.and(query) }, "page")
			}
		}),
		row(mapping.General, mapping.QueryUnsupported, func(t *T) {
			for _, query := range []string{"no_such_parameter=1", "no_such_parameter"} {
				t.everywhere(func(r request) request { return r.and(query) }, "no_such_parameter")
			}
		}),
		row(mapping.General, mapping.EndpointUnknown, func(t *T) {
			if t.told {
				t.noSuchItem()
				return
			}
			for _, path := range []string{"/no_such_endpoint", "/" + t.some().Name + "/", "/" + t.some().Name + "/1/2"} {
				t.refused(t.send(t.session(), "GET", path, ""), path)
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
				if !t.ReadOnly {
					t.refused(t.send(t.session(), method, "/no_such_endpoint", "{}"), "/no_such_endpoint")
				}
			}
		}),
		row(mapping.General, mapping.MethodUnsupported, func(t *T) {
			path := "/" + t.some().Name
			t.refused(t.send(t.session(), "OPTIONS", path, ""), "OPTIONS", path)
			t.refused(t.send(t.session(), "PATCH", path, "{}"), "PATCH", path)
			t.refused(t.send(t.session(), "POST", path+"/1", "{}"), "POST", path+"/1")
		}),
		notFromOutside(mapping.General, mapping.BackendUnavailable, broken),
		notFromOutside(mapping.General, mapping.BackendTimeout, broken),
		notFromOutside(mapping.General, mapping.BackendChanged, broken),
		row(mapping.General, mapping.NotLoggedIn, func(t *T) { t.everywhere(as("")) }),
		row(mapping.General, mapping.TokenInvalid, func(t *T) {
			for _, token := range []string{"00000000-0000-4000-8000-000000000000", "nonsense", t.staleToken()} {
				t.everywhere(as(token))
			}
		}),
		notFromOutside(mapping.General, mapping.TooManyRequests, "it would lock the login or the api_key out"),
		notFromOutside(mapping.General, mapping.RequestMalformed, "it takes a request that is no HTTP"),
		row(mapping.General, mapping.HeaderTooLarge, func(t *T) {
			t.everywhere(func(r request) request { r.headers = []string{"X-Long", letters(17 << 10)}; return r })
		}),
		row(mapping.General, mapping.EncodingUnsupported, func(t *T) {
			for _, r := range t.rights("POST", "PUT") {
				if r.headers = []string{"Content-Encoding", "gzip"}; r.text() == "" {
					r.body = "{}"
				}
				t.refused(t.ask(r), "gzip")
			}
		}),
		notFromOutside(mapping.General, mapping.BodyTooLarge, "server.body_limit is the operator's to choose"),
		notFromOutside(mapping.General, mapping.Overloaded, "it would take a crowd"),
		notFromOutside("GET /webhook", mapping.ResultTooLarge, "it would take all the room for results"),
		row(mapping.General, mapping.ParametersRequired, parametersRequired),
		row(mapping.General, mapping.PreconditionChanged, func(t *T) {
			for _, r := range t.rights("PUT", "DELETE") {
				r.headers = []string{"If-Match", `"another"`}
				t.refused(t.ask(r))
			}
		}),
		row(mapping.General, mapping.CursorGone, func(t *T) {
			for _, after := range []string{"", "nonsense", letters(82), letters(1000)} {
				if t.told && t.op.method == "POST" && after != "" {
					t.refused(t.ask(t.right().with(values{"after": after})))
					continue
				}
				t.refused(t.call("GET", "/changes?after="+after, ""))
			}
		}),
		row(mapping.General, mapping.IdempotencyInvalid, func(t *T) {
			r := t.rights("POST")[0]
			for _, key := range []string{letters(256), "with blank", "\u00e9"} {
				r.headers = []string{"Idempotency-Key", key}
				t.refused(t.ask(r))
			}
		}),
		row(mapping.General, mapping.IdempotencyReused, func(t *T) {
			r := t.rights("POST")[0]
			r.headers = []string{"Idempotency-Key", "conform-" + t.unique(20)}
			a := t.ask(r)
			t.check(a.status < 300, "the status", "that of success", status(a.status))
			r.body = " " + t.right().text()
			t.refused(t.ask(r))
		}),
		notFromOutside(mapping.General, mapping.IdempotencyInUse, "it depends on timing; idempotency.at_once holds what must come of it"),
	}
}

// everywhere sends a request of every kind of operation, changed so that it is refused.
func (t *T) everywhere(wrong func(request) request, args ...string) {
	for _, r := range t.kinds() {
		t.refused(t.ask(wrong(r)), args...)
	}
}

// as asks with a token.
func as(token string) func(request) request {
	return func(r request) request { r.token = token; return r }
}

// rights returns valid requests of these methods; if the case was told which operation to ask, one
// of that.
func (t *T) rights(methods ...string) (all []request) {
	if t.told {
		return []request{t.right()}
	}
	r := t.changeable()
	for _, method := range methods {
		item := "/{id}"
		if method == "POST" {
			item = ""
		}
		t.ofRecord(method, r, item)
		all = append(all, t.right())
	}
	return all
}

// noSuchItem replaces an id or a name in a path, so that no such path exists.
func (t *T) noSuchItem() {
	r := t.right()
	if t.op.path == t.op.endpoint() {
		t.impossible("%s names nothing in its path", t.op.path)
	}
	r.path = r.path[:strings.LastIndexByte(r.path, '/')] + "/%31"
	t.refused(t.ask(r), r.path)
}

// parametersRequired leaves out the query parameters that an endpoint needs, or sends them empty.
func parametersRequired(t *T) {
	if !t.told && t.c.scope == mapping.General {
		t.op = t.operation("GET", "/util/environment")
	}
	r := t.right()
	if t.op.record() { // in the query it can be left empty
		r.path = t.op.endpoint()
		for _, query := range []string{"id=", "id", "fields=id&id"} {
			r.query = query
			t.refused(t.ask(r), "id")
		}
		return
	}
	var names []string
	for _, pair := range strings.Split(r.query, "&") {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			names = append(names, name)
		}
	}
	for _, query := range []string{"", strings.Join(names, "=&") + "="} {
		r.query = query
		t.refused(t.ask(r), names...)
	}
	if len(names) > 1 { // those that are there are not asked for
		last := len(names) - 1
		r.query = names[last] + "=x"
		t.refused(t.ask(r), names[:last]...)
	}
}

// path is that of one record.
func path(r *Resource, id int) string { return "/" + r.Name + "/" + strconv.Itoa(id) }

// changeable is a resource whose records can be made, changed and deleted.
func (t *T) changeable() *Resource {
	r := t.findChangeable(func(*Resource) bool { return true })
	if r == nil {
		t.needs("an api_key that may call POST, GET, PUT and DELETE of a resource")
	}
	return r
}

func (t *T) findChangeable(suits func(r *Resource) bool) *Resource {
	for _, r := range t.resources {
		if t.can("POST", "/"+r.Name) && t.can("PUT", "/"+r.Name) && t.can("DELETE", "/"+r.Name) && t.can("GET", "/"+r.Name) && t.cannotMake(r) == nil && t.textField(r) != nil && suits(r) {
			return r
		}
	}
	return nil
}

// textField is a field of free text that may be written at will.
func (t *T) textField(r *Resource) *Field {
	return r.find(func(f *Field) bool {
		return (f.Datatype == "varchar" || f.Datatype == "text") && f.writable() && !f.Unique && f.Validation == "" && (f.Length == 0 || f.Length >= 20) && f.Name != "article_number"
	})
}

// keep registers a new record for deletion at the end of the run.
func (t *T) keep(r *Resource, a answer) int {
	id := idOf(a.data())
	t.made = append(t.made, madeRecord{r.Name, id})
	return id
}
