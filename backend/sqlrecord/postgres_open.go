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
	d, err := openPostgresDB(ctx, dsn, o)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL database: %w", err)
	}
	return d, nil
}

func openPostgresDB(ctx context.Context, dsn string, o Options) (DB, error) {
	d, err := openPools(ctx, dsn, o, false)
	if refusesSettings(err) {
		d, err = openPools(ctx, dsn, o, true)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// JudgePostgres returns the error that OpenPostgres would find in a DSN, without
// connecting.
func JudgePostgres(dsn string) error {
	_, err := poolConfig(dsn, Options{})
	return err
}

// withoutDSN returns what pgx finds wrong with a DSN, without the DSN itself: pgx repeats
// it, and in a mistyped DSN any part may be the password.
func withoutDSN(err error) error {
	wrong, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return err
	}
	words, cause := wrong.Error(), wrong.Unwrap()
	if cause != nil {
		words = strings.TrimSuffix(words, " ("+cause.Error()+")")
	}
	const end = "`: " // ends the DSN that pgx repeats
	at := strings.LastIndex(words, end)
	if at < 0 {
		return errors.New("the DSN cannot be read")
	}
	words = "the DSN cannot be read: " + words[at+len(end):]
	if strings.HasSuffix(words, "TLS") { // TLS errors name files, and nothing else from a DSN
		return fmt.Errorf("%s: %w", words, cause)
	}
	return errors.New(words)
}

// Reserved returns the same database with connections of its own, for logins and health
// checks, so that these wait neither for records nor for jobs. They are closed with db.
// With SQLite it returns db: one reader is reserved, and readers wait for no locks.
func Reserved(db DB) DB {
	switch d := db.(type) {
	case *postgresDB:
		if d.reserved != nil {
			return d.reserved
		}
	case *mysqlDB:
		if d.reserved != nil {
			return d.reserved
		}
	}
	return db
}

// Jobs is like Reserved, for callback jobs, because others may lock their tables as well.
func Jobs(db DB) DB {
	if d, ok := db.(*postgresDB); ok && d.jobs != nil {
		return d.jobs
	}
	return db
}

// openPools makes the pools of a database that answers. Reserved and Jobs share a quarter
// of the connections, at most four. Another program's database has no jobs.
func openPools(ctx context.Context, dsn string, o Options, pooled bool) (*postgresDB, error) {
	config, err := poolConfig(dsn, o)
	if err != nil {
		return nil, err
	}
	alone, wait := takeLockWait(config.ConnConfig, o.LockWait, pooled)
	least := int32(2)
	if o.foreign != nil {
		least = 1
	}
	reserved := min(max(least, config.MaxConns/4), 4)
	config.MaxConns = max(1, config.MaxConns-reserved)
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
	if o.foreign != nil {
		d.reserved, err = newPostgres(ctx, part(reserved), o)
	} else if d.reserved, err = newPostgres(ctx, part(reserved/2), o); err == nil {
		d.jobs, err = newPostgres(ctx, part(reserved-reserved/2), o)
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

// parts returns the pools of a database, d first.
func (d *postgresDB) parts() []*postgresDB {
	all := []*postgresDB{d, d.reserved, d.jobs}
	return slices.DeleteFunc(all, func(p *postgresDB) bool { return p == nil })
}

// These defaults, if the DSN has none, bound how long a host may take to accept a
// connection, and an idle connection to show that it still works. Without them a host that
// drops packets silently would keep the next host from being tried.
const (
	connectTimeout = 5 * time.Second
	pingTimeout    = 2 * time.Second
)

// poolConfig returns the configuration of a pool with all connections.
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
