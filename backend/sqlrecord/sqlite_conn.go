package sqlrecord

import (
	"context"
	"fmt"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// sqliteConn is one connection with its prepared statements. Apart from what
// the watcher sees of it, it belongs to one goroutine at a time.
type sqliteConn struct {
	conn    *sqlite.Conn
	stmts   statements
	watcher *watcher
	foreign bool // the file belongs to another program; a URI names it

	working

	rowSpace // of the row that each is called for

	mu      sync.Mutex
	over    context.Context // of the call at work; nil if there is none
	stop    chan struct{}   // closed to interrupt
	stopped bool
}

// ownPragmas are what connections to our own files begin with. Each has a cache of
// 2 MB: there are several, and the operating system caches the file anyway.
func ownPragmas() []string {
	return []string{"PRAGMA cache_size=-2000", "PRAGMA foreign_keys=ON", "PRAGMA trusted_schema=OFF"}
}

// openSQLiteConn opens a connection, which begins with the statements.
func openSQLiteConn(path string, flags sqlite.OpenFlags, w *watcher, statements ...string) (*sqliteConn, error) {
	conn, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	if err := giveProgramClock(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	for i, text := range statements {
		if err := executeAlone(conn, text); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("statement %d of a new connection: %w", i+1, err)
		}
	}
	c := &sqliteConn{conn: conn, stmts: newStatements(), watcher: w, foreign: flags&sqlite.OpenURI != 0, stop: make(chan struct{})}
	conn.SetInterrupt(c.stop)
	w.add(c)
	return c, nil
}

// Statements use the program's clock, which a test may replace, as the function programClock. Triggers use
// the machine's clock, because other programs run them, too.
const (
	programClock = "program_clock"
	sqliteClock  = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)"
)

// giveProgramClock gives a connection the function programClock.
func giveProgramClock(conn *sqlite.Conn) error {
	return conn.CreateFunction(programClock, &sqlite.FunctionImpl{Scalar: func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
		return sqlite.IntegerValue(time.Now().UnixMilli()), nil
	}})
}

// executeAlone executes a statement, again and again while another process locks the file: switching
// to WAL does not wait for the lock.
func executeAlone(conn *sqlite.Conn, text string) (err error) {
	for tries := range 100 {
		if tries > 0 {
			time.Sleep(20 * time.Millisecond)
		}
		if err = sqlitex.ExecuteTransient(conn, text, nil); sqlite.ErrCode(err) != sqlite.ResultBusy {
			return err
		}
	}
	return err
}

// begin has the watcher interrupt the connection when ctx ends. It does not call Done of a context
// with a deadline, because that would start a timer.
func (c *sqliteConn) begin(ctx context.Context) {
	if _, ends := ctx.Deadline(); !ends && ctx.Done() == nil {
		return
	}
	c.mu.Lock()
	c.over = ctx
	c.mu.Unlock()
	c.watcher.nudge()
}

// end makes the connection usable for the next one.
func (c *sqliteConn) end() {
	c.mu.Lock()
	c.over = nil
	stopped := c.stopped
	c.stopped = false
	c.mu.Unlock()
	if stopped {
		c.stop = make(chan struct{})
		c.conn.SetInterrupt(c.stop)
	}
}

// interruptIfOver is called by the watcher. It reports whether the connection is at work.
func (c *sqliteConn) interruptIfOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		return false
	}
	if c.over.Err() != nil && !c.stopped {
		c.stopped = true
		close(c.stop)
	}
	return true
}

// exec runs a statement without parameters or result, outside the rules for
// failed transactions.
func (c *sqliteConn) exec(sql string) error {
	st, err := c.stmts.get(c.conn, sql)
	if err != nil {
		return err
	}
	_, err = st.Step()
	if rerr := st.Reset(); err == nil {
		err = rerr
	}
	return err
}

func (c *sqliteConn) Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	if err := c.Query(ctx, sql, nil, args, nil); err != nil {
		return 0, err
	}
	return int64(c.conn.Changes()), nil
}

func (c *sqliteConn) Insert(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	if err := c.Query(ctx, sql, nil, args, nil); err != nil {
		return 0, err
	}
	return c.conn.LastInsertRowID(), nil
}

func (c *sqliteConn) Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func([]mapping.Value) error) error {
	if err := c.aborted(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return c.fail(ctx, err)
	}
	backend.Asking(ctx, sql)
	st, err := c.stmts.get(c.conn, sql)
	if err != nil {
		return c.fail(ctx, err)
	}
	large := c.bind(st, args)
	err = c.rows(ctx, st, columns, each)
	if large {
		_ = st.ClearBindings()
	}
	return err
}

// rows steps through the result. An error of each does not count as a failed statement.
func (c *sqliteConn) rows(ctx context.Context, st *sqlite.Stmt, columns []Column, each func([]mapping.Value) error) error {
	defer func() { _ = st.Reset() }() // Reset repeats the error of Step
	for {
		more, err := st.Step()
		if err != nil {
			return c.fail(ctx, err)
		}
		if !more {
			return nil
		}
		if each == nil {
			continue
		}
		c.scan(st, columns)
		if err := each(c.values); err != nil {
			return err
		}
	}
}

// fail turns an error of SQLite into the errors that DB promises.
func (c *sqliteConn) fail(ctx context.Context, err error) error {
	if c.foreign && ctx.Err() == nil {
		err = sqliteError{err}
	}
	switch code := sqlite.ErrCode(err); code {
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID, sqlite.ResultConstraintForeignKey:
		if !c.foreign { // see Options.translate
			err = fmt.Errorf("%w: %w", backend.ErrStale, err)
		}
	case sqlite.ResultInterrupt:
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
	default:
		if code.ToPrimary() == sqlite.ResultConstraint && !c.foreign { // constraint on a single value: check, not null, type
			err = fmt.Errorf("%w: %w", backend.ErrUnexpected, err)
		}
	}
	return c.note(err)
}

func (c *sqliteConn) close() error { return c.conn.Close() }
