package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// postgresDB is a PostgreSQL database behind a pool of connections.
type postgresDB struct {
	pool     *pgxpool.Pool
	alone    *pgx.ConnConfig // of connections outside of the pool, which wait for locks without a limit
	bound    string          // statement that bounds the wait for locks in each transaction; "" if a setting of the connection does
	reserved *postgresDB     // see Reserved
	jobs     *postgresDB     // see Jobs; both nil in the reserved and jobs pools themselves
	dialect  *Dialect
	rows     sync.Pool // of *rowSpace
	longWork
	options Options
	closed  atomic.Bool
}

var _ engine = (*postgresDB)(nil)

// newPostgres makes a pool for a database that need not answer yet.
func newPostgres(ctx context.Context, config *pgxpool.Config, o Options) (*postgresDB, error) {
	config.AfterConnect = o.beginSession
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	d := &postgresDB{pool: pool, dialect: cmp.Or(o.foreign, Postgres()), options: o}
	d.rows.New = func() any { return new(rowSpace) }
	return d, nil
}

func (d *postgresDB) Dialect() *Dialect { return d.dialect }

func (d *postgresDB) Read(ctx context.Context, f func(Conn) error) error {
	if d.bound != "" {
		return d.tx(ctx, d.begin(beginWrite), func(c *postgresConn) error { return f(c) })
	}
	return d.read(ctx, f)
}

// read is Read; its statements run without a common transaction.
func (d *postgresDB) read(ctx context.Context, f func(Conn) error) error {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return f(&postgresConn{db: d, conn: conn.Conn()})
}

// beginning begins a transaction.
type beginning func(ctx context.Context, conn *pgx.Conn) error

func (d *postgresDB) begin(text string) beginning {
	if d.bound != "" {
		text += "; " + d.bound // one round trip
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text)
		return err
	}
}

const beginWrite = "begin isolation level read committed"

// withoutJIT keeps PostgreSQL from compiling a statement, which takes it longer than to run one
// that reads a few rows of a large table.
const withoutJIT = "set local jit = off"

func (d *postgresDB) Snapshot(ctx context.Context, f func(Conn) error) error {
	if d.options.foreign == nil {
		return d.snapshot(ctx, f)
	}
	return backend.RunAgain(ctx, func() error { return d.snapshot(ctx, f) }, d.replanning())
}

func (d *postgresDB) snapshot(ctx context.Context, f func(Conn) error) error {
	return d.tx(ctx, d.begin("begin isolation level repeatable read read only; "+withoutJIT), func(c *postgresConn) error { return f(c) })
}

func (d *postgresDB) dedicated(ctx context.Context) (snapshotter, error) {
	config := d.pool.Config()
	config.ConnConfig, config.MaxConns, config.MinConns, config.MinIdleConns = d.alone.Copy(), 1, 0, 0
	one, err := newPostgres(ctx, config, d.options)
	return once{one}, err
}

// once is a database that never runs a snapshot again: its caller may have passed on what was read.
type once struct{ *postgresDB }

func (d once) Snapshot(ctx context.Context, f func(Conn) error) error { return d.snapshot(ctx, f) }

func (d *postgresDB) Write(ctx context.Context, f func(Conn) error) error {
	if d.options.foreign != nil {
		return d.write(ctx, d.begin(beginSerializable), f)
	}
	return d.write(ctx, d.begin(beginWrite), f)
}

func (d *postgresDB) write(ctx context.Context, begin beginning, f func(Conn) error) error {
	again := d.replanning()
	err := backend.RunAgain(ctx, func() error {
		return d.tx(ctx, begin, func(c *postgresConn) error {
			c.inWrite = true
			if err := guard(f, c); err != nil {
				return err
			}
			return c.flush(ctx)
		})
	}, func(err error) bool { return collided(err) || d.demoted(err) || again(err) })
	return asCollision(err)
}

// rollbackTimeout bounds a rollback, because the transaction's own time may be up.
const rollbackTimeout = 2 * time.Second

// tx runs f in a transaction. An error undoes it.
func (d *postgresDB) tx(ctx context.Context, begin beginning, f func(*postgresConn) error) (err error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // closes a connection that is still in a transaction
	if err := begin(ctx, conn.Conn()); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(&postgresConn{db: d, conn: conn.Conn()}); err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_, _ = conn.Exec(undo, "rollback")
		return err
	}
	backend.Asking(ctx, "COMMIT")
	tag, err := conn.Exec(ctx, "commit")
	if err != nil {
		if !errors.As(err, new(*pgconn.PgError)) { // the outcome is unknown
			err = fmt.Errorf("%w: %w", backend.ErrUnsettled, err)
		}
		return fmt.Errorf("commit: %w", d.options.translate(err))
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: %w", pgx.ErrTxCommitRollback)
	}
	return nil
}

func (d *postgresDB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	conn, err := d.pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	if d.closed.Load() {
		return nil, ErrClosed
	}
	if ctx.Err() != nil && d.isBusy() {
		err = fmt.Errorf("%w: %w", backend.ErrBusy, err)
	}
	return nil, fmt.Errorf("wait for a connection: %w", err)
}

// isBusy reports whether all connections are in use, and no new one is being made.
func (d *postgresDB) isBusy() bool {
	stat := d.pool.Stat()
	return stat.AcquiredConns() >= stat.MaxConns()
}

// Ping uses a new connection if all are in use, because the database may answer although
// they are busy. Ping also does so if its connection has broken, because another server
// may have taken over by now.
func (d *postgresDB) Ping(ctx context.Context) error {
	if !d.isBusy() && d.pool.Ping(ctx) == nil {
		return nil
	}
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

func (d *postgresDB) Close() error {
	for _, p := range d.parts() {
		p.closed.Store(true)
	}
	for _, p := range d.parts() {
		p.longWork.end()
		p.pool.Close()
	}
	return nil
}

// demoted reports whether the server refused a write because it is read-only, or has become
// so: another server is the primary now. It closes the connections of the pool, so that
// the next ones go to the host that the DSN resolves to by then.
func (d *postgresDB) demoted(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "25006" { // read-only transaction
		return false
	}
	d.pool.Reset()
	return true
}

// inUse turns the failed delete of a record that is still referred to into an error that
// names the referring table. PostgreSQL reports that table; SQLite does not.
func inUse(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23503" { // foreign key
		return &backend.StaleError{Fallback: mapping.Fail(mapping.InUse, mapping.Literal("id"), mapping.Literal(pg.TableName)), Err: err}
	}
	return err
}

// translate turns an error of PostgreSQL into the errors that DB promises. Violated constraints of
// another program's database are left to FaultOf: only the caller knows whether they mean ErrStale.
func (o Options) translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case collided(err): // a read may wait for a lock, too
		return asCollision(err)
	case o.foreign != nil:
		return err
	case pg.Code == "23505", pg.Code == "23503", pg.Code == "23P01": // unique, foreign key, exclusion
		return fmt.Errorf("%w: %w", backend.ErrStale, err)
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "22", "23": // constraint on a single value: too large, not text, check, not null
		return fmt.Errorf("%w: %w", backend.ErrUnexpected, err)
	default:
		return err
	}
}
