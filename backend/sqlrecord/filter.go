package sqlrecord

import (
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

var comparisons = [...]string{mapping.Equals: " = ", mapping.AtLeast: " >= ", mapping.Above: " > ", mapping.AtMost: " <= ", mapping.Below: " < "}

// filter appends the condition of one filter.
func (w *listWriter) filter(f backend.Filter) {
	column := w.t.columns[f.Field.Index]
	switch f.Op {
	case mapping.IsNull:
		w.b.WriteString(column + [...]string{" IS NOT NULL", " IS NULL"}[f.Value.Int()])
	case mapping.AnyOf:
		w.b.WriteString(w.d.Compared(f.Field, column) + " IN (")
		for i, v := range filledUp(f.Values) {
			if i > 0 {
				w.b.WriteString(", ")
			}
			w.b.WriteString(w.d.Compared(f.Field, w.arg(v)))
		}
		w.b.WriteByte(')')
	case mapping.Contains:
		part := f.Value.Text()
		if f.Field.IgnoreDashes {
			part = mapping.BarePlate(part)
		}
		w.b.WriteString(w.d.Compared(f.Field, column) + w.d.like + w.arg(mapping.TextValue(w.d.pattern(part))))
	default:
		w.b.WriteString(w.d.Compared(f.Field, column) + comparisons[f.Op] + w.d.Compared(f.Field, w.arg(f.Value)))
	}
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
