package backend

import (
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Several are writes of one resource that are done in their order, each by itself: one
// that is refused leaves the others as they are.
type Several struct {
	Client   auth.Client
	Resource *mapping.Resource
	Items    []*Item
	// Idempotency, where not nil, makes each of them happen at most once. Its Answer and
	// Begun are not used.
	Idempotency *Idempotency
	// Recalled is told the answer that is stored under the key. It notes what became of
	// the items that this tells of. It may be called more than once.
	Recalled func(stored []byte) error
	// Answer renders what has become of the items that are done.
	Answer func() []byte
}

// Item is one of several writes.
type Item struct {
	Body *mapping.Body // as CheckCreate or CheckUpdate accepted it
	ID   int32         // of the record to update; 0 for a new one

	// What became of it, once it is Done: the ID of the record, or the violations that it
	// was refused for. A failure that concerns it alone is an InternalError.
	Done    bool
	Written int32
	Err     error
}

// MostTogether is how many writes share a transaction at most, elements of arrays counted too. It bounds how long others
// wait for its locks.
const MostTogether = 64

// Together is how many writes WriteSeveral takes at once; 1 where the driver's cannot
// share a transaction, so that there is nothing to be gained by it.
func (c *Client) Together() int {
	if c.driver.Capabilities().Shares {
		return MostTogether
	}
	return 1
}

// Timeout bounds a call of the backend.
func (c *Client) Timeout() time.Duration { return c.o.Timeout }

// WriteSeveral does several writes in as few transactions as possible, as one call. What
// is Done holds also if it fails: with IdempotencyInUse, IdempotencyReused, or because the
// administration does not work.
func (c *Client) WriteSeveral(ctx context.Context, s *Several) error {
	operation := "create"
	if len(s.Items) > 0 && s.Items[0].ID != 0 {
		operation = "update"
	}
	return c.call(ctx, c.sections[s.Resource].writes, s.Client, operation, func(ctx context.Context) error {
		// If an item breaks the transaction, the next transaction ends just before it, and
		// the one after that has only this item. So the others are written, and the item
		// gets its own error.
		from, to := 0, len(s.Items)
		for from < len(s.Items) {
			broke, err := c.writeItems(ctx, s, from, to)
			switch _, refused := mapping.AsViolations(err); {
			case err == nil:
				from, to = to, len(s.Items)
			case broke < 0 || !refused && !errors.Is(err, ErrStale) && !errors.Is(err, ErrUnexpected):
				undone(s.Items[from:to])
				return err
			case to-from > 1:
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

// writeItems does the items from, up to to, in one transaction. It returns the item
// that failed, if it was one of them, which is then alone or to be tried alone.
func (c *Client) writeItems(ctx context.Context, s *Several, from, to int) (broke int, err error) {
	for look := 1; ; look++ {
		broke = -1
		err = c.driver.Write(ctx, func(tx Tx) error {
			broke = -1
			undone(s.Items[from:to])
			if err := s.recall(ctx, tx); err != nil {
				return err
			}
			for i := from; i < to; i++ {
				if err := c.writeItem(ctx, tx, s.Client, s.Items[i]); err != nil {
					broke = i
					return err
				}
			}
			return s.remember(ctx, tx)
		})
		if to-from > 1 {
			return broke, err
		}
		if settled, err := lookedEnough(ctx, look, err); settled {
			return broke, err
		}
	}
}

// undone forgets what became of items whose transaction was undone.
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

func (s *Several) remember(ctx context.Context, tx Tx) error {
	if s.Idempotency == nil {
		return nil
	}
	return tx.Remember(ctx, s.Client, s.Idempotency.Key, StoredAnswer{Sum: s.Idempotency.Sum, Answer: s.Answer(), Life: s.Idempotency.Life})
}

// underKey runs what only concerns what is stored under a key.
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

// errLooked ends a transaction that was only to look.
var errLooked = errors.New("looked only")

// Recall fails with Replay if an answer is stored under the key of a request about a
// resource.
func (c *Client) Recall(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency) error {
	return c.underKey(ctx, client, r, request, func(context.Context, Tx) error { return errLooked })
}

// Keep stores the answer to a request about a resource whose work is done.
func (c *Client) Keep(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency, answer []byte) error {
	return c.underKey(ctx, client, r, request, func(ctx context.Context, tx Tx) error {
		return tx.Remember(ctx, client, request.Key, StoredAnswer{Sum: request.Sum, Answer: answer, Life: request.Life})
	})
}
