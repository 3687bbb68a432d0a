package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// write is one write while it runs.
type write struct {
	session
	t       *table
	client  auth.Client
	attempt sheet.Attempt
	// values are what is written, in the sheet's order, and beside what is written in rows
	// of other tables.
	values, beside []sheet.Assignment
	// key is that of a new row. Parts that the engine makes are absent.
	key []sheet.Raw
	// row is what the record has; nil on create.
	row []sheet.Raw
}

func (t *txn) newWrite(tab *table, client auth.Client, op mapping.Scope, rec mapping.Record, id int32) *write {
	w := &write{session: t.session, t: tab, client: client, attempt: sheet.Attempt{Resource: tab.Resource, Op: op, Record: rec, ID: id}}
	t.tx.writes = append(t.tx.writes, w)
	return w
}

// Create implements backend.Tx.
func (t *txn) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	tab, err := t.table(rec.Resource)
	if err != nil {
		return mapping.Record{}, err
	}
	w := t.newWrite(tab, client, mapping.OpCreate, rec, 0)
	key, err := w.create(ctx)
	if err == nil {
		err = w.writeBeside(ctx, key)
	}
	if err == nil && len(rec.Children) > 0 {
		err = t.createElements(ctx, w, key)
	}
	if err == nil {
		err = w.runAfter(ctx, key)
	}
	if err != nil {
		return mapping.Record{}, err
	}
	return w.readBack(ctx, key) // the lines may have changed it
}

// createElements adds the elements of a record's arrays.
func (t *txn) createElements(ctx context.Context, w *write, key []sheet.Raw) error {
	stored, err := w.readBack(ctx, key)
	if err != nil {
		return err
	}
	rec := w.attempt.Record
	for _, i := range w.t.arrays {
		f := w.t.Fields[i].Field
		for n, line := range rec.Children[i] {
			line = line.Clone()
			line.Set(f.ArrayKey, stored.Values[rec.Resource.ID])
			if _, err := t.Create(ctx, w.client, line); err != nil {
				return inElement(err, f.Name, n)
			}
		}
	}
	return nil
}

// inElement prefixes the field of a violation with its element.
func inElement(err error, field string, n int) error {
	found, ok := mapping.AsViolations(err)
	if known := (*backend.StaleError)(nil); errors.As(err, &known) {
		return &backend.StaleError{Told: inElement(known.Told, field, n), Err: known.Err}
	}
	if !ok {
		return fmt.Errorf("%s[%d]: %w", field, n, err)
	}
	inner := make(mapping.Violations, len(found))
	for i, e := range found {
		inner[i] = e
		if len(e.Args) > 0 {
			inner[i] = e.In(fmt.Sprintf("%s[%d]", field, n))
		}
	}
	return inner
}

// encode asks the sheet for the values to write.
func (w *write) encode(ctx context.Context, create bool) error {
	var refs []sheet.IDRef
	rec := w.attempt.Record
	w.t.NeedsIDs(rec, func(ref sheet.IDRef) { refs = append(refs, ref) })
	keys, err := w.keys(ctx, w.client, refs)
	if err != nil {
		return err
	}
	w.values, err = w.t.Encode(rec, w.row, w.client, keys, create)
	if err != nil {
		if _, ok := mapping.AsViolations(err); ok {
			return err
		}
		return fmt.Errorf("%w: %s: %w", backend.ErrUnexpected, w.t.Name, err)
	}
	// Whatever a sheet says, nobody writes into the records of another client.
	w.values = slices.DeleteFunc(w.values, func(a sheet.Assignment) bool { return w.t.Client != "" && a.Place == w.t.Client })
	w.split()
	if err := w.unfit(); err != nil {
		return err
	}
	return w.judgeParent(ctx, create)
}

// value returns what is written at a place.
func (w *write) value(place string) (sheet.Raw, bool) {
	if place == w.t.Client && place != "" {
		return intRaw(w.client.ID), true
	}
	for _, of := range [][]sheet.Assignment{w.values, w.beside} {
		for _, a := range of {
			if a.Place == place {
				return a.Value, true
			}
		}
	}
	return sheet.Raw{}, false
}

