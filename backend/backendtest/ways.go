package backendtest

import (
	"strings"

	"frontdesk/mapping"
)

// change makes a request wrong.
type change func(r request) request

// wrong sends a valid request with each of the changes; says is what the message of the row names.
func wrong(says []string, changes ...change) way {
	return func(t *T) {
		r := t.right()
		for _, change := range changes {
			t.refused(t.ask(change(r)), says...)
		}
	}
}

// bare sends a request of the operation with nothing but the changes.
func bare(says []string, changes ...change) way {
	return func(t *T) {
		t.allowed()
		for _, change := range changes {
			t.refused(t.ask(change(request{method: t.op.method, path: t.op.path, token: t.session()})), says...)
		}
	}
}

// notFromOutside is the way of a row that no request can bring about.
func notFromOutside(why string) way { return func(t *T) { t.impossible("%s", why) } }

func says(args ...string) []string { return args }

// changesTo are a change for each value.
func changesTo[V any](all []V, to func(r *request, v V)) (changes []change) {
	for _, v := range all {
		changes = append(changes, func(r request) request { to(&r, v); return r })
	}
	return changes
}

func queries(all ...string) []change {
	return changesTo(all, func(r *request, v string) { *r = r.and(v) })
}
func bodies(all ...string) []change { return changesTo(all, func(r *request, v string) { r.body = v }) }
func tokens(all ...string) []change {
	return changesTo(all, func(r *request, v string) { r.token = v })
}
func fields(all ...values) []change {
	return changesTo(all, func(r *request, v values) { *r = r.with(v) })
}
func headers(name string, all ...string) []change {
	return changesTo(all, func(r *request, v string) { r.headers = []string{name, v} })
}

// noSuchPath requests paths that do not exist.
func noSuchPath(t *T) {
	r := t.right()
	paths := []string{"/no_such_endpoint", t.op.endpoint() + "/", t.op.endpoint() + "/1/2"}
	if t.op.path != t.op.endpoint() {
		paths = append(paths, r.path[:strings.LastIndexByte(r.path, '/')]+"/%31")
	}
	for _, r.path = range paths {
		t.refused(t.ask(r), r.path)
	}
}

// noSuchMethod uses methods that the endpoint does not have.
func noSuchMethod(t *T) {
	r, methods := t.right(), []string{"OPTIONS", "PATCH"}
	if t.op.path != t.op.endpoint() {
		r.path, methods = t.op.endpoint()+"/1", []string{"POST"}
	}
	for _, r.method = range methods {
		t.refused(t.ask(r), r.method, r.path)
	}
}

// parametersRequired leaves out the query parameters that an endpoint needs, or sends them empty.
func parametersRequired(t *T) {
	r := t.right()
	if t.op.record() { // the id can be left empty in the query
		r.path = t.op.endpoint()
		for _, r.query = range []string{"id=", "id", "fields=id&id"} {
			t.refused(t.ask(r), "id")
		}
		return
	}
	var names []string
	for pair := range strings.SplitSeq(r.query, "&") {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			names = append(names, name)
		}
	}
	for _, r.query = range []string{"", strings.Join(names, "=&") + "="} {
		t.refused(t.ask(r), names...)
	}
	if len(names) > 1 { // the message names only the missing ones
		last := len(names) - 1
		r.query = names[last] + "=x"
		t.refused(t.ask(r), names[:last]...)
	}
}

// cursorGone requests changes after texts that are no cursors.
func cursorGone(t *T) {
	r := t.right()
	for _, after := range []string{"nonsense", letters(82), letters(1000)} {
		if t.op.method == "POST" {
			t.refused(t.ask(r.with(values{"after": after})))
		} else {
			t.refused(t.ask(r.and("after=" + after)))
		}
	}
	if t.op.method == "GET" {
		t.refused(t.ask(r.and("after=")))
	}
}

func emptyBody(t *T) {
	r := t.right()
	r.fields = nil
	if t.op.form { // the query may have all fields
		r.query = ""
	}
	requests := []request{r}
	if t.op.of() == mapping.OpUpdate && t.op.record() {
		byQuery := r
		byQuery.path, byQuery.query = t.op.endpoint(), "id="+status(r.id)
		requests = append(requests, byQuery)
	}
	for _, r := range requests {
		for _, r.body = range []string{"", " \t\r\n"} {
			t.refused(t.ask(r))
		}
	}
}

// notJSON are bodies that are no JSON object.
var notJSON = []string{
	`{`, `{"is_blocked":`, `[]`, `[{}]`, `"text"`, `null`, `{"is_blocked":0,"is_blocked":0}`, `{} {}`, "{\"a\":\"\xff\"}",
}

func notInModel(t *T) {
	const name = "no_such_field"
	switch {
	case !t.op.record() || t.op.method != "GET":
		wrong(says(name), fields(values{name: 1})...)(t)
	case t.op.of() == mapping.OpList:
		queried := []string{"fields=" + name, "fields=id," + name, "sort=-" + name}
		if f := t.op.resource.sortsBy(); f != nil {
			queried = append(queried, "sort="+f.Name+",-"+name)
		}
		wrong(says(name), queries(queried...)...)(t)
	default:
		wrong(says(name), queries("fields="+name, "fields=id,"+name)...)(t)
		r := t.right()
		r.path, r.query = t.op.endpoint(), "id="+status(r.id)+"&fields="+name
		t.refused(t.ask(r), name)
	}
}

// idInvalid names records by texts that are not an ID, and by two IDs.
func idInvalid(t *T) {
	r := t.right()
	for _, id := range []string{"0", "-1", "01", "2147483648", "abc"} {
		for _, named := range t.named(r, id) {
			t.refused(t.ask(named))
		}
	}
	if !t.op.record() {
		return
	}
	t.refused(t.ask(r.and("id=" + status(absentID))))
	if t.op.of() == mapping.OpUpdate {
		t.refused(t.ask(r.with(values{"id": absentID})))
		r.path = t.op.endpoint()
		t.refused(t.ask(r.with(values{"id": status(r.id)})))
	}
}

// idMissing names no record.
func idMissing(t *T) {
	r := t.right().without("id")
	r.path, r.query = t.op.endpoint(), ""
	t.refused(t.ask(r))
	if t.op.record() {
		t.refused(t.ask(r.and("id=")))
	}
}

// notFound names records that do not exist.
func notFound(t *T) {
	r, field, absent := t.right(), "id", status(absentID)
	switch t.op.path {
	case "/model/{name}":
		field, absent = "name", "no-such-name"
		r.path = "/model/" + absent
	case "/empoyee/email":
		field, absent = "username", "conform-nobody"
		r.query = "username=" + absent
	case "/webhook", "/webhook/download", "/changes":
		absent = absentJob
	default:
		for _, named := range t.named(r, absent) {
			t.refused(t.ask(named), field, absent)
		}
		return
	}
	t.refused(t.ask(r), field, absent)
}
