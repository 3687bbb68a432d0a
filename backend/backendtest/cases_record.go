package backendtest

import (
	"fmt"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// wrongValue is a value that a field of a kind must not have, and what the
// message says of it after the field's name.
type wrongValue struct {
	reason mapping.Reason
	what   string // the kind of field
	suits  func(f *Field) bool
	value  func(f *Field) (any, []string)
}

func fixed(v any, shown string) func(*Field) (any, []string) {
	return func(*Field) (any, []string) { return v, []string{shown} }
}

func plainOf(datatype string) func(f *Field) bool {
	return func(f *Field) bool { return f.Datatype == datatype && f.Validation == "" && f.Reference == "" }
}

func tooLong(f *Field) (any, []string) {
	return letters(f.Length + 1), []string{strconv.Itoa(f.Length + 1), strconv.Itoa(f.Length)}
}

var wrongValues = []wrongValue{
	{mapping.VarcharTooLong, "a varchar field", func(f *Field) bool { return plainOf("varchar")(f) && f.Length > 0 }, tooLong},
	{mapping.TextTooLong, "a text field", func(f *Field) bool { return plainOf("text")(f) && f.Length > 0 && f.Length < 1<<20 }, tooLong},
	{mapping.TimestampInvalid, "a timestamp field", func(f *Field) bool { return f.Datatype == "timestamp" }, fixed("2026-02-30", "2026-02-30")},
	{mapping.Float8Invalid, "a float8 field", func(f *Field) bool { return f.Datatype == "float8" }, fixed("1", "1")},
	{mapping.Int4Invalid, "an int4 field", func(f *Field) bool { return f.Datatype == "int4" }, fixed(2147483648, "2147483648")},
	{mapping.VarcharInvalid, "a varchar field", plainOf("varchar"), fixed([]int{1, 2}, "[1,2]")},
	{mapping.ByteaInvalid, "a bytea field", func(f *Field) bool { return f.Datatype == "bytea" }, fixed("!!", "!!")},
	{mapping.ValidationFailed, "a field with a list of values", func(f *Field) bool { return f.options() != nil }, func(f *Field) (any, []string) {
		if f.Datatype == "int4" {
			return 99, []string{"99", f.Validation}
		}
		bad := "~no"[:min(3, max(f.Length, 1))]
		return bad, []string{bad, f.Validation}
	}},
}

// wrongValueCases are the rows about ill-typed values, of POST or PUT.
func wrongValueCases(scope mapping.Scope, reasons ...mapping.Reason) (cases []Case) {
	for _, w := range wrongValues {
		if len(reasons) > 0 && w.reason != reasons[0] {
			continue
		}
		cases = append(cases, row(scope, w.reason, func(t *T) {
			method := map[mapping.Scope]string{mapping.OpCreate: "POST", mapping.OpUpdate: "PUT"}[scope]
			r, f := t.choose(method, w.what, func(_ *Resource, f *Field) bool { return f.writable() && !f.Array && w.suits(f) })
			v, shown := w.value(f)
			t.refused(t.attempt(method, r, values{f.Name: v}), append([]string{f.Name}, shown...)...)
		}))
	}
	return cases
}

// attempt sends a record that is to be refused: a valid one with these values
// for POST, and these values for a record that there is for PUT.
func (t *T) attempt(method string, r *Resource, change values) answer {
	if t.ReadOnly {
		t.needs("write permission (without --read-only)")
	}
	if method == "PUT" {
		return t.call("PUT", path(r, t.own(r)), change.json())
	}
	a := t.call("POST", "/"+r.Name, t.valid(r).with(change).json())
	if a.status == 201 {
		t.keep(r, a) // it should have been refused, and must go all the same
	}
	return a
}

const absentID = 2147483646

// createCases are the table "POST (add one)".
func createCases() []Case {
	cases := []Case{
		row(mapping.OpCreate, mapping.EmptyBody, func(t *T) {
			r, _ := t.choose("POST", "records to make", anyField)
			for _, body := range []string{"", " \t\r\n"} {
				t.refused(t.call("POST", "/"+r.Name, body))
			}
		}),
		row(mapping.OpCreate, mapping.BodyNotJSON, func(t *T) {
			r, _ := t.choose("POST", "records to make", anyField)
			for _, body := range []string{`{"is_blocked":`, `[]`, `{"is_blocked":0,"is_blocked":0}`, `{} {}`, "{\"a\":\"\xff\"}"} {
				t.refused(t.call("POST", "/"+r.Name, body))
			}
		}),
		row(mapping.OpCreate, mapping.FieldNotInModel, func(t *T) {
			r, _ := t.choose("POST", "records to make", anyField)
			t.refused(t.attempt("POST", r, values{"no_such_field": 1}), "no_such_field")
		}),
		row(mapping.OpCreate, mapping.FieldReadonly, func(t *T) {
			r, f := t.choose("POST", "a readonly field", func(_ *Resource, f *Field) bool { return f.Readonly && !f.Primary })
			t.refused(t.attempt("POST", r, values{f.Name: nil}), f.Name)
		}),
		row(mapping.OpCreate, mapping.FieldRequired, func(t *T) {
			r, f := t.choose("POST", "a required field", func(_ *Resource, f *Field) bool { return f.Required && f.writable() && !f.Array })
			t.refused(t.attempt("POST", r, values{f.Name: nil}), f.Name)
			without := t.valid(r)
			delete(without, f.Name)
			t.refused(t.call("POST", "/"+r.Name, without.json()), f.Name)
		}),
		row(mapping.OpCreate, mapping.PrimaryIDSupplied, func(t *T) {
			r, _ := t.choose("POST", "records to make", anyField)
			t.refused(t.attempt("POST", r, values{"id": 7}), "id")
		}),
		row(mapping.OpCreate, mapping.RelatedIDNotFound, func(t *T) { t.unrelated("POST") }),
		row(mapping.OpCreate, mapping.ArrayEmpty, func(t *T) {
			r, f := t.choose("POST", "an array field", isArray)
			t.refused(t.attempt("POST", r, values{f.Name: []int{}}), f.Name)
		}),
		row(mapping.OpCreate, mapping.DuplicateValue, func(t *T) {
			r, f := t.uniqueField("POST")
			taken := t.get(r, t.create(r, nil)).data()[f.Name]
			t.refused(t.attempt("POST", r, values{f.Name: taken}), f.Name, plainText(taken))
		}),
		row(mapping.OpCreate, mapping.DateNotAfter, func(t *T) { t.dateNotAfter("POST") }),
	}
	return append(cases, wrongValueCases(mapping.OpCreate)...)
}

func anyField(_ *Resource, f *Field) bool { return f.Primary }
func isArray(_ *Resource, f *Field) bool  { return f.Array && f.writable() }

// unrelated refers to a record that is not there.
func (t *T) unrelated(method string) {
	r, f := t.choose(method, "a reference that can be changed", func(r *Resource, f *Field) bool {
		return f.Reference != "" && f.writable() && !f.Array && !contains(r.requires, f.Name)
	})
	t.refused(t.attempt(method, r, values{f.Name: absentID}), f.Name, strconv.Itoa(absentID))
}

// uniqueField is a field that no two records may share a value of, and nothing
// stands in the way of.
func (t *T) uniqueField(method string) (*Resource, *Field) {
	return t.choose(method, "a unique field that can be written", func(_ *Resource, f *Field) bool {
		return f.Unique && f.writable() && f.Required && f.Validation == "" && f.Reference == ""
	})
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
		row(mapping.OpGet, mapping.FieldNotInModel, func(t *T) {
			r := t.some()
			t.refused(t.call("GET", path(r, t.record(r))+"?fields=no_such_field", ""), "no_such_field")
		}),
		row(mapping.OpGet, mapping.PrimaryIDInvalid, func(t *T) {
			r := t.some()
			for _, id := range []string{"0", "01", "2147483648"} {
				t.refused(t.call("GET", "/"+r.Name+"/"+id, ""))
				t.refused(t.call("GET", "/"+r.Name+"?id="+id, ""))
			}
			t.refused(t.call("GET", "/"+r.Name+"?id=abc", ""))
			t.refused(t.call("GET", "/"+r.Name+"/1?id=2", ""))
		}),
		row(mapping.OpGet, mapping.RecordNotFound, func(t *T) {
			r, id := t.some(), strconv.Itoa(absentID)
			t.refused(t.call("GET", "/"+r.Name+"/"+id, ""), "id", id)
			t.refused(t.call("GET", "/"+r.Name+"?id="+id, ""), "id", id)
		}),
		row(mapping.OpGet, mapping.ParametersRequired, func(t *T) {
			t.refused(t.call("GET", "/"+t.some().Name+"?id=", ""), "id")
		}),
	}
}

