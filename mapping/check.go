package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// CheckCreate judges a new record alone, without any other record. It returns every
// violation, those of one row in field order. Catalogue.Sort puts the rows into their
// documented order.
func (b *Body) CheckCreate() Violations { return b.checkNew(nil) }

// checkNew is CheckCreate for a record, or for an array element whose field
// parent refers back to the record that holds it.
func (b *Body) checkNew(parent *Field) Violations {
	v := slices.Clone(b.Violations)
	r := b.Record.Resource
	for i := range r.Fields {
		f := &r.Fields[i]
		value := b.Record.Values[i]
		switch {
		case b.supplied[i] && f.Primary:
			v = append(v, Fail(PrimaryIDSupplied, Literal(f.Name)))
		case b.supplied[i] && (f.Readonly || f == parent):
			v = append(v, Fail(FieldReadonly, Literal(f.Name)))
		case f.Type == Array && b.supplied[i]:
			v = append(v, b.checkArray(f)...)
		case f.Required && !f.Primary && f.Withheld&InCreates == 0 && f != parent && (!b.supplied[i] || !value.IsAbsent() && value.IsEmpty()):
			v = append(v, Fail(FieldRequired, Literal(f.Name)))
		case value.IsSet():
			v = append(v, b.checkValue(f, value)...)
			if e := b.Record.checkAfter(f, b.Sent); e != nil {
				v = append(v, e)
			}
		}
	}
	return r.inFieldOrder(withoutIllTyped(v))
}

// CheckUpdate judges the fields of an update alone. What depends on the stored
// record (missing required fields, dates, fields that cannot change) is judged
// later, on the merged record.
func (b *Body) CheckUpdate() Violations {
	b.update = true
	v := slices.Clone(b.Violations)
	r := b.Record.Resource
	for i := range r.Fields {
		f := &r.Fields[i]
		if !b.supplied[i] || f.Primary {
			continue
		}
		value := b.Record.Values[i]
		switch {
		case f.Readonly:
			v = append(v, Fail(FieldReadonly, Literal(f.Name)))
		case f.Type == Array && len(b.Record.Children[i]) == 0:
			v = append(v, Fail(ArrayEmpty, Literal(f.Name)))
		case f.Required && !value.IsAbsent() && value.IsEmpty():
			v = append(v, Fail(FieldEmpty, Literal(f.Name)))
		case value.IsSet():
			v = append(v, b.checkValue(f, value)...)
		}
	}
	return r.inFieldOrder(withoutIllTyped(v))
}

// CheckMerged judges a record as an update would leave it. It finds required fields
// without a value, and dates that are not after the date that they must follow.
func (b *Body) CheckMerged(merged Record) Violations {
	var v Violations
	sent := func(i int) string {
		if b.supplied[i] {
			return b.Sent(i)
		}
		return merged.Values[i].String()
	}
	for i := range merged.Resource.Fields {
		f := &merged.Resource.Fields[i]
		if f.Required && merged.Values[i].IsEmpty() {
			v = append(v, Fail(FieldRequired, Literal(f.Name)))
		}
	}
	for i := range merged.Resource.Fields {
		if e := merged.checkAfter(&merged.Resource.Fields[i], sent); e != nil {
			v = append(v, e)
		}
	}
	return v
}

// inFieldOrder sorts violations by the field that they name; those of no field of r come first.
// Otherwise they keep their order. FieldNotInModel counts as no field of r, so that the order does
// not reveal a field to a caller who may not know it.
func (r *Resource) inFieldOrder(v Violations) Violations {
	place := func(e *Error) int {
		if len(e.Args) == 0 || e.Reason == FieldNotInModel {
			return -1
		}
		name, _, _ := strings.Cut(e.Args[0], "[")
		if f := r.byName[name]; f != nil {
			return f.Index
		}
		return -1
	}
	slices.SortStableFunc(v, func(a, b *Error) int { return cmp.Compare(place(a), place(b)) })
	return v
}

// withoutIllTyped drops the violations that follow from an unreadable value: a readonly
// field is refused for being supplied, not for its datatype as well.
func withoutIllTyped(v Violations) Violations {
	refused := map[string]bool{}
	for _, e := range v {
		if e.Reason == FieldReadonly || e.Reason == PrimaryIDSupplied {
			refused[e.Args[0]] = true
		}
	}
	if len(refused) == 0 {
		return v
	}
	return slices.DeleteFunc(v, func(e *Error) bool {
		return slices.Contains(unreadable[:], e.Reason) && refused[e.Args[0]]
	})
}

func (b *Body) checkArray(f *Field) Violations {
	lines := b.lines[f.Index]
	if len(lines) == 0 {
		return Violations{Fail(ArrayEmpty, Literal(f.Name))}
	}
	var v Violations
	parent := f.target.byName[f.ArrayKey]
	for n, line := range lines {
		if line == nil { // the element is not an object, which decoding has reported
			continue
		}
		for _, e := range line.checkNew(parent) {
			v = append(v, e.In(fmt.Sprintf("%s[%d]", f.Name, n)))
		}
		if len(v) >= MaxViolations {
			return v[:MaxViolations]
		}
	}
	return v
}

// checkValue judges length and custom validation of a value that is set.
func (b *Body) checkValue(f *Field, value Value) Violations {
	var v Violations
	if e := f.tooLong(value); e != nil {
		v = append(v, e)
	}
	if !f.valid(b, value) {
		v = append(v, Fail(ValidationFailed, Literal(f.Name), b.Sent(f.Index), Literal(f.Validation())))
	}
	return v
}

// tooLong returns the violation of a text with more characters than the field holds; else nil.
func (f *Field) tooLong(value Value) *Error {
	if !f.IsText() {
		return nil
	}
	n := utf8.RuneCountInString(value.text)
	if n <= f.Length {
		return nil
	}
	reason := VarcharTooLong
	if f.Type == Text {
		reason = TextTooLong
	}
	return Fail(reason, Literal(f.Name), n, f.Length)
}

// valid applies the field's list of values and its named validation.
func (f *Field) valid(b *Body, value Value) bool {
	if len(f.OneOf) > 0 && !slices.Contains(f.OneOf, value.String()) {
		return false
	}
	return f.Check == "" || validations[f.Check].judge(b, value)
}

// checkAfter judges whether a timestamp is later than the one it must follow.
func (rec Record) checkAfter(f *Field, sent func(int) string) *Error {
	if f.after == nil {
		return nil
	}
	value, other := rec.Values[f.Index], rec.Values[f.after.Index]
	if !value.IsSet() || !other.IsSet() || value.num > other.num {
		return nil
	}
	return Fail(DateNotAfter, Literal(f.Name), sent(f.Index), Literal(f.after.Name), sent(f.after.Index))
}
