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

	"frontdesk/mapping"
)

// DB is one SQL database. Implementations are safe for concurrent use.
type DB interface {
	// Read runs f on a connection that sees all that was committed before.
	Read(ctx context.Context, f func(Conn) error) error
	// Write runs f in a transaction and returns when it is durable; an error of
	// f, or of the commit, undoes it. Several writes may share one commit, and f
	// may be run more than once. Errors of broken constraints wrap
	// backend.ErrConstraint.
	Write(ctx context.Context, f func(Conn) error) error
	// Dialect tells how this engine is spoken to.
	Dialect() *Dialect
	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
	// Close ends all work and waits for it; calls after it fail.
	Close() error
}

// Conn runs statements. It belongs to one goroutine, and only inside the
// function that was given it. Placeholders are ?1, ?2, … in SQLite and $1, $2,
// … in PostgreSQL; Dialect.Placeholder writes them.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Insert runs an INSERT and returns the id of the new row.
	Insert(ctx context.Context, sql string, args ...mapping.Value) (int64, error)
	// Query runs a statement and calls each for every row. The slice is reused
	// between calls; the values in it may be kept.
	Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func(row []mapping.Value) error) error
}

// Column says how a result column is read. A SQL NULL is mapping.NullValue.
type Column struct {
	Type  mapping.Datatype
	Scale int // Float8: decimals kept; -1 for plain floating point
}
