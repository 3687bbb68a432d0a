package backendtest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// wireCases are the rules for every answer.
func wireCases() []Case {
	const hint = "The gateway forms every answer. When this fails, something in between changes it: a proxy, a cache, an older gateway."
	return []Case{
		rule("wire.request_id", "Every answer carries X-Request-Id; an incoming one of 1–128 of A-Za-z0-9._:- is kept, and repeated in error bodies", hint, func(t *T) {
			r := t.some()
			for _, path := range []string{"/" + r.Name + "?page_size=1", "/" + r.Name + "/" + status(absentID), "/no_such_endpoint"} {
				a := t.send(t.session(), "GET", path, "", "X-Request-Id", "conform.A_1:2-3")
				t.equal("X-Request-Id", "conform.A_1:2-3", a.header.Get("X-Request-Id"))
				if f, err := a.failure(); err == nil && a.status >= 400 {
					t.equal("request_id", "conform.A_1:2-3", f.RequestID)
				}
				made := t.send(t.session(), "GET", path, "", "X-Request-Id", "not kept: blanks").header.Get("X-Request-Id")
				t.check(made != "" && !strings.Contains(made, " "), "X-Request-Id of the gateway's own", "one", made)
			}
		}),
		rule("wire.cache_control", "Every answer carries Cache-Control: no-store, or private, no-cache where there is an ETag", hint, func(t *T) {
			r := t.some()
			id := t.record(r)
			t.equal("of one record", "private, no-cache", t.get(r, id).header.Get("Cache-Control"))
			t.equal("of a list", "no-store", t.ok(t.call("GET", "/"+r.Name+"?page_size=1", "")).header.Get("Cache-Control"))
			t.equal("of an error", "no-store", t.send(t.session(), "GET", "/no_such_endpoint", "").header.Get("Cache-Control"))
		}),
		rule("wire.content_type", "Every record and error answer is application/json, in UTF-8", hint, func(t *T) {
			r := t.some()
			for _, path := range []string{"/" + r.Name + "?page_size=1", path(r, t.record(r)), "/no_such_endpoint"} {
				a := t.send(t.session(), "GET", path, "")
				t.equal("Content-Type", "application/json", a.header.Get("Content-Type"))
				t.check(json.Valid(a.body), "the body", "JSON", string(a.body))
			}
		}),
		rule("wire.error_shape", `An error answers {"errorCode","message","reason","field","request_id","errors"}, field and errors only where they mean something`, hint, errorShape),
		rule("wire.all_violations", "errors lists every violation of the stage that failed, sorted by the rows of the operation's table, then by the model's field order", hint, allViolations, anyCreate),
		rule("wire.problem_json", "With Accept: application/problem+json the same facts come as RFC 9457", hint, func(t *T) {
			a := t.send(t.session(), "GET", "/no_such_endpoint", "", "Accept", "application/problem+json")
			t.equal("Content-Type", "application/problem+json", a.header.Get("Content-Type"))
			var body struct {
				Type, Title, Detail string
				Status, ErrorCode   int
			}
			t.check(json.Unmarshal(a.body, &body) == nil, "the body", "JSON", string(a.body))
			t.equal("status and errorCode", []int{400, 400}, []int{body.Status, body.ErrorCode})
			t.equal("detail", "Invalid endpoint: /no_such_endpoint", body.Detail)
			t.check(body.Type != "" && body.Title != "", "the members of a problem", "type and title", string(a.body))
		}),
		rule("wire.placeholders", "A placeholder takes the value as it was sent; over 100 characters cut with …", hint, func(t *T) {
			long := strings.Repeat("é", 101)
			t.messages(t.ask(t.right().with(values{long: 1})), "Field: "+strings.Repeat("é", 100)+"… not found in model")
		}, anyCreate),
		rule("wire.paths", "Matching is exact and case-sensitive; encoded slashes, doubled slashes and trailing ones make an invalid endpoint", hint, func(t *T) {
			name := t.some().Name
			for _, path := range []string{"//" + name, "/" + strings.ToUpper(name), "/" + name + "%2F1", "/" + name + ";x=1"} {
				t.refusal(t.send(t.session(), "GET", path, ""), mapping.EndpointUnknown, path)
			}
		}),
		rule("wire.token_header", "The token comes in the header token and nowhere else", hint, func(t *T) {
			path := "/" + t.some().Name + "?page_size=1"
			t.refusal(t.send("", "GET", path, "", "Authorization", "Bearer "+t.session()), mapping.NotLoggedIn)
			t.ok(t.send("", "GET", path, "", "TOKEN", t.session()))
		}),
	}
}

func errorShape(t *T) {
	shape := func(a answer, members ...string) failure {
		var got map[string]any
		var f failure
		t.check(json.Unmarshal(a.body, &got) == nil && json.Unmarshal(a.body, &f) == nil, "the body", "JSON of the documented shape", string(a.body))
		want := append([]string{"errorCode", "message", "reason", "request_id"}, members...)
		t.equal("the members", slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(got)))
		t.equal("errorCode", a.status, f.ErrorCode)
		t.check(regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(f.Reason), "reason", "a snake_case code", f.Reason)
		return f
	}
	r := t.some()
	one := path(r, t.record(r)) + "?fields=no_such_field"
	shape(t.send(t.session(), "GET", "/no_such_endpoint", ""))
	shape(t.call("GET", one, ""), "field")
	both := shape(t.call("GET", one+",nor_this", ""), "field", "errors")
	t.equal("how many errors", 2, len(both.Errors))
	t.equal("the first of errors", errorEntry{both.Message, both.Reason, both.Field}, both.Errors[0])
}

func allViolations(t *T) {
	choice := func(r *Resource, but *Field) *Field {
		return r.find(func(f *Field) bool { return f != but && f.writable() && len(f.options()) > 0 })
	}
	r, required := t.op.resource, t.choose("a required text and a choice", func(r *Resource, f *Field) bool {
		return f.Required && f.writable() && f.Datatype == "varchar" && choice(r, f) != nil && r.field("created_at") != nil
	})
	unlisted := any("zz")
	if choice(r, required).Datatype != "varchar" {
		unlisted = 7
	}
	a := t.attempt(values{choice(r, required).Name: unlisted, "created_at": nil, "zz_unknown": 1, "aa_unknown": 1, required.Name: nil, "id": 1})
	f, _ := a.failure() // zero for a body that is not JSON
	want := []string{"field_not_in_model", "field_not_in_model", "field_readonly", "field_required", "primary_id_supplied", "custom_validation_failed"}
	var got []string
	for _, e := range f.Errors {
		got = append(got, e.Reason)
	}
	t.equal("the reasons, in order", want, got)
	t.equal("the status of the first", 403, a.status)
}