// listRowCases are the table "GET (multiple records)".
func listRowCases() []Case {
	return []Case{
		row(mapping.OpList, mapping.ParametersRequired, func(t *T) {
			r, _ := t.choose("GET", "a list that needs a parameter", func(r *Resource, f *Field) bool { return f.Primary && len(r.requires) > 0 })
			t.refused(t.call("GET", "/"+r.Name, ""), r.requires...)
		}),
		row(mapping.OpList, mapping.FieldNotInModel, func(t *T) {
			t.refused(t.call("GET", "/"+t.some().Name+"?fields=no_such_field", ""), "no_such_field")
			t.refused(t.call("GET", "/"+t.some().Name+"?sort=-no_such_field", ""), "no_such_field")
		}),
		row(mapping.OpList, mapping.QueryUnsupported, func(t *T) {
			t.refused(t.call("GET", "/"+t.some().Name+"?no_such_field=1", ""), "no_such_field")
		}),
		row(mapping.OpList, mapping.PageInvalid, func(t *T) {
			for _, page := range []string{"0", "-1", "first", "", "1.5"} {
				t.refused(t.call("GET", "/"+t.some().Name+"?page="+page, ""))
			}
		}),
		row(mapping.OpList, mapping.PageSizeInvalid, func(t *T) {
			for _, size := range []string{"0", "1001", "many", ""} {
				t.refused(t.call("GET", "/"+t.some().Name+"?page_size="+size, ""))
			}
		}),
	}
}

