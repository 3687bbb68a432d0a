package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// dialect is what differs between engines.
type dialect interface {
	// engine is its name, as sheets write it.
	engine() string
	// connector reads a DSN, and makes connections that begin with the session's
	// statements. Its errors do not repeat the DSN: it holds a password.
	connector(dsn string, session []string) (driver.Connector, error)
	// session are the statements that every connection begins with, before those
	// of the sheet. No statement waits longer for a lock than lockWait.
	session(lockWait time.Duration) []string
	// quote makes a name an identifier, in exactly its letters.
	quote(name string) string
	// placeholder appends the n-th parameter, counted from 1, to a text.
	placeholder(text []byte, n int) []byte
	// page limits a result that is ordered; a limit of 0 or less is none.
	page(b *statement, limit, offset int)
	// lockClause ends a statement whose rows are to be held, lockRange one that looks for
	// the highest number: no other may come in between.
	lockClause() string
	lockRange() string
	// order is an expression to sort by, with null below every value, where it may be null.
	order(expr string, descending, nullable bool) string

	// contains appends that an expression, which text appends, has a part, in whatever case.
	contains(b *statement, text func(), part string)

	// arg makes a value a parameter, and raw makes a value of a result one of the
	// sheet's, exactly. kind is the result's type as the driver names it.
	arg(v sheet.Raw) any
	raw(kind string, v any) sheet.Raw

	// shown appends what a clock of the session shows at a moment, in seconds since
	// 1970; it is false where that cannot be asked.
	shown(b *statement, at sheet.Raw) bool

	// insert writes the statement that adds a row. It is false where the key's
	// columns are not its result, but what LastInsertId tells.
	insert(b *statement, table string, columns []string, values []sheet.Raw, keys []string) (answers bool)
	// nextOf writes the statement that takes the next number of a sequence.
	nextOf(b *statement, quoted string)
	// call runs a procedure, in a transaction where it has out parameters.
	call(ctx context.Context, c conn, p call) (result, error)
	// tries has the engine take a value for one of a column, of no row, so that no trigger
	// fires. The error is what it says; nil as well where that cannot be asked.
	tries(ctx context.Context, c conn, table, column string, v sheet.Raw) error

	// begin are the options of a transaction that writes, and snapshot of one
	// that reads a consistent state.
	begin() *sql.TxOptions
	snapshot() *sql.TxOptions
	// tryLock takes a lock by name for the rest of the transaction, or returns
	// false where another has it. release, where not nil, gives it back after the
	// transaction.
	tryLock(ctx context.Context, c conn, name string) (taken bool, release func(context.Context, conn) error, err error)

	// fault takes an error of the driver apart; ok is false for any other.
	fault(err error) (f fault, ok bool)
	// schema are the queries that Inspect asks.
	schema() schemaQueries
}

