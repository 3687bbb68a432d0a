package legacy

import (
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// writer begins a statement about all rows. What stands for the client in it is that of the row.
func (p *proof) writer() *sqlrecord.Writer { return sqlrecord.NewWriter(p.d, p.t.ofRow) }

// ownerExpr is whose a row is; nil where it tells of no client.
func (t *table) ownerExpr() sqlrecord.Expr {
	at := t
	for at.parent != nil {
		at = at.parent
	}
	if at.SQL.Client == (sheet.Expr{}) || at != t && at.SQL.Client.Column == "" {
		return nil
	}
	return t.clientExpr()
}

// ofRow appends the client that a row is of, as a parameter of the sheet's SQL.
func (t *table) ofRow(w *sqlrecord.Writer, name string) {
	of := t.ownerExpr()
	switch {
	case of == nil:
		t.operand(w, integers, mapping.NullValue())
	case name == clientTextParam || t.sheet.ClientsKept:
		w.Expr(t.asText(of))
	case t.ownerSort().isNumber() || t.engine != "postgres":
		w.Expr(of)
	default: // a client that is no number is nobody's
		text := t.asText(of)
		w.Add("CASE WHEN ").Expr(text).Add(" ~ '^[0-9]{1,18}$' THEN CAST(").Expr(text).Add(" AS bigint) END")
	}
}

// ownerSort is what the column of the client is.
func (t *table) ownerSort() sort {
	for t.parent != nil {
		t = t.parent
	}
	return t.clientSort
}

// asText makes a text of an expression.
func (b *fields) asText(e sqlrecord.Expr) sqlrecord.Expr {
	cast := b.cast(e, "text")
	return wrap(cast[0], e, cast[1])
}

// from appends where all rows are read that some client may see, with the columns as they are
// stored where a view is read.
func (p *proof) from(w *sqlrecord.Writer) *sqlrecord.Writer {
	columns := p.storedBeside()
	if len(columns) == 0 || !p.isStored() {
		return p.read(w)
	}
	t := p.t
	w.Add(" FROM ", t.from, " JOIN (SELECT ")
	for i, k := range t.keys {
		w.Add(comma(i), k, " AS fk", strconv.Itoa(i))
	}
	for i, c := range columns {
		w.Add(", ", p.d.Quote(c), " AS fw", strconv.Itoa(i))
	}
	client := t.SQL.Client.Column
	if client != "" {
		w.Add(", ", p.d.Quote(client), " AS fc")
	}
	w.Add(" FROM ", t.name, ") stored ON ")
	for i, k := range t.keys {
		w.Add(between(i, " AND "), "fk", strconv.Itoa(i), " = ", k)
	}
	if client != "" {
		w.Add(" AND fc = ", p.d.Quote(client))
	}
	return p.where(w)
}

// read appends where all rows are read that some client may see.
func (p *proof) read(w *sqlrecord.Writer) *sqlrecord.Writer {
	return p.where(w.Add(" FROM ", p.t.from))
}

func (p *proof) where(w *sqlrecord.Writer) *sqlrecord.Writer {
	t := p.t
	if t.Where == "" {
		return w
	}
	if !t.isOfWhere() {
		return w.Add(" WHERE (").Expr(t.where).Add(")")
	}
	w.Add(" WHERE (1 = 0")
	for _, c := range p.clients {
		w.Add(" OR (")
		p.ofClient(w, t.where, c)
		w.Add(")")
	}
	return w.Add(")")
}

// ofClient appends an expression as a client's.
func (p *proof) ofClient(w *sqlrecord.Writer, e sqlrecord.Expr, c auth.Client) {
	params := p.params(p.t, c)
	for _, part := range e {
		if w.Add(part.SQL); part.Param != "" {
			params(w, part.Param)
		}
	}
}

// storedBeside are the columns that are written, where something else is read.
func (p *proof) storedBeside() []string {
	if p.t.from == p.t.name || p.written != nil {
		return p.written
	}
	seen := map[string]bool{}
	for i := range p.t.SQL.Fields {
		for _, a := range p.t.SQL.Fields[i].Write {
			if !seen[a.Column] {
				seen[a.Column] = true
				p.written = append(p.written, a.Column)
			}
		}
	}
	return p.written
}

// stored is a column as it is stored.
func (p *proof) stored(column string) sqlrecord.Expr {
	for i, c := range p.storedBeside() {
		if c == column {
			return sqlrecord.Plain("fw" + strconv.Itoa(i))
		}
	}
	return sqlrecord.Plain(p.d.Quote(column))
}

// valueOf is a field, as it is read, in the form in which SQL of the sheet is given its value: see
// given.
func (b *fields) valueOf(f *mapping.Field, c *sheet.Column, read sqlrecord.Expr) sqlrecord.Expr {
	cast := func(postgres, sqlite, mysql string) sqlrecord.Expr {
		of := mysql
		if b.engine == "postgres" {
			of = postgres
		} else if b.engine == "sqlite" {
			of = sqlite
		}
		return wrap("CAST(", read, " AS "+of+")")
	}
	switch f.Type {
	case mapping.Int4:
		return cast("bigint", "INTEGER", "SIGNED")
	case mapping.Float8:
		if f.Scale < 0 {
			return cast("double precision", "REAL", "DOUBLE")
		}
		return cast("numeric", "REAL", "DECIMAL(65,"+strconv.Itoa(f.Scale)+")")
	case mapping.Varchar, mapping.Text:
		return cast("text", "TEXT", "CHAR")
	case mapping.Timestamp:
		return b.momentOf(c, read)
	default:
		return read
	}
}

// momentOf is valueOf for a time, which is shown to the millisecond.
func (b *fields) momentOf(c *sheet.Column, read sqlrecord.Expr) sqlrecord.Expr {
	whole := b.cast(read, "whole")
	switch {
	case c.Kind == sheet.KindEpoch || c.Kind == sheet.KindEpochMillis:
		return wrap(whole[0], read, whole[1])
	case b.engine == "sqlite":
		return wrap("strftime('%Y-%m-%d %H:%M:%f', ", read, ")")
	case b.engine != "postgres":
		return wrap("LEFT(DATE_FORMAT(", read, ", '%Y-%m-%d %H:%i:%s.%f'), 23)")
	case c.Kind == sheet.KindTimestamp:
		return wrap("date_trunc('milliseconds', CAST(", read, " AS timestamptz))")
	}
	if b.sortOfColumn(c) == instants && c.Zone != nil {
		return wrap("date_trunc('milliseconds', ", read, " AT TIME ZONE "+b.literal(c.Zone.String())+")")
	}
	return wrap("date_trunc('milliseconds', CAST(", read, " AS timestamp))")
}

// sortOfColumn is what is read for a field.
func (b *fields) sortOfColumn(c *sheet.Column) sort {
	if len(c.Names) == 1 {
		return b.column(c.Names[0]).sort
	}
	return b.result(c.Read).sort
}

// withExpr is SQL of the sheet with an expression in the place of its value.
func withExpr(sql string, value sqlrecord.Expr) (e sqlrecord.Expr) {
	parts := []any{"("}
	for _, part := range parse(sql) {
		if parts = append(parts, part.SQL); part.Param == valueParam {
			parts = append(parts, value)
		} else if part.Param != "" {
			parts = append(parts, sqlrecord.Expr{{Param: part.Param}})
		}
	}
	return wrap(append(parts, ")")...)
}

// asStored is what a column stores of SQL that is written to it.
func (t *table) asStored(column string, e sqlrecord.Expr) sqlrecord.Expr {
	if t.known == nil || t.engine == "sqlite" { // which compares by the type of the column
		return e
	}
	c := t.known.Column(column)
	if c == nil {
		return e
	}
	of, sizes := c.Type, ""
	if c.Precision > 0 && c.Scale >= 0 && sortOf(t.engine, of) == decimals {
		sizes = "(" + strconv.Itoa(c.Precision) + "," + strconv.Itoa(c.Scale) + ")"
	}
	if t.engine == "postgres" && sortOf(t.engine, of) == padded {
		of = "bpchar" // without a length character is that of one letter
	}
	if t.engine != "postgres" {
		switch sortOf(t.engine, of) {
		case decimals:
			of = "DECIMAL"
		case texts:
			of = "CHAR"
		case integers:
			of = "SIGNED"
			if strings.Contains(c.Type, "unsigned") {
				of = "UNSIGNED"
			}
		case days:
			of = "DATE"
		case clocks:
			of = "DATETIME(6)"
		default:
			return e
		}
	}
	return wrap("CAST(", e, " AS "+of+sizes+")")
}

// differ appends that two values of a column are not the same, to the last letter.
func (t *table) differ(w *sqlrecord.Writer, column string, a, b sqlrecord.Expr) {
	isText := t.known != nil && t.known.Column(column) != nil && sortOf(t.engine, t.known.Column(column).Type) == texts
	switch {
	case t.engine == "sqlite":
		w.Expr(a).Add(" IS NOT ").Expr(b).Add(" COLLATE BINARY")
	case t.engine == "postgres" && isText:
		w.Expr(a).Add(" IS DISTINCT FROM ").Expr(b).Add(` COLLATE "C"`)
	case t.engine == "postgres":
		w.Expr(a).Add(" IS DISTINCT FROM ").Expr(b)
	case isText:
		w.Add("NOT (CAST(CONVERT(").Expr(a).Add(" USING utf8mb4) AS BINARY) <=> CAST(CONVERT(").Expr(b).Add(" USING utf8mb4) AS BINARY))")
	default:
		w.Add("NOT (").Expr(a).Add(" <=> ").Expr(b).Add(")")
	}
}

// same appends that two expressions are equal, as texts where their types may not be compared.
// SQLite compares by the types of the columns.
func (b *fields) same(w *sqlrecord.Writer, x sqlrecord.Expr, xs sort, y sqlrecord.Expr, ys sort) {
	if b.engine != "sqlite" && xs != ys && !(xs.isNumber() && ys.isNumber()) {
		x, y = b.asText(x), b.asText(y)
	}
	w.Expr(x).Add(" = ").Expr(y)
}
