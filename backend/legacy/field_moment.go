package legacy

import (
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// moment makes a field of times, which are shown to the millisecond. Comparisons use the first stored
// value that is shown as a time: stored values may be finer, and a local clock may show an hour twice
// or skip one.
func (b *Builder) moment(out *sqlrecord.Field, c *sheet.Column, s sqlrecord.Sort) {
	sql := out.Read
	first := b.firstOf(c, s)
	compared := sql
	if b.Dialect.FlexibleTypes && c.Kind != sheet.KindEpoch && c.Kind != sheet.KindEpochMillis {
		compared = b.Dialect.Millis(sql)
		out.Order = []sqlrecord.Expr{compared}
	}
	// from appends the condition for values that are shown as a time or a later one, or, with
	// earlier, as an earlier one.
	from := func(w *sqlrecord.Writer, ms int64, earlier bool) {
		gap, ends, left := int64(0), int64(0), false
		if s != sqlrecord.Instants && c.Kind != sheet.KindEpoch && c.Kind != sheet.KindEpochMillis {
			gap, ends, left = leftOut(ms, c.Zone)
		}
		operator := [...]string{" >= ", " < "}[b2i(earlier && !left)]
		if !left {
			w.Expr(compared).Add(operator)
			first(w, ms)
			return
		}
		w.Add([...]string{"(", "NOT ("}[b2i(earlier)]).Expr(compared).Add(" >= ")
		b.Put(w, sqlrecord.Clocks, wallText(sheet.WallOf(ms, c.Zone)))
		w.Add(" OR ").Expr(compared).Add(" >= ")
		b.Put(w, sqlrecord.Clocks, wallText(gap))
		w.Add(" AND ").Expr(compared).Add(" < ")
		b.Put(w, sqlrecord.Clocks, wallText(ends))
		w.Add(")")
	}
	out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		switch ms := v.Int(); op {
		case mapping.AtLeast:
			from(w, ms, false)
		case mapping.Above:
			from(w, ms+1, false)
		case mapping.AtMost:
			from(w, ms+1, true)
		default:
			from(w, ms, true)
		}
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		w.Add("(")
		from(w, v.Int(), false)
		w.Add(" AND ")
		from(w, v.Int()+1, true)
		w.Add(")")
	}
}

// leftOut is the part of a gap, which a local clock skips, whose values read as a time or a later
// one: a value that is stored in a gap reads as a time after it. The part is from from to ends; ok is
// false if there is none.
func leftOut(ms int64, zone *time.Location) (from, ends int64, ok bool) {
	began, _ := time.UnixMilli(ms).In(zone).ZoneBounds()
	if began.IsZero() {
		return 0, 0, false
	}
	at := began.UnixMilli()
	_, before := began.Add(-time.Millisecond).Zone()
	_, after := began.Zone()
	gap := int64(after-before) * 1000
	return ms + int64(before)*1000, at + int64(after)*1000, ms-at < gap
}

// firstOf appends the least stored value that is shown as a time or a later one.
func (b *Builder) firstOf(c *sheet.Column, s sqlrecord.Sort) func(w *sqlrecord.Writer, ms int64) {
	switch {
	case c.Kind == sheet.KindEpochMillis:
		return func(w *sqlrecord.Writer, ms int64) { b.Put(w, sqlrecord.Integers, mapping.IntValue(ms)) }
	case c.Kind == sheet.KindEpoch:
		if s == sqlrecord.Decimals || s == sqlrecord.Floats {
			return func(w *sqlrecord.Writer, ms int64) { b.Put(w, s, mapping.DecimalValue(ms*10-5, 4)) } // the time is shown rounded
		}
		return func(w *sqlrecord.Writer, ms int64) { b.Put(w, sqlrecord.Integers, mapping.IntValue(ceil(ms, 1000))) }
	case s == sqlrecord.Instants:
		return func(w *sqlrecord.Writer, ms int64) { b.Put(w, sqlrecord.Instants, mapping.MilliValue(ms)) }
	default:
		return func(w *sqlrecord.Writer, ms int64) { b.Put(w, sqlrecord.Clocks, wallText(sheet.FirstWall(ms, c.Zone))) }
	}
}

func ceil(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}

// wallText is a local time in the form that every engine reads.
func wallText(wall int64) mapping.Value {
	return mapping.TextValue(time.UnixMilli(wall).UTC().Format("2006-01-02 15:04:05.000"))
}
