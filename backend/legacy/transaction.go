package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// txn is the part of a transaction that the Client sees.
type txn struct{ session }

var _ backend.Tx = (*txn)(nil)

// held is a record that the transaction has locked, as it last read it.
type held struct {
	rec mapping.Record
	key []mapping.Value
}

// transaction is what is known of a transaction while it runs.
type transaction struct {
	held   map[recordID]held
	tries  *acrossTries
	user   auth.User // of the request
	writes []*write  // in their order
}

// acrossTries is what is known over all runs of a transaction: the state of its idempotency
// key, and which rows were refused with a key made for them.
type acrossTries struct {
	backend.Attempt // its answer is in the id store, unless the database has a table for answers
	refused         []string
}

// Write implements backend.Driver.
func (s *Store) Write(ctx context.Context, f func(backend.Tx) error) error {
	return s.WriteNoted(ctx, f, func(f func(backend.Tx) error) error {
		return s.inTx(ctx, func(t *txn) error { return f(t) })
	})
}

// errTaken says that another transaction has meanwhile taken a value that was made for a row,
// usually its key. The next run makes another one.
var errTaken = errors.New("another transaction has taken a value that was made for a row")

// inTx runs f in a transaction, and again if a key that was made in it was taken meanwhile. sqlrecord
// runs the transaction again if the database ended it in favour of another one. Answers under
// idempotency keys are settled at the end.
func (s *Store) inTx(ctx context.Context, f func(*txn) error) error {
	m := &acrossTries{Attempt: backend.Attempt{Answers: s.idStore}}
	err := backend.RunAgain(ctx, func() error { return s.once(ctx, m, f) }, func(err error) bool {
		again := errors.Is(err, errTaken) || errors.Is(err, errAltered)
		if again {
			s.log.Debug("a transaction is run again", zap.Error(err))
		}
		return again
	})
	if unkept := m.Settle(ctx, err); unkept != nil {
		s.log.Error("a write has ended", zap.Error(unkept))
	}
	return err
}

// once runs f in one transaction.
func (s *Store) once(ctx context.Context, m *acrossTries, f func(*txn) error) error {
	var last *txn
	done := false
	err := s.db.Write(ctx, func(c sqlrecord.Conn) error {
		done = false
		m.Undone() // the run before had no effect
		last = &txn{session{Store: s, conn: c, tx: &transaction{held: map[recordID]held{}, tries: m, user: s.user(ctx)}, doubt: new(bool)}}
		if err := last.certain(ctx, f(last)); err != nil {
			return err
		}
		if !m.Answered() {
			done = true
			return nil
		}
		// Right before the commit: if the process dies earlier, the database undoes the work.
		_, err := m.Take(ctx)
		if err == nil {
			err = m.Send()
		}
		done = err == nil
		return err
	})
	err = m.Ended(err, err != nil && !errors.Is(err, backend.ErrUnsettled))
	if err == nil || !done || errors.Is(err, backend.ErrUnsettled) || errors.Is(err, backend.ErrCollision) {
		return err
	}
	for _, w := range slices.Backward(last.tx.writes) { // an error at the commit belongs to one of the writes
		if violation := w.refused(ctx, err); !errors.Is(violation, backend.ErrUnexpected) {
			return violation
		}
	}
	return s.wrap("commit", err)
}

// failure turns an engine's error into the Driver's: by the sheet's errors, else ErrUnexpected, or a
// failure of the engine.
func (s *Store) failure(err error, a sheet.Attempt) error {
	if err == nil {
		return nil
	}
	if _, violated := mapping.AsViolations(err); violated {
		return err
	}
	if f, ok := sqlrecord.FaultOf(err); ok && f.Class != sqlrecord.FaultCollision {
		if violation := s.sheet.Errors.Translate(failureOf(f), a); violation != nil {
			return violation.Because(err)
		}
	}
	return s.wrap(string(a.Op)+" "+a.Resource.Name, err)
}

// failureOf is a fault in the form that the sheet's errors match.
func failureOf(f sqlrecord.Fault) sheet.Failure {
	return sheet.Failure{SQLState: f.SQLState, Code: f.Code, Constraint: f.Constraint, Message: f.Message}
}

// wrap adds what the engine was doing. An error that the sheet does not translate is unexpected,
// unless the engine cannot work.
func (s *Store) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if err = s.suspect(err); errors.Is(err, backend.ErrChanged) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if f, ok := sqlrecord.FaultOf(err); ok && f.Class != sqlrecord.FaultDown && f.Class != sqlrecord.FaultCollision {
		err = fmt.Errorf("%w: %w", backend.ErrUnexpected, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Get implements backend.Reader.
func (t *txn) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	return t.get(ctx, r, q)
}

// List implements backend.Reader. A filter value that no record can have, because of its letters,
// fails the transaction; it could not be written either.
func (t *txn) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	page, err := t.page(ctx, r, q)
	if f := unheld(err, q.Filters); f != nil {
		err = mapping.Violations{f.Field.Invalid(f.Value.String()).Because(err)}
	}
	return page, err
}
