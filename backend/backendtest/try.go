package backendtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// T is a case that is running.
type T struct {
	*suite
	c         Case
	resource  *Resource  // that it runs on, where it runs on each
	op        *operation // that it asks; nil for those that it chooses
	told      bool       // which one to ask
	anew      bool       // about a record of its own
	element   string     // the array element that it is about, orderlines[0]
	exchanges []Exchange
	refusals  []Refusal
	asserted  int
}

// outcome ends a case at once, wherever it is, as FailNow ends a test.
type outcome struct {
	status                Status
	reason, expected, got string
}

// keyThat begins what a case needs that the api_key may not call.
const keyThat = "an api_key that may call "

// ended is how a case ended, from what it panicked with.
func (t *T) ended(panicked any) outcome {
	switch o := panicked.(type) {
	case outcome:
		if missing, ok := strings.CutPrefix(o.reason, keyThat); ok && o.status == Needs && t.AllowsAll {
			return outcome{status: Impossible, reason: "there is no " + missing}
		}
		return o
	case nil:
	default:
		return outcome{status: Failed, reason: "the case stumbled over an answer", expected: "an answer of the documented shape", got: fmt.Sprint(panicked)}
	}
	if t.asserted == 0 {
		return outcome{status: Failed, reason: "the case asserted nothing", expected: "an assertion", got: "none"}
	}
	return outcome{status: Passed}
}

func (t *T) impossible(format string, args ...any) {
	panic(outcome{status: Impossible, reason: fmt.Sprintf(format, args...)})
}

func (t *T) needs(format string, args ...any) {
	panic(outcome{status: Needs, reason: fmt.Sprintf(format, args...)})
}

func (t *T) fail(what, expected, got string) {
	panic(outcome{status: Failed, reason: what, expected: expected, got: shorten(got)})
}

// check asserts a condition.
func (t *T) check(ok bool, what, expected, got string) {
	t.asserted++
	if !ok {
		t.fail(what, expected, got)
	}
}

// equal asserts that two values are the same JSON.
func (t *T) equal(what string, want, got any) {
	a, b := text(want), text(got)
	t.check(a == b || reflect.DeepEqual(want, got), what, a, b)
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// send sends a request whatever the api_key may call, with a token or none.
func (t *T) send(token, method, path, body string, headers ...string) answer {
	if t.ReadOnly && method != http.MethodGet {
		t.needs("write permission (without --read-only)")
	}
	if name, _, item := strings.Cut(path[1:], "/"); item && method == http.MethodGet {
		if r := t.known(name); r != nil && r.listed {
			t.impossible("the records of %s are in lists alone", name)
		}
	}
	a, x, err := t.do(token, method, path, body, headers...)
	t.exchanges = append(t.exchanges, x)
	if err != nil {
		t.fail("there was no answer", "an answer", err.Error())
	}
	return a
}

// call sends a request in the session of the login.
func (t *T) call(method, path, body string, headers ...string) answer {
	if !t.can(method, path) {
		t.needs("an api_key that may call %s %s", method, t.endpoint(path))
	}
	return t.send(t.session(), method, path, body, headers...)
}

// endpoint is what an allowlist calls a path.
func (t *T) endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if first, item, _ := strings.Cut(path[1:], "/"); item != "" && item[0] >= '0' && item[0] <= '9' {
		return "/" + first
	}
	return path
}

// get reads a record, which must be there.
func (t *T) get(r *Resource, id int) answer {
	return t.ok(t.call("GET", fmt.Sprintf("/%s/%d", r.Name, id), ""))
}

// put changes a record, which must be accepted.
func (t *T) put(r *Resource, id int, change values, headers ...string) answer {
	return t.ok(t.call("PUT", fmt.Sprintf("/%s/%d", r.Name, id), change.json(), headers...))
}

// list reads a page of a list.
func (t *T) list(path string) page {
	a := t.ok(t.call("GET", path, ""))
	p, err := a.page()
	t.check(err == nil && p.Data != nil, "GET "+path, `{"data": [records], "page", "page_size", "next"}`, string(a.body))
	return p
}

func (t *T) ok(a answer) answer { return t.status(a, http.StatusOK) }

func (t *T) status(a answer, want int) answer {
	t.check(a.status == want, "the status", fmt.Sprint(want), fmt.Sprintf("%d %s", a.status, a.body))
	return a
}

// refused asserts that an answer is the case's own row.
func (t *T) refused(a answer, args ...string) { t.refusal(a, t.scopes(), t.c.reason, args...) }

// scopes are where the case's own row is worded.
func (t *T) scopes() []mapping.Scope {
	if t.op != nil {
		return t.op.scopes()
	}
	return []mapping.Scope{t.c.scope}
}

// refusal asserts that an answer is a row of the tables: status, words, reason
// and field, of the first error and of no other.
func (t *T) refusal(a answer, scopes []mapping.Scope, reason mapping.Reason, args ...string) {
	got := t.first(a, scopes, reason, args...)
	t.check(len(got.Errors) == 0, "one violation only", got.Message, string(a.body))
}

