package sqlrecord

import (
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// Comparisons are the operators of SQL.
var Comparisons = [...]string{mapping.Equals: " = ", mapping.AtLeast: " >= ", mapping.Above: " > ", mapping.AtMost: " <= ", mapping.Below: " < "}

// filter appends the condition of one filter.
func (w *listWriter) filter(f backend.Filter) {
	of := &w.t.Fields[f.Field.Index]
	switch {
	case of.Filter != nil:
		of.Filter(&w.Writer, f)
	case f.Op == mapping.IsNull && f.Value.Int() == 0 && of.Nulls != nil:
		of.Nulls(w.Add("NOT "))
	case f.Op == mapping.IsNull && f.Value.Int() == 0:
		w.Expr(of.Read).Add(" IS NOT NULL")
	case f.Op == mapping.IsNull, f.Op == mapping.Equals && !f.Value.IsSet():
		of.isNull(&w.Writer)
	case f.Op == mapping.AnyOf:
		of.anyOf(&w.Writer, f.Values)
	case f.Op == mapping.Contains:
		part := f.Value.Text()
		if f.Field.IgnoreDashes {
			part = mapping.BarePlate(part)
		}
		like := &w.d.like
		of.left(w.Add(like[0])).Add(like[1], w.Arg(mapping.TextValue(w.d.pattern(part))), like[2])
	default:
		of.Compare(&w.Writer, f.Op, f.Value)
	}
}

// isNull appends that the field is null.
func (f *Field) isNull(w *Writer) {
	if f.Nulls != nil {
		f.Nulls(w)
	} else {
		w.Expr(f.Read).Add(" IS NULL")
	}
}

// Compare appends that the field has a value, or is on one side of it.
func (f *Field) Compare(w *Writer, op mapping.Operator, v mapping.Value) {
	switch {
	case op == mapping.Equals && f.Equals != nil:
		f.Equals(w, v)
	case op != mapping.Equals && f.Ranges != nil:
		f.Ranges(w, op, v)
	default:
		f.operand(f.left(w).Add(Comparisons[op]), v)
	}
}

// left appends what is compared.
func (f *Field) left(w *Writer) *Writer {
	return w.Add(f.Fold[0]).Expr(f.Read).Add(f.Fold[1])
}

// operand appends what the field is compared with.
func (f *Field) operand(w *Writer, v mapping.Value) {
	w.Add(f.Fold[0])
	if f.Operand != nil {
		f.Operand(w, v)
	} else {
		w.Add(w.Arg(v))
	}
	w.Add(f.Fold[1])
}

// anyOf appends that the field has one of the values.
func (f *Field) anyOf(w *Writer, values []mapping.Value) {
	if f.Equals != nil {
		for i, v := range values {
			f.Equals(w.Add([...]string{"(", " OR "}[min(i, 1)]), v)
		}
		w.Add(")")
		return
	}
	f.left(w)
	for i, v := range filledUp(values) {
		f.operand(w.Add([...]string{" IN (", ", "}[min(i, 1)]), v)
	}
	w.Add(")")
}

// idValues are the arguments of a statement that ends in a list of IDs, filled up.
func idValues(ids []int32, before ...mapping.Value) []mapping.Value {
	values := make([]mapping.Value, len(ids))
	for i, id := range ids {
		values[i] = mapping.IntValue(int64(id))
	}
	return append(before, filledUp(values)...)
}

// filledUp repeats the last value until there are 1, 2, 4, 8, … of them, so that few texts
// of statements are prepared and not one for each number of values.
func filledUp(values []mapping.Value) []mapping.Value {
	n := 1
	for n < len(values) {
		n *= 2
	}
	all := append(make([]mapping.Value, 0, n), values...)
	for len(all) < n {
		all = append(all, values[len(values)-1])
	}
	return all
}

// The patterns of both engines list the forms of each letter, because the engines differ
// in what they know of letters beyond ASCII. A letter's forms are those that mapping.Fold
// takes for the same letter.

// GlobPattern finds a part of a text with SQLite's GLOB.
func GlobPattern(part string) string { return "*" + pattern(part, "*?[", "[", "]") + "*" }

// RegexPattern finds a part of a text with PostgreSQL's regular expressions.
func RegexPattern(part string) string { return pattern(part, `\^$.|?*+()[]{}`, `\`, "") }

// pattern writes the letters of a text, and escapes those in special with before and after.
func pattern(part, special, before, after string) string {
	var b strings.Builder
	for _, r := range part {
		switch all := mapping.Cases(r); {
		case len(all) > 1:
			b.WriteString("[" + string(all) + "]")
		case strings.ContainsRune(special, r):
			b.WriteString(before + string(r) + after)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
