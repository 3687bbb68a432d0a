package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// elsewhere is what a client reads about a table that refers to its record and that no sheet
// names: the table's own name stays secret.
const elsewhere = "elsewhere"

// Referrer is a foreign key that keeps rows of a resource's table from being deleted.
type Referrer struct {
	ForeignKey
	Of string // the table that it is of
	At string // the resource with a field of it; "" for none
}

// Referrers are the foreign keys that keep rows of a resource from being deleted.
func (s Schema) Referrers(sh *sheet.Sheet, to *sheet.Resource) (all []Referrer) {
	for _, t := range s.Tables {
		for _, key := range t.Foreign {
			if !key.Refuses || !strings.EqualFold(s.full(key.Table), s.full(to.Table)) {
				continue
			}
			ref := Referrer{ForeignKey: key, Of: t.Name}
			for _, r := range sh.Model.Resources {
				if known := sh.Resources[r]; ref.At == "" && known.Table != "" && strings.EqualFold(s.full(known.Table), t.Schema+"."+t.Name) && refersBy(known, to, key.Columns) {
					ref.At = r.Name
				}
			}
			all = append(all, ref)
		}
	}
	return all
}

// refersBy tells whether a field refers to a resource in one of these columns.
func refersBy(r, to *sheet.Resource, columns []string) bool {
	return slices.ContainsFunc(r.Fields, func(f sheet.Field) bool {
		return (f.Field.Target() == to.Resource || f.ReferenceBy != "") && slices.ContainsFunc(f.From, func(place string) bool { return slices.Contains(columns, place) })
	})
}

// RefusalOf is the engine's error for a row that a foreign key keeps from being deleted.
func RefusalOf(engine string, key ForeignKey) sheet.Failure {
	switch engine {
	case "postgres":
		return sheet.Failure{SQLState: "23503", Code: "23503", Constraint: key.Name}
	case "sqlite":
		return sheet.Failure{Code: "787"} // it does not say which
	default:
		return sheet.Failure{SQLState: "23000", Code: "1451", Constraint: key.Name}
	}
}

// refused turns an engine's error about a write into what a Driver answers: what the sheet
// says about it, else what the table's columns and keys tell, else what failure returns.
func (w *write) refused(ctx context.Context, err error) error {
	f, ok := w.d.fault(err)
	if ok && w.sheet.Errors.Translate(f.Failure, w.attempt) == nil {
		if told := w.judge(ctx, f, err); told != nil {
			return told
		}
	}
	return w.failure(err, w.attempt)
}

// judge explains an error by what is known of the table; nil if that explains nothing.
func (w *write) judge(ctx context.Context, f fault, err error) error {
	stale := fmt.Errorf("%w: %s %s: %w", backend.ErrStale, w.attempt.Op, w.t.Name, err)
	var columns []string
	reason := mapping.DuplicateValue
	switch {
	case f.isOfValue():
		return w.unfitBy(ctx, f, err)
	case f.class != faultUnique && f.class != faultForeign:
		return nil
	case f.class == faultUnique:
		if columns = w.t.unique(f.Constraint); columns == nil {
			return w.unknown(f, stale, err)
		}
	case w.t.known == nil: // of a schema that was not looked at
		return &backend.StaleError{Told: w.failure(err, w.attempt), Err: stale}
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
	case len(found) == 0 && f.class == faultForeign:
		return nil
	case len(found) == 0:
		return w.taken(err)
	case w.sheet.OwnRules: // nobody here would find it
		return found
	default:
		return &backend.StaleError{Told: found, Err: stale}
	}
}

// unknown explains a duplicate in columns that are not known, since those of a view belong to
// another table. It may be the key that was made, or a value that the rules look for.
func (w *write) unknown(f fault, stale, err error) error {
	others := w.t.known == nil || w.t.known.View
	if others && f.Constraint != "" && w.attempt.Op == mapping.OpCreate && w.t.Key.Generated == "max+1" {
		if taken := w.taken(err); taken != nil {
			return taken
		}
	}
	if w.t.known == nil || w.writesUnique() {
		return &backend.StaleError{Told: w.failure(err, w.attempt), Err: stale}
	}
	return nil
}

