package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// txn is the part of a transaction that the Client sees.
type txn struct{ session }

var _ backend.Tx = (*txn)(nil)

// transaction is what is known of a transaction while it runs.
type transaction struct {
	held  map[recordID]heldRecord
	after []func(context.Context, conn) error // once it has ended, on its connection
	tries *acrossTries
	// aside undoes it and returns its connection, to ask what an error was about: one that
	// an error has ended answers nothing on PostgreSQL, and the pool may have no other.
	aside func() conn
	// writes are those of it, in their order.
	writes []*write
}

// inTx runs f in a transaction, and again if the engine ended it in favour of another one.
// Answers under idempotency keys are settled at the end.
func (s *Store) inTx(ctx context.Context, f func(*txn) error) error {
	m := &acrossTries{}
	err := backend.RunAgain(ctx, func() error { return s.once(ctx, m, f) }, func(err error) bool {
		again := s.collided(err)
		if again {
			s.log.Debug("a transaction collided with another one", zap.Error(err))
		}
		return again
	})
	if s.collided(err) {
		err = fmt.Errorf("%w: %w", backend.ErrCollision, err)
	}
	return s.settle(ctx, m, err)
}

// collided tells whether a second run may succeed: the engine ended the transaction because of
// another one, or refused a value that was made for a row, or a value that was looked for. An
// error that a client is told, or whose outcome is unclear, is not run again.
func (s *Store) collided(err error) bool {
	if err == nil || errors.Is(err, errUnclear) {
		return false
	}
	if errors.Is(err, errTaken) || errors.Is(err, errUnfit) {
		return true
	}
	if _, ok := mapping.AsViolations(err); ok {
		return false
	}
	f, ok := s.d.fault(err)
	return ok && f.class == faultCollision
}

// errUnclear says that a commit was sent and not answered: nobody knows whether it happened.
var errUnclear = fmt.Errorf("it is not known whether the transaction was committed: %w", backend.ErrUnsettled)

// cleanupTimeout bounds the work that remains when a call's time is up.
const cleanupTimeout = 2 * time.Second

// once runs f in one transaction, on a connection of its own.
func (s *Store) once(ctx context.Context, m *acrossTries, f func(*txn) error) (err error) {
	c, tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // an error of it was one of the transaction before
	t := &txn{session{Store: s, conn: tx, tx: &transaction{held: map[recordID]heldRecord{}, tries: m, aside: func() conn {
		_ = tx.Rollback()
		return c
	}}}}
	if s.kept != nil {
		t.conn = preparedTx{tx, s.kept}
	}
	committed := false
	defer func() {
		if !committed {
			_ = tx.Rollback() // also when f panics
		}
		s.afterwards(ctx, c, t.tx.after)
	}()
	if err := f(t); err != nil {
		return err
	}
	if err := t.takeKey(ctx); err != nil {
		return err
	}
	committed = true
	return t.commit(ctx, tx)
}

// afterwards releases what belongs to the connection rather than to the transaction. If that
// fails, the connection is closed, which releases everything.
func (s *Store) afterwards(ctx context.Context, c *sql.Conn, after []func(context.Context, conn) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	for _, f := range after {
		if err := f(ctx, c); err != nil {
			_ = c.Raw(func(any) error { return driver.ErrBadConn })
			return
		}
	}
}

// commit ends the transaction. What the database checks only now counts as an error of a
// write.
func (t *txn) commit(ctx context.Context, tx *sql.Tx) error {
	backend.Asking(ctx, "COMMIT")
	err := tx.Commit()
	if err == nil {
		return nil
	}
	f, ok := t.d.fault(err)
	if !ok || f.class == faultDown {
		return fmt.Errorf("commit: %w: %w", errUnclear, err)
	}
	for _, w := range slices.Backward(t.tx.writes) {
		if told := w.refused(ctx, err); !errors.Is(told, backend.ErrUnexpected) {
			return told
		}
	}
	return t.wrap("commit", err)
}

// failure turns an engine's error into what a Driver answers: what the sheet translates, else
// ErrUnexpected, or a failure of the engine.
func (s *Store) failure(err error, a sheet.Attempt) error {
	if err == nil {
		return nil
	}
	if f, ok := s.d.fault(err); ok && f.class != faultCollision {
		if told := s.sheet.Errors.Translate(f.Failure, a); told != nil {
			return told.Because(err)
		}
	}
	return s.wrap(string(a.Op)+" "+a.Resource.Name, err)
}

// wrap adds what the engine was asked for. An error that the sheet does not foresee is
// unexpected, unless the engine cannot work.
func (s *Store) wrap(what string, err error) error {
	if f, ok := s.d.fault(err); ok && f.class != faultDown && f.class != faultCollision {
		err = fmt.Errorf("%w: %w", backend.ErrUnexpected, err)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Get implements backend.Reader.
func (t *txn) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	held, err := t.get(ctx, r, q)
	return held.rec, err
}

// List implements backend.Reader.
func (t *txn) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	return t.page(ctx, r, q)
}
