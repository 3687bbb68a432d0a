package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// encode computes which columns are written, and with what.
func (w *write) encode(ctx context.Context, create bool) error {
	if err := w.refer(ctx, w.after); err != nil {
		return err
	}
	rec := w.attempt.Record
	if create {
		w.constants()
	}
	var found mapping.Violations
	for i := range w.t.Fields {
		f, c := w.t.Fields[i].Field, &w.t.SQL.Fields[i]
		v := rec.Values[i]
		switch {
		case c.Stamp == sheet.StampChange, c.Stamp == sheet.StampCreate && create:
			v = mapping.TimeValue(w.now())
		case v.IsAbsent() && create && c.Default.IsSet():
			v = c.Default
		case v.IsAbsent() && create && (len(c.Nulls) > 0 || c.EmptyIsNull || c.Read != ""):
			v = mapping.NullValue()
		}
		if v.IsAbsent() || len(c.Write) == 0 {
			continue
		}
		if err := w.encodeField(f, c, v); err != nil {
			found = append(found, err)
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	if err := w.writable(); err != nil {
		return err
	}
	if err := w.respelled(); err != nil {
		return err
	}
	return w.judgeParent(ctx, create)
}

// constants are what every create writes.
func (w *write) constants() {
	if c := w.t.SQL.Client.Column; c != "" && !slices.Contains(w.t.Key.Places, c) {
		w.sets = append(w.sets, set{column: c, value: func(b *sqlrecord.Writer) { b.Expr(w.t.clientOperand()) }})
	}
	for _, a := range w.t.SQL.Constants {
		e := Parse(a.SQL)
		w.sets = append(w.sets, set{column: a.Column, value: func(b *sqlrecord.Writer) { b.Expr(e) }})
	}
}

// encodeField adds the columns that a field writes. Whatever a sheet says, a client never writes
// into the records of another.
func (w *write) encodeField(f *mapping.Field, c *sheet.Column, v mapping.Value) *mapping.Error {
	parts, linked, err := w.partsOf(f, v)
	if err != nil {
		return err
	}
	for i, a := range c.Write {
		if a.Column == w.t.SQL.Client.Column && a.Column != "" {
			continue
		}
		s := set{column: a.Column, field: f}
		target := columnOf(w.t.Target, a.Column)
		of := target.Sort
		plain := strings.TrimSpace(a.SQL) == ":"+valueParam
		switch {
		case linked && plain:
			s.plain = mapping.NullValue()
			if parts != nil {
				s.plain = parts[i+len(parts)-len(c.Write)]
			} else if len(c.Nulls) > 0 {
				s.value = func(b *sqlrecord.Writer) { b.Add(w.t.Literal(c.Nulls[0])) }
				break
			}
			s.value = func(b *sqlrecord.Writer) { w.t.stored(b, of, s.plain) }
		case len(c.Codes) > 0 && plain:
			stored, known := codeOf(c, v)
			if !known && v.IsSet() {
				return f.Invalid(v.String())
			}
			s.value = func(b *sqlrecord.Writer) { b.Add("NULL") }
			if known {
				s.value = func(b *sqlrecord.Writer) { b.Add(w.t.Literal(stored)) }
			}
		case !v.IsSet() && len(c.Nulls) > 0:
			s.value = func(b *sqlrecord.Writer) { b.Add(w.t.Literal(c.Nulls[0])) }
		case !v.IsSet() && c.EmptyIsNull && !target.nullable:
			s.value = func(b *sqlrecord.Writer) { b.Add("''") }
		case plain:
			s.plain = v
			s.value = func(b *sqlrecord.Writer) { w.t.plainly(b, f, c, of, v) }
		default:
			e, part := Parse("("+a.SQL+")"), mapping.NullValue()
			if parts != nil {
				part = parts[i+len(parts)-len(c.Write)]
			}
			s.value = func(b *sqlrecord.Writer) {
				w.t.withValue(b, e, func() {
					if linked {
						w.t.Put(b, sqlrecord.Texts, part)
					} else {
						w.t.given(b, f, c, v)
					}
				})
			}
		}
		w.sets = append(w.sets, s)
	}
	return nil
}

// codeOf is the code that is written for a value.
func codeOf(c *sheet.Column, v mapping.Value) (stored string, known bool) {
	for _, code := range c.Codes {
		if code.Shown == v || !code.Shown.IsSet() && !v.IsSet() {
			return code.Stored, true
		}
	}
	return "", false
}

// plainly appends a value as its column keeps it.
func (t *Mapped) plainly(b *sqlrecord.Writer, f *mapping.Field, c *sheet.Column, of sqlrecord.Sort, v mapping.Value) {
	switch {
	case !v.IsSet():
		b.Add("NULL")
	case f.Type == mapping.Timestamp && of == sqlrecord.Days && c.Kind == "":
		t.Put(b, sqlrecord.Days, wallText(sheet.WallOf(v.Int(), c.Zone)))
	case f.Type == mapping.Timestamp && c.Kind == sheet.KindDate && t.Dialect.FlexibleTypes:
		day := wallText(sheet.WallOf(v.Int(), c.Zone)).Text()[:len("2006-01-02")]
		b.Add(b.Arg(mapping.TextValue(day)))
	case f.Type == mapping.Timestamp && of == sqlrecord.Instants:
		t.Put(b, sqlrecord.Instants, v)
	case f.Type == mapping.Timestamp:
		t.given(b, f, c, v)
	case of == sqlrecord.Booleans && t.Dialect.StrictTypes:
		b.Add(b.Arg(v)) // the engine refuses what is neither 0 nor 1
	default:
		t.stored(b, of, v)
	}
}

// stored appends a value that is written to a column. PostgreSQL converts a text to the column's type
// only if it is not cast.
func (t *Mapped) stored(b *sqlrecord.Writer, of sqlrecord.Sort, v mapping.Value) {
	if !v.IsSet() || of == sqlrecord.Others || of == sqlrecord.GUIDs || of == sqlrecord.Binaries || of == "" {
		b.Add(b.Arg(v))
		return
	}
	if of == sqlrecord.Integers {
		v = asWhole(v)
	}
	if (of == sqlrecord.Texts || of == sqlrecord.Padded) && v.Kind() != mapping.KindText {
		v = mapping.TextValue(v.String())
	}
	t.Put(b, of, v)
}

// judgeParent refuses to write a row that would belong to another client's record, or to none.
func (w *write) judgeParent(ctx context.Context, create bool) error {
	p, f := w.t.parent, w.t.Through
	if p == nil {
		return nil
	}
	v := w.attempt.Record.Values[f.Index]
	if v.IsAbsent() && !create {
		return nil // the parent does not change
	}
	missing := mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), v.String())
	if !v.IsSet() {
		return missing
	}
	parts, linked, fault := w.partsOf(f.Field, v)
	if fault != nil {
		return fault
	}
	if !linked {
		parts = []mapping.Value{v}
	}
	b := sqlrecord.NewWriter(w.d, w.Params(w.t, w.client)).Add("SELECT 1 FROM ", p.From, " WHERE ")
	p.scope(b, false)
	for i := range p.Rows.Key {
		p.partOperand(b.Add(" AND ", p.Keys[i], " = "), p.ColumnOf(p.Key.Places[i]).Sort, parts[i])
	}
	found := false
	text, args := b.Statement()
	err := w.conn.Query(ctx, text, oneInt, args, func([]mapping.Value) error { found = true; return nil })
	if err == nil && !found {
		return missing
	}
	return w.refused(ctx, err)
}

