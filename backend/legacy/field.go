package legacy

import (
	"slices"
	"strconv"

	"github.com/google/uuid"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Builder makes the fields of a table.
type Builder struct {
	Engine string
	d      *sqlrecord.Dialect
	// ColumnOf tells what the column of a name is, and Result what an expression gives.
	ColumnOf func(name string) Known
	Result   func(sql string) Known
}

// NewBuilder makes fields of which nothing is known.
func NewBuilder(engine string, d *sqlrecord.Dialect) *Builder {
	nothing := func(string) Known { return Known{scale: -1, nullable: true} }
	return &Builder{Engine: engine, d: d, ColumnOf: nothing, Result: nothing}
}

// Known is what is known of a column, or of the result of an expression.
type Known struct {
	Sort     Sort
	scale    int // of decimals; -1 where it is not known
	nullable bool
	// collation of a column of texts, see Column
	collation string
}

// field makes a field of a resource.
func (b *Builder) field(f *mapping.Field, c *sheet.Column) sqlrecord.Field {
	if len(c.Names) == 1 {
		plain := sqlrecord.Plain(b.d.Quote(c.Names[0]))
		of := b.value(f, c, plain, b.ColumnOf(c.Names[0]), true)
		if slices.Equal(of.Read, plain) {
			of.As.Sort = resultSorts[b.ColumnOf(c.Names[0]).Sort]
		}
		switch {
		case len(c.Codes) > 0:
			return b.coded(f, c)
		case len(c.Nulls) > 0 || c.EmptyIsNull:
			return b.withNulls(of, c)
		default:
			return b.written(f, c, of)
		}
	}
	of := b.Result(c.Read)
	if of.nullable = true; of.Sort == "" { // which was refused, or is SQLite's
		of.scale = -1
	}
	return b.written(f, c, b.value(f, c, Parse("("+c.Read+")"), of, false))
}

// resultSorts are the sorts that results are held to. SQLite's columns hold anything.
var resultSorts = map[Sort]sqlrecord.ResultSort{
	Integers: sqlrecord.SortNumbers, Decimals: sqlrecord.SortNumbers, Singles: sqlrecord.SortNumbers, Floats: sqlrecord.SortNumbers,
	Texts: sqlrecord.SortTexts, Padded: sqlrecord.SortTexts, Days: sqlrecord.SortMoments, Clocks: sqlrecord.SortMoments, Instants: sqlrecord.SortMoments,
}

// value is a field that is what SQL gives. plain says that it is a column, which has an index
// where an expression over it has none.
func (b *Builder) value(f *mapping.Field, c *sheet.Column, sql sqlrecord.Expr, of Known, plain bool) sqlrecord.Field {
	out := sqlrecord.Field{Read: sql, Null: of.nullable, As: sqlrecord.Column{Type: f.Type, Scale: f.Scale, Foreign: true, Zone: c.Zone, Kind: string(c.Kind)}}
	switch f.Type {
	case mapping.Timestamp:
		b.moment(&out, c, of.Sort)
	case mapping.Float8:
		b.number(&out, f, of, plain)
	case mapping.Int4:
		b.whole(&out, of.Sort)
	case mapping.Varchar, mapping.Text:
		b.text(&out, of.Sort, plain)
	}
	if f.IgnoreDashes {
		out.Fold, out.Equals, out.Ranges = b.d.Bare(), nil, nil
	}
	return out
}

// postgresTypes are what values are cast to that are compared with a sort.
var postgresTypes = map[Sort]string{
	Integers: "bigint", Decimals: "numeric", Singles: "double precision", Floats: "double precision", Booleans: "boolean", Texts: "text",
	Padded: "bpchar", Days: "timestamp", Clocks: "timestamp", Instants: "timestamptz", GUIDs: "uuid", Others: "text",
}

// Put appends a value as the sort of what it is compared with. PostgreSQL would else take
// the type of the other side, refuse what does not fit, and make a day of a time.
func (b *Builder) Put(w *sqlrecord.Writer, s Sort, v mapping.Value) {
	var of string
	switch b.Engine {
	case "postgres":
		if of = postgresTypes[s]; v.Kind() == mapping.KindDecimal && s == Integers {
			of = "numeric"
		}
	case "sqlite":
		if v.Kind() == mapping.KindDecimal { // which our own tables keep as a whole number
			n, _ := strconv.ParseFloat(v.String(), 64)
			v = mapping.FloatValue(n)
		}
	default:
		if v.Kind() == mapping.KindDecimal {
			of = "DECIMAL(65," + strconv.Itoa(v.Scale()) + ")"
		}
	}
	if of == "" {
		w.Add(w.Arg(v))
		return
	}
	w.Add("CAST(", w.Arg(v), " AS ", of, ")")
}

// nothing is the condition that holds for no row.
const nothing = "1 = 0"

// simply compares an expression with values of a sort.
func (b *Builder) simply(out *sqlrecord.Field, s Sort) {
	out.Operand = func(w *sqlrecord.Writer, v mapping.Value) { b.Put(w, s, v) }
}

// whole makes a field of whole numbers.
func (b *Builder) whole(out *sqlrecord.Field, s Sort) {
	switch {
	case s == Booleans && b.Engine == "postgres":
		out.Read = Wrap("CASE WHEN ", out.Read, " THEN 1 WHEN NOT ", out.Read, " THEN 0 END")
		b.simply(out, Integers)
	case s == Texts || s == Padded || s == Others || s == "":
		sql := out.Read
		out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
			if s == "" && b.Engine == "sqlite" { // where a number and a text are never equal
				b.Put(w.Expr(sql).Add(" IN ("), Integers, v)
				b.Put(w.Add(", "), Texts, mapping.TextValue(v.String()))
				w.Add(")")
				return
			}
			w.Expr(sql).Add(" = ")
			b.Put(w, s, mapping.TextValue(v.String()))
		}
		out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
			w.Expr(b.As(sql, Integers)).Add(sqlrecord.Comparisons[op])
			b.Put(w, Integers, v)
		}
		out.Order = []sqlrecord.Expr{b.As(sql, Integers)}
	default:
		b.simply(out, s)
	}
}

