package sqlrecord

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// ForeignOptions say how another program's database is opened.
type ForeignOptions struct {
	Engine string // one of Engines
	DSN    string
	// Session are statements that every connection begins with, after those of its engine. An
	// error names a statement by its number, because the text may hold a secret.
	Session []string
	// Connections are how many there are at most, those of Reserved included. A server has two
	// at least; 0 is as many as for a database of our own.
	Connections int
	// LockWait bounds how long any statement waits for a lock; on MySQL a second at least.
	// Required.
	LockWait time.Duration
	// Log gets what a DB records; may be nil.
	Log *zap.Logger
}

// OpenForeign opens another program's database. It makes nothing there, neither the database
// nor tables, and fails if the database does not answer. Transactions that write
// are serializable. Statements are sent as they are: their placeholders are those that
// Dialect.Placeholder writes, and a question mark may be anything. Columns of results are to be
// Foreign, and arguments are sent so that the engine reads them as the type that it compares
// them with or writes them to: a time as a text in UTC, which the caller turns into that of the
// column's clock before if it keeps no zones.
//
// No error repeats the DSN: it holds a password.
func OpenForeign(ctx context.Context, o ForeignOptions) (DB, error) {
	d, err := dialectOf(o.Engine)
	if err != nil {
		return nil, err
	}
	db, err := d.open(ctx, d, o)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return db, nil
}

// JudgeForeign returns the error that OpenForeign would find in a DSN, without connecting.
func JudgeForeign(engine, dsn string) error {
	d, err := dialectOf(engine)
	if err != nil {
		return err
	}
	return d.judge(dsn)
}

// judged is the error of a function that reads a DSN.
func judged[T any](read func(dsn string) (T, error)) func(dsn string) error {
	return func(dsn string) error {
		_, err := read(dsn)
		return err
	}
}

// ReadOnly is the statement that makes a session of an engine read-only.
func ReadOnly(engine string) string {
	d, err := dialectOf(engine)
	if err != nil {
		return ""
	}
	return d.readOnly
}

// Engines are the dialects of the engines that OpenForeign knows.
func Engines() []*Dialect { return []*Dialect{Postgres(), MariaDB(), MySQL(), SQLite()} }

func dialectOf(engine string) (*Dialect, error) {
	for _, d := range Engines() {
		if d.Name == engine {
			return d, nil
		}
	}
	return nil, fmt.Errorf("there is no engine %q", engine)
}
