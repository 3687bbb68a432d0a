package backendtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// attempt sends a record that is to be refused: for POST a valid one with these values, for PUT
// these values for an existing record.
func (t *T) attempt(method string, r *Resource, change values) answer {
	if t.ReadOnly {
		t.needs("write permission (without --read-only)")
	}
	if t.told && t.op.form {
		return t.ask(t.right().with(change))
	}
	if method == "PUT" {
		return t.call("PUT", path(r, t.own(r)), change.json())
	}
	body := t.valid(r).with(change)
	if array := t.outer(r); array != nil && t.told {
		first := t.valid(r)
		if r.field("sort_order") != nil {
			first["sort_order"] = 10
		}
		for _, parent := range r.requires {
			delete(first, parent)
			delete(body, parent)
		}
		t.element = array.Name + "[1]"
		r, body = t.op.resource, t.valid(t.op.resource).with(values{array.Name: []values{first, body}})
	}
	a := t.call("POST", "/"+r.Name, body.json())
	if a.status == 201 {
		t.keep(r, a) // it should have been refused, and must go all the same
	}
	return a
}

const absentID = 2147483646

// createCases are the table "POST (add one)".
func createCases() []Case {
	return append([]Case{
		row(mapping.OpCreate, mapping.EmptyBody, emptyBody),
		row(mapping.OpCreate, mapping.BodyNotJSON, notJSON),
		row(mapping.OpCreate, mapping.FieldNotInModel, notInModel),
		row(mapping.OpCreate, mapping.FieldReadonly, readonly),
		row(mapping.OpCreate, mapping.FieldRequired, func(t *T) {
			r, f := t.choose("POST", "a required field", func(_ *Resource, f *Field) bool { return f.Required && f.writable() && !f.Array })
			t.ofPOST(r)
			t.refused(t.ask(t.right().without(f.Name)), f.Name)
			t.refused(t.ask(t.right().with(values{f.Name: nil})), f.Name)
			if f.Datatype == "varchar" {
				t.refused(t.ask(t.right().with(values{f.Name: ""})), f.Name)
			}
		}),
		row(mapping.OpCreate, mapping.PrimaryIDSupplied, func(t *T) {
			t.refused(t.ask(t.right().with(values{"id": 7})), "id")
			t.refused(t.ask(t.right().with(values{"id": nil})), "id")
		}),
		row(mapping.OpCreate, mapping.RelatedIDNotFound, unrelated),
		row(mapping.OpCreate, mapping.ArrayEmpty, arrayEmpty),
		row(mapping.OpCreate, mapping.DuplicateValue, duplicate),
		row(mapping.OpCreate, mapping.DateNotAfter, func(t *T) { t.dateNotAfter(t.method()) }),
	}, wrongValueCases(mapping.OpCreate)...)
}

// ofPOST has the case ask the POST of a resource, unless it was told which operation to ask.
func (t *T) ofPOST(r *Resource) {
	if !t.told {
		t.ofRecord("POST", r, "")
	}
}

func emptyBody(t *T) {
	r := t.right()
	r.fields = nil
	for _, body := range []string{"", " \t\r\n"} {
		if r.body = body; t.op.record() {
			t.refused(t.ask(r))
		}
		if t.op.of() == mapping.OpUpdate && t.op.record() {
			byQuery := r
			byQuery.path, byQuery.query = t.op.endpoint(), "id="+status(r.id)
			t.refused(t.ask(byQuery))
		}
		if t.op.form { // the query may say all that there is to say
			r.query = ""
			t.refused(t.ask(r))
		}
	}
}

func notJSON(t *T) {
	r := t.right()
	for _, r.body = range []string{
		`{`, `{"is_blocked":`, `[]`, `[{}]`, `"text"`, `null`, `{"is_blocked":0,"is_blocked":0}`, `{} {}`, "{\"a\":\"\xff\"}",
	} {
		t.refused(t.ask(r))
	}
}

