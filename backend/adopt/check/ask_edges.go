package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// edge is a value that is easily lost between two systems.
type edge struct {
	kind     string // in words
	severity Severity
	value    mapping.Value
}

// edges writes what is easily lost into a record of a database, each value in a transaction that is
// undone, and reads it back: every code, and the ends of each datatype.
func (x *asked) edges(ctx context.Context) {
	if x.planner == nil || x.Write.ID == 0 || x.of.ID != x.Write.ID || !x.supports(x.Resource, mapping.OpUpdate) {
		return
	}
	if x.Sheet.Resource(x.Name).SQL.Statements[mapping.OpUpdate] != nil {
		x.Looked = append(x.Looked, x.Name+": no values were tried, since nobody knows whether what a statement of the sheet does can be undone")
		return
	}
	rec, ok := x.writable(ctx)
	if !ok {
		x.Looked = append(x.Looked, x.Name+": no values were tried, since no record takes any")
		return
	}
	tried := 0
	for i, f := range mapping.Each(x.Fields) {
		lost, failed := map[Severity][]string{}, map[Severity][]string{}
		var why error
		for _, e := range x.edgesOf(f) {
			if ctx.Err() != nil || x.isLate() {
				return
			}
			got, err := x.undone(ctx, rec, i, e.value)
			tried++
			switch _, refused := mapping.AsViolations(err); {
			case refused:
			case err != nil:
				failed[e.severity], why = append(failed[e.severity], e.kind), err
			case !isKept(f, e.value, got):
				lost[e.severity] = append(lost[e.severity], e.kind)
			}
		}
		if f.Type == mapping.Timestamp && len(lost[Note]) >= hours {
			delete(lost, Note) // it is of days
		}
		for _, s := range []Severity{Error, Warning, Note} {
			if len(lost[s]) > 0 {
				x.add(s, "write.altered", x.ofField(f), fmt.Sprintf("what is read after it was written to %s is another value for %s", f.Name, strings.Join(lost[s], ", ")), "mend read or write, or the column")
			}
			if len(failed[s]) > 0 {
				x.add(s, "write.fails", x.ofField(f), fmt.Sprintf("%s cannot be written to %s, and clients get an internal error: %s", strings.Join(failed[s], ", "), f.Name, x.told(why)),
					"mend write, or say what clients may send: codes, length; or translate the error under errors")
			}
		}
	}
	x.Looked = append(x.Looked, fmt.Sprintf("%s: %d value(s) were written and undone", x.Name, tried))
}

// mostTried is into how many records something is written for one that takes it.
const mostTried = 50

// writable is a record into which something can be written: the system may refuse it of some, such
// as of invoiced orders.
func (x *asked) writable(ctx context.Context) (mapping.Record, bool) {
	latest := x.records[max(0, len(x.records)-mostTried):]
	for _, rec := range slices.Backward(latest) {
		for i, f := range mapping.Each(x.Fields) {
			all := x.edgesOf(f)
			other := slices.IndexFunc(all, func(e edge) bool { return !isKept(f, e.value, rec.Values[i]) })
			if other < 0 || ctx.Err() != nil {
				continue
			}
			if _, err := x.undone(ctx, rec, i, all[other].value); err == nil {
				return rec, true
			}
		}
	}
	return mapping.Record{}, false
}

// errUndone undoes a transaction.
var errUndone = errors.New("undone")

// undone writes a field of a record, and returns what is read of it before all is undone.
func (x *asked) undone(ctx context.Context, rec mapping.Record, i int, v mapping.Value) (got mapping.Value, err error) {
	patch := mapping.NewRecord(x.Resource)
	patch.Values[i] = v
	err = x.driver.Write(ctx, func(tx backend.Tx) error {
		before, err := tx.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: rec.ID(), ForUpdate: true})
		if err != nil {
			return err
		}
		after, err := tx.Update(ctx, x.of, before, patch)
		if err != nil {
			return err
		}
		got = after.Values[i]
		return errUndone
	})
	if errors.Is(err, errUndone) {
		err = nil
	}
	return got, err
}

// isKept tells whether a value came back; an empty text and null are one.
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

// hours is how many times of day are tried of a timestamp.
const hours = 4

// edgesOf are the values that are tried of a field: what clients may send.
func (x *asked) edgesOf(f *mapping.Field) (all []edge) {
	if !x.sends(f) || f.Immutable || f.Reference != "" || f.ReferenceBy != "" || f.Type == mapping.Bytea {
		return nil
	}
	return slices.DeleteFunc(x.anyEdges(f), func(e edge) bool {
		patch := mapping.NewRecord(x.Resource)
		patch.Values[f.Index] = e.value
		return len(mapping.BodyOf(patch).CheckUpdate()) > 0
	})
}

func (x *asked) anyEdges(f *mapping.Field) (all []edge) {
	add := func(s Severity, kind string, v mapping.Value) { all = append(all, edge{kind, s, v}) }
	for _, code := range f.OneOf {
		if v, err := f.Parse(code, time.UTC); err == nil {
			add(Error, code, v)
		}
	}
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
			add(Note, kind, mapping.TimeValue(hour)) // a day alone may be meant
		}
	}
	slices.SortStableFunc(all, func(a, b edge) int { return strings.Compare(a.kind, b.kind) })
	return all
}
