package check

import (
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/mapping"
)

// edge is a value that is tried.
type edge struct {
	kind     string // in words
	severity Severity
	value    mapping.Value
	isCode   bool // a code of the interface, which a system may not know
}

// isKept reports whether a value came back; an empty text equals null.
func isKept(f *mapping.Field, sent, got mapping.Value) bool {
	switch {
	case f.IgnoreDashes:
		return mapping.BarePlate(sent.Text()) == mapping.BarePlate(got.Text())
	case !sent.IsSet() || sent.IsEmpty():
		return !got.IsSet() || got.IsEmpty()
	default:
		return sent == got
	}
}

// hours is how many times of day are tried for a timestamp.
const hours = 4

// edgesOf are the values, which clients may send, that are tried in a field of a record.
func (x *subject) edgesOf(f *mapping.Field, of mapping.Record) (all []edge) {
	if !x.sends(f) || f.Immutable || f.Type == mapping.Bytea || x.commits() && f.IsState() {
		return nil
	}
	if other := x.otherValue(f, of.Values[f.Index]); other.IsSet() && !f.Unique {
		all = append(all, edge{kind: "a value of another record", severity: Error, value: other})
	}
	switch {
	case f.Reference != "" || f.ReferenceBy != "":
	case !x.isService():
		all = append(all, x.anyEdges(f)...)
	default:
		all = append(all, codesOf(f)...)
		if !f.Required {
			all = append(all, edge{kind: "null", severity: Note, value: mapping.NullValue()})
		}
	}
	return slices.DeleteFunc(all, func(e edge) bool {
		patch := mapping.NewRecord(x.Resource)
		patch.Values[f.Index] = e.value
		return len(mapping.BodyOf(patch).CheckUpdate()) > 0
	})
}

// otherValue is a value that a field may be changed to: from another record, or made up.
func (x *subject) otherValue(f *mapping.Field, now mapping.Value) mapping.Value {
	for _, rec := range x.records {
		if v := rec.Values[f.Index]; v.IsSet() && !v.IsEmpty() && !sameText(v, now) {
			return v
		}
	}
	if f.Check == "" && len(f.OneOf) == 0 && (f.Type == mapping.Text || f.Type == mapping.Varchar && f.Length >= 2) {
		return mapping.TextValue("zq")
	}
	return mapping.Value{}
}

// codesOf are all values of a field that has few.
func codesOf(f *mapping.Field) (all []edge) {
	for _, code := range f.OneOf {
		if v, err := f.Parse(code, time.UTC); err == nil {
			all = append(all, edge{code, Error, v, true})
		}
	}
	return all
}

func (x *subject) anyEdges(f *mapping.Field) (all []edge) {
	add := func(s Severity, kind string, v mapping.Value) {
		all = append(all, edge{kind: kind, severity: s, value: v})
	}
	all = codesOf(f)
	if !f.Required && !f.IsState() {
		add(Note, "null", mapping.NullValue())
	}
	if len(f.OneOf) > 0 {
		return all
	}
	switch f.Type {
	case mapping.Varchar, mapping.Text:
		most := f.Length
		if f.Type == mapping.Text {
			most = min(most, 4000)
		}
		for _, text := range [][2]string{
			{"an empty text", ""}, {"blanks before a text", " x"}, {"blanks behind a text", "x "}, {"letters with accents", "Ünïß"}, {"the euro", "€"}, {"letters beyond 16 bits", "\U0001f697"},
			{"quotes", `O'N"\`}, {"several lines", "a\nb"}, {"the longest text", strings.Repeat("x", most)},
		} {
			severity := Warning
			if strings.HasPrefix(text[0], "blanks") {
				severity = Note
			}
			if r := []rune(text[1]); len(r) <= f.Length {
				add(severity, text[0], mapping.TextValue(text[1]))
			}
		}
	case mapping.Int4:
		for kind, n := range map[string]int64{"0": 0, "a negative number": -1, "the highest number": math.MaxInt32, "the lowest number": math.MinInt32} {
			add(Warning, kind, mapping.IntValue(n))
		}
	case mapping.Float8:
		if f.Scale >= 0 {
			for kind, n := range map[string]int64{"0": 0, "a negative number": -3 * int64(math.Pow10(f.Scale)), "the most decimals": 7, "many digits": 123_456_789_012_345} {
				add(Warning, kind, mapping.DecimalValue(n, f.Scale))
			}
		}
	case mapping.Timestamp:
		zone := x.zone(f)
		for kind, day := range map[string]time.Time{
			"a day of 1900": time.Date(1900, 1, 1, 0, 0, 0, 0, zone), "a day of 9999": time.Date(9999, 12, 30, 0, 0, 0, 0, zone),
			"the first day of summer time": time.Date(2026, 3, 29, 0, 0, 0, 0, zone), "the last day of summer time": time.Date(2026, 10, 25, 0, 0, 0, 0, zone),
		} {
			add(Warning, kind, mapping.TimeValue(day))
		}
		for kind, hour := range map[string]time.Time{
			"the first hour of summer time": time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC), "the first of an hour that clocks show twice": time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC),
			"the second of an hour that clocks show twice": time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), "milliseconds": time.Date(2026, 5, 4, 3, 2, 1, 234e6, time.UTC),
		} {
			add(Note, kind, mapping.TimeValue(hour)) // the field may be for whole days
		}
	}
	slices.SortStableFunc(all, func(a, b edge) int { return strings.Compare(a.kind, b.kind) })
	return all
}