func notInModel(t *T) {
	r := t.right()
	if !t.op.record() || t.op.method != "GET" {
		t.refused(t.ask(r.with(values{"no_such_field": 1})), "no_such_field")
		return
	}
	t.refused(t.ask(r.and("fields=no_such_field")), "no_such_field")
	t.refused(t.ask(r.and("fields=id,no_such_field")), "no_such_field")
	if t.op.of() == mapping.OpList {
		t.refused(t.ask(r.and("sort=-no_such_field")), "no_such_field")
		if f := t.op.resource.sortsBy(); f != nil {
			t.refused(t.ask(r.and("sort="+f.Name+",-no_such_field")), "no_such_field")
		}
		return
	}
	r.path, r.query = t.op.endpoint(), "id="+status(r.id)+"&fields=no_such_field"
	t.refused(t.ask(r), "no_such_field")
}

// readonly sends a readonly field, empty and as it is.
func readonly(t *T) {
	r, f := t.choose(t.method(), "a readonly field", func(_ *Resource, f *Field) bool { return f.Readonly && !f.Primary })
	for _, v := range []any{nil, t.get(r, t.record(r)).data()[f.Name]} {
		t.refused(t.attempt(t.method(), r, values{f.Name: v}), f.Name)
	}
}

func arrayEmpty(t *T) {
	r, f := t.choose(t.method(), "an array field", isArray)
	t.refused(t.attempt(t.method(), r, values{f.Name: []int{}}), f.Name)
}

func anyField(_ *Resource, f *Field) bool { return f.Primary }
func isArray(_ *Resource, f *Field) bool  { return f.Array && f.writable() }

// unrelated sends a reference to a record that does not exist; to a parent if the resource has no
// other reference.
func unrelated(t *T) {
	parentToo := false
	refers := func(r *Resource, f *Field) bool {
		return f.writable() && !f.Array && (f.Reference != "" || parentToo && f.Name == "resource_id") && (parentToo || !slices.Contains(r.requires, f.Name))
	}
	parentToo = t.told && t.op.resource.find(func(f *Field) bool { return refers(t.op.resource, f) }) == nil
	r, f := t.choose(t.method(), "a reference that can be changed", refers)
	t.refused(t.attempt(t.method(), r, values{f.Name: absentID}), f.Name, strconv.Itoa(absentID))
}

// duplicate sends the value of another record for a field that must be unique: the first such
// field that can be sent freely.
func duplicate(t *T) {
	if t.told && t.op.form {
		taken := t.right().fields["license_plate"]
		t.create(t.on("vehicle"), values{"license_plate": taken})
		t.refused(t.ask(t.right().with(values{"license_plate": taken})), "license_plate", plainText(taken))
		return
	}
	r, f := t.choose(t.method(), "a unique field that can be written", func(r *Resource, f *Field) bool {
		plain := f.Required && f.Validation == "" && f.Reference == ""
		fits := plain || t.told && described(r, f) != ownRow && (f.Validation != "license_plate" || t.op.method == "POST")
		return f.Unique && f.writable() && fits
	})
	taken := t.get(r, t.create(r, t.uniquely(f))).data()[f.Name]
	t.refused(t.attempt(t.method(), r, values{f.Name: taken}), f.Name, plainText(taken))
}

func (t *T) dateNotAfter(method string) {
	r, f := t.choose(method, "a date that must be after another", func(r *Resource, f *Field) bool {
		before := r.field(f.After)
		return f.writable() && before != nil && before.writable()
	})
	const early, late = "2026-06-30", "2026-07-01"
	t.refused(t.attempt(method, r, values{f.Name: early, f.After: late}), f.Name, early, f.After, late)
	t.refused(t.attempt(method, r, values{f.Name: late, f.After: late}), f.Name, late, f.After, late)
}

