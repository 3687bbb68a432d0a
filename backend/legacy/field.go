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
	Dialect *sqlrecord.Dialect
	// ColumnOf returns what is known of a column by its name, Result what of an expression's result.
	ColumnOf func(name string) Known
	Result   func(sql string) Known
}

// NewBuilder makes fields without knowing the types of columns and expressions.
func NewBuilder(d *sqlrecord.Dialect) *Builder {
	nothing := func(string) Known { return Known{scale: -1, nullable: true} }
	return &Builder{Dialect: d, ColumnOf: nothing, Result: nothing}
}

// Known is what is known of a column, or of the result of an expression.
type Known struct {
	Sort     sqlrecord.Sort
	scale    int // of decimals; -1 if it is not known
	nullable bool
	// collation of a column of texts, see Column
	collation string
}

// field makes a field of a resource.
func (b *Builder) field(f *mapping.Field, c *sheet.Column) sqlrecord.Field {
	if len(c.Names) == 1 {
		plain := sqlrecord.Plain(b.Dialect.Quote(c.Names[0]))
		of := b.value(f, c, plain, b.ColumnOf(c.Names[0]), true)
		if slices.Equal(of.Read, plain) {
			of.As.Sort = b.ColumnOf(c.Names[0]).Sort.OfResult()
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
	if of.nullable = true; of.Sort == "" { // the SQL was refused, or the engine is SQLite
		of.scale = -1
	}
	return b.written(f, c, b.value(f, c, Parse("("+c.Read+")"), of, false))
}

// value is a field that is the result of SQL. plain says that the SQL is just a column, whose index
// an expression over it could not use.
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
		out.Fold, out.Equals, out.Ranges = b.Dialect.Bare(), nil, nil
	}
	return out
}

// Put appends a value, cast to the sort of what it is compared with. Otherwise PostgreSQL would convert it
// to the type of the other side, refuse what does not fit, and cut a time to a day.
func (b *Builder) Put(w *sqlrecord.Writer, s sqlrecord.Sort, v mapping.Value) {
	var of string
	isDecimal := v.Kind() == mapping.KindDecimal
	switch {
	case b.Dialect.FlexibleTypes && isDecimal: // our own tables keep decimals as whole numbers
		n, _ := strconv.ParseFloat(v.String(), 64)
		v = mapping.FloatValue(n)
	case isDecimal && (s == sqlrecord.Integers || !b.Dialect.StrictTypes):
		of = b.Dialect.TypeOf(sqlrecord.Decimals, v.Scale())
	case b.Dialect.StrictTypes:
		of = b.Dialect.TypeOf(s, 0)
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
func (b *Builder) simply(out *sqlrecord.Field, s sqlrecord.Sort) {
	out.Operand = func(w *sqlrecord.Writer, v mapping.Value) { b.Put(w, s, v) }
}

// whole makes a field of whole numbers.
func (b *Builder) whole(out *sqlrecord.Field, s sqlrecord.Sort) {
	switch {
	case s == sqlrecord.Booleans && b.Dialect.StrictTypes:
		out.Read = sqlrecord.Wrap("CASE WHEN ", out.Read, " THEN 1 WHEN NOT ", out.Read, " THEN 0 END")
		b.simply(out, sqlrecord.Integers)
	case s == sqlrecord.Texts || s == sqlrecord.Padded || s == sqlrecord.Others || s == "":
		sql := out.Read
		out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
			if s == "" && b.Dialect.FlexibleTypes { // a number and a text are never equal there
				b.Put(w.Expr(sql).Add(" IN ("), sqlrecord.Integers, v)
				b.Put(w.Add(", "), sqlrecord.Texts, mapping.TextValue(v.String()))
				w.Add(")")
				return
			}
			w.Expr(sql).Add(" = ")
			b.Put(w, s, mapping.TextValue(v.String()))
		}
		out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
			w.Expr(b.As(sql, sqlrecord.Integers)).Add(sqlrecord.Comparisons[op])
			b.Put(w, sqlrecord.Integers, v)
		}
		out.Order = []sqlrecord.Expr{b.As(sql, sqlrecord.Integers)}
	default:
		b.simply(out, s)
	}
}