// first asserts the same of the first error, whatever others there are.
func (t *T) first(a answer, scopes []mapping.Scope, reason mapping.Reason, args ...string) failure {
	row, e := t.catalogue.Lookup(reason, scopes...), &mapping.Error{Reason: reason, Args: args, Path: t.element}
	if t.element != "" && len(args) > 0 && row.Field(args) == args[0] {
		e.Args = append([]string{t.element + "." + args[0]}, args[1:]...)
	}
	want := failure{ErrorCode: row.Status, Message: row.Text(e), Reason: string(reason), Field: row.FieldOf(e)}
	got, err := a.failure()
	expected := fmt.Sprintf("%d %s", row.Status, text(want))
	shown := fmt.Sprintf("%d %s", a.status, a.body)
	t.check(err == nil, "an error answer that is JSON", expected, shown)
	t.check(a.status == row.Status, "the status", expected, shown)
	t.check(got.Message == want.Message, "the message", expected, shown)
	t.check(got.ErrorCode == want.ErrorCode, "the member errorCode", expected, shown)
	t.check(got.Reason == want.Reason, "the member reason", expected, shown)
	t.check(got.Field == want.Field, "the member field", expected, shown)
	t.counts(got)
	return got
}

// counts has a refusal told of, unless another operation was asked.
func (t *T) counts(f failure) {
	if t.told && !t.op.asked(t.exchanges[len(t.exchanges)-1], t.base) {
		return
	}
	r := Refusal{Status: f.ErrorCode, Message: f.Message, Field: f.Field}
	for _, also := range f.Errors[min(1, len(f.Errors)):] {
		r.Also = append(r.Also, also.Message)
	}
	t.refusals = append(t.refusals, r)
}

// messages asserts all violations of an answer, in order.
func (t *T) messages(a answer, want ...string) {
	f, err := a.failure()
	t.check(err == nil, "an error answer that is JSON", strings.Join(want, "; "), string(a.body))
	got := []string{f.Message}
	if len(f.Errors) > 0 {
		got = got[:0]
		for _, e := range f.Errors {
			got = append(got, e.Message)
		}
	}
	t.check(slices.Equal(want, got), "the violations, in order", strings.Join(want, "\n"), strings.Join(got, "\n"))
	t.counts(f)
}

// on is a resource that a case is about.
func (t *T) on(name string, fields ...string) *Resource {
	r := t.known(name)
	if r == nil && slices.ContainsFunc(t.hidden, func(h *Resource) bool { return h.Name == name }) {
		t.needs("an api_key that may call /%s", name)
	}
	if r == nil {
		t.impossible("there is no resource %s", name)
	}
	for _, f := range fields {
		if r.field(f) == nil {
			t.impossible("%s has no field %s", name, f)
		}
	}
	return r
}

// choose finds a resource that a method may be called on and a field of it that
// suits the case; of the one operation that the case was told to ask a field that
// suits less well will do.
func (t *T) choose(method, what string, suits func(r *Resource, f *Field) bool, less ...func(r *Resource, f *Field) bool) (*Resource, *Field) {
	if t.op != nil {
		for _, suits := range append([]func(*Resource, *Field) bool{suits}, less...) {
			if r, f := t.chooseHere(suits); f != nil {
				return r, f
			}
		}
		t.impossible("%s %s takes no such thing as %s", t.op.method, t.op.path, what)
	}
	forbidden := ""
	var stuck *outcome
	for _, r := range t.resources {
		for _, f := range r.Fields {
			if !suits(r, f) {
				continue
			}
			switch obstacle := t.cannotMake(r); {
			case !t.can(method, "/"+r.Name):
				forbidden = r.Name
			case obstacle != nil && method != http.MethodGet && !t.ReadOnly:
				stuck = obstacle
			default:
				return r, f
			}
		}
	}
	for _, r := range t.hidden {
		if r.find(func(f *Field) bool { return suits(r, f) }) != nil {
			forbidden = r.Name
		}
	}
	if forbidden != "" {
		t.needs("an api_key that may call %s /%s", method, forbidden)
	}
	if stuck != nil {
		panic(*stuck)
	}
	t.impossible("no resource has %s", what)
	return nil, nil
}

// chooseHere finds a field of the operation that a case asks, of the elements of
// its array where there is none of the record.
func (t *T) chooseHere(suits func(r *Resource, f *Field) bool) (*Resource, *Field) {
	for _, r := range append([]*Resource{t.op.resource}, t.resources...) {
		if r == nil || r != t.op.resource && t.outer(r) == nil {
			continue
		}
		f := r.find(func(f *Field) bool {
			return suits(r, f) && (r == t.op.resource || !slices.Contains(r.requires, f.Name))
		})
		if f != nil {
			return r, f
		}
	}
	return nil, nil
}

// outer is the array through which the operation that a case asks makes records
// of a resource, nil where it makes none.
func (t *T) outer(r *Resource) *Field {
	if t.op == nil || t.op.method != "POST" || !t.op.record() {
		return nil
	}
	return t.op.resource.find(func(f *Field) bool { return isArray(r, f) && f.Reference == r.Name })
}