// keepsKey refuses to change the key: the record would become another one.
func (w *write) keepsKey() error {
	var found mapping.Violations
	for i, name := range w.t.Key.Places {
		for _, s := range w.sets {
			if s.column != name || s.field == nil || s.plain.IsAbsent() {
				continue
			}
			if !w.t.SamePart(i, textOf(s.plain), textOf(w.key[i])) {
				found = append(found, mapping.Fail(mapping.CannotUpdate, mapping.Literal(s.field.Name)))
			}
		}
	}
	return found.Err()
}

// textOf is a part of a key as text.
func textOf(v mapping.Value) string {
	if v.Kind() == mapping.KindText {
		return v.Text()
	}
	return v.String()
}

// writer begins a statement that writes. It takes the same parameters as the sheet's statements.
func (w *write) writer() *sqlrecord.Writer { return sqlrecord.NewWriter(w.d, w.param) }

// param appends the value of a parameter in SQL that writes. A field takes precedence over another
// parameter of the same name.
func (w *write) param(b *sqlrecord.Writer, name string) {
	of, part, _ := strings.Cut(name, ".")
	if f := w.t.Resource.Resource.Field(of); f != nil {
		w.fieldParam(b, f, part)
		return
	}
	var v mapping.Value
	s := sqlrecord.Texts
	switch of {
	case "client_name":
		v = mapping.TextValue(w.client.Name)
	case "user":
		v, s = mapping.IntValue(w.tx.user.ID), sqlrecord.Integers
	case "username":
		v = mapping.TextValue(w.tx.user.Username)
	case "key":
		v, s = w.keyPart(max(0, slices.Index(w.t.Key.Places, part)))
	default:
		w.Params(w.t, w.client)(b, name)
		return
	}
	w.t.Put(b, s, v)
}

