package backendtest

import (
	"net/http"
	"strconv"

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
			t.refused(t.call("GET", "/"+t.some().Name+"?page=1&page=1", ""), "page")
		}),
		row(mapping.General, mapping.QueryUnsupported, func(t *T) {
			t.refused(t.call("GET", "/"+t.some().Name+"?no_such_parameter=1", ""), "no_such_parameter")
		}),
		row(mapping.General, mapping.EndpointUnknown, func(t *T) {
			for _, path := range []string{"/no_such_endpoint", "/" + t.some().Name + "/", "/" + t.some().Name + "/1/2"} {
				t.refused(t.send(t.session(), "GET", path, ""), path)
			}
		}),
		row(mapping.General, mapping.MethodUnsupported, func(t *T) {
			path := "/" + t.some().Name
			t.refused(t.send(t.session(), "OPTIONS", path, ""), "OPTIONS", path)
			t.refused(t.send(t.session(), "PATCH", path, "{}"), "PATCH", path)
		}),
		notFromOutside(mapping.General, mapping.BackendUnavailable, broken),
		notFromOutside(mapping.General, mapping.BackendTimeout, broken),
		row(mapping.General, mapping.NotLoggedIn, func(t *T) { t.everywhere("") }),
		row(mapping.General, mapping.TokenInvalid, func(t *T) { t.everywhere("00000000-0000-4000-8000-000000000000") }),
		notFromOutside(mapping.General, mapping.TooManyRequests, "it would lock the login or the api_key out"),
		notFromOutside(mapping.General, mapping.RequestMalformed, "it takes a request that is no HTTP"),
		row(mapping.General, mapping.HeaderTooLarge, func(t *T) {
			t.refused(t.send(t.session(), "GET", "/"+t.some().Name, "", "X-Long", letters(17<<10)))
		}),
		notFromOutside(mapping.General, mapping.BodyTooLarge, "server.body_limit is the operator's to choose"),
		notFromOutside(mapping.General, mapping.Overloaded, "it would take a crowd"),
		row(mapping.General, mapping.ParametersRequired, func(t *T) {
			t.refused(t.call("GET", "/util/environment", ""), "username")
		}),
		row(mapping.General, mapping.PreconditionChanged, func(t *T) {
			r := t.changeable()
			id := t.record(r)
			t.refused(t.call("PUT", path(r, id), "{}", "If-Match", `"another"`))
			t.refused(t.call("DELETE", path(r, id), "", "If-Match", `"another"`))
		}),
		row(mapping.General, mapping.IdempotencyInvalid, func(t *T) {
			r := t.changeable()
			for _, key := range []string{letters(256), "with blank"} {
				t.refused(t.call("POST", "/"+r.Name, t.valid(r).json(), "Idempotency-Key", key))
			}
		}),
		row(mapping.General, mapping.IdempotencyReused, func(t *T) {
			r := t.changeable()
			key := "conform-" + t.unique(20)
			t.onceCreated(r, key, t.valid(r).json())
			t.refused(t.call("POST", "/"+r.Name, " "+t.valid(r).json(), "Idempotency-Key", key))
		}),
		notFromOutside(mapping.General, mapping.IdempotencyInUse, "it depends on timing; idempotency.at_once holds what must come of it"),
	}
}

// everywhere asks every kind of operation with a token that is none.
func (t *T) everywhere(token string) {
	r := t.some()
	asks := []struct{ method, path string }{{"GET", "/" + r.Name}, {"GET", "/" + r.Name + "/1"}, {"GET", "/model/" + r.Name}, {"GET", "/util/environment"}}
	if !t.ReadOnly {
		asks = append(asks, struct{ method, path string }{"POST", "/" + r.Name}, struct{ method, path string }{"PUT", "/" + r.Name + "/1"}, struct{ method, path string }{"DELETE", "/" + r.Name + "/1"})
	}
	for _, ask := range asks {
		t.refused(t.send(token, ask.method, ask.path, ""))
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
	for i := range r.Fields {
		f := &r.Fields[i]
		if (f.Datatype == "varchar" || f.Datatype == "text") && f.writable() && !f.Unique && f.Validation == "" && (f.Length == 0 || f.Length >= 20) && f.Name != "article_number" {
			return f
		}
	}
	return nil
}

// onceCreated makes a record under a key.
func (t *T) onceCreated(r *Resource, key, body string) answer {
	a := t.status(t.call("POST", "/"+r.Name, body, "Idempotency-Key", key), http.StatusCreated)
	t.keep(r, a)
	return a
}

// keep has a record that was made deleted when the run ends.
func (t *T) keep(r *Resource, a answer) int {
	id := idOf(a.data())
	t.made = append(t.made, madeRecord{r.Name, id})
	return id
}
