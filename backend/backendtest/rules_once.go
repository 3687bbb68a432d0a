package backendtest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"

	"frontdesk/mapping"
)

// onceCases are about ETags and idempotency keys.
func onceCases() []Case {
	const etag = "The driver's Version of a record must change with every change, and be the same for the same state; the update must compare it in the database."
	const once = "The driver must remember the answer in the same transaction as the record, or a crash in between makes it twice."
	return []Case{
		rule("etag.strong", "One record carries a strong ETag, the same for the same state, another after any change", etag, strongETag, anyGet, anyUpdate),
		rule("etag.if_none_match", "If-None-Match that holds: 304 without a body", etag, func(t *T) {
			r := t.right()
			r.headers = []string{"If-None-Match", t.tag(t.ask(r))}
			t.equal("the body", "", string(t.status(t.ask(r), http.StatusNotModified).body))
			r.headers[1] = `"another"`
			t.ok(t.ask(r))
		}, anyGet),
		rule("etag.if_match", "If-Match that holds lets PUT and DELETE through; one that does not: 412 Record has been changed, and nothing is changed", etag, func(t *T) {
			r, f, id := t.changeable()
			tag := t.tag(t.get(r, id))
			next := t.put(r, id, values{f: "B"}, "If-Match", tag).header.Get("ETag")
			t.refusal(t.call("PUT", path(r, id), values{f: "C"}.json(), "If-Match", tag), mapping.PreconditionChanged)
			t.refusal(t.call("DELETE", path(r, id), "", "If-Match", tag), mapping.PreconditionChanged)
			t.equal(f, "B", t.get(r, id).data()[f])
			t.ok(t.call("DELETE", path(r, id), "", "If-Match", next))
		}, anyUpdate),
		rule("etag.one_wins", "Of several updates at once with the same If-Match one is done, the others are 412", etag, func(t *T) {
			r, f, id := t.changeable()
			won := 0
			for _, a := range t.together(8, "PUT", path(r, id), func(i int) string { return values{f: fmt.Sprint("by ", i)}.json() }, "If-Match", t.tag(t.get(r, id))) {
				if a.status == http.StatusOK {
					won++
					continue
				}
				t.refusal(a, mapping.PreconditionChanged)
			}
			t.equal("updates that were done", 1, won)
		}, anyUpdate),
		rule("idempotency.replay", "The same Idempotency-Key and body replay the first answer with Idempotent-Replayed: true", once, func(t *T) {
			r := t.keyed()
			first, again := t.status(t.ask(r), http.StatusCreated), t.status(t.ask(r), http.StatusCreated)
			t.equal("Idempotent-Replayed at first", "", first.header.Get("Idempotent-Replayed"))
			t.equal("Idempotent-Replayed", "true", again.header.Get("Idempotent-Replayed"))
			t.equal("the answer", string(first.body), string(again.body))
			t.equal("Location", first.header.Get("Location"), again.header.Get("Location"))
		}, anyCreate),
		rule("idempotency.errors_not_kept", "Only 2xx answers are kept: after an error the same key makes the record", once, func(t *T) {
			r := t.keyed()
			t.refusal(t.ask(r.with(values{"no_such_field": 1})), mapping.FieldNotInModel, "no_such_field")
			t.status(t.ask(r), http.StatusCreated)
		}, anyCreate),
		rule("idempotency.at_once", "Two at once under one key make one record: the second is a replay, or 409 Idempotency-Key is in use", once, func(t *T) {
			r, made := t.keyed(), map[int]bool{}
			for _, a := range t.together(4, r.method, r.path, func(int) string { return r.text() }, r.headers...) {
				if a.status == http.StatusCreated {
					made[t.keep(t.op.resource, a)] = true
					continue
				}
				t.refusal(a, mapping.IdempotencyInUse)
			}
			t.equal("records that were made", 1, len(made))
		}, anyCreate),
	}
}

// strongETag reads a record twice, and changes one of its own.
func strongETag(t *T) {
	if t.op.method == "GET" {
		r := t.right()
		t.equal("ETag of the same state", t.tag(t.ask(r)), t.tag(t.ask(r)))
		return
	}
	r, f, _ := t.changeable()
	made, id := t.createAnswer(r, nil)
	first := t.tag(t.get(r, id))
	t.equal("ETag of the answer to POST", first, t.tag(made))
	changed := t.tag(t.put(r, id, values{f: "B"}))
	t.check(changed != first, "ETag after a change", "another one", changed)
	t.equal("ETag of the answer to PUT", t.tag(t.get(r, id)), changed)
	t.equal("ETag after a PUT of nothing", changed, t.tag(t.put(r, id, values{})))
}

// changeable is a record of its own for the case, and a free text of it.
func (t *T) changeable() (r *Resource, text string, id int) {
	f := t.textField(t.op.resource)
	if f == nil {
		t.unfit("no resource that may be called has free text")
	}
	t.allowed()
	return t.op.resource, f.Name, t.create(t.op.resource, nil)
}

var strongForm = regexp.MustCompile(`^"[^"]+"$`)

// tag is the strong ETag of a record.
func (t *T) tag(a answer) string {
	tag := a.header.Get("ETag")
	t.check(strongForm.MatchString(tag), "ETag", `"…"`, tag)
	return tag
}

// keyed is a valid request under a key of its own.
func (t *T) keyed() request {
	r := t.right()
	r.headers = []string{"Idempotency-Key", "conform-" + t.unique(20)}
	return r
}

// together sends requests at once and returns their answers.
func (t *T) together(n int, method, path string, body func(i int) string, headers ...string) (answers []answer) {
	token := t.session()
	t.last = t.operationOf(method, path)
	type sent struct {
		answer
		Exchange
		error
	}
	results := make(chan sent, n)
	for i := range n {
		go func() {
			a, x, err := t.do(token, method, path, body(i), headers...)
			results <- sent{a, x, err}
		}()
	}
	var failed error
	for range n {
		s := <-results
		t.exchanges, answers = append(t.exchanges, s.Exchange), append(answers, s.answer)
		failed = cmp.Or(failed, s.error)
	}
	t.check(failed == nil, "answers", "one to each request", fmt.Sprint(failed))
	return answers
}
