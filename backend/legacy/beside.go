package legacy

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A record may have a row of its own in another table, which its key finds (lookup with
// write: true). It is written in the transaction of the record, and made where there is
// none.

// besides are the rows in other tables that belong to a record's row and of which asked holds
// for a column. Of several such columns in one row, the first stands for it.
func (t *table) besides(asked func(*sheet.Lookup) bool) (rows []*sheet.Lookup) {
	for _, p := range t.Places {
		if l := p.Lookup; l != nil && asked(l) && !slices.ContainsFunc(rows, l.IsSameRow) {
			rows = append(rows, l)
		}
	}
	return rows
}

func isWritten(l *sheet.Lookup) bool { return l.Write }
func isDeleted(l *sheet.Lookup) bool { return l.Delete }

// judgeBeside refuses to write rows that may be another client's: if keys count for each
// client separately, the number alone does not identify a record.
func (t *table) judgeBeside() error {
	for _, row := range t.besides(isWritten) {
		if t.perClient && !slices.ContainsFunc(row.Match, func(m [2]string) bool { return m[1] == t.Client }) {
			return fmt.Errorf("%w: resource %s: lookup in %s: %v is unique for each client only, and its row may be another client's: match %s too",
				backend.ErrUnexpected, t.Name, row.Table, t.Key.Places, t.Client)
		}
	}
	return nil
}

// lookupAt is the lookup of a place; nil if the place is in the row itself.
func (t *table) lookupAt(place string) *sheet.Lookup {
	if i, ok := t.at[place]; ok {
		return t.Places[i].Lookup
	}
	return nil
}

// split takes the values for other rows out of the values for the row itself.
func (w *write) split() {
	var own []sheet.Assignment
	for _, a := range w.values {
		if w.t.lookupAt(a.Place) == nil {
			own = append(own, a)
		} else {
			w.beside = append(w.beside, a)
		}
	}
	w.values = own
}

// writeBeside writes the rows in other tables that belong to a key. A row of nulls alone is
// not made.
func (w *write) writeBeside(ctx context.Context, key []sheet.Raw) error {
	for _, row := range w.t.besides(isWritten) {
		values := w.besideOf(row)
		if len(values) == 0 {
			continue
		}
		n, err := change(ctx, w.conn, w.besideUpdate(row, values, key))
		if err == nil && n == 0 && slices.ContainsFunc(values, func(a sheet.Assignment) bool { return a.Value.IsSet() }) {
			_, err = change(ctx, w.conn, w.besideInsert(row, values, key))
		}
		if err != nil {
			return w.failure(err, w.attempt)
		}
	}
	return nil
}

// deleteBeside removes the rows in other tables that belong to a key. It comes first, since
// they may refer to the row.
func (w *write) deleteBeside(ctx context.Context, key []sheet.Raw) error {
	for _, row := range w.t.besides(isDeleted) {
		if _, err := change(ctx, w.conn, w.besideDelete(row, key)); err != nil {
			return w.failure(err, w.attempt)
		}
	}
	return nil
}

// besideOf returns what is written to a row of another table, by its columns.
func (w *write) besideOf(row *sheet.Lookup) (values []sheet.Assignment) {
	for _, a := range w.beside {
		if l := w.t.lookupAt(a.Place); l.IsSameRow(row) {
			values = append(values, sheet.Assignment{Place: l.Take, Value: a.Value, Field: a.Field})
		}
	}
	return values
}

func (w *write) besideUpdate(row *sheet.Lookup, values []sheet.Assignment, key []sheet.Raw) *statement {
	b := newStatement(w.d).add("UPDATE ", w.nameOf(row.Table), " SET ")
	for i, a := range values {
		b.add(comma(i), w.d.quote(a.Place), " = ").arg(a.Value)
	}
	return w.besideKey(b, row, key)
}

func (w *write) besideInsert(row *sheet.Lookup, values []sheet.Assignment, key []sheet.Raw) *statement {
	b := newStatement(w.d).add("INSERT INTO ", w.nameOf(row.Table), " (")
	all := make([]sheet.Raw, 0, len(row.Match)+len(values))
	for _, m := range row.Match {
		b.add(comma(len(all)), w.d.quote(m[0]))
		all = append(all, w.keyAt(m[1], key))
	}
	for _, a := range values {
		b.add(comma(len(all)), w.d.quote(a.Place))
		all = append(all, a.Value)
	}
	return b.add(") VALUES (").list(all).add(")")
}

func (w *write) besideDelete(row *sheet.Lookup, key []sheet.Raw) *statement {
	return w.besideKey(newStatement(w.d).add("DELETE FROM ", w.nameOf(row.Table)), row, key)
}

// besideKey appends the condition that a row of another table belongs to a key.
func (w *write) besideKey(b *statement, row *sheet.Lookup, key []sheet.Raw) *statement {
	b.add(" WHERE ")
	for i, m := range row.Match {
		w.t.operand(b.add(between(i, " AND "), w.d.quote(m[0]), " = "), m[1], w.keyAt(m[1], key))
	}
	return b
}

// keyAt is the part of a key at a place, or the client's number.
func (w *write) keyAt(place string, key []sheet.Raw) sheet.Raw {
	if i := slices.Index(w.t.Key.Places, place); i >= 0 {
		return key[i]
	}
	return intRaw(w.client.ID)
}

func (w *write) nameOf(table string) string { return qualified(w.d, w.source.Schema, table) }

// unfitBeside returns the violations of values that columns of other tables cannot hold.
func (w *write) unfitBeside() (found mapping.Violations) {
	for _, a := range w.beside {
		l := w.t.lookupAt(a.Place)
		known := w.t.others[l.Table]
		if known == nil || !w.sends(a) {
			continue
		}
		if c := known.Column(l.Take); c != nil && (!c.takes(w.d.engine(), a.Value) || !a.Value.IsSet() && !c.Nullable) {
			found = append(found, w.invalid(a.Field, c))
		}
	}
	return found
}
