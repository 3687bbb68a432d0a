package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Write says how a write is done. The zero value asks for nothing special.
type Write struct {
	// Precondition, if not nil, must hold for the stored record.
	Precondition func(mapping.Record) bool
	// Seen, if not nil, returns the visible part of the record: Precondition judges it, and the
	// write returns it.
	Seen func(ctx context.Context, tx Reader, client auth.Client, rec mapping.Record) (mapping.Record, error)
	// Idempotency, if not nil, makes the write happen at most once.
	Idempotency *Idempotency
	// Room, if not nil, returns an error if the answer may not have so many bytes of
	// texts and contents; then the write is not done. Only a Driver that is Atomic checks
	// it.
	Room func(bytes int) error
	// Rehearsal, if not nil, has the write judged and then undone.
	Rehearsal *Rehearsal
}

// Idempotency identifies a request by its idempotency key.
type Idempotency struct {
	Key string   // unique per api_key and client
	Sum [32]byte // checksum of the request
	// Answer renders the answer that repetitions get.
	Answer func(mapping.Record) []byte
	// Life is how long repetitions get the answer; 0 for 24 hours.
	Life time.Duration
	// Begun says that the write was begun before and may have been done: the write then
	// fails with Replay, or with ErrUnsettled if no answer is stored.
	Begun bool
}

// Replay is the error of a write that was done before. It has the stored answer.
type Replay struct{ Answer []byte }

func (*Replay) Error() string { return "answered before" }

// Create stores a new record that CheckCreate has accepted.
func (c *Client) Create(ctx context.Context, client auth.Client, body *mapping.Body, w Write) (mapping.Record, error) {
	return c.write(ctx, client, body.Record.Resource, "create", w, func(ctx context.Context, tx Tx) (mapping.Record, error) {
		return c.createIn(ctx, tx, client, body)
	})
}

func (c *Client) createIn(ctx context.Context, tx Tx, client auth.Client, body *mapping.Body) (mapping.Record, error) {
	change := newCreate(client, body)
	if err := c.judgeCreate(ctx, tx, change); err != nil {
		return mapping.Record{}, err
	}
	return tx.Create(ctx, client, c.derive(change))
}

// newCreate copies the record out of the body, since a rule may change it and
// the transaction may run again.
func newCreate(client auth.Client, body *mapping.Body) *Change {
	rec := body.Record.Clone()
	rec.FillDefaults()
	return &Change{Op: mapping.OpCreate, Client: client, Resource: rec.Resource, Body: body, After: rec, Patch: rec}
}

