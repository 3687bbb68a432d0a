package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// write is one write while it runs.
type write struct {
	session
	t       *Mapped
	client  auth.Client
	attempt sheet.Attempt
	// keys are the kept keys of the records that the write refers to.
	keys sheet.Keys
	// sets are the columns that are written.
	sets []set
	// key is the key of a new row. Parts that the engine makes are absent.
	key []mapping.Value
	// after is the record as it will be.
	after mapping.Record
}

// set is a column that is written, and the SQL of its value.
type set struct {
	column string
	value  func(w *sqlrecord.Writer)
	// plain is the value itself if no SQL of the sheet converts it; else absent.
	plain mapping.Value
	field *mapping.Field // nil for constants and the client
}

func (t *txn) newWrite(tab *Mapped, client auth.Client, op mapping.Scope, rec, after mapping.Record, id int32) *write {
	w := &write{session: t.session, t: tab, client: client, after: after, attempt: sheet.Attempt{Resource: tab.Resource, Op: op, Record: rec, ID: id}}
	t.tx.writes = append(t.tx.writes, w)
	return w
}

// Create implements backend.Tx.
func (t *txn) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	tab, err := t.TableFor(ctx, rec.Resource, client)
	if err != nil {
		return mapping.Record{}, err
	}
	w := t.newWrite(tab, client, mapping.OpCreate, rec, rec, 0)
	if err := w.encode(ctx, true); err != nil {
		return mapping.Record{}, err
	}
	key, err := w.run(ctx, w.insert)
	if err != nil {
		return mapping.Record{}, err
	}
	if len(rec.Children) > 0 {
		if err := t.createElements(ctx, w, key); err != nil {
			return mapping.Record{}, err
		}
	}
	return w.readBack(ctx, key) // triggers and lines may have changed it
}

// createElements adds the elements of a record's arrays.
func (t *txn) createElements(ctx context.Context, w *write, key []mapping.Value) error {
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
		return &backend.StaleError{Fallback: inElement(known.Fallback, field, n), Err: known.Err}
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

// run does the write: by frontdesk's own statement, or by those of the sheet.
func (w *write) run(ctx context.Context, own func(context.Context) error) (key []mapping.Value, err error) {
	if w.attempt.Op == mapping.OpCreate {
		w.knownKey()
	}
	statements := w.t.SQL.Statements[w.attempt.Op]
	if statements == nil {
		statements = []string{sheet.OwnStatement}
	}
	for _, text := range statements {
		switch text {
		case sheet.OwnStatement:
			err = own(ctx)
		case sheet.OwnUpdate:
			err = w.update(ctx)
		default:
			err = w.statement(ctx, text)
		}
		if err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(w.key, mapping.Value.IsAbsent) {
		return nil, fmt.Errorf("%w: nothing told the key of the new row of %s", backend.ErrUnexpected, w.t.Name)
	}
	return w.key, nil
}

// readBack returns the record as it is stored, since triggers may have changed it.
func (w *write) readBack(ctx context.Context, key []mapping.Value) (mapping.Record, error) {
	rec, err := w.byKey(ctx, w.t, backend.Query{Client: w.client}, key)
	if errors.Is(err, backend.ErrNotFound) {
		return mapping.Record{}, fmt.Errorf("%w: the record of %s that was written cannot be read", backend.ErrUnexpected, w.t.Name)
	}
	if err == nil {
		err = w.kept(rec)
	}
	if err == nil { // having written the row locks it
		w.tx.held[recordID{w.t.Resource.Resource, rec.ID()}] = held{rec, key}
		err = w.tag(ctx, w.t, w.client, &rec)
	}
	return rec, err
}

// kept fails if a column holds another number than was written, and no program changed it: then the
// column now keeps fewer decimals than the schema said.
func (w *write) kept(rec mapping.Record) error {
	if w.t.Target == nil || w.runsPrograms() {
		return nil
	}
	for _, s := range w.sets {
		c := w.t.Target.Column(s.column)
		if c == nil || s.field == nil || s.plain.Kind() != mapping.KindDecimal || c.decimals(w.d) < 0 {
			continue
		}
		want, _ := mapping.DecimalOf(s.plain.Decimal(), c.decimals(w.d))
		if got := rec.Values[s.field.Index]; got.IsSet() && want.Decimal().Cmp(got.Decimal()) != 0 {
			return w.wrap("write "+w.t.Name, w.altered(fmt.Errorf("%s is %s and was written as %s", s.column, got, s.plain)))
		}
	}
	return nil
}

// Update implements backend.Tx.
func (t *txn) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	tab, err := t.TableFor(ctx, before.Resource, client)
	if err != nil {
		return mapping.Record{}, err
	}
	of, err := t.lock(ctx, client, before)
	if err != nil {
		return mapping.Record{}, err
	}
	if patch = tab.Complete(before, patch); patch.IsBlank() {
		err := t.tag(ctx, tab, client, &of.rec)
		return of.rec, err
	}
	w := t.newWrite(tab, client, mapping.OpUpdate, patch, before.Merge(patch), before.ID())
	w.key = of.key
	if err := w.encode(ctx, false); err != nil {
		return mapping.Record{}, err
	}
	if err := w.keepsKey(); err != nil {
		return mapping.Record{}, err
	}
	if _, err := w.run(ctx, w.update); err != nil {
		return mapping.Record{}, err
	}
	return w.readBack(ctx, of.key)
}

// lock locks a record and returns it. If it has changed since it was read, lock fails with ErrStale,
// so that the rules judge again.
func (t *txn) lock(ctx context.Context, client auth.Client, before mapping.Record) (held, error) {
	id := recordID{before.Resource, before.ID()}
	of, ok := t.tx.held[id]
	if !ok {
		if _, err := t.get(ctx, before.Resource, backend.Query{Client: client, ID: before.ID(), ForUpdate: true}); err != nil {
			return held{}, err
		}
		of = t.tx.held[id]
	}
	if of.rec.Version != before.Version {
		return of, fmt.Errorf("%w: %s %d has changed", backend.ErrStale, before.Resource.Name, before.ID())
	}
	return of, nil
}

// Delete implements backend.Tx.
func (t *txn) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	tab, err := t.TableFor(ctx, before.Resource, client)
	if err != nil {
		return err
	}
	of, err := t.lock(ctx, client, before)
	if err != nil {
		return err
	}
	w := t.newWrite(tab, client, mapping.OpDelete, before, before, before.ID())
	w.key = of.key
	if err := w.refer(ctx, before); err != nil {
		return err
	}
	delete(t.tx.held, recordID{before.Resource, before.ID()})
	_, err = w.run(ctx, w.remove)
	return err
}