// create adds the row and returns its key.
func (w *write) create(ctx context.Context) ([]sheet.Raw, error) {
	if err := w.encode(ctx, true); err != nil {
		return nil, err
	}
	if op := w.t.Operations[mapping.OpCreate]; op != nil && op.Procedure != "" {
		return w.createByProcedure(ctx, op)
	}
	key, err := w.newKey(ctx)
	if err != nil {
		return nil, err
	}
	return w.insert(ctx, key)
}

// insert adds the row with the known parts of its key; the engine makes absent parts. It
// returns the whole key.
func (w *write) insert(ctx context.Context, key []sheet.Raw) ([]sheet.Raw, error) {
	w.key = key
	b, answers := w.insertText(key)
	if answers {
		var row []sheet.Raw
		answer, err := queryAll(ctx, w.conn, b)
		if err == nil && len(answer.rows) == 1 {
			row = answer.rows[0]
		}
		if err == nil && len(row) != len(key) {
			err = fmt.Errorf("%w: the new row of %s has no key", backend.ErrUnexpected, w.t.Name)
		}
		return row, w.refused(ctx, err)
	}
	done, err := w.conn.ExecContext(ctx, b.ask(ctx), b.args...)
	if err != nil {
		return nil, w.refused(ctx, err)
	}
	for i := range key {
		if key[i].Kind == sheet.RawAbsent {
			last, err := done.LastInsertId()
			if err != nil {
				return nil, fmt.Errorf("key of the new row of %s: %w", w.t.Name, err)
			}
			key[i] = intRaw(last)
		}
	}
	return key, nil
}

func (w *write) insertText(key []sheet.Raw) (b *statement, answers bool) {
	var columns []string
	var values []sheet.Raw
	add := func(place string, v sheet.Raw) {
		columns, values = append(columns, w.d.quote(place)), append(values, v)
	}
	for i, place := range w.t.Key.Places {
		if key[i].Kind != sheet.RawAbsent {
			add(place, key[i])
		}
	}
	if w.t.Client != "" && !slices.Contains(w.t.Key.Places, w.t.Client) {
		add(w.t.Client, intRaw(w.client.ID))
	}
	for _, a := range w.values {
		if !slices.Contains(w.t.Key.Places, a.Place) {
			add(a.Place, a.Value)
		}
	}
	b = newStatement(w.d)
	return b, w.d.insert(b, w.t.name, columns, values, w.t.keys)
}

// readBack returns the record as it is stored, since triggers may have changed it.
func (w *write) readBack(ctx context.Context, key []sheet.Raw) (mapping.Record, error) {
	held, err := w.byKey(ctx, w.t, w.client, key, false)
	if errors.Is(err, backend.ErrNotFound) {
		return mapping.Record{}, fmt.Errorf("%w: the record of %s that was written cannot be read", backend.ErrUnexpected, w.t.Name)
	}
	if err == nil { // it is locked by having been written
		w.tx.held[recordID{w.t.Resource.Resource, held.rec.ID()}] = held
		err = w.tag(ctx, w.t, w.client, &held.rec)
	}
	return held.rec, err
}

// Update implements backend.Tx.
func (t *txn) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	tab, err := t.table(before.Resource)
	if err != nil {
		return mapping.Record{}, err
	}
	held, err := t.lock(ctx, client, before)
	if err != nil {
		return mapping.Record{}, err
	}
	if patch = tab.Complete(before, patch); patch.IsBlank() {
		err := t.tag(ctx, tab, client, &held.rec)
		return held.rec, err
	}
	w := t.newWrite(tab, client, mapping.OpUpdate, patch, before.ID())
	w.row = held.row
	if err := w.encode(ctx, false); err != nil {
		return mapping.Record{}, err
	}
	key := tab.KeyOf(held.row)
	if err := w.keepsKey(key); err != nil {
		return mapping.Record{}, err
	}
	if op := tab.Operations[mapping.OpUpdate]; op != nil && op.Procedure != "" {
		err = w.updateByProcedure(ctx, op, w.row)
	} else {
		err = w.set(ctx, key, w.version(held.row))
	}
	if err == nil {
		err = w.writeBeside(ctx, key)
	}
	if err == nil {
		err = w.runAfter(ctx, key)
	}
	if err != nil {
		return mapping.Record{}, err
	}
	return w.readBack(ctx, key)
}

