package sqlrecord

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// A migration that changes a table waits for all readers of the table, and later readers
// wait for the migration. So the migration gives up soon, lets them through, and tries
// again. It waits longer than PostgreSQL's deadlock_timeout of a second, after which
// PostgreSQL cancels its own vacuuming of the table.
const (
	lockWait  = "2s"
	lockPause = 3 * time.Second
)

// commitPause is the time between two checks whether another process's work is committed.
const commitPause = 100 * time.Millisecond

// migrationTurns is how often, once a second, a process checks whether another one has
// finished migrating.
const migrationTurns = 3600

// migrating leaves locking to goose, which holds a lock in the database. It uses
// connections of its own, with time-outs of their own.
func (d *postgresDB) migrating(ctx context.Context, f func(*sql.DB, goose.Dialect, ...goose.ProviderOption) error) (err error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, migrationTurns), lock.WithUnlockTimeout(1, 60))
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*d.alone, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SELECT set_config('lock_timeout', '"+lockWait+"', false), set_config('statement_timeout', '0', false)")
		return err
	}))
	defer func() { err = errors.Join(err, db.Close()) }()
	for {
		err := f(db, goose.DialectPostgres, goose.WithSessionLocker(locker))
		if !collided(err) {
			return err
		}
		d.options.Log.Warn("the migration waits for a table that is in use; meanwhile requests go on",
			zap.Error(err), zap.String("oldest_transaction", oldestTransaction(ctx, db)))
		if auth.Sleep(ctx, lockPause) != nil {
			return err
		}
	}
}

// oldestTransaction describes the transaction that has been open the longest, since the
// migration most likely waits for that.
func oldestTransaction(ctx context.Context, db *sql.DB) string {
	const text = `SELECT pid, coalesce(application_name, ''), extract(epoch FROM clock_timestamp() - xact_start)::bigint FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1`
	var pid, seconds int64
	var name string
	if err := db.QueryRowContext(ctx, text).Scan(&pid, &name, &seconds); err != nil {
		return "not known" // it has ended, or this role may not see it
	}
	return fmt.Sprintf("pid %d %q, for %s", pid, name, time.Duration(seconds)*time.Second)
}

