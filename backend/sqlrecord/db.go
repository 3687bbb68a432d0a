// Package sqlrecord keeps records in tables of an SQL database: one table per
// resource, one column per field. The built-in administration and an existing
// SQL database behind a mapping sheet share it; what differs between engines is
// one small file per dialect.
//
// It knows tables, columns and transactions, but no business rules: those belong to
// package backend, and the derived records of the built-in administration to package
// reference.
package sqlrecord

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pressly/goose/v3"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// ErrClosed says that the database was closed.
var ErrClosed = errors.New("sqlrecord: database is closed")

// DB is one SQL database. Implementations are safe for concurrent use.
type DB interface {
	// Read runs f on a connection where every statement sees everything that was committed
	// before that statement.
	Read(ctx context.Context, f func(Conn) error) error
	// Snapshot is like Read, but all statements of f see the database as it was at the
	// first statement.
	Snapshot(ctx context.Context, f func(Conn) error) error
	// Write runs f in a transaction and returns when it is durable. An error of f, of any
	// of its statements, or of the commit undoes all of it. If ctx ends before f begins, f
	// does not run; if it ends later, the running statement is interrupted. Several writes
	// may share one commit, and f may be run more than once. Errors of constraints that
	// involve other rows (unique, foreign key) wrap backend.ErrStale; errors of
	// constraints on a single value wrap backend.ErrUnexpected.
	//
	// f may run on another goroutine, and must not call Write itself.
	Write(ctx context.Context, f func(Conn) error) error
	// Dialect returns the SQL dialect of the engine.
	Dialect() *Dialect
	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
	// Close ends all work and waits for it; calls after it fail with ErrClosed.
	Close() error
}

// shared is what this package needs of every DB in addition.
type shared interface {
	DB
	backend.Pooler
	works() *longWork
	// dedicated opens a connection of its own, outside of the pools.
	dedicated(ctx context.Context) (snapshotter, error)
}

// engine is what this package needs of a DB that has our own tables.
type engine interface {
	shared
	// migrated reports whether nothing is left to migrate. It is called before migrating, which
	// may be impossible: the disk is full, or a pooler gives the connection to another client
	// after each transaction, which loses locks and settings of the session. migrated fails if
	// a migration is left that must not run through this connection.
	migrated(ctx context.Context, m Migrations) (done bool, err error)
	// migrating runs f with a database/sql handle on the same database, while no other
	// process migrates it.
	migrating(ctx context.Context, f func(db *sql.DB, d goose.Dialect, o ...goose.ProviderOption) error) error
	// writeDated is Write in a transaction that has a moment.
	writeDated(ctx context.Context, now func() time.Time, f func(Conn, time.Time) error) error
	// until returns a moment: every change that is dated before it is visible to the next read;
	// 0 if the database does not know one.
	until(ctx context.Context, now func() time.Time) (ms int64, err error)
}

// Conn runs statements. It belongs to one goroutine, and only inside the
// function that was given it. Placeholders are ?1, ?2, … with both engines, so that a
// statement must have no other question mark; PostgreSQL's own $1, $2, … , which
// Dialect.Placeholder writes, are taken as they are. See OpenForeign for those of other
// programs' databases.
//
// After a statement inside Write has failed, all further ones fail, with every engine.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Insert runs an INSERT that ends in Dialect.ReturnID, and returns the id
	// of the new row.
	Insert(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Query runs a statement and calls each for every row. The slice is reused between
	// calls; the values in it may be kept. each must not use the connection. An error of
	// each ends the query; after ErrEnough the rest of the result is not fetched, if the
	// engine can skip it.
	Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func(row []mapping.Value) error) error
}

// working is what a connection knows of its writing transaction.
type working struct {
	inWrite bool  // a failed statement ends the transaction
	failed  error // of the first statement that failed in it
}

func (w *working) aborted() error {
	if w.failed != nil {
		return fmt.Errorf("transaction has failed before: %w", w.failed)
	}
	return nil
}

// note returns the error of a statement.
func (w *working) note(err error) error {
	if w.inWrite && w.failed == nil {
		w.failed = err
	}
	return err
}

// CanHold reports whether a database may be queried for a text at all: PostgreSQL answers
// other texts with an error.
func CanHold(text string) bool { return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) }

// Column says how a result column is read. A SQL NULL is mapping.NullValue.
type Column struct {
	Type  mapping.Datatype
	Scale int // Float8: decimals kept; -1 for plain floating point

	// Foreign says that the column belongs to another program: its value is read as Type from
	// whatever type the engine sends. A value that cannot be read so is absent: a number that is
	// too large, a day that no calendar has, bytes in a text that are not UTF-8.
	Foreign bool
	// Zone is the zone of a foreign Timestamp that names none; nil is UTC.
	Zone *time.Location
	// Kind is Epoch or EpochMillis for a foreign Timestamp that is kept so; "" if the engine's type,
	// or the text, says what it is.
	Kind string
	// Sort is Sort.OfResult of the column when the schema was read. If the result has another, the
	// query fails with FaultSchema, because comparisons and orders were made for the old sort.
	Sort Sort
}

// retypedError says that a column of a result has values of another sort than it had.
type retypedError struct{ column int }

func (e retypedError) Error() string {
	return fmt.Sprintf("column %d of a result has another type than it had", e.column+1)
}

// sorted compares the sorts of a result with what its columns had.
func sorted(columns []Column, of func(i int) Sort) error {
	for i := range columns {
		if columns[i].Sort == "" {
			continue
		}
		if now := of(i); now != "" && now != columns[i].Sort {
			return retypedError{i}
		}
	}
	return nil
}

// The kinds of foreign timestamps that are numbers.
const (
	Epoch       = "epoch"        // seconds since 1970, perhaps with a fraction
	EpochMillis = "epoch_millis" // milliseconds since 1970
)

// Options tune a database. The zero value is good for a server.
type Options struct {
	// Readers bounds concurrent reads. On SQLite it is the number of connections that read
	// (default: twice as many as cores, at least 4); one more is reserved for work other than
	// calls, and the writer has its own. On PostgreSQL it is the number of all
	// connections (default: what the DSN says, else 8 or twice as many as cores).
	Readers int
	// LockWait bounds how long a write waits while another process holds SQLite's write
	// lock (default 10 s), or how long any statement waits for a lock of another
	// PostgreSQL transaction (default: what the DSN or the server says). An earlier end of
	// ctx wins.
	LockWait time.Duration
	// Log records what PostgreSQL migrations wait for, and how long they take; nil for no
	// log.
	Log *zap.Logger

	foreign *Dialect // of another program's database; nil for our own
	session []string // statements that each connection begins with
}

// guard runs f and turns a panic into an error with its stack, so that the transaction is
// undone and no caller waits for it forever.
func guard(f func(Conn) error, c Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return f(c)
}