// insert adds the row with the known parts of its key; the engine makes absent parts.
func (w *write) insert(ctx context.Context) error {
	if err := w.newKey(ctx); err != nil {
		return err
	}
	b := w.writer()
	var columns []string
	var values []func(*sqlrecord.Writer)
	add := func(name string, value func(*sqlrecord.Writer)) {
		columns, values = append(columns, w.d.Quote(name)), append(values, value)
	}
	for i, name := range w.t.Key.Places {
		if !w.key[i].IsAbsent() {
			add(name, func(b *sqlrecord.Writer) { w.t.partOperand(b, w.t.ColumnOf(name).Sort, w.key[i]) })
		}
	}
	for _, s := range w.sets {
		if !slices.Contains(w.t.Key.Places, s.column) {
			add(s.column, s.value)
		}
	}
	b.Add("INSERT INTO ", w.t.Written, " (", strings.Join(columns, ", "), ") VALUES (")
	for i, value := range values {
		value(b.Add(comma(i)))
	}
	b.Add(")")
	missing := slices.IndexFunc(w.key, mapping.Value.IsAbsent)
	if missing < 0 || w.d.NoReturning {
		text, args := b.Statement()
		id, err := w.conn.Insert(ctx, text, args...)
		if err == nil && missing >= 0 {
			w.key[missing] = w.t.keyValue(id)
		}
		return w.refused(ctx, err)
	}
	b.Add(" RETURNING ", strings.Join(w.t.Keys, ", "))
	text, args := b.Statement()
	err := w.conn.Query(ctx, text, w.t.keyColumns(), args, func(row []mapping.Value) error {
		w.key = slices.Clone(row)
		return nil
	})
	return w.refused(ctx, err)
}

// keyColumns are the columns of a key in a result.
func (t *Mapped) keyColumns() (all []sqlrecord.Column) {
	for _, k := range t.Rows.Key {
		all = append(all, k.As)
	}
	return all
}

// keyValue is a number as a part of the key.
func (t *Mapped) keyValue(n int64) mapping.Value {
	if t.Key.Kept {
		return mapping.TextValue(mapping.IntValue(n).String())
	}
	return mapping.IntValue(n)
}

// update writes what has changed.
func (w *write) update(ctx context.Context) error {
	b, n := w.writer().Add("UPDATE ", w.t.Written, " SET "), 0
	for _, s := range w.sets {
		if !slices.Contains(w.t.Key.Places, s.column) {
			s.value(b.Add(comma(n), w.d.Quote(s.column), " = "))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	w.t.writeKey(b, w.key)
	return w.change(ctx, b)
}

func (w *write) remove(ctx context.Context) error {
	b := w.writer().Add("DELETE FROM ", w.t.Written)
	w.t.writeKey(b, w.key)
	return w.change(ctx, b)
}

// change runs a statement that must find its row.
func (w *write) change(ctx context.Context, b *sqlrecord.Writer) error {
	text, args := b.Statement()
	n, err := w.conn.Exec(ctx, text, args...)
	if err != nil {
		return w.refused(ctx, err)
	}
	if n == 0 {
		return fmt.Errorf("%w: %s %d has changed", backend.ErrStale, w.t.Name, w.attempt.ID)
	}
	return nil
}

// writeKey appends the condition for the row of a key, if the client may write it.
func (t *Mapped) writeKey(w *sqlrecord.Writer, key []mapping.Value) {
	w.Add(" WHERE ")
	for i, k := range t.Keys {
		t.partOperand(w.Add(Between(i, " AND "), k, " = "), t.ColumnOf(t.Key.Places[i]).Sort, key[i])
	}
	if c := t.SQL.Client.Column; c != "" {
		w.Add(" AND ", t.Dialect.Quote(c), " = ").Expr(t.clientOperand())
	}
	if t.parent != nil {
		t.belongs(w.Add(" AND "), t.Written, false)
	}
}