// conn runs statements: a transaction, a connection or a pool of them.
type conn interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// change runs an UPDATE or a DELETE and tells how many rows it found.
func change(ctx context.Context, c conn, s *statement) (int64, error) {
	done, err := c.ExecContext(ctx, s.ask(ctx), s.args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// call is a procedure, or a function, to be called.
type call struct {
	name     string // quoted
	function bool   // PostgreSQL: it is selected from
	args     []sheet.Raw
	// out are the names of out parameters, which stand behind the arguments; of
	// one that is also an argument, from is its place among them, else -1.
	out  []string
	from []int
}

// arguments appends the arguments of a call, with a variable in place of each out parameter.
func (p call) arguments(b *statement, variable func(i int) string) *statement {
	for at, v := range p.args {
		b.add(comma(at))
		if i := slices.Index(p.from, at); i >= 0 {
			b.add(variable(i))
		} else {
			b.arg(v)
		}
	}
	n := len(p.args)
	for i, at := range p.from {
		if at < 0 {
			b.add(comma(n), variable(i))
			n++
		}
	}
	return b
}

// fault is an error in the terms of an engine.
type fault struct {
	sheet.Failure
	class faultClass
	// column is that of the value, "" where nothing is said of it, and table its table,
	// where that is said.
	table, column string
}

type faultClass int

const (
	faultOther     faultClass = iota
	faultCollision            // ended because of another transaction: run it again
	faultUnique               // a unique value that another row has
	faultForeign              // a reference, to or from another row
	faultDown                 // the engine cannot work, or ended the connection
	faultCharset              // a text with letters that the column or the database cannot have
	faultValue                // a value that a column cannot hold
	faultNull                 // none, in a column that has to have one
	faultCheck                // a condition of the row, which Constraint names
)

// isOfValue tells whether a value was refused by itself, whatever other rows hold.
func (f fault) isOfValue() bool { return f.class >= faultCharset }

// common is what most engines share. Dialects embed it and override what differs.
type common struct{}

func (common) quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (common) placeholder(text []byte, _ int) []byte { return append(text, '?') }

func (common) page(b *statement, limit, offset int) {
	switch {
	case limit > 0:
		b.add(" LIMIT ").arg(intRaw(int64(limit)))
	case offset > 0:
		b.add(" LIMIT 9223372036854775807") // not every engine has OFFSET without it
	}
	if offset > 0 {
		b.add(" OFFSET ").arg(intRaw(int64(offset)))
	}
}

func (common) lockClause() string { return " FOR UPDATE" }
func (common) lockRange() string  { return "" } // SERIALIZABLE finds out, or there is one writer

func (common) order(expr string, descending, _ bool) string {
	return sqlrecord.OrderBy(expr, descending, false)
}

func (common) contains(b *statement, text func(), part string) {
	b.add("LOWER(")
	text()
	b.add(") LIKE LOWER(").arg(textRaw(likePattern(part))).add(") ESCAPE '!'")
}

func (common) arg(v sheet.Raw) any {
	switch v.Kind {
	case sheet.RawBool, sheet.RawInt:
		return v.Int
	case sheet.RawNumber, sheet.RawText:
		return v.Text
	case sheet.RawBytes:
		return []byte(v.Text)
	case sheet.RawTime, sheet.RawWall:
		return timeOf(v).Format("2006-01-02 15:04:05.999")
	default:
		return nil
	}
}

func (common) insert(b *statement, table string, columns []string, values []sheet.Raw, keys []string) bool {
	b.add("INSERT INTO ", table, " (", strings.Join(columns, ", "), ") VALUES (").list(values)
	b.add(") RETURNING ", strings.Join(keys, ", "))
	return true
}

func (common) nextOf(b *statement, quoted string) { b.add("SELECT NEXT VALUE FOR ", quoted) }

func (common) tries(context.Context, conn, string, string, sheet.Raw) error { return nil }

func (common) begin() *sql.TxOptions { return &sql.TxOptions{Isolation: sql.LevelSerializable} }

func (common) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// dialectOf returns the dialect of an engine.
func dialectOf(engine string) (dialect, error) {
	switch engine {
	case "postgres":
		return postgres{}, nil
	case "mysql", "mariadb":
		return mysqlDialect{name: engine}, nil
	case "sqlite":
		return sqlite{}, nil
	default:
		return nil, fmt.Errorf("there is no engine %q", engine)
	}
}

// sessionConnector runs statements on every connection it makes.
type sessionConnector struct {
	driver.Connector
	statements []string
}

func (c sessionConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for i, text := range c.statements {
		if err := execOn(ctx, conn, text); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("statement %d of a new connection: %w", i+1, err)
		}
	}
	return conn, nil
}

// execOn runs a statement without parameters on a connection outside the pool.
func execOn(ctx context.Context, c driver.Conn, text string) error {
	if e, ok := c.(driver.ExecerContext); ok {
		if _, err := e.ExecContext(ctx, text, nil); !errors.Is(err, driver.ErrSkip) {
			return err
		}
	}
	stmt, err := c.Prepare(text)
	if err != nil {
		return err
	}
	_, err = stmt.Exec(nil) //lint:ignore SA1019 every driver has it
	if closed := stmt.Close(); err == nil {
		err = closed
	}
	return err
}