func (c *Client) judgeCreate(ctx context.Context, tx Reader, change *Change) error {
	steps := []step{relatedIDs, ownerState, c.resourceRules, uniqueness}
	if c.driver.Capabilities().OwnRules {
		steps = []step{c.ownRecordRules}
	}
	elements := change.elements()
	// Elements are judged together with their record: each step finds all its violations
	// before the next one begins.
	for _, s := range steps {
		var found mapping.Violations
		for _, one := range append([]*Change{change}, elements...) {
			if err := found.Add(s(ctx, tx, one)); err != nil {
				return err
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// resourceRules runs the rules that the resource's file names, in its order.
func (c *Client) resourceRules(ctx context.Context, tx Reader, change *Change) error {
	return take(ctx, tx, change, c.rules[change.Resource])
}

// ownRecordRules runs the parts of these rules that need only the record itself. They run
// even if the administration enforces the business rules itself: a write that the record alone
// forbids is never sent.
func (c *Client) ownRecordRules(ctx context.Context, tx Reader, change *Change) error {
	return take(ctx, tx, change, c.ownRecord[change.Resource])
}

func take(ctx context.Context, tx Reader, change *Change, rules []step) error {
	var found mapping.Violations
	for _, rule := range rules {
		if err := found.Add(rule(ctx, tx, change)); err != nil {
			return err
		}
	}
	return found.Err()
}

// Update changes a record by a body that CheckUpdate has accepted. If no value of the record
// becomes another, nothing is written.
func (c *Client) Update(ctx context.Context, client auth.Client, id int32, body *mapping.Body, w Write) (mapping.Record, error) {
	return c.update(ctx, client, id, body, w, c.updateSteps())
}

func (c *Client) updateSteps() []step {
	if c.driver.Capabilities().OwnRules {
		return []step{recordState, cannotUpdate, c.mergedRecord, c.ownRecordRules}
	}
	return []step{recordState, ownerState, relatedIDs, cannotUpdate, c.mergedRecord, c.resourceRules, uniqueness}
}

func (c *Client) update(ctx context.Context, client auth.Client, id int32, body *mapping.Body, w Write, steps []step) (mapping.Record, error) {
	return c.write(ctx, client, body.Record.Resource, "update", w, func(ctx context.Context, tx Tx) (mapping.Record, error) {
		return c.updateIn(ctx, tx, client, id, body, w, steps)
	})
}

func (c *Client) updateIn(ctx context.Context, tx Tx, client auth.Client, id int32, body *mapping.Body, w Write, steps []step) (mapping.Record, error) {
	r := body.Record.Resource
	before, err := c.held(ctx, tx, client, r, id, w)
	if err != nil {
		return mapping.Record{}, err
	}
	asItIs := func() (mapping.Record, error) {
		same, err := tx.Get(ctx, r, Query{Client: client, ID: id, Tagged: true})
		return same, notFound(id, err)
	}
	patch := body.Record.Clone()
	patch.Values[r.ID] = mapping.Value{}
	if patch.IsBlank() {
		return asItIs()
	}
	patch.FillFlags()
	change := &Change{Op: mapping.OpUpdate, Client: client, Resource: r, Body: body, Before: before, After: before.Merge(patch), Patch: patch}
	if err := judge(ctx, tx, change, steps...); err != nil {
		return mapping.Record{}, err
	}
	if before.Changes(change.Patch).IsBlank() {
		return asItIs()
	}
	stored, err := tx.Update(ctx, client, before, c.derive(change))
	return stored, notFound(id, err)
}

// held reads the record that a write is about, locks it if it will be written, and judges
// the precondition.
func (c *Client) held(ctx context.Context, tx Reader, client auth.Client, r *mapping.Resource, id int32, w Write) (mapping.Record, error) {
	_, writes := tx.(Tx)
	before, err := tx.Get(ctx, r, Query{Client: client, ID: id, ForUpdate: writes && !w.readsOnly(c), Tagged: w.Precondition != nil || w.Rehearsal != nil})
	switch {
	case err != nil:
		return before, notFound(id, err)
	case w.Precondition == nil && w.Rehearsal == nil:
		return before, nil
	}
	seen, err := w.seen(ctx, tx, client, before)
	if w.Rehearsal != nil {
		w.Rehearsal.Before = seen
	}
	if err == nil && w.Precondition != nil && !w.Precondition(seen) {
		err = mapping.Fail(mapping.PreconditionChanged)
	}
	return before, err
}

// seen is the visible part of a record; of a deleted record there is none.
func (w *Write) seen(ctx context.Context, tx Reader, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	if w.Seen == nil || rec.Resource == nil {
		return rec, nil
	}
	return w.Seen(ctx, tx, client, rec)
}

// Delete removes a record.
func (c *Client) Delete(ctx context.Context, client auth.Client, r *mapping.Resource, id int32, w Write) error {
	_, err := c.write(ctx, client, r, "delete", w, func(ctx context.Context, tx Tx) (mapping.Record, error) {
		before, err := c.held(ctx, tx, client, r, id, w)
		if err != nil {
			return before, err
		}
		change := &Change{Op: mapping.OpDelete, Client: client, Resource: r, Before: before, After: before, Patch: mapping.NewRecord(r)}
		steps := []step{recordState, ownerState, c.resourceRules, inUse}
		if c.driver.Capabilities().OwnRules {
			steps = []step{recordState, c.ownRecordRules}
		}
		if err := judge(ctx, tx, change, steps...); err != nil {
			return before, err
		}
		return mapping.Record{}, notFound(id, tx.Delete(ctx, client, before))
	})
	return err
}

// maxLooks is how often a write is judged at most, if the records that it depends on keep changing.
const maxLooks = 6

// write runs f in a transaction, again if the records that it was judged by have changed,
// and stores the answer under the idempotency key.
func (c *Client) write(
	ctx context.Context, client auth.Client, r *mapping.Resource, operation string, w Write, f func(context.Context, Tx) (mapping.Record, error),
) (rec mapping.Record, err error) {
	atomic := c.driver.Capabilities().Atomic
	recalled := func(ctx context.Context, tx Tx) error { return recallIn(ctx, tx, client, w.Idempotency, atomic) }
	err = c.call(ctx, c.sections[r].writes, client, operation, func(ctx context.Context) error {
		var err error
		for look := 1; ; look++ {
			err = c.driver.Write(ctx, func(tx Tx) error {
				if w.readsOnly(c) {
					tx = unsent{tx}
				}
				if err := recalled(ctx, tx); err != nil {
					return err
				}
				if rec, err = f(ctx, tx); err != nil {
					if _, refused := mapping.AsViolations(err); refused && !atomic {
						// The violation may come from a write that was done under the same key meanwhile.
						return cmp.Or(recalled(ctx, tx), err)
					}
					return err
				}
				if rec, err = w.seen(ctx, tx, client, rec); err != nil {
					return err
				}
				if w.Room != nil && atomic {
					if err := w.Room(rec.Bytes()); err != nil {
						return err
					}
				}
				if w.Rehearsal != nil {
					return errRehearsed
				}
				return remember(ctx, tx, client, w.Idempotency, func() []byte { return w.Idempotency.Answer(rec) })
			})
			if errors.Is(err, errRehearsed) {
				return nil
			}
			if settled, err := lookedEnough(ctx, look, err); settled {
				return err
			}
		}
	})
	return rec, err
}

// lookedEnough reports whether a write ends after so many looks, and with which error. If
// not, it is judged again.
func lookedEnough(ctx context.Context, looks int, err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if known := (*StaleError)(nil); errors.As(err, &known) && looks > 1 {
		return true, known.Fallback
	}
	return !errors.Is(err, ErrStale) || looks == maxLooks || ctx.Err() != nil, err
}

// recallIn is recall; the answers of a driver that is not atomic are in the gateway's own store.
func recallIn(ctx context.Context, tx Tx, client auth.Client, request *Idempotency, atomic bool) error {
	err := recall(ctx, tx, client, request)
	if isAnswer(err) && !atomic {
		return ownAnswer{err}
	}
	return err
}

// recall fails with Replay if the same request was answered under the key before.
func recall(ctx context.Context, tx Tx, client auth.Client, request *Idempotency) error {
	if request == nil {
		return nil
	}
	stored, err := tx.Recall(ctx, client, request.Key)
	switch {
	case err == nil && stored == nil && request.Begun:
		return fmt.Errorf("%w: %w", ErrUnexpected, ErrUnsettled) // the administration works: its circuit is left alone
	case err != nil || stored == nil:
		return err
	case stored.Sum != request.Sum:
		return mapping.Fail(mapping.IdempotencyReused)
	default:
		return &Replay{Answer: stored.Answer}
	}
}

// remember stores the answer to a request under its key, if it has one.
func remember(ctx context.Context, tx Tx, client auth.Client, request *Idempotency, answer func() []byte) error {
	if request == nil {
		return nil
	}
	return tx.Remember(ctx, client, request.Key, StoredAnswer{Sum: request.Sum, Answer: answer(), Life: request.Life})
}
