package legacy

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A value that the database refuses by itself, whatever other rows have, is a violation of the
// field that it came from, if its column is certain. But a trigger's own statements fail with
// the same errors as the write, and these are not the client's fault. So in doubt the engine has to
// show whether the column, without its table, can hold the value.

// respelled returns the violations of texts that a column would change: 012 in a column of numbers.
func (w *write) respelled() error {
	var found mapping.Violations
	for _, s := range w.sets {
		isNumber := s.plain.Kind() == mapping.KindText && sheet.IsDecimal(s.plain.Text()) && !isWhole(s.plain.Text())
		if isNumber && w.sends(s) && columnOf(w.t.Target, s.column).Sort == sqlrecord.Integers {
			found = append(found, w.invalid(s.field, nil))
		}
	}
	return found.Err()
}

// sends reports whether a client's value is written to a column unconverted.
func (w *write) sends(s set) bool {
	statements := w.t.SQL.Statements[w.attempt.Op]
	return s.field != nil && !s.field.Readonly && s.plain.IsSet() &&
		(statements == nil || slices.Contains(statements, sheet.OwnStatement) || slices.Contains(statements, sheet.OwnUpdate))
}

// invalid is the violation of a value that a column cannot hold; the column is nil if it is not
// known.
func (w *write) invalid(f *mapping.Field, c *Column) *mapping.Error {
	v := w.attempt.Record.Values[f.Index]
	reason := map[mapping.Datatype]mapping.Reason{mapping.Varchar: mapping.VarcharTooLong, mapping.Text: mapping.TextTooLong}[f.Type]
	n := utf8.RuneCountInString(v.String())
	switch {
	case !v.IsSet():
		return w.missing(f)
	case f.Reference != "":
		return mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), v.String())
	case reason != "" && c != nil && (c.Sort == sqlrecord.Texts || c.Sort == sqlrecord.Padded) && c.Length > 0 && n > c.Length:
		return mapping.Fail(reason, mapping.Literal(f.Name), n, c.Length)
	default:
		return f.Invalid(v.String())
	}
}

// missing is the violation of a field without a required value.
func (w *write) missing(f *mapping.Field) *mapping.Error {
	reason := mapping.FieldRequired
	if w.attempt.Op == mapping.OpUpdate {
		reason = mapping.FieldEmpty
	}
	return mapping.Fail(reason, mapping.Literal(f.Name))
}

// unfitBy is the violation of a value that the database refused; nil if it cannot be traced to one
// field.
func (w *write) unfitBy(ctx context.Context, f sqlrecord.Fault, err error) error {
	if f.Class == sqlrecord.FaultValue || f.Class == sqlrecord.FaultCharset {
		if found := w.refusedAlone(ctx, err); found != nil {
			return found
		}
	}
	c := w.columnOf(f)
	switch {
	case c == nil:
		return nil
	case f.Class == sqlrecord.FaultNull:
		if field := w.emptyAt(c.Name); field != nil {
			return w.missing(field).Because(err)
		}
		return nil
	}
	fields := w.fieldsAt([]string{c.Name})
	if len(fields) != 1 {
		return nil
	}
	return w.invalid(fields[0], c).Because(err)
}

// columnOf is the column of the table that an error is about. It is nil if there is none, or
// if it may be a column of another table that a program writes, or a value that a program
// made.
func (w *write) columnOf(f sqlrecord.Fault) *Column {
	known, name := w.t.Target, f.Column
	if known == nil || f.Table != "" && !strings.EqualFold(f.Table, known.Name) && !strings.EqualFold(f.Table, known.Schema+"."+known.Name) {
		return nil
	}
	if f.Class == sqlrecord.FaultCheck {
		i := slices.IndexFunc(known.Checks, func(c Check) bool { return strings.EqualFold(c.Name, f.Constraint) })
		if i < 0 || len(known.Checks[i].Columns) != 1 {
			return nil
		}
		name = known.Checks[i].Columns[0]
	}
	c := known.Column(name)
	switch {
	case c == nil || !w.runsPrograms():
		return c
	case f.Class == sqlrecord.FaultNull && w.lacks(c) && w.alone(c), f.Table != "" && (f.Class != sqlrecord.FaultCheck || w.alone(c)):
		return c
	default:
		return nil
	}
}

// alone reports whether no program changes what is written to a column. Then a value that the column
// refuses is the client's, even if programs write to other columns. A trigger that changes the column
// contains its name.
func (w *write) alone(c *Column) bool {
	event := map[mapping.Scope]string{mapping.OpCreate: " INSERT", mapping.OpUpdate: " UPDATE"}[w.attempt.Op]
	return w.t.SQL.Statements[w.attempt.Op] == nil && !slices.ContainsFunc(w.t.Target.Triggers, func(t Trigger) bool {
		return t.Text == "" || strings.HasSuffix(t.Name, event) && strings.Contains(strings.ToLower(t.Text), strings.ToLower(c.Name))
	})
}

// lacks reports whether a column must have a value and the write gives it none.
func (w *write) lacks(c *Column) bool {
	if c.Nullable || c.Generated || c.Type == "timestamp" { // MariaDB may fill these in
		return false
	}
	at := w.setOf(c.Name)
	if at < 0 {
		return c.Default == "" && w.attempt.Op == mapping.OpCreate
	}
	return !w.sets[at].plain.IsAbsent() && !w.sets[at].plain.IsSet()
}

// setOf is the position of a column in w.sets; -1 if it is not written.
func (w *write) setOf(column string) int {
	return slices.IndexFunc(w.sets, func(s set) bool { return strings.EqualFold(s.column, column) })
}

// emptyAt is the field that alone fills a column, if the client left it empty or, on create, out; nil
// if there is none.
func (w *write) emptyAt(column string) (field *mapping.Field) {
	for i := range w.t.SQL.Fields {
		for _, a := range w.t.SQL.Fields[i].Write {
			if !strings.EqualFold(a.Column, column) {
				continue
			}
			if field != nil || w.t.Fields[i].Readonly {
				return nil
			}
			field = w.t.Fields[i].Field
		}
	}
	if field == nil || w.attempt.Record.Values[field.Index].IsSet() || w.attempt.Op != mapping.OpCreate && w.setOf(column) < 0 {
		return nil
	}
	return field
}

// refusedAlone are the fields whose values the engine refuses even without the row; each is tried.
func (w *write) refusedAlone(ctx context.Context, err error) error {
	var found mapping.Violations
	for _, s := range w.sets {
		if !w.sends(s) {
			continue
		}
		f, _ := sqlrecord.FaultOf(w.tries(ctx, s))
		if f.Class != sqlrecord.FaultValue && f.Class != sqlrecord.FaultCharset {
			continue
		}
		var c *Column
		if w.t.Target != nil {
			c = w.t.Target.Column(s.column)
		}
		found = append(found, w.invalid(s.field, c).Because(err))
	}
	return found.Err()
}

// tries has the engine convert a value to the type of a column, in a variable, so that no trigger
// fires. It returns the engine's error; nil also if that cannot be tried. It uses another connection,
// because the transaction of the write has failed.
func (w *write) tries(ctx context.Context, s set) error {
	column, v := w.t.Written+"."+w.d.Quote(s.column), s.plain
	if w.d.Try == nil {
		return nil
	}
	set, take := w.d.Try(column, v)
	if take == "" {
		return nil
	}
	return sqlrecord.Reserved(w.db).Snapshot(ctx, func(c sqlrecord.Conn) error {
		if _, err := c.Exec(ctx, set, v); err != nil {
			return err
		}
		_, err := c.Exec(ctx, take)
		return err
	})
}
