package legacy

import (
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// filter appends the condition of one filter of a list. It is false if no record can match.
func (t *table) filter(b *statement, q backend.Query, f backend.Filter, keys sheet.Keys) (possible bool, err error) {
	of := &t.Fields[f.Field.Index]
	if v, fixed := of.Fixed(); fixed {
		b.add("1 = 1")
		return f.Matches(v), nil
	}
	switch {
	case f.Op == mapping.Contains:
		t.contains(b, of, f.Value.Text())
	case f.Op.IsRange():
		bound := t.Range(f.Field, f.Op, f.Value)
		b.add("(")
		t.beyond(b, bound)
		for _, null := range of.Nulls() {
			b.add(" AND NOT (")
			t.is(b, f.Field, sheet.Assignment{Place: of.From[0], Value: null})
			b.add(")")
		}
		b.add(")")
	default:
		alternatives, err := t.alternatives(q, f, keys)
		if f.Op == mapping.IsNull && f.Value.Int() == 0 {
			b.add("NOT ")
			t.oneOf(b, f.Field, alternatives)
			return true, err
		}
		if err != nil || len(alternatives) == 0 {
			return false, err
		}
		t.oneOf(b, f.Field, alternatives)
	}
	return true, nil
}

// alternatives are the system's values that stand for a value which a filter lets through.
func (t *table) alternatives(q backend.Query, f backend.Filter, keys sheet.Keys) (all [][]sheet.Assignment, err error) {
	for _, v := range values(f) {
		some, err := t.Filter(t.asked(q, f, v), f.Field, q.Client, keys)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if !v.IsSet() {
			all = append(all, t.blanks(f.Field)...)
		}
	}
	return all, nil
}

// blanks are the empty texts by which a reference refers to no record.
func (t *table) blanks(f *mapping.Field) (all [][]sheet.Assignment) {
	for _, place := range t.Fields[f.Index].From {
		if isReference(f) && t.texts[place] {
			all = append(all, []sheet.Assignment{{Place: place, Value: textRaw(""), Field: f}})
		}
	}
	return all
}

func isReference(f *mapping.Field) bool { return f.Reference != "" || f.ReferenceBy != "" }

// values are those that a filter compares with; null for the operator null.
func values(f backend.Filter) []mapping.Value {
	if f.Op == mapping.IsNull {
		return []mapping.Value{mapping.NullValue()}
	}
	return f.Operands()
}

// asked is a record of the filtered values, with one value of this filter. Other filters count
// if they name one value: the ID that it refers to may depend on it.
func (t *table) asked(q backend.Query, f backend.Filter, v mapping.Value) mapping.Record {
	rec := mapping.NewRecord(t.Resource.Resource)
	for _, other := range q.Filters {
		if other.Op == mapping.Equals {
			rec.Values[other.Field.Index] = other.Value
		}
	}
	rec.Values[f.Field.Index] = v
	return rec
}

// oneOf appends that at least one of the alternatives holds completely.
func (t *table) oneOf(b *statement, f *mapping.Field, alternatives [][]sheet.Assignment) {
	b.add("(")
	if len(alternatives) == 0 {
		b.add("1 = 0")
	}
	for i, all := range alternatives {
		b.add(between(i, " OR "))
		if len(all) == 0 {
			b.add("1 = 1") // holds for every record
		}
		for k, a := range all {
			t.is(b.add(between(k, " AND ")), f, a)
		}
	}
	b.add(")")
}

// beyond appends that a row's values are above a bound, or below it.
func (t *table) beyond(b *statement, bound sheet.Bound) {
	switch {
	case bound.Before && bound.Open:
		t.compared(b, bound.At, " < ", " <= ")
	case bound.Before:
		t.compared(b, bound.At, " < ", " < ")
	case bound.Open:
		t.compared(b, bound.At, " > ", " > ")
	default:
		t.compared(b, bound.At, " > ", " >= ")
	}
}

// contains appends that a text contains a part, whatever its case.
func (t *table) contains(b *statement, f *sheet.Field, part string) {
	place := f.From[0]
	left, right := f.Trims()
	before, behind := "", ""
	if f.IgnoreDashes {
		part = mapping.BarePlate(part)
		before, behind = "REPLACE(", ", '-', '')"
	}
	if left {
		before, behind = "LTRIM("+before, behind+")"
	}
	if right || t.padded[place] {
		before, behind = "RTRIM("+before, behind+")"
	}
	t.d.contains(b, func() { b.add(before).expr(t.expr(place)).add(behind) }, part)
}

// likePattern matches a part of a text with LIKE; ! makes the next character plain.
func likePattern(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_", "[", "![").Replace(part) + "%"
}
