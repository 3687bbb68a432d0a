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
// replace a transaction. The idempotency key makes a write happen at most once. And no two writes
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
	read map[heldRecord]taken // the held records, as the service had them
}

// Get returns one record, and with q.ForUpdate locks it.
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

// Exists implements backend.Prober. A record in the copy needs no call of the service.
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

// writable fails if the service no longer has what the sheet needs.
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
	return w.change(ctx, client, rec, func(r *sheet.Resource) (taken, error) {
		if err := w.belongs(ctx, r, client, rec); err != nil {
			return taken{}, err
		}
		return w.conn.create(ctx, &w.attempt, r, client, rec)
	})
}

// Update changes a record.
func (w *writing) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	return w.change(ctx, client, before.Merge(patch), func(r *sheet.Resource) (taken, error) {
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
	_, err := w.change(ctx, client, before, func(r *sheet.Resource) (taken, error) {
		had, err := w.had(ctx, r, client, before)
		if err != nil {
			return taken{}, err
		}
		return goneOf(r, before.ID()), w.conn.delete(ctx, &w.attempt, r, client, had)
	})
	return err
}

// belongs refuses a record that would belong to a record of another client, or of all: then it
// would be theirs.
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

// had is a record as the service has it before a write.
func (w *writing) had(ctx context.Context, r *sheet.Resource, client auth.Client, before mapping.Record) (taken, error) {
	if t, held := w.read[w.heldBy(client, r.Resource, before.ID())]; held {
		return t.clone(), nil
	}
	return w.element(ctx, r, backend.Query{Client: client, ID: before.ID()})
}

// change sends a write, and stores its result in the copy. After is the record as it should be then.
func (w *writing) change(ctx context.Context, client auth.Client, after mapping.Record, send func(*sheet.Resource) (taken, error)) (mapping.Record, error) {
	r := w.Sheet.Resources[after.Resource]
	if err := w.writable(ctx, r, client); err != nil {
		return mapping.Record{}, err
	}
	t, err := send(r)
	if err == nil {
		err = w.copy.lost(r, client, t, func(f *mapping.Field) (bool, error) { // where it was read anew
			return after.Values[f.Index].IsSet() && !t.rec.Values[f.Index].IsSet(), nil
		})
		if err != nil {
			err = afterWrite{err}
		}
	}
	if err := w.Ended(err, isUndone(err)); err != nil {
		return mapping.Record{}, err
	}
	// The write is done: the next walk finds what the copy lacks of it.
	ctx, cancel := answering(ctx)
	defer cancel()
	if err := w.keepWritten(ctx, r, client, t); err != nil {
		w.Log.Error("a record that was written is not in the copy; the next walk brings it in", zap.String("resource", r.Name), zap.Error(err))
	}
	if t.gone {
		return mapping.Record{}, nil
	}
	if t.err != nil || t.hidden || t.client != client.ID && t.client != 0 {
		return mapping.Record{}, fmt.Errorf("%w: after the write was done: %w", backend.ErrUnexpected, errors.Join(t.err, errors.New("the record cannot be shown")))
	}
	return w.complete(ctx, r, backend.Query{Client: client, Tagged: true, Fields: within(r)}, &t)
}

// within are the arrays in the answer to a write: those within the record.
func within(r *sheet.Resource) []int {
	fields := r.RecordFields()
	for _, f := range nested(r) {
		fields = append(fields, f.Index)
	}
	return fields
}

// keepWritten stores a written record in the copy. An element within another record is read with
// that.
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

// before is what the copy had of a record before it was written: nothing of a new one.
func (w *writing) before(r *sheet.Resource, client auth.Client, t taken) held {
	had, there := w.read[w.heldBy(client, r.Resource, t.rec.ID())]
	if !there {
		return held{}
	}
	return held{Kept: sqlrecord.Kept{Version: had.rec.Version, Client: had.client}, there: true}
}
