package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// The arguments of a procedure are places of the record, :client, or a text in
// single quotes, which is passed as it is.

// callOf prepares a call. value returns the value at a place.
func (s session) callOf(op *sheet.Operation, client auth.Client, value func(place string) sheet.Raw) call {
	p := call{name: qualified(s.d, s.source.Schema, op.Procedure), function: s.functions[op.Procedure], out: op.Out}
	for _, a := range op.Arguments {
		switch {
		case a == sheet.ClientParameter:
			p.args = append(p.args, intRaw(client.ID))
		case len(a) > 1 && a[0] == '\'' && a[len(a)-1] == '\'':
			p.args = append(p.args, textRaw(strings.ReplaceAll(a[1:len(a)-1], "''", "'")))
		default:
			p.args = append(p.args, value(a))
		}
	}
	for _, out := range op.Out {
		p.from = append(p.from, slices.Index(op.Arguments, out))
	}
	return p
}

// createByProcedure calls a procedure that adds the row, or one that only gives its key: if
// there is no row of that key afterwards, it is added. Values that the procedure has no
// argument for are then written.
func (w *write) createByProcedure(ctx context.Context, op *sheet.Operation) ([]sheet.Raw, error) {
	p := w.callOf(op, w.client, func(place string) sheet.Raw {
		v, _ := w.value(place)
		return v
	})
	answer, err := w.d.call(ctx, w.conn, p)
	if err != nil {
		return nil, w.refused(ctx, err)
	}
	key, _ := w.knownKey()
	for i, place := range w.t.Key.Places {
		if len(answer.rows) > 0 {
			if v, ok := answer.find(answer.rows[0], place); ok && v.IsSet() {
				key[i] = v
			}
		}
		if !key[i].IsSet() {
			return nil, fmt.Errorf("%w: %s gave no %s", backend.ErrUnexpected, op.Procedure, place)
		}
	}
	key = w.t.Padded(key)
	rest := slices.DeleteFunc(slices.Clone(w.values), func(a sheet.Assignment) bool { return slices.Contains(op.Arguments, a.Place) })
	added, err := w.complete(ctx, key, rest)
	if err != nil || added {
		return key, err
	}
	return w.insert(ctx, key)
}

// complete writes the values that the procedure has no argument for. It is false if there is
// no row.
func (w *write) complete(ctx context.Context, key []sheet.Raw, rest []sheet.Assignment) (bool, error) {
	if w.t.Table == "" {
		return true, w.untold(rest)
	}
	if b := w.setText(rest, key, sheet.Raw{}); b != nil {
		n, err := change(ctx, w.conn, b)
		return n > 0, w.refused(ctx, err)
	}
	b := newStatement(w.d).add("SELECT 1 FROM ", w.t.name)
	w.t.writeKey(b, w.client, key)
	row, err := queryOne(ctx, w.conn, b)
	return row != nil, w.refused(ctx, err)
}

// updateByProcedure calls a procedure with the record as it will be. Values that the procedure
// has no argument for are written afterwards.
func (w *write) updateByProcedure(ctx context.Context, op *sheet.Operation, row []sheet.Raw) error {
	p := w.callOf(op, w.client, func(place string) sheet.Raw {
		if v, ok := w.value(place); ok {
			return v
		}
		return w.at(row, place)
	})
	if _, err := w.d.call(ctx, w.conn, p); err != nil {
		return w.refused(ctx, err)
	}
	w.values = slices.DeleteFunc(w.values, func(a sheet.Assignment) bool { return slices.Contains(op.Arguments, a.Place) })
	if w.t.Table == "" {
		return w.untold(w.values)
	}
	return w.set(ctx, w.t.KeyOf(row), sheet.Raw{})
}

// untold refuses to lose what a procedure has no argument for and no table takes.
func (w *write) untold(rest []sheet.Assignment) error {
	for _, a := range rest {
		if !slices.Contains(w.t.Key.Places, a.Place) && a.Place != w.t.Client {
			return fmt.Errorf("%w: %s: the procedure takes no %s, and there is no table", backend.ErrUnexpected, w.t.Name, a.Place)
		}
	}
	return nil
}