// fieldParam appends the value that a field will have. For a reference to a kept key that is the key,
// or the part of it in a column.
func (w *write) fieldParam(b *sqlrecord.Writer, f *mapping.Field, column string) {
	v, c := w.after.Values[f.Index], &w.t.SQL.Fields[f.Index]
	if v.IsAbsent() {
		v = mapping.NullValue()
	}
	parts, linked, _ := w.partsOf(f, v)
	if !linked {
		w.t.given(b, f, c, v)
		return
	}
	v = mapping.NullValue()
	if parts != nil {
		at := slices.Index(c.Names, column)
		if at < 0 {
			at = len(c.Names) - 1
		}
		v = parts[at+len(parts)-len(c.Names)]
	}
	w.t.Put(b, sqlrecord.Texts, v)
}

// keyPart is a part of the record's key.
func (w *write) keyPart(i int) (mapping.Value, sqlrecord.Sort) {
	if i >= len(w.key) || w.key[i].IsAbsent() {
		return mapping.NullValue(), sqlrecord.Texts
	}
	v, s := w.key[i], w.t.ColumnOf(w.t.Key.Places[i]).Sort
	if s == sqlrecord.Integers {
		v = asWhole(v)
	}
	if v.Kind() == mapping.KindInt {
		s = sqlrecord.Integers
	}
	return v, s
}

// statement runs one of the sheet's statements. If it returns a row, that is the missing part of the
// key, or the whole key.
func (w *write) statement(ctx context.Context, sql string) error {
	b := w.writer().Expr(Parse(sql))
	text, args := b.Statement()
	if w.attempt.Op != mapping.OpCreate || !slices.ContainsFunc(w.key, mapping.Value.IsAbsent) {
		_, err := w.conn.Exec(ctx, text, args...)
		return w.refused(ctx, err)
	}
	return w.answered(ctx, text, args)
}

// answered runs a statement that may return the missing part of the key.
func (w *write) answered(ctx context.Context, text string, args []mapping.Value) error {
	missing := slices.IndexFunc(w.key, mapping.Value.IsAbsent)
	err := w.conn.Query(ctx, text, w.t.keyColumns()[missing:missing+1], args, func(row []mapping.Value) error {
		if row[0].IsSet() {
			w.key[missing] = row[0]
		}
		return nil
	})
	if err == nil {
		return nil
	}
	return w.refused(ctx, fmt.Errorf("%s %s: %w", w.attempt.Op, w.t.Name, err))
}
