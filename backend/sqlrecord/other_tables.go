package sqlrecord

import (
	"context"
	"slices"

	"frontdesk/mapping"
)

// Columns of the tables that other packages keep in the same database. One, Change and ByIDs are for
// these tables, too.
var (
	Number = Column{Type: mapping.Int4}
	Words  = Column{Type: mapping.Text}
	Octets = Column{Type: mapping.Bytea}
)

// One runs a query for one row at most; nil if there is none.
func One(ctx context.Context, c Conn, sql string, columns []Column, args ...mapping.Value) (row []mapping.Value, err error) {
	err = c.Query(ctx, sql, columns, args, func(r []mapping.Value) error {
		row = slices.Clone(r)
		return nil
	})
	return row, err
}

// Change runs a statement in a transaction of its own, and returns how many rows it changed.
func Change(ctx context.Context, db DB, sql string, args ...mapping.Value) (n int64, err error) {
	err = db.Write(ctx, func(c Conn) error {
		n, err = c.Exec(ctx, sql, args...)
		return err
	})
	if err != nil { // the commit may have failed, and then nothing was changed
		return 0, err
	}
	return n, nil
}

// ByIDs runs a query for some IDs at a time: sql ends in a column, and ByIDs appends IN and the IDs.
func ByIDs(ctx context.Context, c Conn, d *Dialect, sql string, columns []Column, args []mapping.Value, ids []int32, each func([]mapping.Value) error) error {
	for some := range slices.Chunk(ids, idsAtOnce) {
		values := idValues(some, args...)
		if err := c.Query(ctx, sql+" IN ("+d.placeholders(len(args)+1, len(values))+")", columns, values, each); err != nil {
			return err
		}
	}
	return nil
}
