package mapping

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Operator is how a filter of a list compares a field with its value.
type Operator uint8

// The operators: order_status=open, order_date[gte]=2026-07-01, …
const (
	Equals   Operator = iota
	AtLeast           // [gte]
	Above             // [gt]
	AtMost            // [lte]
	Below             // [lt]
	AnyOf             // [in]: one of several values
	IsNull            // [null]: 1 for null, 0 for a value
	Contains          // [contains]: a part of a text, in capitals or not
)

var operatorNames = [...]string{AtLeast: "gte", Above: "gt", AtMost: "lte", Below: "lt", AnyOf: "in", IsNull: "null", Contains: "contains"}

// AllOperators are all operators except Equals.
var AllOperators = [...]Operator{AtLeast, Above, AtMost, Below, AnyOf, IsNull, Contains}

func (o Operator) String() string { return operatorNames[o] }

// IsRange reports whether the operator compares by the order of values.
func (o Operator) IsRange() bool { return o >= AtLeast && o <= Below }

// Param returns the name of the query parameter that filters a field by the operator.
func (o Operator) Param(field string) string {
	if o == Equals {
		return field
	}
	return field + "[" + operatorNames[o] + "]"
}

// CutOperator is the inverse of Param. A param without a known operator is a field with Equals.
func CutOperator(param string) (field string, o Operator) {
	field, name, found := strings.Cut(strings.TrimSuffix(param, "]"), "[")
	if i := slices.Index(operatorNames[:], name); found && i > 0 && len(param) == len(field)+len(name)+2 {
		return field, Operator(i)
	}
	return param, Equals
}

// Operators is a set of operators.
type Operators uint8

// OperatorsOf returns the set of these operators.
func OperatorsOf(all ...Operator) (s Operators) {
	for _, o := range all {
		s |= 1 << o
	}
	return s
}

// Has reports whether the set has an operator.
func (s Operators) Has(o Operator) bool { return s&(1<<o) != 0 }

// Filterable reports whether GET many takes the field as an equality filter.
func (f *Field) Filterable() bool { return f.FilterableBy(Equals) }

// FilterableBy reports whether GET many takes the field as a filter with this operator. IDs and
// choices have no ranges, since their order has no meaning.
func (f *Field) FilterableBy(o Operator) bool {
	if !f.InLists() || f.Unfiltered.Has(o) {
		return false
	}
	isID := f.Primary || f.Reference != "" || f.ReferenceBy != ""
	switch o {
	case IsNull:
		return !f.Primary
	case Contains:
		return f.IsText() && f.Length <= MaxSearched && len(f.OneOf) == 0
	case AtLeast, Above, AtMost, Below:
		return !isID && len(f.Choices()) == 0 && !f.IgnoreDashes
	default:
		return true
	}
}

// Choices returns the values that a filter may name; nil for any. is_system has those of a flag
// although it has no OneOf, which only fields that clients send need.
func (f *Field) Choices() []string {
	if f.OneOf == nil && f.Name == isSystem {
		return flag
	}
	return f.OneOf
}

// HoldsComma reports whether a value of the field may have a comma in it.
func (f *Field) HoldsComma() bool {
	if choices := f.Choices(); choices != nil {
		return slices.ContainsFunc(choices, func(c string) bool { return strings.Contains(c, ",") })
	}
	return f.IsText()
}

// The bounds of filters: how long the texts of a field may be for [contains], how many values
// [in] takes, and how many characters the value of [contains] has.
const (
	MaxSearched = 65_535
	MaxAnyOf    = 100
	MinContains = 3
	MaxContains = 255
)

// ParseOperand reads one of the values that a filter compares the field with. none reports that
// no record can have the value, because it has more decimals or digits than are stored.
func (f *Field) ParseOperand(o Operator, s string, loc *time.Location) (v Value, none bool, bad *Error) {
	invalid := func(validation string) *Error {
		return Fail(ValidationFailed, Literal(f.Name), s, Literal(validation))
	}
	switch o {
	case IsNull:
		if s != "0" && s != "1" {
			return v, false, invalid("0|1")
		}
		return IntValue(int64(s[0] - '0')), false, nil
	case Contains:
		if v, bad = f.Parse(s, loc); bad != nil {
			return v, false, bad
		}
		part := s
		if f.IgnoreDashes {
			part = BarePlate(s)
		}
		if n := utf8.RuneCountInString(part); n < MinContains || n > MaxContains {
			return v, false, invalid("3 to 255 characters")
		}
		return v, false, nil
	}
	if v, bad = f.Parse(s, loc); bad != nil {
		return v, false, bad
	}
	if bad = f.tooLong(v); bad != nil {
		return v, false, bad
	}
	if choices := f.Choices(); len(choices) > 0 && !slices.Contains(choices, v.String()) {
		return v, false, invalid(strings.Join(choices, "|"))
	}
	if f.Keeps(s, v) {
		return v, false, nil
	}
	return f.bound(o, s, v), !o.IsRange(), nil
}

// bound adjusts a value that was rounded or cut, so that a range by it selects the same stored
// values as one by the exact value: x >= 1.00005 becomes x >= 1.0001, and x > 1.00005 becomes
// x > 1.0000.
func (f *Field) bound(o Operator, s string, v Value) Value {
	if !o.IsRange() {
		return v
	}
	up := o == AtLeast || o == Below
	over := v.kind == KindDecimal && v.Decimal().Cmp(exact(s)) > 0 // a time is always cut
	switch {
	case up && !over:
		v.num++
	case !up && over:
		v.num--
	}
	return v
}

// Fold returns a text in a form that is equal for texts that differ only in case. It folds each
// letter by itself, independent of language.
func Fold(s string) string { return strings.Map(func(r rune) rune { return slices.Min(Cases(r)) }, s) }

// Cases returns all forms of a letter that differ only in case, itself included.
func Cases(r rune) []rune {
	all := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		all = append(all, other)
	}
	return all
}