// lock returns the record locked by this transaction. If it has changed since it was read, the
// rules judge again.
func (t *txn) lock(ctx context.Context, client auth.Client, before mapping.Record) (heldRecord, error) {
	held, ok := t.tx.held[recordID{before.Resource, before.ID()}]
	if !ok {
		var err error
		if held, err = t.get(ctx, before.Resource, backend.Query{Client: client, ID: before.ID(), ForUpdate: true}); err != nil {
			return held, err
		}
	}
	if held.rec.Version != before.Version {
		return held, fmt.Errorf("%w: %s %d has changed", backend.ErrStale, before.Resource.Name, before.ID())
	}
	return held, nil
}

// keepsKey refuses to change the key: the record would become another one.
func (w *write) keepsKey(key []sheet.Raw) error {
	var found mapping.Violations
	for i, place := range w.t.Key.Places {
		for _, a := range w.values {
			if a.Place == place && a.Field != nil && !w.t.SamePart(i, a.Value, key[i]) {
				found = append(found, mapping.Fail(mapping.CannotUpdate, mapping.Literal(a.Field.Name)))
			}
		}
	}
	return found.Err()
}

// version is the value that the version column must still have; absent if it cannot be
// compared exactly.
func (w *write) version(row []sheet.Raw) sheet.Raw {
	i, ok := w.t.at[w.t.Version]
	if !ok || w.t.known != nil && w.t.known.Column(w.t.Version) == nil || row[i].Kind == sheet.RawTime || row[i].Kind == sheet.RawWall || w.t.Places[i].SQL != "" {
		return sheet.Raw{}
	}
	return row[i]
}

// set writes the values into the row of a key.
func (w *write) set(ctx context.Context, key []sheet.Raw, version sheet.Raw) error {
	b := w.setText(w.values, key, version)
	if b == nil {
		return nil
	}
	return w.change(ctx, b)
}

func (w *write) setText(values []sheet.Assignment, key []sheet.Raw, version sheet.Raw) *statement {
	b, n := newStatement(w.d).add("UPDATE ", w.t.name, " SET "), 0
	for _, a := range values {
		if !slices.Contains(w.t.Key.Places, a.Place) {
			b.add(comma(n), w.d.quote(a.Place), " = ").arg(a.Value)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	w.t.writeKey(b, w.client, key)
	if version.IsSet() {
		b.add(" AND ", w.d.quote(w.t.Version), " = ").arg(version)
	}
	return b
}

// change runs a statement that must find its row.
func (w *write) change(ctx context.Context, b *statement) error {
	n, err := change(ctx, w.conn, b)
	if err != nil {
		return w.refused(ctx, err)
	}
	if n == 0 {
		return fmt.Errorf("%w: %s %d has changed", backend.ErrStale, w.t.Name, w.attempt.ID)
	}
	return nil
}

// Delete implements backend.Tx.
func (t *txn) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	tab, err := t.table(before.Resource)
	if err != nil {
		return err
	}
	held, err := t.lock(ctx, client, before)
	if err != nil {
		return err
	}
	w := t.newWrite(tab, client, mapping.OpDelete, before, before.ID())
	key := tab.KeyOf(held.row)
	delete(t.tx.held, recordID{before.Resource, before.ID()})
	if err := w.deleteBeside(ctx, key); err != nil {
		return err
	}
	if op := tab.Operations[mapping.OpDelete]; op != nil && op.Procedure != "" {
		return w.deleteByProcedure(ctx, op, held.row)
	}
	if err := w.change(ctx, w.deleteText(key, w.version(held.row))); err != nil {
		return err
	}
	return w.callAfter(ctx, held.row)
}

func (w *write) deleteText(key []sheet.Raw, version sheet.Raw) *statement {
	if gone := w.t.SoftDelete(); len(gone) > 0 {
		return w.setText(gone, key, version)
	}
	b := newStatement(w.d).add("DELETE FROM ", w.t.name)
	w.t.writeKey(b, w.client, key)
	if version.IsSet() {
		b.add(" AND ", w.d.quote(w.t.Version), " = ").arg(version)
	}
	return b
}