// As casts an expression to a sort.
func (b *Builder) As(e sqlrecord.Expr, s sqlrecord.Sort) sqlrecord.Expr {
	return sqlrecord.Wrap("CAST(", e, " AS "+b.Dialect.TypeOf(s, 0)+")")
}

// number makes a field of decimals. A number with more decimals than the interface shows is compared
// as it is shown: an index finds the numbers around it, and the database rounds these.
func (b *Builder) number(out *sqlrecord.Field, f *mapping.Field, of Known, plain bool) {
	sql, s := out.Read, of.Sort
	if s == sqlrecord.Texts || s == sqlrecord.Others || s == "" {
		s = sqlrecord.Decimals
	}
	exact := f.Scale < 0 || s == sqlrecord.Integers || s == sqlrecord.Decimals && of.scale >= 0 && of.scale <= f.Scale
	if exact {
		if b.simply(out, s); b.Dialect.StrictTypes && s == sqlrecord.Integers {
			b.wholes(out)
		}
		return
	}
	out.Read = b.Dialect.Round(sql, s, f.Scale)
	shown := sqlrecord.Floats
	if !b.Dialect.FlexibleTypes {
		shown = sqlrecord.Decimals
	}
	b.simply(out, shown)
	if !plain {
		return
	}
	out.Order = []sqlrecord.Expr{sql} // the index is in this, finer order
	read := out.Read
	near := func(w *sqlrecord.Writer, operator string, v mapping.Value, by int64) {
		w.Expr(sql).Add(operator)
		if b.Dialect.StrictTypes && s == sqlrecord.Singles { // a single that is shown as v may be further away
			w.Add("CAST(", w.Arg(shifted(v, by)), " AS real) AND ")
			return
		}
		b.Put(w, s, shifted(v, by))
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

// wholes compares whole numbers with decimals as whole numbers: PostgreSQL uses no index over them
// for a numeric.
func (b *Builder) wholes(out *sqlrecord.Field) {
	sql := out.Read
	rounding := [...]string{mapping.AtLeast: "CEIL", mapping.Below: "CEIL", mapping.Above: "FLOOR", mapping.AtMost: "FLOOR", mapping.Equals: "FLOOR"}
	out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		if w.Expr(sql).Add(sqlrecord.Comparisons[op]); v.Kind() != mapping.KindDecimal {
			b.Put(w, sqlrecord.Floats, v)
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

// shifted is a decimal plus by units of its last place.
func shifted(v mapping.Value, by int64) mapping.Value {
	return mapping.DecimalValue(v.Int()+by, v.Scale())
}

// text makes a field of texts.
func (b *Builder) text(out *sqlrecord.Field, s sqlrecord.Sort, plain bool) {
	sql := out.Read
	if s == sqlrecord.Texts || s == sqlrecord.Padded || s == "" && (plain || !b.Dialect.FlexibleTypes) {
		b.simply(out, sqlrecord.Texts)
		if s == sqlrecord.Padded && plain {
			b.simply(out, sqlrecord.Padded)
		}
		return
	}
	out.Read = b.As(sql, sqlrecord.Texts)
	b.simply(out, sqlrecord.Texts)
	if !plain || s != sqlrecord.Integers && s != sqlrecord.GUIDs {
		return
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		switch {
		case s == sqlrecord.Integers && isWhole(v.Text()), s == sqlrecord.GUIDs && uuid.Validate(v.Text()) == nil:
			b.Put(w.Expr(sql).Add(" = "), s, asWhole(v))
		default:
			w.Add(nothing)
		}
	}
}

// isWhole reports whether a text is the usual form of a whole number of 64 bits.
func isWhole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}