// online takes the step to a version of the model without delaying readers and writers
// for long. It leaves what exists alone, so that an interrupted step can be resumed.
func (d *postgresDB) online(ctx context.Context, db *sql.DB, s schema, version int) error {
	step := &onlineStep{schema: s, db: db, log: d.options.Log}
	if err := step.newTables(ctx, version); err != nil {
		return err
	}
	for _, r := range s.model.Resources {
		fields := s.fieldsOf(r, version)
		if r.Since == version || len(fields) == 0 {
			continue
		}
		have, err := columnNames(ctx, d, r.Name)
		if err != nil {
			return err
		}
		if err := step.columns(ctx, r, fields, have); err != nil {
			return err
		}
		for _, f := range fields {
			if err := step.foreignKey(ctx, r, f); err != nil {
				return err
			}
		}
		for _, i := range s.indexesOf(r, fields) {
			if err := step.index(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlineStep takes a step in PostgreSQL while the database serves others.
type onlineStep struct {
	schema
	db  *sql.DB
	log *zap.Logger
}

// ask runs a query for one boolean; false if it has no row.
func (o *onlineStep) ask(ctx context.Context, text string, args ...any) (is, there bool, err error) {
	err = o.db.QueryRowContext(ctx, text, args...).Scan(&is)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return is, err == nil, err
}

// newTables creates the tables that do not exist, with their indexes and keys, in one
// transaction: nobody uses them yet.
func (o *onlineStep) newTables(ctx context.Context, version int) error {
	var missing []*mapping.Resource
	for _, r := range o.broughtBy(version) {
		is, _, err := o.ask(ctx, "SELECT to_regclass($1) IS NOT NULL", o.d.Quote(r.Name))
		if err != nil {
			return err
		}
		if !is {
			missing = append(missing, r)
		}
	}
	texts := o.schema.newTables(version, missing)
	if len(texts) == 0 {
		return nil
	}
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(ctx, tx, texts...); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// columns adds the missing columns; it takes no lock if none is missing.
func (o *onlineStep) columns(ctx context.Context, r *mapping.Resource, fields []*mapping.Field, have []string) error {
	var add []string
	for _, f := range fields {
		if !slices.Contains(have, f.Name) {
			add = append(add, "ADD COLUMN "+o.column(f))
		}
	}
	if len(add) == 0 {
		return nil
	}
	return run(ctx, o.db, "ALTER TABLE "+o.d.Quote(r.Name)+" "+strings.Join(add, ", "))
}

// foreignKey adds the foreign key of a field, if the field has one, in two steps: writers
// wait for the first, which is short, but not for the second, which reads the table.
func (o *onlineStep) foreignKey(ctx context.Context, r *mapping.Resource, f *mapping.Field) error {
	if !o.refers(f) {
		return nil
	}
	name := o.keyName(r, f)
	valid, there, err := o.ask(ctx, "SELECT convalidated FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2",
		o.d.Quote(r.Name), bare(name))
	if err != nil || valid {
		return err
	}
	if !there {
		if err := run(ctx, o.db, o.addKey(r, f)+" NOT VALID"); err != nil {
			return err
		}
	}
	return run(ctx, o.db, "ALTER TABLE "+o.d.Quote(r.Name)+" VALIDATE CONSTRAINT "+name)
}

// index builds an index while others write. The build ends only after all transactions
// that were open before it, so it may wait for any length of time.
func (o *onlineStep) index(ctx context.Context, i index) (err error) {
	valid, there, err := o.hasIndex(ctx, i)
	if err != nil || valid {
		return err
	}
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := run(ctx, conn, "SET lock_timeout = 0"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, run(context.WithoutCancel(ctx), conn, "SET lock_timeout = '"+lockWait+"'"))
	}()
	if there {
		if valid, err = o.unfinished(ctx, conn, i); err != nil || valid {
			return err
		}
	}
	begun := time.Now()
	o.log.Info("the migration builds an index; meanwhile requests go on", zap.String("index", bare(i.name)))
	if err := run(ctx, conn, i.create("CONCURRENTLY ")); err != nil {
		return err
	}
	o.log.Info("the migration has built an index", zap.String("index", bare(i.name)), zap.Duration("took", time.Since(begun)))
	return nil
}

func (o *onlineStep) hasIndex(ctx context.Context, i index) (valid, there bool, err error) {
	return o.ask(ctx, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", i.name)
}

// unfinished handles an index that is not valid. The server may still be building it for a
// process that was killed; if not, the index is useless and is dropped.
func (o *onlineStep) unfinished(ctx context.Context, conn *sql.Conn, i index) (valid bool, err error) {
	if err := run(ctx, conn, "DO $$ BEGIN LOCK TABLE "+i.table+" IN SHARE UPDATE EXCLUSIVE MODE; END $$"); err != nil {
		return false, err
	}
	if err := o.committed(ctx, i); err != nil {
		return false, err
	}
	if valid, _, err = o.hasIndex(ctx, i); err != nil || valid {
		return valid, err
	}
	return false, run(ctx, conn, "DROP INDEX CONCURRENTLY "+i.name)
}

// committed waits for the process that has marked the index as valid: a build releases its
// lock on the table before it commits, and the commit may wait for a standby.
func (o *onlineStep) committed(ctx context.Context, i index) error {
	const text = `SELECT EXISTS (SELECT FROM pg_index i JOIN pg_locks l ON l.transactionid = i.xmax WHERE i.indexrelid = to_regclass($1))`
	for {
		if open, _, err := o.ask(ctx, text, i.name); err != nil || !open {
			return err
		}
		if err := auth.Sleep(ctx, commitPause); err != nil {
			return err
		}
	}
}

// bare returns a name without its quotes.
func bare(name string) string { return strings.Trim(name, `"`) }
