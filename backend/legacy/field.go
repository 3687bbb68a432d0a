package legacy

import (
	"slices"
	"strconv"

	"github.com/google/uuid"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// fields makes the fields of a table.
type fields struct {
	engine string
	d      *sqlrecord.Dialect
	// column tells what the column of a name is, and result what an expression gives.
	column func(name string) column
	result func(sql string) column
}

// column is what is known of a column, or of the result of an expression.
type column struct {
	sort     sort
	scale    int // of decimals; -1 where it is not known
	nullable bool
	length   int
}

// field makes a field of a resource.
func (b *fields) field(f *mapping.Field, c *sheet.Column) sqlrecord.Field {
	if len(c.Names) == 1 {
		plain := sqlrecord.Plain(b.d.Quote(c.Names[0]))
		of := b.value(f, c, plain, b.column(c.Names[0]), true)
		if slices.Equal(of.Read, plain) {
			of.As.Sort = resultSorts[b.column(c.Names[0]).sort]
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
	of := b.result(c.Read)
	if of.nullable = true; of.sort == "" {
		of.scale = -1
	}
	return b.written(f, c, b.value(f, c, parse("("+c.Read+")"), of, false))
}

// resultSorts are the sorts that results are held to. SQLite's columns hold anything.
var resultSorts = map[sort]sqlrecord.ResultSort{
	integers: sqlrecord.SortNumbers, decimals: sqlrecord.SortNumbers, singles: sqlrecord.SortNumbers, floats: sqlrecord.SortNumbers,
	texts: sqlrecord.SortTexts, padded: sqlrecord.SortTexts, days: sqlrecord.SortMoments, clocks: sqlrecord.SortMoments, instants: sqlrecord.SortMoments,
}

// value is a field that is what SQL gives. plain says that it is a column, which has an index
// where an expression over it has none.
func (b *fields) value(f *mapping.Field, c *sheet.Column, sql sqlrecord.Expr, of column, plain bool) sqlrecord.Field {
	out := sqlrecord.Field{Read: sql, Null: of.nullable, As: sqlrecord.Column{Type: f.Type, Scale: f.Scale, Foreign: true, Zone: c.Zone, Kind: string(c.Kind)}}
	switch f.Type {
	case mapping.Timestamp:
		b.moment(&out, c, of.sort)
	case mapping.Float8:
		b.number(&out, f, of, plain)
	case mapping.Int4:
		b.whole(&out, of.sort)
	case mapping.Varchar, mapping.Text:
		b.text(&out, of.sort, plain)
	}
	if f.IgnoreDashes {
		out.Fold, out.Equals, out.Ranges = b.d.Bare(), nil, nil
	}
	return out
}

// postgresTypes are what values are cast to that are compared with a sort.
var postgresTypes = map[sort]string{
	integers: "bigint", decimals: "numeric", singles: "double precision", floats: "double precision", booleans: "boolean", texts: "text",
	padded: "bpchar", days: "timestamp", clocks: "timestamp", instants: "timestamptz", guids: "uuid", others: "text",
}

// operand appends a value as the sort of what it is compared with. PostgreSQL would else take
// the type of the other side, refuse what does not fit, and make a day of a time.
func (b *fields) operand(w *sqlrecord.Writer, s sort, v mapping.Value) {
	var of string
	switch b.engine {
	case "postgres":
		if of = postgresTypes[s]; v.Kind() == mapping.KindDecimal && s == integers {
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

// comparisons are the operators of ranges.
var comparisons = map[mapping.Operator]string{mapping.Equals: " = ", mapping.AtLeast: " >= ", mapping.Above: " > ", mapping.AtMost: " <= ", mapping.Below: " < "}

// simply compares an expression with values of a sort.
func (b *fields) simply(out *sqlrecord.Field, s sort) {
	out.Operand = func(w *sqlrecord.Writer, v mapping.Value) { b.operand(w, s, v) }
}

// whole makes a field of whole numbers.
func (b *fields) whole(out *sqlrecord.Field, s sort) {
	switch {
	case s == booleans && b.engine == "postgres":
		out.Read = wrap("CASE WHEN ", out.Read, " THEN 1 WHEN NOT ", out.Read, " THEN 0 END")
		b.simply(out, integers)
	case s == texts || s == padded || s == others || s == "":
		sql := out.Read
		out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
			if !v.IsSet() {
				w.Expr(sql).Add(" IS NULL")
				return
			}
			if s == "" && b.engine == "sqlite" { // where a number and a text are never equal
				b.operand(w.Expr(sql).Add(" IN ("), integers, v)
				b.operand(w.Add(", "), texts, mapping.TextValue(v.String()))
				w.Add(")")
				return
			}
			w.Expr(sql).Add(" = ")
			b.operand(w, s, mapping.TextValue(v.String()))
		}
		out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
			w.Add(b.cast(sql, "whole")[0]).Expr(sql).Add(b.cast(sql, "whole")[1], comparisons[op])
			b.operand(w, integers, v)
		}
		out.Order = []sqlrecord.Expr{wrap(b.cast(sql, "whole")[0], sql, b.cast(sql, "whole")[1])}
	default:
		b.simply(out, s)
	}
}

// cast stands around an expression that is made another type.
func (b *fields) cast(_ sqlrecord.Expr, to string) [2]string {
	names := map[string]string{"text": "text", "whole": "bigint"}
	switch b.engine {
	case "sqlite":
		names = map[string]string{"text": "TEXT", "whole": "INTEGER"}
	case "mysql", "mariadb":
		names = map[string]string{"text": "CHAR", "whole": "SIGNED"}
	}
	return [2]string{"CAST(", " AS " + names[to] + ")"}
}

// number makes a field of decimals. What has more of them than the interface shows is compared
// as it is shown, rounded by the database; near it, an index finds it.
func (b *fields) number(out *sqlrecord.Field, f *mapping.Field, of column, plain bool) {
	sql, s := out.Read, of.sort
	if s == texts || s == others || s == "" {
		s = decimals
	}
	exact := f.Scale < 0 || s == integers || s == decimals && of.scale >= 0 && of.scale <= f.Scale
	if exact {
		if b.simply(out, s); b.engine == "postgres" && s == integers {
			b.wholes(out)
		}
		return
	}
	places := ", " + strconv.Itoa(f.Scale) + ")"
	switch {
	case b.engine == "postgres" && (s == singles || s == floats): // the shortest decimal that is the same float
		out.Read = wrap("ROUND(CAST(CAST(", sql, " AS text) AS numeric)"+places)
	case b.engine == "postgres":
		out.Read = wrap("ROUND(CAST(", sql, " AS numeric)"+places)
	case b.engine == "sqlite":
		out.Read = wrap("CASE typeof(", sql, ") WHEN 'text' THEN ", sql, " WHEN 'blob' THEN ", sql, " ELSE ROUND(", sql, places+" END")
	default:
		out.Read = wrap("ROUND(", sql, places)
	}
	shown := floats
	if b.engine != "sqlite" {
		shown = decimals
	}
	b.simply(out, shown)
	if !plain {
		return
	}
	out.Order = []sqlrecord.Expr{sql} // whose index has the finer order
	read := out.Read
	near := func(w *sqlrecord.Writer, operator string, v mapping.Value, by int64) {
		w.Expr(sql).Add(operator)
		if b.engine == "postgres" && s == singles { // the single that is shown so may be further away
			w.Add("CAST(", w.Arg(beside(v, by)), " AS real) AND ")
			return
		}
		b.operand(w, s, beside(v, by))
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
		w.Expr(read).Add(comparisons[op])
		b.operand(w, shown, v)
		w.Add(")")
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if !v.IsSet() {
			w.Expr(sql).Add(" IS NULL")
			return
		}
		out.Ranges(w, mapping.Equals, v)
	}
}

// wholes compares whole numbers with decimals as whole numbers: PostgreSQL takes no index over them
// for a numeric.
func (b *fields) wholes(out *sqlrecord.Field) {
	sql := out.Read
	out.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		if v.Kind() != mapping.KindDecimal {
			b.operand(w.Expr(sql).Add(comparisons[op]), floats, v)
			return
		}
		whole, rest := v.Int(), int64(0)
		for range v.Scale() { // down, and what is left out
			rest |= ((whole%10 + 10) % 10)
			whole = (whole - (whole%10+10)%10) / 10
		}
		switch {
		case rest == 0:
		case op == mapping.Equals:
			w.Add(nothing)
			return
		case op == mapping.AtLeast || op == mapping.Above:
			op = mapping.Above
		default:
			op = mapping.AtMost
		}
		b.operand(w.Expr(sql).Add(comparisons[op]), integers, mapping.IntValue(whole))
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if !v.IsSet() {
			w.Expr(sql).Add(" IS NULL")
			return
		}
		out.Ranges(w, mapping.Equals, v)
	}
}

// beside is a decimal so many of its last places away.
func beside(v mapping.Value, by int64) mapping.Value {
	return mapping.DecimalValue(v.Int()+by, v.Scale())
}

// text makes a field of texts.
func (b *fields) text(out *sqlrecord.Field, s sort, plain bool) {
	sql := out.Read
	if s == texts || s == padded || s == "" && (plain || b.engine != "sqlite") {
		b.simply(out, texts)
		if s == padded && plain {
			b.simply(out, padded)
		}
		return
	}
	cast := b.cast(sql, "text")
	out.Read = wrap(cast[0], sql, cast[1])
	b.simply(out, texts)
	if !plain || s != integers && s != guids {
		return
	}
	out.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		switch {
		case !v.IsSet():
			w.Expr(sql).Add(" IS NULL")
		case s == integers && isWhole(v.Text()):
			n, _ := strconv.ParseInt(v.Text(), 10, 64)
			w.Expr(sql).Add(" = ")
			b.operand(w, s, mapping.IntValue(n))
		case s == guids && uuid.Validate(v.Text()) == nil:
			w.Expr(sql).Add(" = ")
			b.operand(w, s, v)
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
