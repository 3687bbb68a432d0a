package backend

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// Filter selects the records whose field compares with a value as Op says. null compares
// with no value. Matches defines that for every driver, except that an existing system may
// treat texts as equal that differ in case or in blanks at the end.
type Filter struct {
	Field  *mapping.Field
	Op     mapping.Operator
	Value  mapping.Value   // 0 or 1 for IsNull
	Values []mapping.Value // for AnyOf, in place of Value: one or more
}

// Operands are the values that the filter names.
func (f Filter) Operands() []mapping.Value {
	if f.Op == mapping.AnyOf {
		return f.Values
	}
	return []mapping.Value{f.Value}
}

// Equal reports whether two filters are the same.
func (f Filter) Equal(o Filter) bool {
	return f.Field == o.Field && f.Op == o.Op && f.Value == o.Value && slices.Equal(f.Values, o.Values)
}

// Matches reports whether a value of the field passes the filter.
func (f Filter) Matches(v mapping.Value) bool {
	switch {
	case f.Op == mapping.IsNull:
		return v.IsSet() == (f.Value.Int() == 0)
	case !v.IsSet():
		return f.Op == mapping.Equals && !f.Value.IsSet()
	case f.Op == mapping.AnyOf:
		return slices.ContainsFunc(f.Values, func(one mapping.Value) bool { return f.compare(v, one) == 0 })
	case f.Op == mapping.Contains:
		return strings.Contains(mapping.Fold(f.bare(v)), mapping.Fold(f.bare(f.Value)))
	case !f.Value.IsSet():
		return false
	}
	c := f.compare(v, f.Value)
	switch f.Op {
	case mapping.AtLeast:
		return c >= 0
	case mapping.Above:
		return c > 0
	case mapping.AtMost:
		return c <= 0
	case mapping.Below:
		return c < 0
	default:
		return c == 0
	}
}

// compare orders two values that are set: texts by their characters.
func (f Filter) compare(a, b mapping.Value) int {
	switch a.Kind() {
	case mapping.KindText:
		return strings.Compare(f.bare(a), f.bare(b))
	case mapping.KindFloat:
		return cmp.Compare(a.Float(), b.Float())
	case mapping.KindDecimal:
		return a.Decimal().Cmp(b.Decimal())
	default:
		return cmp.Compare(a.Int(), b.Int())
	}
}

// bare is the text that is compared: without dashes, if the field ignores them.
func (f Filter) bare(v mapping.Value) string {
	if f.Field.IgnoreDashes {
		return mapping.BarePlate(v.Text())
	}
	return v.Text()
}
