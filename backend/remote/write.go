package remote

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

var (
	_ backend.Tx     = (*writing)(nil)
	_ backend.Prober = (*writing)(nil)
)

// Write runs f once. An HTTP service has no transactions: what f did stays done. Two things
// stand in for one. The idempotency key makes a write happen at most once. And no two writes
// through this gateway, or through others with the same id store, judge and change the same
// record at once.
func (d *Driver) Write(ctx context.Context, f func(backend.Tx) error) error {
	w := &writing{Driver: d, holding: holding{of: d.core}, attempt: attempt{Attempt: backend.Attempt{Answers: d.IDStore}}}
	defer w.letGo(ctx)
	err := f(w)
	if unkept := w.Settle(ctx, err); unkept != nil {
		d.Log.Error("a write has ended", zap.Error(unkept))
	}
	return err
}

// writing is a Driver during one write.
type writing struct {
	*Driver
	holding
	attempt
	read map[heldRecord]taken // what is held, as the service had it
}

// Get returns one record, and with q.ForUpdate holds it.
func (w *writing) Get(ctx context.Context, m *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if !q.ForUpdate {
		return w.Driver.Get(ctx, m, q)
	}
	of := w.heldBy(q.Client, m, q.ID)
	if err := w.hold(ctx, of); err != nil {
		return mapping.Record{}, err
	}
	r := w.Sheet.Resources[m]
	t, err := w.seen(ctx, r, q)
	if err != nil {
		return mapping.Record{}, err
	}
	if w.read == nil {
		w.read = map[heldRecord]taken{}
	}
	w.read[of] = t.clone()
	return w.complete(ctx, r, q, &t)
}

// Exists implements backend.Prober: what the copy has need not be asked for.
func (w *writing) Exists(ctx context.Context, client auth.Client, m *mapping.Resource, id int32) (bool, error) {
	if w.copy.sources[m] != nil {
		if found, err := w.copy.records.Exists(ctx, client, m, id); found || err != nil {
			return found, err
		}
	}
	_, err := w.Driver.Get(ctx, m, backend.Query{Client: client, ID: id})
	if errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// writable fails where the service no longer has what the sheet needs.
func (d *Driver) writable(ctx context.Context, r *sheet.Resource, client auth.Client) error {
	s := d.copy.sources[r.Resource]
	if s == nil {
		return nil
	}
	if known, err := d.copy.state(ctx, s.of(d.copy, client)); err != nil || known.changed {
		return errors.Join(err, fmt.Errorf("%w: %s", backend.ErrChanged, known.failed))
	}
	return nil
}

// Create stores a record.
func (w *writing) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	return w.change(ctx, client, rec.Resource, func(r *sheet.Resource) (taken, error) {
		if err := w.belongs(ctx, r, client, rec); err != nil {
			return taken{}, err
		}
		return w.conn.create(ctx, &w.attempt, r, client, rec)
	})
}

// Update changes a record.
func (w *writing) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	return w.change(ctx, client, before.Resource, func(r *sheet.Resource) (taken, error) {
		had, err := w.had(ctx, r, client, before)
		if err == nil {
			err = w.belongs(ctx, r, client, patch)
		}
		if err != nil {
			return taken{}, err
		}
		return w.conn.update(ctx, &w.attempt, r, client, had, patch)
	})
}

// Delete removes a record.
func (w *writing) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	_, err := w.change(ctx, client, before.Resource, func(r *sheet.Resource) (taken, error) {
		had, err := w.had(ctx, r, client, before)
		if err != nil {
			return taken{}, err
		}
		return goneOf(r, before.ID()), w.conn.delete(ctx, &w.attempt, r, client, had)
	})
	return err
}

// belongs refuses a record that would belong to one which is not the client's own: it would be
// another's, or everybody's.
func (w *writing) belongs(ctx context.Context, r *sheet.Resource, client auth.Client, rec mapping.Record) error {
	if r.Through == nil || !rec.Values[r.Through.Index].IsSet() {
		return nil
	}
	v := rec.Values[r.Through.Index]
	of, err := w.copy.owners(ctx, client, r.Through.Field.Target(), []int32{int32(v.Int())})
	if whose, known := of[int32(v.Int())]; err == nil && (!known || whose != client.ID) {
		err = mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(r.Through.Name), v.String())
	}
	return err
}

// had is what the service has of a record that is written.
func (w *writing) had(ctx context.Context, r *sheet.Resource, client auth.Client, before mapping.Record) (taken, error) {
	if t, held := w.read[w.heldBy(client, r.Resource, before.ID())]; held {
		return t.clone(), nil
	}
	return w.element(ctx, r, backend.Query{Client: client, ID: before.ID()})
}

// change sends a write, and brings what came of it into the copy.
func (w *writing) change(ctx context.Context, client auth.Client, m *mapping.Resource, send func(*sheet.Resource) (taken, error)) (mapping.Record, error) {
	r := w.Sheet.Resources[m]
	if err := w.writable(ctx, r, client); err != nil {
		return mapping.Record{}, err
	}
	t, err := send(r)
	if err := w.Ended(err, tellsUndone(err)); err != nil {
		return mapping.Record{}, err
	}
	// It is done: what the copy lacks of it the next walk finds.
	settled, cancel := settling(ctx)
	defer cancel()
	if err := w.keepWritten(settled, r, client, t); err != nil {
		w.Log.Error("a record that was written is not in the copy; the next walk brings it in", zap.String("resource", r.Name), zap.Error(err))
	}
	if t.gone {
		return mapping.Record{}, nil
	}
	if t.err != nil || t.hidden || t.client != client.ID && t.client != 0 {
		return mapping.Record{}, fmt.Errorf("%w: after the write was done: %w", backend.ErrUnexpected, errors.Join(t.err, errors.New("the record cannot be shown")))
	}
	return w.complete(settled, r, backend.Query{Client: client, Tagged: true, Fields: within(r)}, &t)
}

// within are the arrays that a record is answered with after a write.
func within(r *sheet.Resource) []int {
	fields := r.RecordFields()
	for _, f := range nested(r) {
		fields = append(fields, f.Index)
	}
	return fields
}

// keepWritten brings a record that was written into the copy. One that stands within another is
// read with that.
func (w *writing) keepWritten(ctx context.Context, r *sheet.Resource, client auth.Client, t taken) error {
	s := w.copy.sources[r.Resource]
	if s == nil || s.r == r {
		err := w.copy.keep(ctx, r, w.before(r, client, t), t)
		if errors.Is(err, errPassed) && r.Service.Get != nil {
			_, err = w.copy.read(ctx, r, client, t.rec.ID())
		}
		if errors.Is(err, errPassed) || errors.Is(err, backend.ErrNotFound) {
			return nil
		}
		return err
	}
	rec, err := w.copy.records.Get(ctx, r.Resource, backend.Query{Client: client, ID: t.rec.ID()})
	if err != nil {
		rec = t.rec
	}
	parent := int32(rec.Get(arrayOf(s.r, r).ArrayKey).Int())
	if parent == 0 {
		return err
	}
	_, err = w.copy.read(ctx, s.r, client, parent)
	return err
}

// before is what the copy had of a record that was written: a new one was not there.
func (w *writing) before(r *sheet.Resource, client auth.Client, t taken) held {
	had, there := w.read[w.heldBy(client, r.Resource, t.rec.ID())]
	if !there {
		return held{}
	}
	return held{Kept: sqlrecord.Kept{Version: had.rec.Version, Client: had.client}, there: true}
}
