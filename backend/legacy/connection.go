package legacy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// begin starts a transaction on a connection of its own. A pooled connection that has died is
// noticed here, before anything is written, and replaced.
func (s *Store) begin(ctx context.Context) (*sql.Conn, *sql.Tx, error) {
	for try := 0; ; try++ {
		c, err := s.db.Conn(ctx)
		if err != nil {
			if stats := s.db.Stats(); ctx.Err() != nil && stats.InUse >= stats.MaxOpenConnections {
				err = fmt.Errorf("%w: %w", backend.ErrBusy, err)
			}
			return nil, nil, fmt.Errorf("wait for a connection: %w", err)
		}
		tx, err := c.BeginTx(ctx, s.d.begin())
		if err == nil {
			return c, tx, nil
		}
		_ = c.Close() // what is wrong with it is told
		if !s.died(ctx, err) || try == s.source.Connections {
			return nil, nil, fmt.Errorf("begin: %w", err)
		}
	}
}

// read runs f outside of a transaction.
func (s *Store) read(ctx context.Context, f func(session) error) error {
	on := session{Store: s, conn: s.db}
	if s.kept != nil {
		on.conn = s.kept
	}
	return on.again(ctx, f)
}

// again runs f, and runs it again if a pooled connection turned out to have died.
func (s session) again(ctx context.Context, f func(session) error) error {
	for try := 0; ; try++ {
		err := f(s)
		if !s.died(ctx, err) || try == s.source.Connections {
			return err
		}
	}
}

// readAtOnce is read in one snapshot of the database, for work that takes several statements.
func (s *Store) readAtOnce(ctx context.Context, f func(session) error) error {
	return s.read(ctx, func(on session) error {
		tx, err := s.db.BeginTx(ctx, s.d.snapshot())
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer func() { _ = tx.Rollback() }() // it only reads
		if on.conn = tx; s.kept != nil {
			on.conn = preparedTx{tx, s.kept}
		}
		return f(on)
	})
}

// died tells whether an error is that of a connection, or of what it keeps, that worked before.
// A server that cannot be reached is not tried again.
func (s *Store) died(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || errors.Is(err, backend.ErrOwnStore) || errors.Is(err, backend.ErrNotFound) || errors.Is(err, backend.ErrUnexpected) || errors.Is(err, backend.ErrStale) {
		return false
	}
	if _, ok := mapping.AsViolations(err); ok {
		return false
	}
	if f, ok := s.d.fault(err); ok {
		// PostgreSQL's "cached plan must not change result type": a column was altered since
		// this connection prepared the statement, which it has forgotten now.
		return s.d.engine() == "postgres" && f.SQLState == "0A000"
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "dial"
}
