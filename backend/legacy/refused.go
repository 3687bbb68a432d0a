package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// elsewhere is what a client reads in place of a table's name, if the table refers to its record and
// is not in the sheet.
const elsewhere = "elsewhere"

// refused turns an engine's error about a write into the Driver's: by the sheet's errors, else by
// what is known of the table's columns and keys, else by failure.
func (w *write) refused(ctx context.Context, err error) error {
	f, ok := sqlrecord.FaultOf(err)
	if ok && w.sheet.Errors.Translate(failureOf(f), w.attempt) == nil {
		if violation := w.judge(ctx, f, err); violation != nil {
			return violation
		}
		if (f.Class == sqlrecord.FaultValue || f.Class == sqlrecord.FaultNull) && w.t.Target != nil && !w.runsPrograms() { // the table as it is known does not explain the error
			err = w.altered(err)
		}
	}
	return w.failure(err, w.attempt)
}

// judge explains an error by what is known of the table; nil if that explains nothing.
func (w *write) judge(ctx context.Context, f sqlrecord.Fault, err error) error {
	stale := fmt.Errorf("%w: %s %s: %w", backend.ErrStale, w.attempt.Op, w.t.Name, err)
	var columns []string
	reason := mapping.DuplicateValue
	switch {
	case f.IsOfValue():
		return w.unfitBy(ctx, f, err)
	case f.Class != sqlrecord.FaultUnique && f.Class != sqlrecord.FaultReference:
		return nil
	case f.Class == sqlrecord.FaultUnique:
		if columns = w.t.unique(f.Constraint); columns == nil {
			return w.unknown(f, stale, err)
		}
	case w.t.Target == nil: // its schema was not inspected
		return &backend.StaleError{Fallback: w.failure(err, w.attempt), Err: stale}
	case w.attempt.Op == mapping.OpDelete:
		return w.inUse(f.Constraint, stale, err)
	default:
		columns, reason = w.references(f.Constraint), mapping.RelatedIDNotFound
	}
	var found mapping.Violations
	for _, field := range w.fieldsAt(columns) {
		found = append(found, mapping.Fail(reason, mapping.Literal(field.Name), w.attempt.Record.Values[field.Index].String()).Because(err))
	}
	switch {
	case len(found) == 0 && f.Class == sqlrecord.FaultReference:
		return nil
	case len(found) == 0:
		return w.taken(err)
	case w.sheet.OwnRules: // no rule here would find the violation
		return found
	default:
		return &backend.StaleError{Fallback: found, Err: stale}
	}
}

// unknown explains a duplicate in columns that are not known, because a view's columns belong to
// another table. The duplicate may be the key that was made, or a value that the rules check.
func (w *write) unknown(f sqlrecord.Fault, stale, err error) error {
	others := w.t.Target == nil || w.t.Target.View
	if others && f.Constraint != "" && w.attempt.Op == mapping.OpCreate && w.t.Key.Generated == "max+1" {
		if taken := w.taken(err); taken != nil {
			return taken
		}
	}
	if w.t.Target == nil || w.writesUnique() {
		return &backend.StaleError{Fallback: w.failure(err, w.attempt), Err: stale}
	}
	return nil
}

// taken is errTaken; nil if an earlier run was refused with the same key: then no other transaction
// took it meanwhile.
func (w *write) taken(err error) error {
	// A part that the engine makes differs each time.
	if w.attempt.Op != mapping.OpCreate || len(w.key) > 0 && !slices.ContainsFunc(w.key, mapping.Value.IsAbsent) {
		row := fmt.Sprint(w.t.Name, w.attempt.ID, w.t.JoinKey(textsOf(w.key)))
		if slices.Contains(w.tx.tries.refused, row) {
			return nil
		}
		w.tx.tries.refused = append(w.tx.tries.refused, row)
	}
	return fmt.Errorf("%w: %s %s: %w", errTaken, w.attempt.Op, w.t.Name, err)
}

// writesUnique reports whether the rules check that the value is unique.
func (w *write) writesUnique() bool {
	return !w.sheet.OwnRules && slices.ContainsFunc(w.sets, func(s set) bool { return s.field != nil && s.field.Unique && !s.field.Readonly })
}

// inUse is the violation of deleting a record that a foreign key refers to; it says where.
func (w *write) inUse(constraint string, stale, err error) error {
	at, matches := "", 0
	for _, ref := range w.t.referrers {
		if constraint == "" || strings.EqualFold(ref.Name, constraint) {
			at, matches = ref.At, matches+1
		}
	}
	if matches == 0 {
		return nil
	}
	isKnown := matches == 1 && at != ""
	if !isKnown {
		at = elsewhere
	}
	violation := mapping.Fail(mapping.InUse, mapping.Literal("id"), mapping.Literal(at)).Because(err)
	if matches == 1 && !isKnown || w.sheet.OwnRules {
		return violation
	}
	return &backend.StaleError{Fallback: violation, Err: stale}
}

// references are the columns of a foreign key of the table; nil if there is none of that name.
// Without a name it is the only foreign key that is written, unless a program may have written
// another one.
func (w *write) references(constraint string) (columns []string) {
	for _, key := range w.t.Target.Foreign {
		switch {
		case constraint != "" && strings.EqualFold(key.Name, constraint):
			return key.Columns
		case constraint != "" || w.runsPrograms() || len(w.fieldsAt(key.Columns)) == 0:
		case columns != nil:
			return nil
		default:
			columns = key.Columns
		}
	}
	return columns
}

// runsPrograms reports whether programs of the database, or statements of the sheet, take part in
// the write. Errors of their statements look like those of the write itself.
func (w *write) runsPrograms() bool {
	return len(w.t.Target.Triggers) > 0 || w.t.SQL.Statements[w.attempt.Op] != nil
}

// unique are the columns of a unique index, on all rows or on some, that refused a row; nil if
// there is none of that name.
func (t *Mapped) unique(constraint string) []string {
	if t.Target == nil {
		return nil
	}
	for _, i := range t.Target.Indexes {
		if i.Name != "" && strings.EqualFold(i.Name, constraint) {
			return i.Columns
		}
	}
	if t.Dialect.NamesConstraints { // SQLite names the columns instead: VTG.BEDRNR, VTG.KENT
		return nil
	}
	var columns []string
	for name := range strings.SplitSeq(constraint, ", ") {
		of, column, ok := strings.Cut(name, ".")
		if !ok || !strings.EqualFold(of, t.Target.Name) {
			return nil
		}
		columns = append(columns, column)
	}
	return columns
}

// fieldsAt are the fields that clients write to one of these columns, each once.
func (w *write) fieldsAt(columns []string) (fields []*mapping.Field) {
	for _, s := range w.sets {
		if s.field != nil && !s.field.Readonly && !slices.Contains(fields, s.field) &&
			slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, s.column) }) {
			fields = append(fields, s.field)
		}
	}
	return fields
}
