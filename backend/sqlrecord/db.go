// Package sqlrecord keeps records in tables of an SQL database: one table per
// resource, one column per field. The built-in administration and an existing
// SQL database behind a mapping sheet share it; what differs between engines is
// one small file per dialect.
//
// It knows tables, columns and transactions. It knows no business rule: those
// are package backend's, and what the built-in administration derives is
// package reference's.
package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"frontdesk/mapping"
)

// ErrClosed says that the database was closed.
var ErrClosed = errors.New("sqlrecord: database is closed")

// DB is one SQL database. Implementations are safe for concurrent use.
type DB interface {
	// Read runs f on a connection where every statement sees all that was
	// committed before it.
	Read(ctx context.Context, f func(Conn) error) error
	// Snapshot is Read where all statements of f see the database as it was at
	// the first of them.
	Snapshot(ctx context.Context, f func(Conn) error) error
	// Write runs f in a transaction and returns when it is durable; an error of
	// f, of any of its statements, or of the commit undoes all of it. A ctx that
	// ends before f has begun keeps it from running; later it interrupts the
	// statement at work. Several writes may share one commit, and f may be run
	// more than once. Errors of constraints that look at other rows (unique, foreign
	// key) wrap backend.ErrStale, those of a value alone backend.ErrUnexpected.
	//
	// f may run on another goroutine, and must not call Write itself.
	Write(ctx context.Context, f func(Conn) error) error
	// Dialect tells how this engine is spoken to.
	Dialect() *Dialect
	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
	// Close ends all work and waits for it; calls after it fail with ErrClosed.
	Close() error
}

// Conn runs statements. It belongs to one goroutine, and only inside the
// function that was given it. Placeholders are ?1, ?2, … in SQLite and $1, $2,
// … in PostgreSQL; Dialect.Placeholder writes them.
//
// After an error of a statement inside Write every further one fails, in all
// engines alike.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Insert runs an INSERT that ends in Dialect.ReturnID, and returns the id
	// of the new row.
	Insert(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Query runs a statement and calls each for every row. The slice is reused
	// between calls; the values in it may be kept. each must not use the
	// connection. Its error ends the query; with errEnough what is left of the
	// result is not even fetched, where that can be.
	Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func(row []mapping.Value) error) error
}

// CanHold tells whether databases can be asked for a text at all: PostgreSQL has no word
// for others but an error.
func CanHold(text string) bool { return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) }

// Column says how a result column is read. A SQL NULL is mapping.NullValue.
type Column struct {
	Type  mapping.Datatype
	Scale int // Float8: decimals kept; -1 for plain floating point
	// Any tells that the type is that of each value, as SQLite keeps it.
	Any bool
}

// Options tune a database. The zero value is good for a server.
type Options struct {
	// Readers is how many calls may read at once on SQLite, each on a connection
	// beside the writer's (default: twice as many as cores, at least 4), and one more
	// is there for what is no call; or all connections to PostgreSQL (default: what the
	// DSN says, else 8 or twice as many as cores).
	Readers int
	// LockWait bounds how long a write waits while another process holds
	// SQLite's write lock (default 10 s), or any statement for a lock that another
	// transaction of PostgreSQL holds (default: what the DSN or the server says). A ctx
	// that ends earlier wins.
	LockWait time.Duration
	// Log is told what migrations of PostgreSQL wait for, and how long they take;
	// nil for nobody.
	Log *zap.Logger
}

// guard runs f and turns a panic into an error with the stack it came from, so
// that a transaction is undone and nobody waits for it.
func guard(f func(Conn) error, c Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return f(c)
}
