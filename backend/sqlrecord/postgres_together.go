package sqlrecord

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"frontdesk/mapping"
)

// A transaction that has many statements to run spends most of its time on the way to the
// server and back. So statements of which only an error is awaited wait for the next one,
// and all are sent in one round trip, in their order.

// request is a statement that is sent with others.
type request struct {
	sql  string
	args []any

	columns []Column                    // of its result, if each is not nil
	each    func([]mapping.Value) error // called for every row
	check   func(rows int64) error      // judges how many rows were changed; nil for any
}

// postpone runs a statement before the next one, or before the commit: that fails if it
// does, or if check finds fault with how many rows it changed. A nil check finds none.
func (c *postgresConn) postpone(check func(rows int64) error, sql string, args ...mapping.Value) {
	c.postponed = append(c.postponed, request{sql: sql, args: postgresArgs(nil, args), check: check})
}

// flush runs what was postponed.
func (c *postgresConn) flush(ctx context.Context) error { return c.together(ctx) }

// together runs what was postponed, and then these.
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
