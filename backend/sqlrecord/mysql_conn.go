package sqlrecord

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// mysqlConnector makes connections that begin with statements.
type mysqlConnector struct {
	driver.Connector
	session []string
}

// Connect implements driver.Connector.
func (c mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &mysqlLink{mysqlDriver: conn.(mysqlDriver)}
	l.stmts, _ = simplelru.NewLRU(maxStatements, func(_ string, stmt mysqlStmt) { _ = stmt.Close() })
	for i, text := range c.session {
		if _, err := l.ExecContext(ctx, text, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("statement %d of a new connection: %w", i+1, err), l.Close())
		}
	}
	return l, nil
}

// mysqlDriver is what the driver's connections can do. The pool asks them whether they are alive
// before it lends them.
type mysqlDriver interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type mysqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// mysqlLink is a connection with its prepared statements, and the space that rows are read into.
// The driver by itself would prepare each statement anew, and so go to the server twice.
type mysqlLink struct {
	mysqlDriver
	stmts *simplelru.LRU[string, mysqlStmt]
	cells []driver.Value
	rowSpace
}

func (l *mysqlLink) prepare(ctx context.Context, text string) (mysqlStmt, error) {
	if stmt, ok := l.stmts.Get(text); ok {
		return stmt, nil
	}
	prepared, err := l.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	stmt := prepared.(mysqlStmt)
	l.stmts.Add(text, stmt)
	return stmt, nil
}

// mysqlConn is a connection that is lent to a function of the caller.
type mysqlConn struct {
	*mysqlLink
	working
	locks []string // what the transaction has locked by name
}

// transaction runs f and commits. What belongs to the connection rather than to the transaction
// ends with it; if that fails, the connection is closed, which ends everything.
func (c *mysqlConn) transaction(ctx context.Context, f func(*mysqlConn) error) error {
	committed := false
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		var err error
		if !committed { // also when f panics
			_, err = c.ExecContext(ctx, "ROLLBACK", nil)
		}
		if err = errors.Join(err, c.unlock(ctx)); err != nil {
			_ = c.mysqlLink.Close()
		}
	}()
	if err := f(c); err != nil {
		return err
	}
	backend.Asking(ctx, "COMMIT")
	_, err := c.ExecContext(ctx, "COMMIT", nil)
	if committed = err == nil; committed {
		return nil
	}
	if fault, ok := FaultOf(err); !ok || fault.Class == FaultDown { // the outcome is unknown
		err = fmt.Errorf("%w: %w", backend.ErrUnsettled, err)
	}
	return fmt.Errorf("commit: %w", asCollision(err))
}

func (c *mysqlConn) Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	done, err := c.exec(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (c *mysqlConn) Insert(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	done, err := c.exec(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// exec prepares only a statement with parameters: any other takes one round trip.
func (c *mysqlConn) exec(ctx context.Context, sql string, args []mapping.Value) (done driver.Result, err error) {
	if err := c.aborted(); err != nil {
		return nil, err
	}
	backend.Asking(ctx, sql)
	if len(args) == 0 {
		done, err = c.ExecContext(ctx, sql, nil)
	} else if stmt, failed := c.prepare(ctx, sql); failed != nil {
		err = failed
	} else {
		done, err = stmt.ExecContext(ctx, mysqlArgs(args))
	}
	if err != nil {
		return nil, c.fail(err)
	}
	return done, nil
}

// Query gives each the rows of all results that a procedure returns.
func (c *mysqlConn) Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func([]mapping.Value) error) error {
	if err := c.aborted(); err != nil {
		return err
	}
	backend.Asking(ctx, sql)
	rows, err := c.ask(ctx, sql, args)
	if err != nil {
		return c.fail(err)
	}
	if err := c.read(rows, columns, each); err != nil {
		_ = rows.Close() // receives the rest
		return err
	}
	if err := rows.Close(); err != nil {
		return c.fail(err)
	}
	return nil
}

func (c *mysqlConn) ask(ctx context.Context, sql string, args []mapping.Value) (driver.Rows, error) {
	if len(args) == 0 {
		return c.QueryContext(ctx, sql, nil)
	}
	stmt, err := c.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, mysqlArgs(args))
}

func (c *mysqlConn) read(rows driver.Rows, columns []Column, each func([]mapping.Value) error) error {
	for {
		if err := c.result(rows, columns, each); err != nil {
			return err
		}
		more, ok := rows.(driver.RowsNextResultSet)
		if !ok || !more.HasNextResultSet() {
			return nil
		}
		switch err := more.NextResultSet(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return c.fail(err)
		}
	}
}

// result reads the rows of one result. An error of each does not count as a failed statement.
func (c *mysqlConn) result(rows driver.Rows, columns []Column, each func([]mapping.Value) error) error {
	if typed, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok && len(rows.Columns()) == len(columns) {
		if err := sorted(columns, func(i int) Sort { return mysqlSort(typed.ColumnTypeDatabaseTypeName(i)) }); err != nil {
			return c.fail(err)
		}
	}
	for {
		more, err := c.next(rows, columns)
		if err != nil {
			return c.fail(err)
		}
		if !more {
			return nil
		}
		if err := each(c.values); err != nil {
			return err
		}
	}
}

// fail marks collisions. A read can have one, too: it may wait for a lock.
func (c *mysqlConn) fail(err error) error { return c.note(asCollision(err)) }
