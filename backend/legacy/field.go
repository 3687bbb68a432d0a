package legacy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// fields makes the fields of a table.
type fields struct {
	engine string
	d      *sqlrecord.Dialect
	// sortOf tells what the column of a name, or an expression, is: its sort, its decimals (-1
	// where they are not known) and whether it takes nulls.
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
		of := b.value(f, c, sqlrecord.Plain(b.d.Quote(c.Names[0])), b.column(c.Names[0]), true)
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
		b.simply(out, s)
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

// moment makes a field of times, which are shown to the millisecond. What is compared is the
// first value that is shown as a time: of a clock on the wall, which may show an hour twice or
// leave one out, and of what is finer.
func (b *fields) moment(out *sqlrecord.Field, c *sheet.Column, s sort) {
	sql := out.Read
	first := b.firstOf(c, s)
	compared := sql
	if b.engine == "sqlite" && c.Kind != sheet.KindEpoch && c.Kind != sheet.KindEpochMillis {
		// It would round microseconds, which are left out where the time is shown.
		compared = wrap("strftime('%Y-%m-%d %H:%M:%f', CASE length(", sql, ") WHEN 26 THEN substr(", sql, ", 1, 23) ELSE ", sql, " END)")
		out.Order = []sqlrecord.Expr{compared}
	}
	// from appends the condition for what is shown as a time or a later one, or as an earlier one.
	from := func(w *sqlrecord.Writer, ms int64, earlier bool) {
		gap, ends, left := int64(0), int64(0), false
		if s != instants && c.Kind != sheet.KindEpoch && c.Kind != sheet.KindEpochMillis {
			gap, ends, left = leftOut(ms, c.Zone)
		}
		operator := [...]string{" >= ", " < "}[b2i(earlier && !left)]
		if !left {
			w.Expr(compared).Add(operator)
			first(w, ms)
			return
		}
		w.Add([...]string{"(", "NOT ("}[b2i(earlier)]).Expr(compared).Add(" >= ")
		b.operand(w, clocks, wallText(sheet.WallOf(ms, c.Zone)))
		w.Add(" OR ").Expr(compared).Add(" >= ")
		b.operand(w, clocks, wallText(gap))
		w.Add(" AND ").Expr(compared).Add(" < ")
		b.operand(w, clocks, wallText(ends))
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
		if !v.IsSet() {
			w.Expr(sql).Add(" IS NULL")
			return
		}
		w.Add("(")
		from(w, v.Int(), false)
		w.Add(" AND ")
		from(w, v.Int()+1, true)
		w.Add(")")
	}
}

// leftOut tells what a clock on the wall leaves out at a time: what stands there all the same
// reads as a time after it. from is what reads as the time, or a later one, up to where the gap
// ends; ok is false where the clock leaves out nothing that reads so.
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
func (b *fields) firstOf(c *sheet.Column, s sort) func(w *sqlrecord.Writer, ms int64) {
	switch {
	case c.Kind == sheet.KindEpochMillis:
		return func(w *sqlrecord.Writer, ms int64) { b.operand(w, integers, mapping.IntValue(ms)) }
	case c.Kind == sheet.KindEpoch:
		if s == decimals || s == floats {
			return func(w *sqlrecord.Writer, ms int64) { b.operand(w, s, mapping.DecimalValue(ms*10-5, 4)) } // it is shown rounded
		}
		return func(w *sqlrecord.Writer, ms int64) { b.operand(w, integers, mapping.IntValue(ceil(ms, 1000))) }
	case s == instants:
		return func(w *sqlrecord.Writer, ms int64) { b.operand(w, instants, mapping.MilliValue(ms)) }
	default:
		return func(w *sqlrecord.Writer, ms int64) { b.operand(w, clocks, wallText(sheet.FirstWall(ms, c.Zone))) }
	}
}

func ceil(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}

// wallText is what a clock on the wall shows, as every engine reads it.
func wallText(wall int64) mapping.Value {
	return mapping.TextValue(time.UnixMilli(wall).UTC().Format("2006-01-02 15:04:05.000"))
}

// withNulls makes stored values null. They are no values that a filter finds.
func (b *fields) withNulls(of sqlrecord.Field, c *sheet.Column) sqlrecord.Field {
	sql := of.Read
	stored := sqlrecord.Plain(b.d.Quote(c.Names[0]))
	list := b.literals(c.Nulls)
	if c.EmptyIsNull {
		list = b.literals(append([]string{""}, c.Nulls...))
	}
	of.Read = wrap("CASE WHEN ", stored, " IN ("+list+") THEN NULL ELSE ", sql, " END")
	equals, ranges, operand := of.Equals, of.Ranges, of.Operand
	isNull := func(w *sqlrecord.Writer) {
		w.Add("(").Expr(stored).Add(" IS NULL OR ").Expr(stored).Add(" IN (", list, "))")
	}
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if !v.IsSet() {
			isNull(w)
			return
		}
		w.Add("(")
		if equals != nil {
			equals(w, v)
		} else {
			w.Expr(sql).Add(" = ")
			operand(w, v)
		}
		w.Add(" AND ").Expr(stored).Add(" NOT IN (", list, "))")
	}
	of.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		w.Add("(")
		if ranges != nil {
			ranges(w, op, v)
		} else {
			w.Expr(sql).Add(comparisons[op])
			operand(w, v)
		}
		w.Add(" AND ").Expr(stored).Add(" NOT IN (", list, "))")
	}
	if of.Order != nil {
		of.Order = []sqlrecord.Expr{wrap("CASE WHEN ", stored, " IN ("+list+") THEN NULL ELSE ", of.Order[0], " END")}
	}
	of.Null = true
	return of
}

