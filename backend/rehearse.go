package backend

import (
	"context"
	"errors"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Rehearsal does a write in a transaction and rolls it back, so that the rehearsal is judged by all
// that would judge the write. A Driver that is not Atomic may have no transactions: records are
// read from it but nothing is sent to it, so the administration's own judgement stays unknown.
type Rehearsal struct {
	Before mapping.Record // the record as stored, in the client's view; without a Resource for a create
}

// errRehearsed rolls back the transaction of a rehearsal that found nothing wrong.
var errRehearsed = errors.New("this was a rehearsal")

// RehearsesAll reports whether a rehearsal is judged by all that judges the write.
func (c *Client) RehearsesAll() bool { return c.driver.Capabilities().Atomic }

// readsOnly reports whether a write is a rehearsal that sends nothing to the administration.
func (w Write) readsOnly(c *Client) bool { return w.Rehearsal != nil && !c.RehearsesAll() }

// unsent is a Tx whose writes are not sent: they return the records that would be sent.
type unsent struct{ Tx }

// Create implements Tx.
func (unsent) Create(_ context.Context, _ auth.Client, rec mapping.Record) (mapping.Record, error) {
	return rec, nil
}

// Update implements Tx.
func (unsent) Update(_ context.Context, _ auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	return before.Merge(patch), nil
}

// Delete implements Tx.
func (unsent) Delete(context.Context, auth.Client, mapping.Record) error { return nil }
