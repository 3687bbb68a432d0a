package legacy

import (
	"slices"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// written finds values by what a write of them would store, or by the sheet's own condition, so that
// the columns' indexes are used. In addition the field is compared as clients see it.
func (b *Builder) written(f *mapping.Field, c *sheet.Column, of sqlrecord.Field) sqlrecord.Field {
	if c.Read == "" {
		return of
	}
	var finds []sqlrecord.Expr
	switch {
	case c.Find != "":
		finds = []sqlrecord.Expr{Parse("(" + c.Find + ")")}
	case !slices.ContainsFunc(c.Write, func(a sheet.Assign) bool { return b.ColumnOf(a.Column).Sort == sqlrecord.Singles }): // no value equals a single
		for _, a := range c.Write {
			finds = append(finds, append(sqlrecord.Plain(b.Dialect.Quote(a.Column)+" = "), b.asStored(a)...))
		}
	}
	shown := of
	if len(finds) > 0 {
		of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
			w.Add("(")
			for _, find := range finds {
				b.withValue(w, find, func() { b.given(w, f, c, v) })
				w.Add(" AND ")
			}
			shown.Compare(w, mapping.Equals, v)
			w.Add(")")
		}
	}
	if !c.Ordered || len(c.Write) != 1 {
		return of
	}
	stored, write := b.Dialect.Quote(c.Write[0].Column), b.asStored(c.Write[0])
	of.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		wide := op // several values may be stored alike
		if wide == mapping.Above {
			wide = mapping.AtLeast
		} else if wide == mapping.Below {
			wide = mapping.AtMost
		}
		b.withValue(w.Add("(", stored, sqlrecord.Comparisons[wide]), write, func() { b.given(w, f, c, v) })
		w.Add(" AND ")
		shown.Compare(w, op, v)
		w.Add(")")
	}
	return of
}

// asStored is what a write stores, cast to the type of its column: PostgreSQL uses no index over whole
// numbers, or over char(n), for a numeric or a text. Numbers out of the range of all columns are
// clamped, so that they can be compared.
func (b *Builder) asStored(a sheet.Assign) sqlrecord.Expr {
	e := Parse("(" + a.SQL + ")")
	if !b.Dialect.StrictTypes {
		return e
	}
	switch b.ColumnOf(a.Column).Sort {
	case sqlrecord.Integers:
		return b.As(sqlrecord.Wrap("LEAST(GREATEST(", e, ", -9e18), 9e18)"), sqlrecord.Integers)
	case sqlrecord.Padded:
		return b.As(e, sqlrecord.Padded)
	default:
		return e
	}
}

// valueParam is the parameter of write and find.
const valueParam = "value"

// withValue appends an expression; the function value appends its parameter.
func (b *Builder) withValue(w *sqlrecord.Writer, e sqlrecord.Expr, value func()) {
	for i, p := range e {
		if p.Param == valueParam {
			w.Add(p.SQL)
			value()
		} else {
			w.Expr(e[i : i+1])
		}
	}
}

// given appends a value of the interface in the form that SQL of the sheet gets.
func (b *Builder) given(w *sqlrecord.Writer, f *mapping.Field, c *sheet.Column, v mapping.Value) {
	s := map[mapping.Datatype]sqlrecord.Sort{mapping.Int4: sqlrecord.Integers, mapping.Float8: sqlrecord.Decimals, mapping.Varchar: sqlrecord.Texts, mapping.Text: sqlrecord.Texts, mapping.Timestamp: sqlrecord.Clocks}[f.Type]
	if f.Type == mapping.Float8 && f.Scale < 0 {
		s = sqlrecord.Floats
	}
	if f.Type == mapping.Timestamp && v.IsSet() {
		switch {
		case c.Kind == sheet.KindTimestamp:
			s = sqlrecord.Instants
		case c.Kind == sheet.KindEpochMillis:
			s, v = sqlrecord.Integers, mapping.IntValue(v.Int())
		case c.Kind == sheet.KindEpoch:
			s, v = sqlrecord.Integers, mapping.IntValue(v.Int()/1000)
		default:
			v = wallText(sheet.WallOf(v.Int(), c.Zone))
		}
	}
	if s == "" {
		w.Add(w.Arg(v))
		return
	}
	b.Put(w, s, v)
}

// Parse cuts SQL of the sheet at its parameters.
func Parse(sql string) (e sqlrecord.Expr) {
	from := 0
	for _, p := range sheet.Params(sql) {
		e = append(e, sqlrecord.Part{SQL: sql[from:p.From], Param: p.Name})
		from = p.To
	}
	if from < len(sql) || len(e) == 0 {
		e = append(e, sqlrecord.Part{SQL: sql[from:]})
	}
	return e
}
