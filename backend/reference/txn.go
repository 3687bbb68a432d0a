package reference

import (
	"context"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

var (
	_ backend.Tx       = (*txn)(nil)
	_ backend.Prober   = (*txn)(nil)
	_ backend.Preparer = (*txn)(nil)
)

// txn is the administration inside a transaction. It belongs to one goroutine
// and ends with the function that was given it.
type txn struct {
	internalTables
	*sqlrecord.Store // of the records; nil if the transaction touches none
	derived          *derived
	now              func() time.Time
	vatKinds         map[int32]string // of the turnover groups read so far
}

// Create implements backend.Tx.
func (t *txn) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	order, isLine, err := t.holdOrder(ctx, client, rec)
	if err != nil {
		return mapping.Record{}, err
	}
	rec = rec.Clone() // the caller's record must not change
	if err := t.beforeCreate(ctx, client, rec); err != nil {
		return mapping.Record{}, err
	}
	stored, err := t.Store.Create(ctx, client, rec)
	if err != nil || !isLine {
		return stored, err
	}
	return stored, t.totalOrder(ctx, client, order)
}

// Update implements backend.Tx.
func (t *txn) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	order, isLine, err := t.holdOrder(ctx, client, before)
	if err != nil {
		return mapping.Record{}, err
	}
	patch = patch.Clone()
	if err := t.beforeUpdate(ctx, client, before, patch); err != nil {
		return mapping.Record{}, err
	}
	stored, err := t.Store.Update(ctx, client, before, patch)
	if err != nil {
		return stored, err
	}
	if before.Resource == t.derived.turnovergroup {
		delete(t.vatKinds, before.ID())
	}
	if !isLine {
		return stored, nil
	}
	return stored, t.totalOrder(ctx, client, order)
}

// Delete implements backend.Tx.
func (t *txn) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	order, isLine, err := t.holdOrder(ctx, client, before)
	if err != nil {
		return err
	}
	if err := t.Store.Delete(ctx, client, before); err != nil || !isLine {
		return err
	}
	return t.totalOrder(ctx, client, order)
}
