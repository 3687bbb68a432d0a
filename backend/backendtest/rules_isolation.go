package backendtest

import (
	"slices"

	"frontdesk/mapping"
)

// isolationCases are about what another client sees.
func isolationCases() []Case {
	const hint = "Every statement of the driver must be bound to the client of the session, look-ups of references included."
	return []Case{
		each(rule("isolation.records", "Another client's record does not exist: 404 Field: id value: <x> not found, whatever is asked", hint, func(t *T) {
			id, own := t.isolated()
			gone := func(method, query, body string, headers ...string) {
				if path := "/" + t.resource.Name; method == "GET" || own && t.can(method, path) {
					t.refusal(t.send(t.otherToken, method, path+query, body, headers...), mapping.RecordNotFound, "id", status(id))
				}
			}
			one := "/" + status(id)
			gone("GET", one, "")
			gone("GET", "?fields=id&id="+status(id), "")
			gone("PUT", one, "{}")
			gone("PUT", one, "{}", "If-Match", `"another"`)
			gone("PUT", "", values{"id": id}.json())
			gone("DELETE", one, "")
			t.get(t.resource, id)
		})),
		each(rule("isolation.lists", "A client (customer) sees only its own records in lists", hint, func(t *T) {
			id, _ := t.isolated()
			list := t.listOf(t.resource, t.get(t.resource, id).data()) + newestFirst
			mine := t.list(list)
			var theirs page
			t.read(t.send(t.otherToken, "GET", list, ""), &theirs)
			t.check(mine.find(id) != nil, "the list", "with record "+status(id), text(idsOf(mine.Data)))
			for _, rec := range theirs.Data { // it may have this client's ID if each client has its own IDs
				t.check(rec["is_system"] == 1.0 || text(rec) != text(mine.find(idOf(rec))), "the other client's list", "no record of this one", text(rec))
			}
		})),
		rule("isolation.references", "Another client's record does not exist as a related ID either: 404 Field: <x> value: <x> ID not found", hint, func(t *T) {
			t.others()
			r, f := t.op.resource, t.choose("a reference to a record that can be made", func(r *Resource, f *Field) bool {
				target := t.known(f.Reference)
				return f.writable() && !f.Array && target != nil && !slices.Contains(t.Shared, target.Name) && t.can("POST", "/"+f.Reference) && t.cannotMake(target) == nil && independent(target, nil) && independent(r, f)
			})
			t.allowed()
			theirs := t.create(t.known(f.Reference), nil)
			a := t.send(t.otherToken, "POST", "/"+r.Name, t.valid(r).with(values{f.Name: theirs}).json())
			t.refusal(a, mapping.RelatedIDNotFound, f.Name, status(theirs))
		}, anyCreate),
	}
}

// independent reports whether a record can be made without any other except the one that
// a field refers to.
func independent(r *Resource, but *Field) bool {
	return r.find(func(f *Field) bool { return f.Required && f.Reference != "" && (but == nil || f.Name != but.Name) }) == nil
}

func (t *T) others() {
	if t.otherToken == "" {
		t.needs("the login of another client (--other-username)")
	}
}

// isolated is a record that the other client must not see, and whether it is the
// suite's own, so that nothing is lost if the other client can delete it.
func (t *T) isolated() (id int, own bool) {
	t.others()
	id = t.record(t.resource)
	own = id == t.shared[t.resource.Name]
	if !own && t.found(t.resource)["is_system"] == 1.0 {
		t.impossible("only system records of %s were found, which every client sees", t.resource.Name)
	}
	if slices.Contains(t.Shared, t.resource.Name) {
		t.impossible("all clients see the same, as the mapping sheet says")
	}
	return id, own
}
