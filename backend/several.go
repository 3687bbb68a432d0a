package backend

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Several are writes of one resource. They are done in order, and judged one by one: a
// refused item does not affect the others.
type Several struct {
	Client   auth.Client
	Resource *mapping.Resource
	Items    []*Item
	// Idempotency, if not nil, makes each write happen at most once. It needs a Driver that is
	// Atomic. Its Answer and Begun are not used.
	Idempotency *Idempotency
	// Recalled receives the answer that is stored under the key, and notes the outcome of the
	// items in it. It may be called more than once.
	Recalled func(stored []byte) error
	// Answer renders the outcome of the items that are done.
	Answer func() []byte
}

// Item is one of several writes.
type Item struct {
	Body *mapping.Body // as CheckCreate or CheckUpdate accepted it
	ID   int32         // of the record to update; 0 for a new one

	// The outcome, once the item is Done: the ID of the record, or the violations for which it
	// was refused. A failure of this item alone is an InternalError.
	Done    bool
	Written int32
	Err     error
}

// MostTogether is how many writes, elements of arrays included, share a transaction at most. It bounds how long
// others wait for the transaction's locks.
const MostTogether = 64

// Together is how many writes of a kind WriteSeveral takes at once; 1 if the driver's writes
// cannot share a transaction, so that there is nothing to gain. Writes under an idempotency key
// can share one only if the answer is stored in it: other drivers take a key only once.
func (c *Client) Together(r *mapping.Resource, op mapping.Scope, underKey bool) int {
	if underKey && !c.driver.Capabilities().Atomic {
		return 1
	}
	if sharer, ok := optional[Sharer](c.driver); ok && sharer.Shares(r, op) {
		return MostTogether
	}
	return 1
}

// Parallel is how many writes of one request may be under way at the same time where they do
// not share transactions.
func (c *Client) Parallel() int { return max(1, c.driver.Capabilities().Parallel) }

// Timeout bounds a call of the backend.
func (c *Client) Timeout() time.Duration { return c.o.Timeout }

// WriteSeveral does several writes in as few transactions as possible, as one call. It fails with
// IdempotencyInUse, with IdempotencyReused, or because the administration does not work. Items
// that are Done stay done even then.
func (c *Client) WriteSeveral(ctx context.Context, s *Several) error {
	operation := "create"
	if len(s.Items) > 0 && s.Items[0].ID != 0 {
		operation = "update"
	}
	return c.call(ctx, c.sections[s.Resource].writes, s.Client, operation, func(ctx context.Context) error {
		// If an item breaks the transaction, the next transaction ends just before it, and
		// the one after that has only this item. So the others are written, and the item
		// gets its own error. If a transaction breaks at its end, it is halved to find the item.
		from, to := 0, len(s.Items)
		for from < len(s.Items) {
			broke, err := c.writeItems(ctx, s, from, to)
			if err != nil {
				undone(s.Items[from:to])
			}
			switch {
			case err == nil:
				from, to = to, len(s.Items)
			case broke < 0 || !ofItem(err):
				return err
			case to-from > 1:
				if broke == to {
					broke = from + (to-from)/2
				}
				to = max(broke, from+1)
			default:
				_, err = c.judgeCall(ctx, err)
				*s.Items[from] = Item{Body: s.Items[from].Body, ID: s.Items[from].ID, Done: true, Err: err}
				from, to = to, len(s.Items)
			}
		}
		return nil
	})
}

// ofItem reports whether an error is the fault of one write, and not of the administration.
func ofItem(err error) bool {
	_, refused := mapping.AsViolations(err)
	return refused || errors.Is(err, ErrStale) || errors.Is(err, ErrUnexpected)
}

