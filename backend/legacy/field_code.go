package legacy

import (
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// withNulls reads the sheet's stored nulls as null. No filter by a value finds them.
func (b *Builder) withNulls(of sqlrecord.Field, c *sheet.Column) sqlrecord.Field {
	sql := of.Read
	stored := sqlrecord.Plain(b.Dialect.Quote(c.Names[0]))
	list := b.Literals(c.Nulls)
	if c.EmptyIsNull {
		list = b.Literals(append([]string{""}, c.Nulls...))
	}
	of.Read = sqlrecord.Wrap("CASE WHEN ", stored, " IN ("+list+") THEN NULL ELSE ", sql, " END")
	own := of
	own.Read = sql
	of.Nulls = func(w *sqlrecord.Writer) {
		w.Add("(").Expr(stored).Add(" IS NULL OR ").Expr(stored).Add(" IN (", list, "))")
	}
	of.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		own.Compare(w.Add("("), op, v)
		w.Add(" AND ").Expr(stored).Add(" NOT IN (", list, "))")
	}
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) { of.Ranges(w, mapping.Equals, v) }
	if of.Order != nil {
		of.Order = []sqlrecord.Expr{sqlrecord.Wrap("CASE WHEN ", stored, " IN ("+list+") THEN NULL ELSE ", of.Order[0], " END")}
	}
	of.Null = true
	return of
}

// coded makes a field with a code list. A code that is not in the list is sqlrecord.Unknown,
// with which a record cannot be shown.
func (b *Builder) coded(f *mapping.Field, c *sheet.Column) sqlrecord.Field {
	stored := sqlrecord.Plain(b.Dialect.Quote(c.Names[0]))
	var text strings.Builder
	text.WriteString("CASE")
	shown, byValue := []mapping.Value{}, map[mapping.Value][]string{}
	for _, code := range c.Codes {
		if _, is := byValue[code.Shown]; !is {
			shown = append(shown, code.Shown)
		}
		byValue[code.Shown] = append(byValue[code.Shown], code.Stored)
	}
	var all []string
	for _, v := range shown {
		all = append(all, byValue[v]...)
		text.WriteString(" WHEN " + stored[0].SQL + " IN (" + b.Literals(byValue[v]) + ") THEN " + b.literalOf(f, v))
	}
	unknown := "NULL"
	if !c.UnknownIsNull {
		unknown = sqlrecord.UnknownOf(f.Type)
	}
	text.WriteString(" WHEN " + stored[0].SQL + " IS NULL THEN NULL ELSE " + unknown + " END")
	of := sqlrecord.Field{Read: sqlrecord.Plain(text.String()), Null: true, Unknown: !c.UnknownIsNull && f.IsText(), As: sqlrecord.Column{Type: f.Type, Scale: f.Scale, Foreign: true}}
	s := sqlrecord.Texts
	if !f.IsText() {
		s = sqlrecord.Integers
	}
	b.simply(&of, s)
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if codes := byValue[v]; codes != nil {
			w.Expr(stored).Add(" IN (", b.Literals(codes), ")")
		} else {
			w.Add(nothing)
		}
	}
	of.Nulls = func(w *sqlrecord.Writer) {
		w.Add("(").Expr(stored).Add(" IS NULL")
		if codes := byValue[mapping.NullValue()]; codes != nil {
			w.Add(" OR ").Expr(stored).Add(" IN (", b.Literals(codes), ")")
		}
		if c.UnknownIsNull {
			w.Add(" OR ").Expr(stored).Add(" NOT IN (", b.Literals(all), ")")
		}
		w.Add(")")
	}
	return of
}

// literalOf is a value of a code list in SQL.
func (b *Builder) literalOf(f *mapping.Field, v mapping.Value) string {
	switch {
	case !v.IsSet():
		return "NULL"
	case f.IsText():
		return b.Literal(v.Text())
	default:
		return v.String()
	}
}

// Literal is a text in SQL, which the engine converts to the type that it is compared with.
func (b *Builder) Literal(text string) string {
	if b.Dialect.BackslashEscapes {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func (b *Builder) Literals(all []string) string {
	quoted := make([]string, len(all))
	for i, text := range all {
		quoted[i] = b.Literal(text)
	}
	return strings.Join(quoted, ", ")
}