// runAfter calls the procedure that follows the write of a row, with the row as it is now.
func (w *write) runAfter(ctx context.Context, key []sheet.Raw) error {
	if op := w.t.Operations[w.attempt.Op]; op == nil || op.After == "" {
		return nil
	}
	held, err := w.byKey(ctx, w.t, w.client, key, false)
	if errors.Is(err, backend.ErrNotFound) {
		return fmt.Errorf("%w: the record of %s that was written cannot be read", backend.ErrUnexpected, w.t.Name)
	}
	if err != nil {
		return err
	}
	return w.callAfter(ctx, held.row)
}

// callAfter calls it with a row. Its errors may be about any table.
func (w *write) callAfter(ctx context.Context, row []sheet.Raw) error {
	op := w.t.Operations[w.attempt.Op]
	if op == nil || op.After == "" {
		return nil
	}
	p := w.callOf(&sheet.Operation{Procedure: op.After, Arguments: op.Arguments}, w.client, func(place string) sheet.Raw {
		if _, read := w.t.at[place]; read {
			return w.at(row, place)
		}
		v, _ := w.value(place)
		return v
	})
	_, err := w.d.call(ctx, w.conn, p)
	return w.failure(err, w.attempt)
}

func (w *write) deleteByProcedure(ctx context.Context, op *sheet.Operation, row []sheet.Raw) error {
	p := w.callOf(op, w.client, func(place string) sheet.Raw { return w.at(row, place) })
	_, err := w.d.call(ctx, w.conn, p)
	return w.refused(ctx, err)
}

// at is the value of a row at a place; absent if the place is not read.
func (w *write) at(row []sheet.Raw, place string) sheet.Raw {
	if i, ok := w.t.at[place]; ok {
		return row[i]
	}
	return sheet.Raw{}
}

// maxProcedureRows bounds the rows of a procedure that are sorted and cut into pages.
const maxProcedureRows = 10_000

// rowsByProcedure calls a procedure that returns rows, and puts their columns into the order
// of the sheet's places.
func (s session) rowsByProcedure(ctx context.Context, t *table, op *sheet.Operation, attempt sheet.Attempt, client auth.Client, value func(string) sheet.Raw) ([][]sheet.Raw, error) {
	answer, err := s.d.call(ctx, s.conn, s.callOf(op, client, value))
	if err != nil {
		return nil, s.failure(err, attempt)
	}
	if len(answer.rows) > maxProcedureRows {
		return nil, fmt.Errorf("%w: %s answered more than %d rows", backend.ErrUnexpected, op.Procedure, maxProcedureRows)
	}
	rows := make([][]sheet.Raw, 0, len(answer.rows))
	for _, from := range answer.rows {
		row := make([]sheet.Raw, len(t.Places))
		for i, p := range t.Places {
			row[i], _ = answer.find(from, p.Name)
		}
		if t.Client != "" && !t.ownedBy(row, client) {
			continue // the procedure knows no clients
		}
		rows = append(rows, row)
	}
	return s.owned(ctx, t, attempt, client, rows)
}

// ownedBy tells whether a row is one that the client sees.
func (t *table) ownedBy(row []sheet.Raw, client auth.Client) bool {
	i, ok := t.at[t.Client]
	if !ok || !row[i].IsSet() {
		return false
	}
	whose := strings.TrimSpace(row[i].String())
	return whose == intRaw(client.ID).String() || t.SystemClient != "" && whose == t.SystemClient
}

func (s session) getByProcedure(ctx context.Context, t *table, op *sheet.Operation, client auth.Client, key []sheet.Raw) (held heldRecord, err error) {
	attempt := sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet}
	rows, err := s.rowsByProcedure(ctx, t, op, attempt, client, func(place string) sheet.Raw {
		if i := slices.Index(t.Key.Places, place); i >= 0 {
			return key[i]
		}
		return sheet.Raw{}
	})
	if err != nil {
		return held, err
	}
	for _, row := range rows {
		if t.SameKey(t.KeyOf(row), key) {
			return s.one(ctx, t, client, row, s.tx != nil)
		}
	}
	return held, backend.ErrNotFound
}
