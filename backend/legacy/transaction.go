package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// txn is the Driver within a transaction.
type txn struct{ session }

var (
	_ backend.Driver     = (*txn)(nil)
	_ backend.Prober     = (*txn)(nil)
	_ backend.Rememberer = (*txn)(nil)
)

// transaction is what is known of one under way.
type transaction struct {
	held  map[recordID]heldRecord
	after []func(context.Context, conn) error // once it has ended, on its connection
	memo  *memo
}

// transactionTries is how often a transaction is run that the engine ends
// because of others. They are ended in favour of one that goes on, so that of n
// transactions that all want the same the last comes through in the n-th round.
const transactionTries = 24

// inTx runs f in a transaction, again where the engine ended it for another one.
// What is left of the answers under idempotency keys is settled at the end.
func (s *Store) inTx(ctx context.Context, f func(*txn) error) error {
	m := &memo{}
	var err error
	for try := 1; ; try++ {
		if err = s.once(ctx, m, f); !s.collided(err) || try == transactionTries || ctx.Err() != nil {
			break
		}
		s.log.Debug("transaction is run again", zap.Int("try", try), zap.Error(err))
		if !pause(ctx, try) {
			break
		}
	}
	if s.collided(err) {
		err = fmt.Errorf("%w: %w", backend.ErrConstraint, err)
	}
	return s.settle(ctx, m, err)
}

// collided tells whether the engine ended a transaction because of another one.
// What a client is told meanwhile, and what is unclear, is not run again.
func (s *Store) collided(err error) bool {
	if err == nil || errors.Is(err, errUnclear) {
		return false
	}
	if _, ok := mapping.AsViolations(err); ok {
		return false
	}
	f, ok := s.d.fault(err)
	return ok && f.class == faultCollision
}

// pause waits a little, longer with every try and never equally long for two.
func pause(ctx context.Context, try int) bool {
	t := time.NewTimer(rand.N(time.Duration(min(try, 8)) * 4 * time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// errUnclear says that a commit was asked for and not answered: nobody knows
// whether it happened.
var errUnclear = fmt.Errorf("the end of the transaction is unknown: %w", backend.ErrUnsettled)

// cleanupTimeout bounds what must still be done once a call's time is up.
const cleanupTimeout = 2 * time.Second

// once runs f in one transaction, on a connection of its own.
func (s *Store) once(ctx context.Context, m *memo, f func(*txn) error) (err error) {
	c, tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // an error of it was one of the transaction before
	t := &txn{session{Store: s, conn: tx, tx: &transaction{held: map[recordID]heldRecord{}, memo: m}}}
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
	committed = true
	return s.commit(tx)
}

// afterwards gives back what is not the transaction's but the connection's. One
// that fails at it is thrown away, which gives back all.
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

func (s *Store) commit(tx *sql.Tx) error {
	err := tx.Commit()
	if err == nil {
		return nil
	}
	f, ok := s.d.fault(err)
	switch {
	case !ok || f.class == faultDown:
		return fmt.Errorf("commit: %w: %w", errUnclear, err)
	case f.class == faultUnique || f.class == faultForeign: // one that is only judged now
		return fmt.Errorf("commit: %w: %w", backend.ErrConstraint, err)
	default:
		return fmt.Errorf("commit: %w", err)
	}
}

// failure turns an error of the engine into what a Driver answers: what the sheet
// translates, ErrConstraint for what the rules may find out, and else a failure.
func (s *Store) failure(err error, a sheet.Attempt) error {
	if err == nil {
		return nil
	}
	f, ok := s.d.fault(err)
	if !ok || f.class == faultCollision {
		return fmt.Errorf("%s %s: %w", a.Op, a.Resource.Name, err)
	}
	if s.sheet.Errors != nil {
		if told := s.sheet.Errors.Translate(f.Failure, a); told != nil {
			return told.Because(err)
		}
	}
	switch f.class {
	case faultUnique, faultForeign:
		return fmt.Errorf("%w: %s %s: %w", backend.ErrConstraint, a.Op, a.Resource.Name, err)
	case faultDown:
		return fmt.Errorf("%s %s: %w", a.Op, a.Resource.Name, err)
	default:
		return fmt.Errorf("%w: %s %s: %w", backend.ErrUnexpected, a.Op, a.Resource.Name, err)
	}
}

// Get implements backend.Driver.
func (t *txn) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	held, err := t.get(ctx, r, q)
	return held.rec, err
}

// List implements backend.Driver.
func (t *txn) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	return t.list(ctx, r, q)
}

// Exists implements backend.Prober.
func (t *txn) Exists(ctx context.Context, client auth.Client, r *mapping.Resource, id int32) (bool, error) {
	return t.exists(ctx, client, r, id)
}

// Close implements backend.Driver: a transaction ends with the function that it
// was made for.
func (t *txn) Close() error { return errors.New("a transaction cannot be closed") }
