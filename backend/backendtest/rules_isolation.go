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
			t.needOther()
			id, own := t.isolated()
			t.notShared()
			t.refusal(t.send(t.otherToken, "GET", path(t.resource, id), ""), mapping.RecordNotFound, "id", status(id))
			for method, body := range map[string]string{"PUT": "{}", "DELETE": ""} {
				if own && t.can(method, "/"+t.resource.Name) {
					t.refusal(t.send(t.otherToken, method, path(t.resource, id), body), mapping.RecordNotFound, "id", status(id))
				}
			}
			t.get(t.resource, id)
		})),
		each(rule("isolation.lists", "A client (customer) sees only its own records in lists", hint, func(t *T) {
			t.needOther()
			id, _ := t.isolated()
			t.notShared()
			list := t.listOf(t.resource, t.get(t.resource, id).data()) + newestFirst
			p, err := t.ok(t.send(t.otherToken, "GET", list, "")).page()
			t.check(err == nil && !slices.Contains(idsOf(p.Data), id), "the other client's list", "without record "+status(id), text(idsOf(p.Data)))
		})),
		rule("isolation.references", "Another client's record does not exist as a related ID either: 404 Field: <x> value: <x> ID not found", hint, func(t *T) {
			t.needOther()
			r, f := t.choose("a reference to a record that can be made", func(r *Resource, f *Field) bool {
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

// independent tells whether a record can be made without any other, but for that
// which a field refers to.
func independent(r *Resource, but *Field) bool {
	return r.find(func(f *Field) bool { return f.Required && f.Reference != "" && (but == nil || f.Name != but.Name) }) == nil
}

func (t *T) needOther() {
	if t.otherToken == "" {
		t.needs("the login of another client (--other-username)")
	}
}

func (t *T) notShared() {
	if slices.Contains(t.Shared, t.resource.Name) {
		t.impossible("all clients see the same, as the mapping sheet says")
	}
}

// isolated is a record that the other client must not see, and whether it is
// the suite's own, so that nothing is lost where the other client can delete it.
func (t *T) isolated() (id int, own bool) {
	if id := t.record(t.resource); id == t.shared[t.resource.Name] {
		return id, true
	}
	rec := t.found(t.resource)
	if rec["is_system"] == 1.0 {
		t.impossible("only system records of %s were found, which every client sees", t.resource.Name)
	}
	return idOf(rec), false
}