// As makes whole numbers, or texts, of an expression.
func (b *Builder) As(e sqlrecord.Expr, s Sort) sqlrecord.Expr {
	of := map[Sort]string{Integers: "SIGNED", Texts: "CHAR"}
	switch b.Engine {
	case "postgres":
		of = postgresTypes
	case "sqlite":
		of = map[Sort]string{Integers: "INTEGER", Texts: "TEXT"}
	}
	return Wrap("CAST(", e, " AS "+of[s]+")")
}

// number makes a field of decimals. What has more of them than the interface shows is compared
// as it is shown, rounded by the database; near it, an index finds it.
func (b *Builder) number(out *sqlrecord.Field, f *mapping.Field, of Known, plain bool) {
	sql, s := out.Read, of.Sort
	if s == Texts || s == Others || s == "" {
		s = Decimals
	}
	exact := f.Scale < 0 || s == Integers || s == Decimals && of.scale >= 0 && of.scale <= f.Scale
	if exact {
		if b.simply(out, s); b.Engine == "postgres" && s == Integers {
			b.wholes(out)
		}
		return
	}
	places := ", " + strconv.Itoa(f.Scale) + ")"
	switch {
	case b.Engine == "postgres" && (s == Singles || s == Floats): // the shortest decimal that is the same float
		out.Read = Wrap("ROUND(CAST(CAST(", sql, " AS text) AS numeric)"+places)
	case b.Engine == "postgres":
		out.Read = Wrap("ROUND(CAST(", sql, " AS numeric)"+places)
	case b.Engine == "sqlite":
		out.Read = Wrap("CASE typeof(", sql, ") WHEN 'text' THEN ", sql, " WHEN 'blob' THEN ", sql, " ELSE ROUND(", sql, places+" END")
	default:
		out.Read = Wrap("ROUND(", sql, places)
	}
	shown := Floats
	if b.Engine != "sqlite" {
		shown = Decimals
	}
	b.simply(out, shown)
	if !plain {
		return
	}
	out.Order = []sqlrecord.Expr{sql} // whose index has the finer order
	read := out.Read
	near := func(w *sqlrecord.Writer, operator string, v mapping.Value, by int64) {
		w.Expr(sql).Add(operator)
		if b.Engine == "postgres" && s == Singles { // the single that is shown so may be further away
			w.Add("CAST(", w.Arg(beside(v, by)), " AS real) AND ")
			return
		}
		b.Put(w, s, beside(v, by))
		w.Add(" AND ")
	}
	out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		w.Add("(")
		if op == mapping.AtLeast || op == mapping.Above || op == mapping.Equals {
			near(w, " >= ", v, -1)
		}
		if op == mapping.AtMost || op == mapping.Below || op == mapping.Equals {
			near(w, " <= ", v, 1)
		}
		w.Expr(read).Add(sqlrecord.Comparisons[op])
		b.Put(w, shown, v)
		w.Add(")")
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) { out.Ranges(w, mapping.Equals, v) }
}

// wholes compares whole numbers with decimals as whole numbers: PostgreSQL takes no index over them
// for a numeric.
func (b *Builder) wholes(out *sqlrecord.Field) {
	sql := out.Read
	rounding := [...]string{mapping.AtLeast: "CEIL", mapping.Below: "CEIL", mapping.Above: "FLOOR", mapping.AtMost: "FLOOR", mapping.Equals: "FLOOR"}
	out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		if w.Expr(sql).Add(sqlrecord.Comparisons[op]); v.Kind() != mapping.KindDecimal {
			b.Put(w, Floats, v)
			return
		}
		w.Add("CAST(", rounding[op], "(CAST(", w.Arg(v), " AS numeric)) AS bigint)")
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if out.Ranges(w.Add("("), mapping.Equals, v); v.Kind() == mapping.KindDecimal {
			w.Add(" AND MOD(CAST(", w.Arg(v), " AS numeric), 1) = 0")
		}
		w.Add(")")
	}
}

// beside is a decimal so many of its last places away.
func beside(v mapping.Value, by int64) mapping.Value {
	return mapping.DecimalValue(v.Int()+by, v.Scale())
}

// text makes a field of texts.
func (b *Builder) text(out *sqlrecord.Field, s Sort, plain bool) {
	sql := out.Read
	if s == Texts || s == Padded || s == "" && (plain || b.Engine != "sqlite") {
		b.simply(out, Texts)
		if s == Padded && plain {
			b.simply(out, Padded)
		}
		return
	}
	out.Read = b.As(sql, Texts)
	b.simply(out, Texts)
	if !plain || s != Integers && s != GUIDs {
		return
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		switch {
		case s == Integers && isWhole(v.Text()), s == GUIDs && uuid.Validate(v.Text()) == nil:
			b.Put(w.Expr(sql).Add(" = "), s, asWhole(v))
		default:
			w.Add(nothing)
		}
	}
}

// isWhole tells whether a text is what a whole number of 64 bits is written as.
func isWhole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}
