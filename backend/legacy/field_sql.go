package legacy

import (
	"slices"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// written finds values by what a write of them stores, or by the sheet's own condition, so that
// the columns' indexes serve. What clients see decides all the same.
func (b *fields) written(f *mapping.Field, c *sheet.Column, of sqlrecord.Field) sqlrecord.Field {
	if c.Read == "" {
		return of
	}
	var finds []sqlrecord.Expr
	switch {
	case c.Find != "":
		finds = []sqlrecord.Expr{parse("(" + c.Find + ")")}
	case !slices.ContainsFunc(c.Write, func(a sheet.Assign) bool { return b.column(a.Column).sort == singles }): // which no value equals
		for _, a := range c.Write {
			finds = append(finds, append(sqlrecord.Plain(b.d.Quote(a.Column)+" = "), b.asStored(a)...))
		}
	}
	read, equals, operand := of.Read, of.Equals, of.Operand
	if len(finds) > 0 {
		of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
			if !v.IsSet() {
				w.Expr(read).Add(" IS NULL")
				return
			}
			w.Add("(")
			for _, find := range finds {
				b.withValue(w, find, f, c, v)
				w.Add(" AND ")
			}
			if equals != nil {
				equals(w, v)
			} else {
				w.Expr(read).Add(" = ")
				operand(w, v)
			}
			w.Add(")")
		}
	}
	if !c.Ordered || len(c.Write) != 1 {
		return of
	}
	stored, write, ranges := b.d.Quote(c.Write[0].Column), b.asStored(c.Write[0]), of.Ranges
	of.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		wide := op // several values may be stored alike
		if wide == mapping.Above {
			wide = mapping.AtLeast
		} else if wide == mapping.Below {
			wide = mapping.AtMost
		}
		w.Add("(", stored, comparisons[wide])
		b.withValue(w, write, f, c, v)
		w.Add(" AND ")
		if ranges != nil {
			ranges(w, op, v)
		} else {
			w.Expr(read).Add(comparisons[op])
			operand(w, v)
		}
		w.Add(")")
	}
	return of
}

// asStored is what a write stores, as the type of its column: PostgreSQL takes no index over whole
// numbers, or over char(n), for a numeric or a text. What is beyond all columns is less than that,
// so that it can be compared.
func (b *fields) asStored(a sheet.Assign) sqlrecord.Expr {
	e := parse("(" + a.SQL + ")")
	if b.engine != "postgres" {
		return e
	}
	switch b.column(a.Column).sort {
	case integers:
		return wrap("CAST(LEAST(GREATEST(", e, ", -9e18), 9e18) AS bigint)")
	case padded:
		return wrap("CAST(", e, " AS bpchar)")
	default:
		return e
	}
}

// valueParam is the parameter of write and find.
const valueParam = "value"

// withValue appends an expression in which the value stands.
func (b *fields) withValue(w *sqlrecord.Writer, e sqlrecord.Expr, f *mapping.Field, c *sheet.Column, v mapping.Value) {
	for _, p := range e {
		w.Add(p.SQL)
		switch p.Param {
		case "":
		case valueParam:
			b.given(w, f, c, v)
		default:
			w.Expr(sqlrecord.Expr{{Param: p.Param}})
		}
	}
}

// withPart appends an expression in which a part of a key stands for the value.
func (b *fields) withPart(w *sqlrecord.Writer, e sqlrecord.Expr, part mapping.Value) {
	for _, p := range e {
		switch w.Add(p.SQL); p.Param {
		case "":
		case valueParam:
			b.operand(w, texts, part)
		default:
			w.Expr(sqlrecord.Expr{{Param: p.Param}})
		}
	}
}

// given appends a value of the interface as SQL of the sheet gets it.
func (b *fields) given(w *sqlrecord.Writer, f *mapping.Field, c *sheet.Column, v mapping.Value) {
	s := map[mapping.Datatype]sort{mapping.Int4: integers, mapping.Float8: decimals, mapping.Varchar: texts, mapping.Text: texts, mapping.Timestamp: clocks}[f.Type]
	if f.Type == mapping.Float8 && f.Scale < 0 {
		s = floats
	}
	if f.Type == mapping.Timestamp && v.IsSet() {
		switch {
		case c.Kind == sheet.KindTimestamp:
			s = instants
		case c.Kind == sheet.KindEpochMillis:
			s, v = integers, mapping.IntValue(v.Int())
		case c.Kind == sheet.KindEpoch:
			s, v = integers, mapping.IntValue(v.Int()/1000)
		default:
			v = wallText(sheet.WallOf(v.Int(), c.Zone))
		}
	}
	if s == "" {
		w.Add(w.Arg(v))
		return
	}
	b.operand(w, s, v)
}

// wrap puts SQL around expressions: text, expression, text, …
func wrap(parts ...any) (e sqlrecord.Expr) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			if n := len(e); n > 0 && e[n-1].Param == "" {
				e[n-1].SQL += p
			} else {
				e = append(e, sqlrecord.Part{SQL: p})
			}
		case sqlrecord.Expr:
			for _, part := range p {
				if n := len(e); n > 0 && e[n-1].Param == "" {
					e[n-1].SQL += part.SQL
					e[n-1].Param = part.Param
				} else {
					e = append(e, part)
				}
			}
		}
	}
	return e
}

// parse cuts SQL of the sheet at its parameters.
func parse(sql string) (e sqlrecord.Expr) {
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
