package sqlrecord

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// migrated writes nothing, so that a start needs no room on the disk.
func (d *sqliteDB) migrated(ctx context.Context, m Migrations) (done bool, err error) {
	if columns, err := columnNames(ctx, d, m.Table); err != nil || len(columns) == 0 {
		return false, nil // migrating reports the error better
	}
	db, err := d.open(url.Values{"mode": {"ro"}, "_pragma": {busyTimeout}})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := m.provider(db, goose.DialectSQLite3)
	if err != nil {
		return false, err
	}
	pending, err := p.HasPending(ctx)
	return err == nil && !pending, nil
}

// busyTimeout is how long goose's statements wait for another process.
const busyTimeout = "busy_timeout(10000)"

// open opens the file for goose.
func (d *sqliteDB) open(options url.Values) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.path}).EscapedPath(), RawQuery: options.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// migrating locks a file next to the database meanwhile: goose begins
// and ends transactions of its own, so that the database's lock cannot serve.
// The lock ends with the process.
func (d *sqliteDB) migrating(ctx context.Context, f func(*sql.DB, goose.Dialect, ...goose.ProviderOption) error) (err error) {
	lock, err := sqlite.OpenConn(d.path+"-migrate", sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return fmt.Errorf("open the lock file: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	lock.SetInterrupt(ctx.Done())
	if err := sqlitex.ExecuteTransient(lock, "BEGIN EXCLUSIVE", nil); err != nil {
		return fmt.Errorf("wait for another process that migrates: %w", err)
	}
	db, err := d.open(url.Values{"_pragma": {busyTimeout, "foreign_keys(1)"}, "_txlock": {"immediate"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db, goose.DialectSQLite3)
}