// errTaken says that another transaction has meanwhile taken a value that was made for a row,
// mostly its key. The next run makes another one.
var errTaken = errors.New("another transaction has taken a value that was made for a row")

// taken is errTaken; nil if an earlier run was refused with the same key, which then nobody
// took meanwhile.
func (w *write) taken(err error) error {
	engines := func(part sheet.Raw) bool { return part.Kind == sheet.RawAbsent } // which makes another each time
	if w.attempt.Op != mapping.OpCreate || len(w.key) > 0 && !slices.ContainsFunc(w.key, engines) {
		row := fmt.Sprint(w.t.Name, w.attempt.ID, w.t.JoinKey(w.key))
		if slices.Contains(w.tx.tries.refused, row) {
			return nil
		}
		w.tx.tries.refused = append(w.tx.tries.refused, row)
	}
	return fmt.Errorf("%w: %s %s: %w", errTaken, w.attempt.Op, w.t.Name, err)
}

// writesUnique tells whether the rules check that the value is unique.
func (w *write) writesUnique() bool {
	return !w.sheet.OwnRules && slices.ContainsFunc(w.values, func(a sheet.Assignment) bool { return a.Field != nil && a.Field.Unique && !a.Field.Readonly })
}

// inUse says where the record is in use that a foreign key keeps from being deleted.
func (w *write) inUse(constraint string, stale, err error) error {
	var refs []Referrer
	for _, ref := range w.t.referrers {
		if constraint == "" || strings.EqualFold(ref.Name, constraint) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	at := elsewhere
	if len(refs) == 1 && refs[0].At != "" {
		at = refs[0].At
	}
	told := mapping.Fail(mapping.InUse, mapping.Literal("id"), mapping.Literal(at)).Because(err)
	if len(refs) == 1 && refs[0].At == "" || w.sheet.OwnRules {
		return told
	}
	return &backend.StaleError{Told: told, Err: stale}
}

// references are the columns of a foreign key of the table; nil if there is none of that name.
// Without a name it is the only foreign key that is written, unless a trigger may have written
// another one.
func (w *write) references(constraint string) (columns []string) {
	for _, key := range w.t.known.Foreign {
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

// runsPrograms tells whether programs of the database take part in the write. Errors of their
// statements look like those of the write itself.
func (w *write) runsPrograms() bool {
	op := w.t.Operations[w.attempt.Op]
	return len(w.t.known.Triggers) > 0 || op != nil && (op.Procedure != "" || op.After != "")
}

// unique are the columns of a unique index, on all rows or on some, that refused a row; nil if
// there is none of that name.
func (t *table) unique(constraint string) []string {
	if t.known == nil {
		return nil
	}
	for _, i := range t.known.Indexes {
		if i.Name != "" && strings.EqualFold(i.Name, constraint) {
			return i.Columns
		}
	}
	if t.d.engine() != "sqlite" { // which names the columns instead: VTG.BEDRNR, VTG.KENT
		return nil
	}
	var columns []string
	for name := range strings.SplitSeq(constraint, ", ") {
		of, column, ok := strings.Cut(name, ".")
		if !ok || !strings.EqualFold(of, t.known.Name) {
			return nil
		}
		columns = append(columns, column)
	}
	return columns
}

// fieldsAt are the fields that clients write to one of these columns, each once.
func (w *write) fieldsAt(columns []string) (fields []*mapping.Field) {
	for _, a := range w.values {
		if a.Field != nil && !a.Field.Readonly && !slices.Contains(fields, a.Field) &&
			slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, a.Place) }) {
			fields = append(fields, a.Field)
		}
	}
	return fields
}
