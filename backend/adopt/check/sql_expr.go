package check

import (
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// writer begins a statement about all rows. Its client parameters are the client of each row.
func (p *proof) writer() *sqlrecord.Writer { return sqlrecord.NewWriter(p.d, p.t.ofRow) }

// table is a resource in statements of the check.
type table struct {
	*legacy.Mapped
	sheet *sheet.Sheet
}

// The parameters of the sheet's SQL: a value, and the client as a text.
const (
	valueParam      = "value"
	clientTextParam = "client as text"
)

func (p *proof) quote(name string) string { return p.d.Quote(name) }

func (p *proof) qualified(name string) string {
	return legacy.Qualified(p.d, p.Sheet().Source.SQL.Schema, name)
}

// isOfWhere reports whether only the condition of a resource determines the client of its rows.
func (t table) isOfWhere() bool {
	return t.Parent() == nil && t.SQL.Client == (sheet.Expr{}) && sheet.FindParameter(t.Where, sheet.ClientParameter) >= 0
}

// ofRow appends the client of a row, as a parameter of the sheet's SQL.
func (t table) ofRow(w *sqlrecord.Writer, name string) {
	of, _ := t.Owner()
	switch {
	case of == nil:
		t.Put(w, sqlrecord.Integers, mapping.NullValue())
	case name == clientTextParam || t.sheet.ClientsKept:
		w.Expr(t.As(of, sqlrecord.Texts))
	case t.ownerSort().IsNumber() || !t.Dialect.StrictTypes:
		w.Expr(of)
	default: // a client that is not a number is nobody
		text := t.As(of, sqlrecord.Texts)
		w.Add("CASE WHEN ").Expr(text).Add(" ~ '^[0-9]{1,18}$' THEN CAST(").Expr(text).Add(" AS bigint) END")
	}
}

// ownerSort is the sort of the expression for the client.
func (t table) ownerSort() sqlrecord.Sort {
	_, s := t.Owner()
	return s
}

// read appends FROM and the condition for all rows that some client may see.
func (p *proof) read(w *sqlrecord.Writer) *sqlrecord.Writer {
	return p.where(w.Add(" FROM ", p.t.From))
}

func (p *proof) where(w *sqlrecord.Writer) *sqlrecord.Writer {
	t := p.t
	if t.Where == "" {
		return w
	}
	if !t.isOfWhere() {
		return w.Add(" WHERE (").Expr(legacy.Parse(t.Where)).Add(")")
	}
	w.Add(" WHERE (1 = 0")
	for _, c := range p.clients {
		w.Add(" OR (")
		p.ofClient(w, legacy.Parse(t.Where), c)
		w.Add(")")
	}
	return w.Add(")")
}

// ofClient appends an expression with the parameters of a client.
func (p *proof) ofClient(w *sqlrecord.Writer, e sqlrecord.Expr, c auth.Client) {
	params := p.Params(p.t.Mapped, c)
	for _, part := range e {
		if w.Add(part.SQL); part.Param != "" {
			params(w, part.Param)
		}
	}
}

// stored is a column as it is stored, even if a view is read in place of its table.
func (p *proof) stored(column string) sqlrecord.Expr {
	t := p.t
	if t.From == t.Written {
		return sqlrecord.Plain(p.quote(column))
	}
	text, same := "(SELECT fw FROM (SELECT "+p.quote(column)+" AS fw", ""
	for i, k := range t.Keys {
		as := "fk" + strconv.Itoa(i)
		text, same = text+", "+k+" AS "+as, same+legacy.Between(i, " AND ")+as+" = "+k
	}
	if client := t.SQL.Client.Column; client != "" {
		text, same = text+", "+p.quote(client)+" AS fc", same+" AND fc = "+p.quote(client)
	}
	return sqlrecord.Plain(text + " FROM " + t.Written + ") stored WHERE " + same + ")")
}

// valueOf converts a field as it is read to the form in which SQL of the sheet gets values; see
// Builder.given in package legacy.
func (b table) valueOf(f *mapping.Field, c *sheet.Column, read sqlrecord.Expr) sqlrecord.Expr {
	switch f.Type {
	case mapping.Int4:
		return b.As(read, sqlrecord.Integers)
	case mapping.Float8:
		if f.Scale < 0 {
			return b.As(read, sqlrecord.Floats)
		}
		return sqlrecord.Wrap("CAST(", read, " AS "+b.Dialect.TypeOf(sqlrecord.Decimals, f.Scale)+")")
	case mapping.Varchar, mapping.Text:
		if b.Dialect.CastsRecollate && b.sortOfColumn(c) == sqlrecord.Texts {
			return read
		}
		return b.As(read, sqlrecord.Texts)
	case mapping.Timestamp:
		return b.momentOf(c, read)
	default:
		return read
	}
}

// momentOf is valueOf for a time, which is shown to the millisecond.
func (b table) momentOf(c *sheet.Column, read sqlrecord.Expr) sqlrecord.Expr {
	switch {
	case c.Kind == sheet.KindEpoch || c.Kind == sheet.KindEpochMillis:
		return b.As(read, sqlrecord.Integers)
	case !b.Dialect.StrictTypes:
	case c.Kind == sheet.KindTimestamp:
		read = b.As(read, sqlrecord.Instants)
	case b.sortOfColumn(c) == sqlrecord.Instants && c.Zone != nil:
		read = sqlrecord.Wrap(read, " AT TIME ZONE "+b.Literal(c.Zone.String()))
	default:
		read = b.As(read, sqlrecord.Clocks)
	}
	return b.Dialect.Millis(read)
}

// sortOfColumn is the sort of what is read for a field.
func (b table) sortOfColumn(c *sheet.Column) sqlrecord.Sort {
	if len(c.Names) == 1 {
		return b.ColumnOf(c.Names[0]).Sort
	}
	return b.Result(c.Read).Sort
}

// withExpr is SQL of the sheet with an expression in place of its value.
func withExpr(sql string, value sqlrecord.Expr) (e sqlrecord.Expr) {
	parts := []any{"("}
	for _, part := range legacy.Parse(sql) {
		if parts = append(parts, part.SQL); part.Param == valueParam {
			parts = append(parts, value)
		} else if part.Param != "" {
			parts = append(parts, sqlrecord.Expr{{Param: part.Param}})
		}
	}
	return sqlrecord.Wrap(append(parts, ")")...)
}

// alters appends the condition that a column differs, to the last letter, from the SQL that is written to it.
func (t table) alters(w *sqlrecord.Writer, column string, holds, written sqlrecord.Expr) {
	var c legacy.Column // zero if the column is not found
	if t.Target != nil {
		if known := t.Target.Column(column); known != nil {
			c = *known
		}
	}
	if of := t.Dialect.StoredAs(c.Type, c.Sort); of != "" {
		if c.Precision > 0 && c.Scale >= 0 && c.Sort == sqlrecord.Decimals {
			of += "(" + strconv.Itoa(c.Precision) + "," + strconv.Itoa(c.Scale) + ")"
		}
		written = sqlrecord.Wrap("CAST(", written, " AS "+of+")")
	}
	w.Expr(t.Dialect.Differ(holds, written, c.Sort == sqlrecord.Texts))
}

// same appends the condition that two expressions are equal, as texts if their types cannot be compared.
// SQLite compares by the types of the columns.
func (b table) same(w *sqlrecord.Writer, x sqlrecord.Expr, xs sqlrecord.Sort, y sqlrecord.Expr, ys sqlrecord.Sort) {
	if !b.Dialect.FlexibleTypes && xs != ys && !(xs.IsNumber() && ys.IsNumber()) {
		x, y = b.As(x, sqlrecord.Texts), b.As(y, sqlrecord.Texts)
	}
	w.Expr(x).Add(" = ").Expr(y)
}