// coded makes a field with a code list. A code that is not in the list is sqlrecord.Unknown,
// with which a record cannot be shown.
func (b *fields) coded(f *mapping.Field, c *sheet.Column) sqlrecord.Field {
	stored := sqlrecord.Plain(b.d.Quote(c.Names[0]))
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
		text.WriteString(" WHEN " + stored[0].SQL + " IN (" + b.literals(byValue[v]) + ") THEN " + b.literalOf(f, v))
	}
	unknown := "NULL"
	if !c.UnknownIsNull {
		unknown = sqlrecord.UnknownOf(f.Type)
	}
	text.WriteString(" WHEN " + stored[0].SQL + " IS NULL THEN NULL ELSE " + unknown + " END")
	of := sqlrecord.Field{Read: sqlrecord.Plain(text.String()), Null: true, Unknown: !c.UnknownIsNull && f.IsText(), As: sqlrecord.Column{Type: f.Type, Scale: f.Scale, Foreign: true}}
	s := texts
	if !f.IsText() {
		s = integers
	}
	b.simply(&of, s)
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		codes := byValue[v]
		switch {
		case v.IsSet() && codes == nil:
			w.Add(nothing)
		case v.IsSet():
			w.Expr(stored).Add(" IN (", b.literals(codes), ")")
		default:
			w.Add("(").Expr(stored).Add(" IS NULL")
			if codes := byValue[mapping.NullValue()]; codes != nil {
				w.Add(" OR ").Expr(stored).Add(" IN (", b.literals(codes), ")")
			}
			if c.UnknownIsNull {
				w.Add(" OR ").Expr(stored).Add(" NOT IN (", b.literals(all), ")")
			}
			w.Add(")")
		}
	}
	return of
}

// literalOf is a value of a code list in SQL.
func (b *fields) literalOf(f *mapping.Field, v mapping.Value) string {
	switch {
	case !v.IsSet():
		return "NULL"
	case f.IsText():
		return b.literal(v.Text())
	default:
		return v.String()
	}
}

// literal is a text in SQL, which the engine converts to what it is compared with.
func (b *fields) literal(text string) string {
	if b.engine == "mysql" || b.engine == "mariadb" {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func (b *fields) literals(all []string) string {
	quoted := make([]string, len(all))
	for i, text := range all {
		quoted[i] = b.literal(text)
	}
	return strings.Join(quoted, ", ")
}

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
			finds = append(finds, append(sqlrecord.Plain(b.d.Quote(a.Column)+" = "), parse("("+a.SQL+")")...))
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
	stored, write, ranges := b.d.Quote(c.Write[0].Column), parse("("+c.Write[0].SQL+")"), of.Ranges
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
