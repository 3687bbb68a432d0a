package sqlrecord

import (
	"context"
	"time"

	"frontdesk/mapping"
)

// writeDated updates the row of untilTable in the transaction. Writes follow one another, so no
// later one, in this or another process or after a restart, is dated before the moment in it.
func (d *sqliteDB) writeDated(ctx context.Context, now func() time.Time, f func(Conn, time.Time) error) error {
	return d.Write(ctx, func(c Conn) error {
		ms, err := number(ctx, c, "UPDATE "+untilTable+" SET at = max(at, ?1) RETURNING at", mapping.IntValue(now().UnixMilli()))
		if err != nil {
			return err
		}
		return f(c, time.UnixMilli(ms))
	})
}

func (d *sqliteDB) until(ctx context.Context, now func() time.Time) (ms int64, err error) {
	read := func(c Conn) error {
		ms, err = number(ctx, c, "SELECT at FROM "+untilTable)
		return err
	}
	if err := d.Read(ctx, read); err != nil || ms != 0 {
		return ms, err
	}
	// Nothing was dated yet. On a full disk that stays so.
	if d.writeDated(ctx, now, func(Conn, time.Time) error { return nil }) != nil {
		return 0, ctx.Err()
	}
	return ms, d.Read(ctx, read)
}
