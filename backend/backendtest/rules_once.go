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
		rule("etag.strong", "One record carries a strong ETag, the same for the same state, another after any change", etag, func(t *T) {
			r := t.some()
			form := regexp.MustCompile(`^"[^"]+"$`)
			if t.ReadOnly || t.findChangeable(func(*Resource) bool { return true }) == nil {
				id := t.record(r)
				first := t.get(r, id).header.Get("ETag")
				t.check(form.MatchString(first), "ETag", `"…"`, first)
				t.equal("ETag of the same state", first, t.get(r, id).header.Get("ETag"))
				return
			}
			r = t.changeable()
			made, id := t.createAnswer(r, nil)
			first := t.get(r, id).header.Get("ETag")
			t.check(form.MatchString(first), "ETag", `"…"`, first)
			t.equal("ETag of the answer to POST", first, made.header.Get("ETag"))
			changed := t.put(r, id, values{t.textField(r).Name: "B"}).header.Get("ETag")
			t.check(changed != first, "ETag after a change", "another one", changed)
			t.equal("ETag of the answer to PUT", t.get(r, id).header.Get("ETag"), changed)
			t.equal("ETag after a PUT of nothing", changed, t.put(r, id, values{}).header.Get("ETag"))
		}),
		rule("etag.if_none_match", "If-None-Match that holds: 304 without a body", etag, func(t *T) {
			r := t.some()
			id := t.record(r)
			tag := t.get(r, id).header.Get("ETag")
			t.check(tag != "", "ETag", "one", "none")
			a := t.status(t.call("GET", path(r, id), "", "If-None-Match", tag), http.StatusNotModified)
			t.equal("the body", "", string(a.body))
			t.ok(t.call("GET", path(r, id), "", "If-None-Match", `"another"`))
		}),
		rule("etag.if_match", "If-Match that holds lets PUT and DELETE through; one that does not: 412 Record has been changed, and nothing is changed", etag, func(t *T) {
			r := t.changeable()
			f := t.textField(r).Name
			id := t.create(r, nil)
			tag := t.get(r, id).header.Get("ETag")
			t.check(tag != "", "ETag", "one", "none")
			next := t.put(r, id, values{f: "B"}, "If-Match", tag).header.Get("ETag")
			t.refusal(t.call("PUT", path(r, id), values{f: "C"}.json(), "If-Match", tag), mapping.PreconditionChanged)
			t.refusal(t.call("DELETE", path(r, id), "", "If-Match", tag), mapping.PreconditionChanged)
			t.equal(f, "B", t.get(r, id).data()[f])
			t.ok(t.call("DELETE", path(r, id), "", "If-Match", next))
		}),
		rule("etag.one_wins", "Of several updates at once with the same If-Match one is done, the others are 412", etag, oneWins),
		rule("idempotency.replay", "The same Idempotency-Key and body replay the first answer with Idempotent-Replayed: true", once, func(t *T) {
			r := t.changeable()
			key, body := "conform-"+t.unique(20), t.valid(r).json()
			first := t.onceCreated(r, key, body)
			t.equal("Idempotent-Replayed at first", "", first.header.Get("Idempotent-Replayed"))
			again := t.status(t.call("POST", "/"+r.Name, body, "Idempotency-Key", key), http.StatusCreated)
			if idOf(again.data()) != idOf(first.data()) {
				t.keep(r, again)
			}
			t.equal("Idempotent-Replayed", "true", again.header.Get("Idempotent-Replayed"))
			t.equal("the answer", string(first.body), string(again.body))
			t.equal("Location", first.header.Get("Location"), again.header.Get("Location"))
		}),
		rule("idempotency.errors_not_kept", "Only 2xx answers are kept: after an error the same key makes the record", once, func(t *T) {
			r := t.changeable()
			key := "conform-" + t.unique(20)
			t.status(t.call("POST", "/"+r.Name, `{"no_such_field":1}`, "Idempotency-Key", key), http.StatusForbidden)
			t.onceCreated(r, key, t.valid(r).json())
		}),
		rule("idempotency.at_once", "Two at once under one key make one record: the second is a replay, or 409 Idempotency-Key is in use", once, atOnce),
	}
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

func oneWins(t *T) {
	r := t.changeable()
	f := t.textField(r).Name
	id := t.create(r, nil)
	tag := t.get(r, id).header.Get("ETag")
	t.check(tag != "", "ETag", "one", "none")
	won := 0
	for _, a := range t.together(8, "PUT", path(r, id), func(i int) string { return values{f: fmt.Sprint("by ", i)}.json() }, "If-Match", tag) {
		if a.status == http.StatusOK {
			won++
			continue
		}
		t.refusal(a, mapping.PreconditionChanged)
	}
	t.equal("updates that were done", 1, won)
}

func atOnce(t *T) {
	r := t.changeable()
	key, body := "conform-"+t.unique(20), t.valid(r).json()
	made := map[int]bool{}
	for _, a := range t.together(4, "POST", "/"+r.Name, func(int) string { return body }, "Idempotency-Key", key) {
		if a.status == http.StatusCreated {
			made[t.keep(r, a)] = true
			continue
		}
		t.refusal(a, mapping.IdempotencyInUse)
	}
	t.equal("records that were made", 1, len(made))
}

// onceCreated makes a record under a key.
func (t *T) onceCreated(r *Resource, key, body string) answer {
	a := t.status(t.call("POST", "/"+r.Name, body, "Idempotency-Key", key), http.StatusCreated)
	t.keep(r, a)
	return a
}