// getCases are the table "GET (single record)".
func getCases() []Case {
	return []Case{
		row(mapping.OpGet, mapping.FieldNotInModel, notInModel),
		row(mapping.OpGet, mapping.PrimaryIDInvalid, idInvalid),
		row(mapping.OpGet, mapping.RecordNotFound, notFound),
		row(mapping.OpGet, mapping.ParametersRequired, parametersRequired),
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

// listRowCases are the table "GET (multiple records)".
func listRowCases() []Case {
	return []Case{
		row(mapping.OpList, mapping.ParametersRequired, func(t *T) {
			r, _ := t.choose("GET", "a list that needs a parameter", func(r *Resource, f *Field) bool { return f.Primary && len(r.requires) > 0 })
			for _, other := range t.resources {
				if len(other.requires) > 0 && (other == r || !t.told) && t.can("GET", "/"+other.Name) {
					t.refused(t.call("GET", "/"+other.Name, ""), other.requires...)
					t.refused(t.call("GET", "/"+other.Name+"?"+strings.Join(other.requires, "=&")+"=", ""), other.requires...)
				}
			}
		}),
		row(mapping.OpList, mapping.FieldNotInModel, notInModel),
		row(mapping.OpList, mapping.QueryUnsupported, func(t *T) {
			t.refused(t.ask(t.right().and("no_such_field=1")), "no_such_field")
			t.refused(t.ask(t.right().and("no_such_field")), "no_such_field")
		}),
		row(mapping.OpList, mapping.PageInvalid, func(t *T) {
			for _, page := range []string{"0", "-1", "first", "", "1.5"} {
				t.refused(t.ask(t.right().and("page=" + page)))
			}
		}),
		row(mapping.OpList, mapping.PageSizeInvalid, func(t *T) {
			for _, size := range []string{"0", "1001", "many", ""} {
				t.refused(t.ask(t.right().and("page_size="+size)), "1000")
			}
		}),
		notFromOutside(mapping.OpList, mapping.PageTooLarge, "it would take records of many megabytes"),
		row(mapping.OpList, mapping.AfterCombined, func(t *T) {
			t.refused(t.ask(t.right().and("after=1&page=1")), "page")
			if f := t.op.resource.sortsBy(); f != nil {
				t.refused(t.ask(t.right().and("after=1&sort=-"+f.Name)), "sort")
			}
		}),
	}
}

// deleteCases are the table "DELETE".
func deleteCases() []Case {
	return []Case{
		row(mapping.OpDelete, mapping.PrimaryIDInvalid, idInvalid),
		row(mapping.OpDelete, mapping.PrimaryIDMissing, idMissing),
		row(mapping.OpDelete, mapping.RecordNotFound, notFound),
		row(mapping.OpDelete, mapping.InUse, func(t *T) { t.inUse() }),
		row(mapping.OpDelete, mapping.SystemRecord, func(t *T) {
			r := t.withSystemRecord("DELETE")
			t.refused(t.call("DELETE", path(r, t.systemRecord(r)), ""))
		}),
	}
}

// inUse deletes a record that another one refers to: an order or a contact that it makes, so that
// nothing else refers to it. A resource that no other refers to gets a document.
func (t *T) inUse() {
	told := t.op
	t.op = nil // it is another resource that refers
	refers := func(r *Resource, f *Field) bool {
		target := t.known(f.Reference)
		return f.writable() && !f.Array && target != nil && t.can("DELETE", "/"+f.Reference) && t.can("POST", "/"+f.Reference) && t.cannotMake(target) == nil &&
			(told == nil || target == told.resource)
	}
	byName := func(r *Resource, f *Field) bool {
		return told != nil && f.Name == "resource_id" && r.field("resource") != nil
	}
	if !slices.ContainsFunc(t.resources, func(r *Resource) bool {
		return r.find(func(f *Field) bool { return refers(r, f) }) != nil
	}) {
		refers = byName
	}
	r, f := t.choose("POST", "a reference to a record that can be made", refers)
	target := t.known(f.Reference)
	if target == nil {
		target = told.resource
	}
	used := t.create(target, nil)
	with := values{f.Name: used}
	if byName(r, f) {
		with["resource"] = target.Name
	}
	t.create(r, with)
	t.op = told
	t.refused(t.call("DELETE", path(target, used), ""), "id", r.Name)
	t.get(target, used)
}

// withSystemRecord is a resource that has system records.
func (t *T) withSystemRecord(method string) *Resource {
	for _, r := range t.resources {
		if t.op != nil && t.op.resource != r {
			continue
		}
		if t.can(method, "/"+r.Name) && t.systemRecord(r) != 0 {
			return r
		}
	}
	t.impossible("there is no system record that the api_key may %s", strings.ToLower(method))
	return nil
}

// described is a field of a resource, for messages.
func described(r *Resource, f *Field) string { return fmt.Sprintf("%s.%s", r.Name, f.Name) }
