package sqlrecord

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/mapping"
)

// postgresConn is a connection for as long as a function of the caller has it.
type postgresConn struct {
	db   *postgresDB
	conn *pgx.Conn

	inWrite bool
	failed  error // the first failed statement of a transaction
}

func (c *postgresConn) Exec(ctx context.Context, sql string, args ...mapping.Value) (int64, error) {
	if err := c.aborted(); err != nil {
		return 0, err
	}
	tag, err := c.conn.Exec(ctx, sql, postgresArgs(args)...)
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
	if err := c.aborted(); err != nil {
		return err
	}
	rows, err := c.conn.Query(ctx, sql, postgresArgs(args)...)
	if err != nil {
		return c.fail(err)
	}
	defer rows.Close()
	row := c.db.rows.Get().(*postgresRow)
	defer c.db.rows.Put(row)
	for rows.Next() {
		if err := row.scan(rows, columns); err != nil {
			return fmt.Errorf("read a result: %w", err)
		}
		if err := each(row.values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return c.fail(err)
	}
	return nil
}

func (c *postgresConn) aborted() error {
	if c.failed != nil {
		return fmt.Errorf("transaction has failed before: %w", c.failed)
	}
	return nil
}

func (c *postgresConn) fail(err error) error {
	err = postgresError(err)
	if c.inWrite && c.failed == nil {
		c.failed = err
	}
	return err
}

// postgresArgs turns values into what pgx sends. Decimals go as text, which
// PostgreSQL reads exactly.
func postgresArgs(args []mapping.Value) []any {
	all := make([]any, len(args))
	for i, v := range args {
		switch v.Kind() {
		case mapping.KindInt:
			all[i] = v.Int()
		case mapping.KindDecimal:
			all[i] = v.String()
		case mapping.KindFloat:
			all[i] = v.Float()
		case mapping.KindText:
			all[i] = v.Text()
		case mapping.KindTime:
			all[i] = v.Time()
		case mapping.KindBytes:
			all[i] = []byte(v.Text())
		}
	}
	return all
}
