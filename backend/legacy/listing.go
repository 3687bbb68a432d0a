package legacy

import (
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// match appends the conditions of a list. It is false if no record can match.
func (t *table) match(b *statement, q backend.Query, keys sheet.Keys, after []sheet.Raw) (possible bool, err error) {
	t.visible(b, q.Client)
	for _, f := range q.Filters {
		if possible, err := t.filter(b.add(" AND "), q, f, keys); err != nil || !possible {
			return false, err
		}
	}
	if q.ModifiedSince.IsSet() {
		bounds, ok := t.Since(q.ModifiedSince)
		if !ok {
			return false, mapping.Fail(mapping.QueryUnsupported, mapping.Literal("modified_since"))
		}
		b.add(" AND ")
		t.compared(b, bounds, " > ", " >= ")
	}
	if after != nil {
		bounds := make([]sheet.Assignment, len(after))
		for i, v := range after {
			bounds[i] = sheet.Assignment{Place: t.Key.Places[i], Value: v}
		}
		b.add(" AND ")
		t.compared(b, bounds, " > ", " > ")
	}
	return true, nil
}

// is appends that a place has the value of a filter.
func (t *table) is(b *statement, f *mapping.Field, a sheet.Assignment) {
	switch {
	case a.Span != nil && !(a.Value.Kind == sheet.RawText && t.texts[a.Place]): // a text may name its zone
		t.within(b, a.Place, a.Span)
	case a.Value.Kind != sheet.RawText:
		t.equal(b, a.Place, a.Value)
	case t.bare[f]:
		b.add("UPPER(REPLACE(").expr(t.expr(a.Place)).add(", '-', '')) = ").arg(textRaw(mapping.BarePlate(a.Value.Text)))
	case t.led[a.Place]:
		b.add("LTRIM(RTRIM(").expr(t.expr(a.Place)).add(")) = ").arg(textRaw(strings.Trim(a.Value.Text, " ")))
	case t.padded[a.Place], a.Value.Text == "" && f != nil && isReference(f):
		b.add("RTRIM(").expr(t.expr(a.Place)).add(") = ").arg(textRaw(strings.TrimRight(a.Value.Text, " ")))
	default:
		t.equal(b, a.Place, a.Value)
	}
}

// within appends that a place has a value within a span.
func (t *table) within(b *statement, place string, of *sheet.Span) {
	above, below := " >= ", " <= "
	if of.OpenFrom {
		above = " > "
	}
	if of.OpenTo {
		below = " < "
	}
	t.against(b, place, above, of.From)
	t.against(b.add(" AND "), place, below, of.To)
}

// compared appends that a row's values are above the bounds, or below them, the coarser value
// first; last is the operator for the finest. It is written out because not every engine
// compares rows.
func (t *table) compared(b *statement, bounds []sheet.Assignment, way, last string) {
	b.add("(")
	for i, bound := range bounds {
		if i > 0 {
			b.add(" OR (")
			for _, same := range bounds[:i] {
				t.equal(b, same.Place, same.Value).add(" AND ")
			}
		}
		compare := way
		if i == len(bounds)-1 {
			compare = last
		}
		t.against(b, bound.Place, compare, bound.Value)
		if i > 0 {
			b.add(")")
		}
	}
	b.add(")")
}

// sorted appends the order of a list. The key makes it total: this is what order by ID means.
func (t *table) sorted(b *statement, q backend.Query) {
	b.add(" ORDER BY ")
	n, descending := 0, false
	used := map[string]bool{}
	by := func(place string, descending bool) {
		if used[place] {
			return
		}
		used[place] = true
		b.add(comma(n))
		if nulls := t.nulls[place]; len(nulls) > 0 {
			t.nulled(b, place, nulls)
			b.add(t.d.order("", descending, true))
		} else {
			b.expr(t.d.order(t.expr(place), descending, !t.filled[place]))
		}
		n++
	}
	for _, place := range t.Order {
		if !q.Keyset {
			by(place, false)
		}
	}
	for _, o := range q.Sort {
		if o.Field.Primary {
			descending = o.Descending
			break
		}
		f := &t.Fields[o.Field.Index]
		if ranks, unknown := f.CodeOrder(!t.isNoText(f.From)); ranks != nil {
			b.add(comma(n))
			t.ranked(b, f, ranks, unknown)
			b.add(t.d.order("", o.Descending, false))
			n++
			continue
		}
		for _, place := range f.From {
			by(place, o.Descending)
		}
	}
	for _, place := range t.Key.Places {
		by(place, descending)
	}
}

// nulled appends the value of a place, with null for values that mean null.
func (t *table) nulled(b *statement, place string, nulls []sheet.Raw) {
	b.add("CASE WHEN ")
	for i, v := range nulls {
		t.is(b.add(between(i, " OR ")), nil, sheet.Assignment{Place: place, Value: v})
	}
	b.add(" THEN NULL ELSE ").expr(t.expr(place)).add(" END")
}

// isNoText tells whether the one place of a field is a column that holds no texts.
func (t *table) isNoText(from []string) bool {
	if len(from) != 1 {
		return false
	}
	text, known := t.texts[from[0]]
	return known && !text
}

// ranked appends the rank of a field's code in the order of what the codes stand for.
func (t *table) ranked(b *statement, f *sheet.Field, ranks [][]sheet.Raw, unknown int) {
	b.add("CASE")
	for rank, codes := range ranks {
		for _, code := range codes {
			b.add(" WHEN ")
			t.is(b, f.Field, sheet.Assignment{Place: f.From[0], Value: code, Field: f.Field})
			b.add(" THEN ", strconv.Itoa(rank))
		}
	}
	b.add(" WHEN ").expr(t.expr(f.From[0])).add(" IS NULL THEN 0 ELSE ", strconv.Itoa(unknown), " END")
}

// afterKey finds the key of the ID that a list continues after. It is false if that ID was
// never issued.
func (t *table) afterKey(q backend.Query, keys sheet.Keys) (key []sheet.Raw, ok bool, err error) {
	if q.After <= 0 {
		return nil, true, nil
	}
	return t.keyOf(q.After, keys)
}

// keyOf returns the parts of an ID's key, from the id store if that has it.
func (t *table) keyOf(id int32, keys sheet.Keys) (key []sheet.Raw, ok bool, err error) {
	if !t.Key.Kept {
		number, ok := t.NumberKey(int64(id))
		return []sheet.Raw{number}, ok, nil
	}
	text := keys[sheet.IDRef{Resource: t.Name, ID: id}]
	if text == "" {
		return nil, false, nil
	}
	key, err = t.split(text)
	return key, err == nil, err
}
