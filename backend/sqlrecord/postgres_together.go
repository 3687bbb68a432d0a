package sqlrecord

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"frontdesk/mapping"
)

// A transaction that has many statements to run spends most of its time on the way to the
// server and back. So statements whose only result is an error are postponed until the
// next one, and all are sent in one round trip, in their order.

// request is a statement that is sent with others.
type request struct {
	sql  string
	args []any

	columns []Column                    // of its result, if each is not nil
	each    func([]mapping.Value) error // called for every row
	check   func(rows int64) error      // judges how many rows were changed; nil for any
}

// postpone runs a statement before the next one, or before the commit. These fail if it
// fails, or if check, unless nil, rejects the number of rows that it changed.
func (c *postgresConn) postpone(check func(rows int64) error, sql string, args ...mapping.Value) {
	c.postponed = append(c.postponed, request{sql: sql, args: postgresArgs(nil, args), check: check})
}

// flush runs what was postponed.
func (c *postgresConn) flush(ctx context.Context) error { return c.together(ctx) }

// together runs the postponed statements, and then more.
func (c *postgresConn) together(ctx context.Context, more ...request) error {
	if err := c.aborted(); err != nil {
		return err
	}
	all := append(c.postponed, more...)
	c.postponed = nil
	if len(all) == 0 {
		return nil
	}
	var batch pgx.Batch
	var enough error // of a function that wants no more rows
	for _, s := range all {
		queued := batch.Queue(s.sql, s.args...)
		switch {
		case s.each != nil:
			queued.Query(func(rows pgx.Rows) error {
				enough = c.read(rows, s.columns, s.each)
				return enough
			})
		case s.check != nil:
			queued.Exec(func(tag pgconn.CommandTag) error { return s.check(tag.RowsAffected()) })
		}
	}
	err := c.conn.SendBatch(ctx, &batch).Close()
	if enough != nil {
		return enough
	}
	if err != nil {
		return c.fail(err)
	}
	return nil
}
