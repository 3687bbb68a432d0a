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
	resource  *Resource  // that it runs on, if it runs on each
	op        *operation // under test; nil for a case that chooses its own
	given     bool       // only op may be tested, even in ways that suit it less, with a record of the case's own
	element   string     // the array element under test, such as orderlines[0]
	last      *operation // of the last request
	exchanges []Exchange
	refusals  []Refusal
	asserted  int
}

// outcome ends a case at once, wherever it is, as FailNow ends a test.
type outcome struct {
	status                Status
	reason, expected, got string
	unfit                 bool // the case is not about the operation
}

// rank orders outcomes: the one that says more about the case has the higher rank.
func (o outcome) rank() int {
	if o.unfit {
		return 1
	}
	return map[Status]int{Impossible: 2, Needs: 3, Passed: 4, Failed: 5}[o.status]
}

// keyThat begins the reason of a case that needs a call that the api_key may not make.
const keyThat = "an api_key that may call "

// run tests each operation that the case names; for "any resource" the first that is possible.
func (t *T) run() (ended outcome) {
	if t.op != nil || len(t.c.at) == 0 {
		return t.once()
	}
	for _, at := range t.c.at {
		for _, t.op = range t.operations(at) {
			o := t.once()
			if o.rank() > ended.rank() {
				ended = o
			}
			if o.status == Failed {
				return o
			}
			if o.status == Passed {
				break
			}
		}
	}
	return ended
}

// once tests one operation.
func (t *T) once() (ended outcome) {
	t.element, t.asserted = "", 0
	defer func() { ended = t.ended(recover()) }()
	t.c.run(t)
	return ended
}

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

// unfit is impossible for this operation; its reason is reported if all operations are unfit.
func (t *T) unfit(format string, args ...any) {
	panic(outcome{status: Impossible, reason: fmt.Sprintf(format, args...), unfit: true})
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

// send sends a request, with a token or none, even if the api_key may not make the call.
func (t *T) send(token, method, path, body string, headers ...string) answer {
	if t.ReadOnly && method != http.MethodGet {
		t.needs(mayNotWrite)
	}
	t.last = t.operationOf(method, path)
	if r := t.last.resource; method == http.MethodGet && r != nil && r.listed && t.last.path == "/"+r.Name+"/{id}" {
		t.impossible("the records of %s are in lists alone", r.Name)
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
		t.needs(keyThat+"%s %s", method, t.operationOf(method, path).endpoint())
	}
	return t.send(t.session(), method, path, body, headers...)
}

// get reads a record, which must be there.
func (t *T) get(r *Resource, id int) answer { return t.ok(t.call("GET", path(r, id), "")) }

// put changes a record, which must be accepted.
func (t *T) put(r *Resource, id int, change values, headers ...string) answer {
	return t.ok(t.call("PUT", path(r, id), change.json(), headers...))
}

// list reads a page of a list.
func (t *T) list(path string) page {
	var p page
	t.read(t.call("GET", path, ""), &p)
	t.check(p.Data != nil, "GET "+path, `{"data": [records], "page", "page_size", "next"}`, text(p))
	return p
}

// read decodes an answer that must be a success.
func (t *T) read(a answer, into any) {
	err := json.Unmarshal(t.ok(a).body, into)
	t.check(err == nil, "the body", "JSON of the documented shape", string(a.body))
}

func (t *T) ok(a answer) answer { return t.status(a, http.StatusOK) }

func (t *T) status(a answer, want int) answer {
	t.check(a.status == want, "the status", fmt.Sprint(want), fmt.Sprintf("%d %s", a.status, a.body))
	return a
}

// refused asserts that an answer is the case's own row.
func (t *T) refused(a answer, args ...string) { t.refusal(a, t.c.reason, args...) }

// refusal asserts that an answer has exactly one error, a row of the tables as worded for the last
// request: status, message, reason and field.
func (t *T) refusal(a answer, reason mapping.Reason, args ...string) {
	got := t.first(a, reason, args...)
	t.check(len(got.Errors) == 0, "one violation only", got.Message, string(a.body))
}

// first asserts the same of the first error, and allows others.
func (t *T) first(a answer, reason mapping.Reason, args ...string) failure {
	row, e := t.catalogue.Lookup(reason, t.last.scopes()...), &mapping.Error{Reason: reason, Args: args, Path: t.element}
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

// counts counts a refusal as an assertion, unless it was of another operation.
func (t *T) counts(f failure) {
	if t.given && (t.last.method != t.op.method || t.last.path != t.op.path) {
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
	if r == nil {
		t.needs(keyThat+"/%s", name)
	}
	for _, f := range fields {
		if r.field(f) == nil {
			t.impossible("%s has no field %s", name, f)
		}
	}
	return r
}

// choose finds a field of the operation that suits the case; if the operation is given, a field that
// suits less will do.
func (t *T) choose(what string, suits func(r *Resource, f *Field) bool, less ...func(r *Resource, f *Field) bool) *Field {
	r := t.op.resource
	if !t.given {
		less = nil
	}
	for _, suits := range append([]func(*Resource, *Field) bool{suits}, less...) {
		if r == nil {
			break
		}
		if f := r.find(func(f *Field) bool { return suits(r, f) }); f != nil {
			return f
		}
	}
	t.unfit("no resource that may be called has %s", what)
	return nil
}
