package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	pool    *pgxpool.Pool
	alone   *pgx.ConnConfig // of connections beside the pool, which wait for locks as long as it takes
	own     *postgresDB     // see Own
	jobs    *postgresDB     // see Jobs; both nil in what these are themselves
	dialect *Dialect
	rows    sync.Pool // of *postgresRow
	apart   apart
	log     *zap.Logger
	once    sync.Once
	closed  chan struct{}
}

var (
	_ DB       = (*postgresDB)(nil)
	_ migrator = (*postgresDB)(nil)
)

// OpenPostgres opens a PostgreSQL database. The DSN is what libpq takes, a URL
// or keywords, with pgx's own parameters (pool_max_conns,
// default_query_exec_mode=exec behind a pooler that shares connections between
// transactions, …). It fails when the database does not answer.
func OpenPostgres(ctx context.Context, dsn string, o Options) (DB, error) {
	d, err := openPools(ctx, dsn, o)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL database: %w", err)
	}
	if err := d.own.pool.Ping(ctx); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("open PostgreSQL database: %w", err)
	}
	return d, nil
}

// withoutDSN tells what pgx finds wrong with a DSN, without any of it: pgx repeats it, and
// where it is mistyped nobody knows which part is the password.
func withoutDSN(err error) error {
	wrong, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return err
	}
	words := wrong.Error()
	if cause := wrong.Unwrap(); cause != nil {
		words = strings.TrimSuffix(words, " ("+cause.Error()+")")
	}
	const end = "`: " // of what pgx repeats
	at := strings.LastIndex(words, end)
	if at < 0 {
		return errors.New("the DSN cannot be read")
	}
	return errors.New("the DSN cannot be read: " + words[at+len(end):])
}

// Own returns the same database by connections that only those have who ask for them:
// logins, and whether the database answers, wait neither for records nor for jobs. They are
// closed with db. SQLite has a reader to spare, and nothing there waits for anybody's locks.
func Own(db DB) DB {
	if d, ok := db.(*postgresDB); ok && d.own != nil {
		return d.own
	}
	return db
}

// Jobs is Own for callback jobs, whose tables somebody may lock as well.
func Jobs(db DB) DB {
	if d, ok := db.(*postgresDB); ok && d.jobs != nil {
		return d.jobs
	}
	return db
}

// openPools makes the pools. Own and Jobs share a quarter of the connections, four at most.
func openPools(ctx context.Context, dsn string, o Options) (*postgresDB, error) {
	config, err := poolConfig(dsn, o)
	if err != nil {
		return nil, err
	}
	alone := config.ConnConfig.Copy()
	boundLocks(config.ConnConfig, o.LockWait)
	aside := min(max(2, config.MaxConns/4), 4)
	config.MaxConns = max(1, config.MaxConns-aside)
	config.MinConns, config.MinIdleConns = min(config.MinConns, config.MaxConns), min(config.MinIdleConns, config.MaxConns)
	d, err := newPostgres(ctx, config, o)
	if err != nil {
		return nil, err
	}
	part := func(most int32) *pgxpool.Config {
		c := config.Copy()
		c.MaxConns, c.MinConns, c.MinIdleConns = most, 0, 0
		return c
	}
	if d.own, err = newPostgres(ctx, part(aside/2), o); err == nil {
		d.jobs, err = newPostgres(ctx, part(aside-aside/2), o)
	}
	for _, p := range d.parts() {
		p.alone = alone
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// parts are the pools of a database, itself first.
func (d *postgresDB) parts() []*postgresDB {
	all := []*postgresDB{d, d.own, d.jobs}
	return slices.DeleteFunc(all, func(p *postgresDB) bool { return p == nil })
}

// How long a host may take to let a connection in, and a connection that was not
// used for a while to show that it lives, where the DSN does not say: one that
// swallows what it is sent must not keep the next one from being tried.
const (
	connectTimeout = 5 * time.Second
	pingTimeout    = 2 * time.Second
)

// poolConfig is the configuration of a pool of all connections.
func poolConfig(dsn string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, withoutDSN(err)
	}
	if o.Readers > 0 {
		config.MaxConns = int32(max(2, o.Readers))
	} else if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = int32(max(8, 2*runtime.NumCPU()))
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	return config, nil
}

// boundLocks bounds how long a statement waits for a lock, unless the DSN does. A pooler
// refuses settings that it does not know.
func boundLocks(config *pgx.ConnConfig, wait time.Duration) {
	const setting = "lock_timeout"
	pooler := config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
	if _, said := config.RuntimeParams[setting]; wait > 0 && !said && !pooler {
		config.RuntimeParams[setting] = strconv.FormatInt(wait.Milliseconds(), 10)
	}
}

// newPostgres makes a pool of a database that need not answer yet.
func newPostgres(ctx context.Context, config *pgxpool.Config, o Options) (*postgresDB, error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	d := &postgresDB{pool: pool, dialect: Postgres(), log: o.Log, closed: make(chan struct{})}
	d.rows.New = func() any { return new(postgresRow) }
	return d, nil
}

func (d *postgresDB) Dialect() *Dialect { return d.dialect }

func (d *postgresDB) Read(ctx context.Context, f func(Conn) error) error {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return f(&postgresConn{db: d, conn: conn.Conn()})
}

// beginning begins a transaction.
type beginning func(ctx context.Context, conn *pgx.Conn) error

func begin(text string) beginning {
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text)
		return err
	}
}

