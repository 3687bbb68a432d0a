package sqlrecord

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/mapping"
)

// A transaction that writes records holds a shared advisory lock, which everybody can see and
// which ends with it. The number of the lock is a moment, in milliseconds, before which the
// transaction dates nothing: 44 bits of it, after 20 bits that mark these locks. pg_locks
// shows the number in two halves.
const (
	writerLocks   = "(424242::bigint << 44)"
	presentMillis = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	oldestWriter  = `(SELECT min((classid::bigint & 4095) << 32 | objid::bigint) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
		AND classid::bigint >> 12 = 424242 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
)

// A transaction takes its lock, and then reads the moment that Until has stored. So whoever stored
// it has seen the lock, or stored it before this read. Both use the database's clock.
const (
	lockMoment = `SELECT began, pg_advisory_xact_lock_shared(` + writerLocks + ` + began)
		FROM (SELECT greatest(` + presentMillis + `, at) AS began FROM ` + untilTable + ` OFFSET 0) own`
	lookAgain = `SELECT at FROM ` + untilTable
)

func (d *postgresDB) writeDated(ctx context.Context, _ func() time.Time, f func(Conn, time.Time) error) error {
	var began, stored int64
	begin := func(ctx context.Context, conn *pgx.Conn) error {
		var together pgx.Batch // one round trip
		together.Queue(beginWrite)
		if d.bound != "" {
			together.Queue(d.bound)
		}
		together.Queue(lockMoment).QueryRow(func(row pgx.Row) error { return row.Scan(&began, nil) })
		together.Queue(lookAgain).QueryRow(func(row pgx.Row) error { return row.Scan(&stored) })
		return conn.SendBatch(ctx, &together).Close()
	}
	return d.write(ctx, begin, func(c Conn) error { return f(c, time.UnixMilli(max(began, stored))) })
}

// untilKept is the age at which the time in untilTable is replaced, which is a write.
const untilKept = time.Second

// untilTimeout bounds the wait to write that moment anew.
const untilTimeout = time.Second

// until returns the moment in the table, or an earlier one at which the oldest transaction under
// way began. The moment must be on disk, and visible to every transaction that takes its lock
// after the locks were read: so it is stored first, in a transaction of its own. A standby does
// not know the locks of its primary.
func (d *postgresDB) until(ctx context.Context, _ func() time.Time) (ms int64, err error) {
	const text = `SELECT at, ` + presentMillis + `, coalesce(` + oldestWriter + `, at)
		FROM ` + untilTable + ` WHERE NOT pg_is_in_recovery()`
	err = d.read(ctx, func(c Conn) error {
		var at, present int64
		look := func() error {
			return c.Query(ctx, text, []Column{Number, Number, Number}, nil, func(row []mapping.Value) error {
				at, present = row[0].Int(), row[1].Int()
				ms = min(at, row[2].Int())
				return nil
			})
		}
		if err := look(); err != nil || present-at < untilKept.Milliseconds() {
			return err
		}
		// If nothing can be written, the moment that is stored still holds.
		bounded, cancel := context.WithTimeout(ctx, untilTimeout)
		defer cancel()
		_, err := c.Exec(bounded, "UPDATE "+untilTable+" SET at = $1 WHERE at < $1", mapping.IntValue(present))
		if err != nil {
			return ctx.Err()
		}
		return look()
	})
	return ms, err
}

// UntilLag returns, for PostgreSQL, how long the oldest open transaction has been running:
// Until stays that far behind.
func (s *Store) UntilLag(ctx context.Context) (lag time.Duration, err error) {
	const text = `SELECT greatest(0, ` + presentMillis + ` - ` + oldestWriter + `)`
	err = Reserved(s.db).Read(ctx, func(c Conn) error {
		ms, err := number(ctx, c, text)
		lag = time.Duration(ms) * time.Millisecond
		return err
	})
	return lag, err
}
