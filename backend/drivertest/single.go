// Package drivertest is what the tests of several drivers share: a Walk compares any driver with
// the administration behind it.
package drivertest

import (
	"context"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Single makes every write of a driver a transaction of its own.
type Single struct{ Driver backend.Driver }

// Create implements backend.Tx.
func (s Single) Create(ctx context.Context, client auth.Client, rec mapping.Record) (stored mapping.Record, err error) {
	err = s.Driver.Write(ctx, func(tx backend.Tx) (err error) {
		stored, err = tx.Create(ctx, client, rec)
		return err
	})
	return stored, err
}

// Update implements backend.Tx.
func (s Single) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (stored mapping.Record, err error) {
	err = s.Driver.Write(ctx, func(tx backend.Tx) (err error) {
		stored, err = tx.Update(ctx, client, before, patch)
		return err
	})
	return stored, err
}

// Delete implements backend.Tx.
func (s Single) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	return s.Driver.Write(ctx, func(tx backend.Tx) error { return tx.Delete(ctx, client, before) })
}

// Recall implements backend.Tx.
func (s Single) Recall(ctx context.Context, client auth.Client, key string) (m *backend.StoredAnswer, err error) {
	err = s.Driver.Write(ctx, func(tx backend.Tx) (err error) {
		m, err = tx.Recall(ctx, client, key)
		return err
	})
	return m, err
}

// Remember implements backend.Tx.
func (s Single) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	return s.Driver.Write(ctx, func(tx backend.Tx) error { return tx.Remember(ctx, client, key, m) })
}
