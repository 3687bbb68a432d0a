package legacy

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// What a database refuses of a value by itself, whatever its other rows have, is told of
// the field that it came from: where its column is known beyond doubt. A trigger fails by
// its own statements as the write itself would, and of these no client is told. What the
// column cannot hold fails before any trigger fires; so where it may have been a trigger,
// the engine is asked whether the column can hold the value.

// unfit returns the violations of values that their columns cannot hold.
func (w *write) unfit() error {
	var found mapping.Violations
	for _, a := range w.values {
		if w.t.known == nil {
			break
		}
		if c := w.t.known.Column(a.Place); c != nil && w.sends(a) && !c.takes(w.d.engine(), a.Value) {
			found = append(found, w.invalid(a.Field, c))
		}
	}
	return append(found, w.unfitBeside()...).Err()
}

// sends tells whether a client's value is written to a column directly, and not through a
// procedure.
func (w *write) sends(a sheet.Assignment) bool {
	op := w.t.Operations[w.attempt.Op]
	return a.Field != nil && !a.Field.Readonly && (op == nil || !slices.Contains(op.Arguments, a.Place))
}

// invalid words that a column cannot hold the value of a field; the column is nil if it is not
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
	case reason != "" && c != nil && c.mostCharacters() > 0 && n > c.Length:
		return mapping.Fail(reason, mapping.Literal(f.Name), n, c.Length)
	default:
		return f.Invalid(v.String())
	}
}

// missing words that a field must have a value.
func (w *write) missing(f *mapping.Field) *mapping.Error {
	reason := mapping.FieldRequired
	if w.attempt.Op == mapping.OpUpdate {
		reason = mapping.FieldEmpty
	}
	return mapping.Fail(reason, mapping.Literal(f.Name))
}

// unfitBy is the violation of a value that the database refused; nil if that does not lead to
// one field.
func (w *write) unfitBy(ctx context.Context, f fault, err error) error {
	c := w.columnOf(f)
	switch {
	case c == nil && (f.class == faultValue || f.class == faultCharset):
		return w.refusedAlone(ctx, err)
	case c == nil:
		return nil
	case f.class == faultNull:
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
func (w *write) columnOf(f fault) *Column {
	known, name := w.t.known, f.column
	if known == nil || f.table != "" && !known.isCalled(f.table) {
		return nil
	}
	if f.class == faultCheck {
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
	case f.class == faultNull && w.lacks(c) && w.alone(c), f.table != "" && (f.class != faultCheck || w.alone(c)):
		return c
	default:
		return nil
	}
}

// alone tells whether no program changes what is written to a column. Then a value that it
// refuses is the client's, even if programs write elsewhere. A trigger that changes the column
// names it.
func (w *write) alone(c *Column) bool {
	if op := w.t.Operations[w.attempt.Op]; op != nil && (op.Procedure != "" || op.After != "") {
		return false
	}
	event := map[mapping.Scope]string{mapping.OpCreate: " INSERT", mapping.OpUpdate: " UPDATE"}[w.attempt.Op]
	return !slices.ContainsFunc(w.t.known.Triggers, func(t Trigger) bool {
		return t.Text == "" || strings.HasSuffix(t.Name, event) && strings.Contains(strings.ToLower(t.Text), strings.ToLower(c.Name))
	})
}

// lacks tells whether a column must have a value and the write gives it none.
func (w *write) lacks(c *Column) bool {
	if c.Nullable || c.Generated || c.Type == "timestamp" { // which MariaDB may fill in
		return false
	}
	v, written := w.value(c.Name)
	return written && !v.IsSet() || !written && c.Default == "" && w.attempt.Op == mapping.OpCreate
}

// emptyAt is the field that a client left empty, or out on create, and that alone fills a
// column; nil if there is none.
func (w *write) emptyAt(column string) (field *mapping.Field) {
	isIt := func(place string) bool { return strings.EqualFold(place, column) }
	for i := range w.t.Fields {
		f := &w.t.Fields[i]
		if !slices.ContainsFunc(f.Write, isIt) {
			continue
		}
		if field != nil || f.Readonly {
			return nil
		}
		field = f.Field
	}
	written := slices.IndexFunc(w.values, func(a sheet.Assignment) bool { return isIt(a.Place) })
	if written < 0 && w.attempt.Op != mapping.OpCreate || written >= 0 && w.values[written].Value.IsSet() {
		return nil
	}
	return field
}

// refusedAlone are the fields whose values the engine refuses apart from the row; each is
// tried.
func (w *write) refusedAlone(ctx context.Context, err error) error {
	var found mapping.Violations
	conn := w.tx.aside()
	for _, a := range w.values {
		if !w.sends(a) || !a.Value.IsSet() {
			continue
		}
		refused := w.d.tries(ctx, conn, w.t.name, w.d.quote(a.Place), a.Value)
		if f, ok := w.d.fault(refused); !ok || f.class != faultValue && f.class != faultCharset {
			continue
		}
		var c *Column
		if w.t.known != nil {
			c = w.t.known.Column(a.Place)
		}
		found = append(found, w.invalid(a.Field, c).Because(err))
	}
	return found.Err()
}
