package sqlrecord

import (
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

var comparisons = [...]string{mapping.Equals: " = ", mapping.AtLeast: " >= ", mapping.Above: " > ", mapping.AtMost: " <= ", mapping.Below: " < "}

// filter appends the condition of one filter.
func (w *listWriter) filter(f backend.Filter) {
	of := &w.t.Fields[f.Field.Index]
	switch {
	case of.Filter != nil:
		of.Filter(&w.Writer, f)
	case f.Op == mapping.IsNull && f.Value.Int() == 0:
		w.null(of, "NOT ", " IS NOT NULL")
	case f.Op == mapping.IsNull, f.Op == mapping.Equals && !f.Value.IsSet():
		w.null(of, "", " IS NULL")
	case f.Op == mapping.AnyOf:
		w.anyOf(of, f.Values)
	case f.Op == mapping.Contains:
		part := f.Value.Text()
		if f.Field.IgnoreDashes {
			part = mapping.BarePlate(part)
		}
		like := &w.d.like
		w.Add(like[0])
		w.left(of).Add(like[1], w.Arg(mapping.TextValue(w.d.pattern(part))), like[2])
	case f.Op == mapping.Equals:
		w.equals(of, f.Value)
	default:
		w.ranges(of, f.Op, f.Value)
	}
}

// null appends that a field is null, or is not.
func (w *listWriter) null(of *Field, before, behind string) {
	if of.Equals != nil {
		of.Equals(w.Add(before), mapping.NullValue())
		return
	}
	w.Expr(of.Read).Add(behind)
}

// equals appends that a field has a value.
func (w *listWriter) equals(of *Field, v mapping.Value) {
	if of.Equals != nil {
		of.Equals(&w.Writer, v)
		return
	}
	w.compared(of, " = ", v)
}

// ranges appends that a field is on one side of a value.
func (w *listWriter) ranges(of *Field, op mapping.Operator, v mapping.Value) {
	if of.Ranges != nil {
		of.Ranges(&w.Writer, op, v)
		return
	}
	w.compared(of, comparisons[op], v)
}

func (w *listWriter) compared(of *Field, operator string, v mapping.Value) {
	w.left(of).Add(operator)
	w.operand(of, v)
}

// left appends what is compared.
func (w *listWriter) left(of *Field) *Writer {
	return w.Add(of.Fold[0]).Expr(of.Read).Add(of.Fold[1])
}

// operand appends what it is compared with.
func (w *listWriter) operand(of *Field, v mapping.Value) {
	w.Add(of.Fold[0])
	if of.Operand != nil {
		of.Operand(&w.Writer, v)
	} else {
		w.Add(w.Arg(v))
	}
	w.Add(of.Fold[1])
}

// anyOf appends that a field has one of the values.
func (w *listWriter) anyOf(of *Field, values []mapping.Value) {
	if of.Equals != nil {
		for i, v := range values {
			w.Add([...]string{"(", " OR "}[min(i, 1)])
			of.Equals(&w.Writer, v)
		}
		w.Add(")")
		return
	}
	w.left(of)
	for i, v := range filledUp(values) {
		w.Add([...]string{" IN (", ", "}[min(i, 1)])
		w.operand(of, v)
	}
	w.Add(")")
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

// pattern writes the letters of a text, those of special with what makes them plain around.
func pattern(part, special, before, behind string) string {
	var b strings.Builder
	for _, r := range part {
		switch all := mapping.Cases(r); {
		case len(all) > 1:
			b.WriteString("[" + string(all) + "]")
		case strings.ContainsRune(special, r):
			b.WriteString(before + string(r) + behind)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
