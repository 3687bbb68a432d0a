package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// OpenPostgres opens a PostgreSQL database. The DSN is what libpq takes, a URL
// or keywords, with pgx's own parameters (pool_max_conns,
// default_query_exec_mode=exec behind a pooler that shares connections between
// transactions, …). It fails when the database does not answer.
func OpenPostgres(ctx context.Context, dsn string, o Options) (DB, error) {
	d, err := openPools(ctx, dsn, o, false)
	if refusesSettings(err) {
		d, err = openPools(ctx, dsn, o, true)
	}
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL database: %w", err)
	}
	return d, nil
}

// JudgePostgres tells what is wrong with a DSN, as OpenPostgres would, without connecting.
func JudgePostgres(dsn string) error {
	_, err := poolConfig(dsn, Options{})
	return err
}

// withoutDSN tells what pgx finds wrong with a DSN, without any of it: pgx repeats it, and
// where it is mistyped nobody knows which part is the password.
func withoutDSN(err error) error {
	wrong, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return err
	}
	words, cause := wrong.Error(), wrong.Unwrap()
	if cause != nil {
		words = strings.TrimSuffix(words, " ("+cause.Error()+")")
	}
	const end = "`: " // of what pgx repeats
	at := strings.LastIndex(words, end)
	if at < 0 {
		return errors.New("the DSN cannot be read")
	}
	words = "the DSN cannot be read: " + words[at+len(end):]
	if strings.HasSuffix(words, "TLS") { // whose causes name files, and nothing else of a DSN
		return fmt.Errorf("%s: %w", words, cause)
	}
	return errors.New(words)
}

// Reserved returns the same database by connections that only those have who ask for them:
// logins, and whether the database answers, wait neither for records nor for jobs. They are
// closed with db. SQLite has a reader to spare, and nothing there waits for anybody's locks.
func Reserved(db DB) DB {
	if d, ok := db.(*postgresDB); ok && d.reserved != nil {
		return d.reserved
	}
	return db
}

// Jobs is Reserved for callback jobs, whose tables somebody may lock as well.
func Jobs(db DB) DB {
	if d, ok := db.(*postgresDB); ok && d.jobs != nil {
		return d.jobs
	}
	return db
}

// openPools makes the pools of a database that answers. Reserved and Jobs share a quarter of the
// connections, four at most.
func openPools(ctx context.Context, dsn string, o Options, pooled bool) (*postgresDB, error) {
	config, err := poolConfig(dsn, o)
	if err != nil {
		return nil, err
	}
	alone, wait := takeLockWait(config.ConnConfig, o.LockWait, pooled)
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
	if d.reserved, err = newPostgres(ctx, part(aside/2), o); err == nil {
		d.jobs, err = newPostgres(ctx, part(aside-aside/2), o)
	}
	if err == nil {
		err = d.boundLocks(ctx, wait)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, p := range d.parts() {
		p.alone = alone
	}
	return d, nil
}

// parts are the pools of a database, itself first.
func (d *postgresDB) parts() []*postgresDB {
	all := []*postgresDB{d, d.reserved, d.jobs}
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
