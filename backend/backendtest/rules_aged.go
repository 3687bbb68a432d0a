package backendtest

import (
	"strconv"
	"time"
)

// agedCases are the rules of lists that come from a copy, which may be older than the service.
func agedCases() []Case {
	const hint = "What is written through the gateway goes into the copy with the write, and is asked for again before the copy is called fresh."
	return []Case{
		each(rule("list.written", "What was written is in lists at once, as it is answered by itself", hint, written)),
		each(rule("copy.age", "A list from a copy says in Age how many seconds old it is; one record is from the service, and says nothing of the kind", hint, func(t *T) {
			rec, list := t.inList(t.fresh)
			t.age(t.ok(t.call("GET", list, "")))
			t.fromService(t.get(t.resource, idOf(rec)))
		})),
		each(rule("copy.asked", "With Cache-Control: no-cache, or a max-age that the copy is older than, the service is asked before the list is answered", hint, func(t *T) {
			_, list := t.inList(t.fresh)
			t.age(t.ok(t.call("GET", list, "")))
			for _, wish := range []string{"no-cache", "max-age=0"} {
				began := time.Now()
				age := t.age(t.ok(t.call("GET", list, "", "Cache-Control", wish)))
				most := int(time.Since(began)/time.Second) + 1
				t.check(age <= most, "Age of a list that was asked for with "+wish, "at most "+status(most), status(age))
			}
			const hour = 3600
			age := t.age(t.ok(t.call("GET", list, "", "Cache-Control", "max-age="+status(hour))))
			t.check(age <= hour, "Age of a list that may be an hour old", "at most "+status(hour), status(age))
		})),
		each(rule("copy.stale_if_error", "Cache-Control: stale-if-error asks for the copy's record only while the service is away: else it is the service's, and one that is not there is not found", hint, func(t *T) {
			rec, list := t.inList(t.fresh)
			t.age(t.ok(t.call("GET", list, "")))
			a := t.ok(t.call("GET", path(t.resource, idOf(rec)), "", "Cache-Control", "stale-if-error=86400"))
			t.fromService(a)
			t.equal("the record", t.get(t.resource, idOf(rec)).data(), a.data())
			t.status(t.call("GET", path(t.resource, absentID), "", "Cache-Control", "stale-if-error=86400"), 404)
		})),
	}
}

// age is how many seconds old a list is.
func (t *T) age(list answer) int {
	header := list.header.Get("Age")
	if header == "" {
		t.impossible("lists are the administration's own: they have no Age")
	}
	age, err := strconv.Atoi(header)
	t.check(err == nil && age >= 0, "Age", "whole seconds", header)
	return age
}

// fromService asserts that a record is not from a copy.
func (t *T) fromService(one answer) {
	t.equal("Age of one record", "", one.header.Get("Age"))
	t.equal("Cache-Status of one record", "", one.header.Get("Cache-Status"))
}

// written follows a record through lists.
func written(t *T) {
	r, id := t.resource, t.fresh()
	list := t.listOf(r, t.get(r, id).data()) + newestFirst
	listed := func() map[string]any { return t.list(list).find(id) }
	asAnswered := func(what string) {
		rec, inList := t.get(r, id).data(), listed()
		for _, f := range r.Fields {
			if f.scalar() {
				t.equal(described(r, f)+" in the list, "+what, rec[f.Name], inList[f.Name])
			}
		}
	}
	asAnswered("once it was made")
	if f := t.textField(r); f != nil && t.can("PUT", "/"+r.Name) {
		t.put(r, id, values{f.Name: t.unique(10)})
		asAnswered("once it was changed")
	}
	t.ok(t.call("DELETE", path(r, id), ""))
	t.check(listed() == nil, "the list once the record was deleted", "without record "+status(id), "with it")
}