const beginWrite = "begin isolation level read committed"

func (d *postgresDB) Snapshot(ctx context.Context, f func(Conn) error) error {
	return d.tx(ctx, begin("begin isolation level repeatable read read only"), func(c *postgresConn) error { return f(c) })
}

func (d *postgresDB) Write(ctx context.Context, f func(Conn) error) error {
	return d.write(ctx, begin(beginWrite), f)
}

func (d *postgresDB) write(ctx context.Context, begin beginning, f func(Conn) error) error {
	err := backend.RunAgain(ctx, func() error {
		return d.tx(ctx, begin, func(c *postgresConn) error {
			c.inWrite = true
			if err := guard(f, c); err != nil {
				return err
			}
			return c.aborted()
		})
	}, func(err error) bool { return collided(err) || d.demoted(err) })
	if collided(err) {
		err = fmt.Errorf("%w: %w", backend.ErrCollision, err)
	}
	return err
}

// rollbackTimeout bounds the undoing of a transaction whose own time may be up.
const rollbackTimeout = 2 * time.Second

// tx runs f in a transaction. An error undoes it.
func (d *postgresDB) tx(ctx context.Context, begin beginning, f func(*postgresConn) error) (err error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes a connection that is still in a transaction
	if err := begin(ctx, conn.Conn()); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(&postgresConn{db: d, conn: conn.Conn()}); err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_, _ = conn.Exec(undo, "rollback")
		return err
	}
	tag, err := conn.Exec(ctx, "commit")
	if err != nil {
		if !errors.As(err, new(*pgconn.PgError)) { // the server did not say
			err = fmt.Errorf("%w: %w", backend.ErrUnsettled, err)
		}
		return fmt.Errorf("commit: %w", postgresError(err))
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: %w", pgx.ErrTxCommitRollback)
	}
	return nil
}

func (d *postgresDB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	select {
	case <-d.closed:
		return nil, ErrClosed
	default:
	}
	conn, err := d.pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	select {
	case <-d.closed:
		return nil, ErrClosed
	default:
	}
	if ctx.Err() != nil && d.isBusy() {
		err = fmt.Errorf("%w: %w", backend.ErrBusy, err)
	}
	return nil, fmt.Errorf("wait for a connection: %w", err)
}

// isBusy tells whether all connections are in use, and none of them is being made.
func (d *postgresDB) isBusy() bool {
	stat := d.pool.Stat()
	return stat.AcquiredConns() >= stat.MaxConns()
}

// Ping asks over a new connection where all are in use: whoever keeps them waiting, the
// database may answer.
func (d *postgresDB) Ping(ctx context.Context) error {
	if !d.isBusy() {
		return d.pool.Ping(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, d.alone)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

func (d *postgresDB) Close() error {
	for _, p := range d.parts() {
		p.end()
	}
	for _, p := range d.parts() {
		p.apart.end()
		p.pool.Close()
	}
	return nil
}

// end lets nobody have a connection any more.
func (d *postgresDB) end() { d.once.Do(func() { close(d.closed) }) }

// collided tells whether PostgreSQL ended a transaction because of another one,
// so that it may succeed when it is run again: serialization failure, deadlock, a lock
// that was not to be had in time.
func collided(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01") || lockedOut(err)
}

// demoted tells whether the server refused a write because it takes none, or no
// more: another one is the primary now. The connections of the pool end, so that
// the next ones are made to the host that the DSN leads to by then.
func (d *postgresDB) demoted(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "25006" { // read-only transaction
		return false
	}
	d.pool.Reset()
	return true
}

// inUse tells of the delete of a record that others refer to where they are.
// PostgreSQL names their table; SQLite does not.
func inUse(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23503" { // foreign key
		return &backend.StaleError{Told: mapping.Fail(mapping.InUse, mapping.Literal("id"), mapping.Literal(pg.TableName)), Err: err}
	}
	return err
}

// postgresError puts an error of PostgreSQL into the words of DB.
func postgresError(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "23505", "23503", "23P01": // unique, foreign key, exclusion
		return fmt.Errorf("%w: %w", backend.ErrStale, err)
	case "55P03": // lock not available: what a read waited for, too
		return fmt.Errorf("%w: %w", backend.ErrCollision, err)
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "22", "23": // of a value alone: too large, no text, check, not null
		return fmt.Errorf("%w: %w", backend.ErrUnexpected, err)
	default:
		return err
	}
}
