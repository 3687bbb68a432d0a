package backendtest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"frontdesk/mapping"
)

// wrongValue is a value that a field of a kind must reject.
type wrongValue struct {
	reason mapping.Reason
	what   string // the kind of field
	suits  func(f *Field) bool
	values func(f *Field) []wrongOne
}

// wrongOne is a wrong value, and the message's text after the field's name.
type wrongOne struct {
	sent  any
	shown []string
}

// asJSON are values that the message shows as JSON, texts without their quotes.
func asJSON(values ...any) func(*Field) []wrongOne {
	return func(*Field) (all []wrongOne) {
		for _, v := range values {
			as, isText := v.(string)
			if !isText {
				as = text(v)
			}
			all = append(all, wrongOne{v, []string{as}})
		}
		return all
	}
}

func plainOf(datatype string) func(f *Field) bool {
	return func(f *Field) bool { return f.Datatype == datatype && f.Validation == "" && f.Reference == "" }
}

func of(datatype string) func(f *Field) bool {
	return func(f *Field) bool { return f.Datatype == datatype }
}

func tooLong(f *Field) []wrongOne {
	return []wrongOne{{letters(f.Length + 1), []string{strconv.Itoa(f.Length + 1), strconv.Itoa(f.Length)}}}
}

var wrongValues = []wrongValue{
	{mapping.VarcharTooLong, "a varchar field", func(f *Field) bool { return plainOf("varchar")(f) && f.Length > 0 }, tooLong},
	{mapping.TextTooLong, "a text field", func(f *Field) bool { return plainOf("text")(f) && f.Length > 0 && f.Length < 1<<20 }, tooLong},
	{mapping.TimestampInvalid, "a timestamp field", of("timestamp"), asJSON("2026-02-30", "yesterday")},
	{mapping.Float8Invalid, "a float8 field", of("float8"), asJSON("1", true)},
	{mapping.Int4Invalid, "an int4 field", of("int4"), asJSON(2147483648, json.RawMessage("1.0"), "1")},
	{mapping.VarcharInvalid, "a varchar field", plainOf("varchar"), asJSON([]int{1, 2}, values{"a": 1})},
	byteaInvalid,
	{mapping.ValidationFailed, "a field with a list of values", func(f *Field) bool { return f.options() != nil }, func(f *Field) []wrongOne {
		if f.Datatype == "int4" {
			return []wrongOne{{99, []string{"99", f.Validation}}}
		}
		bad := "~no"[:min(3, max(f.Length, 1))]
		return []wrongOne{{bad, []string{bad, f.Validation}}}
	}},
}

var byteaInvalid = wrongValue{mapping.ByteaInvalid, "a bytea field", of("bytea"), asJSON("!!")}

// valueRows are the rows about ill-typed values, of POST or PUT.
func valueRows(scope mapping.Scope) (rows []row) {
	for _, w := range wrongValues {
		if scope == mapping.OpCreate || w.reason != mapping.ByteaInvalid { // the interface has that row only for POST
			rows = append(rows, row{scope, w.reason, nil, w.ask})
		}
	}
	return rows
}

// ask sends each of the values, as a field or in a filter.
func (w wrongValue) ask(t *T) {
	if t.op.of() == mapping.OpList {
		w.filter(t)
		return
	}
	values := w.values
	if t.op.form && w.reason == mapping.ValidationFailed {
		values = func(f *Field) []wrongOne {
			return []wrongOne{{"http://??", []string{"http://??", f.Validation}}}
		}
	}
	written := func(suits func(f *Field) bool) func(*Resource, *Field) bool {
		return func(_ *Resource, f *Field) bool { return f.writable() && !f.Array && suits(f) }
	}
	f := t.choose(w.what, written(w.suits), written(w.anyText))
	for _, v := range values(f) {
		a, args := t.attempt(map[string]any{f.Name: v.sent}), append([]string{f.Name}, v.shown...)
		if f.options() == nil || w.reason != mapping.VarcharTooLong {
			t.refused(a, args...)
		} else { // the value is none of the options either
			t.first(a, w.reason, args...)
		}
	}
}

// anyText reports whether a field is a text, if the row is about texts, whatever its
// validation.
func (w wrongValue) anyText(f *Field) bool {
	return f.Datatype == "varchar" && (w.reason == mapping.VarcharTooLong || w.reason == mapping.VarcharInvalid || w.reason == mapping.ValidationFailed && f.Validation != "")
}

// filter filters lists by values that no field can have.
func (w wrongValue) filter(t *T) {
	if w.reason == mapping.ValidationFailed {
		t.refused(t.ask(t.right().and("total=2")), "total", "2", "0|1")
		return
	}
	filters := func(suits func(f *Field) bool) func(*Resource, *Field) bool {
		return func(r *Resource, f *Field) bool {
			return f.scalar() && !f.Primary && !slices.Contains(r.requires, f.Name) && suits(f)
		}
	}
	f := t.choose(w.what, filters(w.suits), filters(w.anyText))
	all := map[mapping.Reason][]wrongOne{
		mapping.Float8Invalid: asJSON("one")(f), mapping.Int4Invalid: asJSON("2147483648", "one")(f), mapping.VarcharInvalid: asJSON("\x00")(f),
	}[w.reason]
	if all == nil {
		all = w.values(f)
	}
	for _, v := range all {
		t.refused(t.ask(t.right().and(f.Name+"="+url.QueryEscape(fmt.Sprint(v.sent)))), append([]string{f.Name}, v.shown...)...)
	}
}
