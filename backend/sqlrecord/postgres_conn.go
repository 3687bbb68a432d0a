package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// postgresConn is a connection that is lent to a function of the caller.
type postgresConn struct {
	db   *postgresDB
	conn *pgx.Conn

	working
	postponed []request // sent with the next statement
}

// Query modes: the usual one, and the one that plans for the values of the arguments.
var (
	queryModes   = []any{resultFormats}
	plannedModes = []any{resultFormats, pgx.QueryExecModeCacheDescribe}
)

// plannedConn is a connection whose queries are planned for their given values, because
// different values find very different numbers of records. It costs a plan each time.
type plannedConn struct{ *postgresConn }

func (c plannedConn) Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func([]mapping.Value) error) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	return c.query(ctx, sql, columns, plannedModes, args, each)
}

// own replaces the placeholders of a statement by PostgreSQL's. A statement that has these already,
// or is for another program's database, stays the same string.
func (d *postgresDB) own(sql string) string {
	if d.options.foreign != nil {
		return sql
	}
	return strings.ReplaceAll(sql, "?", "$")
}

func (c *postgresConn) Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	sql = c.db.own(sql)
	if len(c.postponed) > 0 {
		rows := int64(0)
		err := c.together(ctx, request{sql: sql, args: c.db.args(nil, args), check: func(n int64) error {
			rows = n
			return nil
		}})
		return rows, err
	}
	if err := c.aborted(); err != nil {
		return 0, err
	}
	backend.Asking(ctx, sql)
	tag, err := c.conn.Exec(ctx, sql, c.db.args(nil, args)...)
	if err != nil {
		return 0, c.fail(err)
	}
	return tag.RowsAffected(), nil
}

func (c *postgresConn) Insert(ctx context.Context, sql string, args ...mapping.Value) (id int64, err error) {
	err = c.Query(ctx, sql, oneInt, args, func(row []mapping.Value) error {
		id = row[0].Int()
		return nil
	})
	return id, err
}

func (c *postgresConn) Query(ctx context.Context, sql string, columns []Column, args []mapping.Value, each func([]mapping.Value) error) error {
	return c.query(ctx, sql, columns, queryModes, args, each)
}

func (c *postgresConn) query(ctx context.Context, sql string, columns []Column, modes []any, values []mapping.Value, each func([]mapping.Value) error) error {
	sql = c.db.own(sql)
	if len(c.postponed) > 0 {
		return c.together(ctx, request{sql: sql, args: c.db.args(nil, values), columns: columns, each: each})
	}
	if err := c.aborted(); err != nil {
		return err
	}
	backend.Asking(ctx, sql)
	args := c.db.args(modes, values)
	err := c.run(ctx, sql, columns, args, each)
	for tries := 2; tries > 0 && c.replanned(err); tries-- { // the table may be altered back meanwhile
		err = c.run(ctx, sql, columns, args, each)
	}
	return err
}

func (c *postgresConn) run(ctx context.Context, sql string, columns []Column, args []any, each func([]mapping.Value) error) error {
	rows, err := c.conn.Query(ctx, sql, args...)
	if err != nil {
		return c.fail(err)
	}
	defer rows.Close()
	if err := c.read(rows, columns, each); err != nil {
		if errors.Is(err, ErrEnough) {
			c.abandon(ctx)
		}
		return err
	}
	if err := rows.Err(); err != nil {
		return c.fail(err)
	}
	return nil
}

// read calls each for the rows of a result.
func (c *postgresConn) read(rows pgx.Rows, columns []Column, each func([]mapping.Value) error) error {
	row := c.db.rows.Get().(*rowSpace)
	defer c.db.rows.Put(row)
	for n := 0; rows.Next(); n++ {
		if n == 0 && c.db.options.foreign != nil {
			of := rows.FieldDescriptions()
			if len(of) == len(columns) {
				if err := sorted(columns, func(i int) Sort { return postgresSort(of[i].DataTypeOID) }); err != nil {
					return c.fail(err)
				}
			}
		}
		if err := row.scanPostgres(rows, columns); err != nil {
			return fmt.Errorf("read a result: %w", err)
		}
		if err := each(row.values); err != nil {
			return err
		}
	}
	return nil
}

// abandon gives up the rest of a result: it closes the connection, which is cheaper than receiving
// the rest. A connection in a transaction stays open and receives it.
func (c *postgresConn) abandon(ctx context.Context) {
	if c.conn.PgConn().TxStatus() == 'I' {
		_ = c.conn.Close(ctx)
	}
}

func (c *postgresConn) fail(err error) error {
	return c.note(c.db.options.translate(err))
}

// postgresArgs turns values into arguments for pgx, after the query modes in mode.
func postgresArgs(mode []any, args []mapping.Value) []any {
	sent := make([]any, len(mode)+len(args))
	all := sent[copy(sent, mode):]
	for i, v := range args {
		all[i] = postgresArg(v)
	}
	return sent
}

// args is postgresArgs for this database.
func (d *postgresDB) args(mode []any, args []mapping.Value) []any {
	if d.options.foreign == nil {
		return postgresArgs(mode, args)
	}
	sent := append(make([]any, 0, len(mode)+len(args)), mode...)
	for _, v := range args {
		sent = append(sent, foreignArg(v))
	}
	return sent
}

// postgresArg is one argument. Decimals are sent as text, which PostgreSQL reads exactly.
func postgresArg(v mapping.Value) any {
	switch v.Kind() {
	case mapping.KindInt:
		return v.Int()
	case mapping.KindDecimal:
		return v.String()
	case mapping.KindFloat:
		return v.Float()
	case mapping.KindText:
		return v.Text()
	case mapping.KindTime:
		return v.Time()
	case mapping.KindBytes:
		return []byte(v.Text())
	default:
		return nil
	}
}
