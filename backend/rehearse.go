package backend

import (
	"context"
	"errors"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Rehearsal has a write done in a transaction that is then rolled back, so that all that judges the
// write judges the rehearsal. A Driver that is not Atomic may have no transactions: it is asked for
// what it has and sent nothing, so that what it judges itself stays open.
type Rehearsal struct {
	Before mapping.Record // as it is stored and seen; without a Resource where there is none
}

// errRehearsed rolls back the transaction of a rehearsal that found nothing wrong.
var errRehearsed = errors.New("this was a rehearsal")

// RehearsesAll reports whether a rehearsal judges all that the write is judged by.
func (c *Client) RehearsesAll() bool { return c.driver.Capabilities().Atomic }

// readsOnly reports whether a write is a rehearsal that sends nothing to the administration.
func (w Write) readsOnly(c *Client) bool { return w.Rehearsal != nil && !c.RehearsesAll() }

// unsent is a Tx whose writes are not sent: it returns the records as they were to be sent.
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
