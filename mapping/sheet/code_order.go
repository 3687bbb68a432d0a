package sheet

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// CodeOrder returns the codes of the field's list in the order of what they stand for, equal
// ones together, null first; and the position among them of codes that the list does not know.
// It returns none if the system's order is already that of the values.
func (f *Field) CodeOrder(texts bool) (ranks [][]Raw, unknown int) {
	cs := f.codec.codes
	if f.source != fromPlace || cs == nil || cs.unknown == "keep" {
		return nil, 0
	}
	nulls := f.codec.unlistedZeros()
	if _, known := cs.read[""]; texts && !known && f.codec.emptyNull && f.codec.system == sysText && cs.unknown != "value" {
		nulls = append(nulls, textRaw(""))
	}
	if nulls == nil && cs.inOrder() {
		return nil, 0
	}
	values := []mapping.Value{mapping.NullValue()}
	for _, v := range cs.shown() {
		if v.IsSet() && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values[1:], func(a, b mapping.Value) int {
		if a.Kind() == mapping.KindInt && b.Kind() == mapping.KindInt {
			return cmp.Compare(a.Int(), b.Int())
		}
		return strings.Compare(a.String(), b.String())
	})
	for _, v := range values {
		ranks = append(ranks, cs.write[v])
	}
	ranks[0] = slices.Concat(ranks[0], nulls)
	return ranks, max(0, slices.Index(values, cs.value))
}

// isInOrder tells whether a service that sorts by what it has sorts by the field's values. Nulls,
// of which an empty text may be one, come as it has them.
func (f *Field) isInOrder() bool {
	cs := f.codec.codes
	return cs == nil || cs.unknown == "keep" || f.codec.unlistedZeros() == nil && cs.inOrder()
}

// unlistedZeros are the values that zero says are null, but for those that the list of codes has.
func (c *codec) unlistedZeros() (all []Raw) {
	for _, z := range c.zero {
		if _, known := c.codes.read[z]; !known {
			all = append(all, c.typed(z))
		}
	}
	return all
}

// Nulls are the values that mean null at the field's place, beside null itself.
func (f *Field) Nulls() (all []Raw) {
	c := &f.codec
	if f.source != fromPlace || c.codes != nil {
		return nil
	}
	if c.emptyNull && c.systemName() == "text" {
		all = append(all, textRaw(""))
	}
	for _, z := range c.zero {
		all = append(all, c.typed(z))
	}
	return all
}