// deleteCases are the table "DELETE".
func deleteCases() []Case {
	return []Case{
		row(mapping.OpDelete, mapping.PrimaryIDInvalid, func(t *T) {
			r := t.changeable()
			t.refused(t.call("DELETE", "/"+r.Name+"/0", ""))
			t.refused(t.call("DELETE", "/"+r.Name+"?id=abc", ""))
		}),
		row(mapping.OpDelete, mapping.PrimaryIDMissing, func(t *T) {
			r := t.changeable()
			t.refused(t.call("DELETE", "/"+r.Name, ""))
			t.refused(t.call("DELETE", "/"+r.Name+"?id=", ""))
		}),
		row(mapping.OpDelete, mapping.RecordNotFound, func(t *T) {
			id := strconv.Itoa(absentID)
			t.refused(t.call("DELETE", "/"+t.changeable().Name+"/"+id, ""), "id", id)
		}),
		row(mapping.OpDelete, mapping.InUse, func(t *T) { t.inUse() }),
		row(mapping.OpDelete, mapping.SystemRecord, func(t *T) {
			r := t.withSystemRecord("DELETE")
			t.refused(t.call("DELETE", path(r, t.systemRecord(r)), ""))
		}),
	}
}

// inUse deletes a record that another one refers to: an order or a contact of
// its own, so that no other record is in the way.
func (t *T) inUse() {
	r, f := t.choose("POST", "a reference to a record that can be made", func(r *Resource, f *Field) bool {
		target := t.known(f.Reference)
		return f.writable() && !f.Array && target != nil && t.can("DELETE", "/"+f.Reference) && t.can("POST", "/"+f.Reference) && t.cannotMake(target) == nil
	})
	target := t.known(f.Reference)
	used := t.create(target, nil)
	t.create(r, values{f.Name: used})
	t.refused(t.call("DELETE", path(target, used), ""), "id", r.Name)
	t.get(target, used)
}

// withSystemRecord is a resource that has system records.
func (t *T) withSystemRecord(method string) *Resource {
	for _, r := range t.resources {
		if t.can(method, "/"+r.Name) && t.systemRecord(r) != 0 {
			return r
		}
	}
	t.impossible("there is no system record that the api_key may %s", strings.ToLower(method))
	return nil
}

// described is a field of a resource, for messages.
func described(r *Resource, f *Field) string { return fmt.Sprintf("%s.%s", r.Name, f.Name) }