// writeItems does the items from, up to to, in one transaction. broke is the item that failed,
// to if the end of the transaction failed, and -1 if the failure concerns no item. Several items
// are prepared; if a prepared transaction fails, it is not known which item is at fault, and all
// are done again unprepared.
func (c *Client) writeItems(ctx context.Context, s *Several, from, to int) (broke int, err error) {
	prepare := to-from > 1
	for look := 1; ; look++ {
		broke = -1
		prepared := false
		err = c.driver.Write(ctx, func(tx Tx) (err error) {
			broke = -1
			undone(s.Items[from:to])
			if err := s.recall(ctx, tx); err != nil {
				return err
			}
			if preparer, ok := optional[Preparer](tx); ok && prepare {
				if prepared, err = preparer.Prepare(ctx, s.Client, coming(s.Items[from:to])); err != nil {
					return err
				}
			}
			for i := from; i < to; i++ {
				if err := c.writeItem(ctx, tx, s.Client, s.Items[i]); err != nil {
					broke = i
					return err
				}
			}
			if err := remember(ctx, tx, s.Client, s.Idempotency, s.Answer); err != nil {
				broke = -1
				return err
			}
			broke = to
			return nil
		})
		if prepared && err != nil && ofItem(err) {
			prepare = false
			continue
		}
		if to-from > 1 {
			return broke, err
		}
		if settled, err := lookedEnough(ctx, look, err); settled {
			return broke, err
		}
	}
}

// coming are the records of the items that are not done; those to be updated have their ID.
func coming(items []*Item) (records []mapping.Record) {
	for _, p := range items {
		if p.Done {
			continue
		}
		rec := p.Body.Record
		rec.Values = slices.Clone(rec.Values)
		rec.Values[rec.Resource.ID] = mapping.Value{}
		if p.ID != 0 {
			rec.Values[rec.Resource.ID] = mapping.IntValue(int64(p.ID))
		}
		records = append(records, rec)
	}
	return records
}

// undone clears the outcome of items whose transaction was rolled back.
func undone(items []*Item) {
	for _, p := range items {
		p.Done, p.Written, p.Err = false, 0, nil
	}
}

// writeItem does one write. If it is refused before anything was written, the transaction
// goes on without it.
func (c *Client) writeItem(ctx context.Context, tx Tx, client auth.Client, p *Item) error {
	if p.Done {
		return nil
	}
	checked := tx.(*checkedTx)
	checked.wrote = false
	var rec mapping.Record
	var err error
	if p.ID == 0 {
		rec, err = c.createIn(ctx, tx, client, p.Body)
	} else {
		rec, err = c.updateIn(ctx, tx, client, p.ID, p.Body, Write{}, c.updateSteps())
	}
	if _, refused := mapping.AsViolations(err); err != nil && (!refused || checked.wrote) {
		return err
	}
	p.Done, p.Err = true, err
	if err == nil {
		p.Written = rec.ID()
	}
	return nil
}

func (s *Several) recall(ctx context.Context, tx Tx) error {
	err := recall(ctx, tx, s.Client, s.Idempotency)
	if done := (*Replay)(nil); errors.As(err, &done) {
		return s.Recalled(done.Answer)
	}
	return err
}

// underKey runs f in a transaction that writes no record, only the answer under a key.
func (c *Client) underKey(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency, f func(context.Context, Tx) error) error {
	atomic := c.driver.Capabilities().Atomic
	return c.call(ctx, c.sections[r].writes, client, "idempotency", func(ctx context.Context) error {
		err := c.driver.Write(ctx, func(tx Tx) error {
			if err := recallIn(ctx, tx, client, request, atomic); err != nil {
				return err
			}
			return f(ctx, tx)
		})
		if errors.Is(err, errLooked) {
			return nil
		}
		return err
	})
}

// errLooked ends a transaction that only looked for a stored answer.
var errLooked = errors.New("looked only")

// Recall fails with Replay if an answer is stored under the key of a request about a
// resource.
func (c *Client) Recall(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency) error {
	return c.underKey(ctx, client, r, request, func(context.Context, Tx) error { return errLooked })
}

// Keep stores the answer to a finished request about a resource.
func (c *Client) Keep(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency, answer []byte) error {
	return c.underKey(ctx, client, r, request, func(ctx context.Context, tx Tx) error {
		return remember(ctx, tx, client, request, func() []byte { return answer })
	})
}
