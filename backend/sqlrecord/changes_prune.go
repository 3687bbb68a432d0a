package sqlrecord

import (
	"context"
	"fmt"
	"time"

	"frontdesk/mapping"
)

const (
	// keptLonger is how long changes outlive the cursors before them: a change is dated when it
	// is written, and a cursor after it can be issued only once its transaction has ended.
	keptLonger = 24 * time.Hour
	// pruneAtOnce is how many changes one transaction removes, for which writers of SQLite
	// wait.
	pruneAtOnce = 1000
)

// Prune removes the changes that no valid cursor needs. The last one stays,
// since SQLite counts on from it.
func (c *Changes) Prune(ctx context.Context) error {
	db := Reserved(c.db)
	d := db.Dialect()
	p := d.Placeholder
	text := "DELETE FROM " + changeTable + " WHERE seq IN (SELECT seq FROM " + changeTable + " ORDER BY seq LIMIT " + p(2) + ") AND at < " + d.Present + " - " + p(1) +
		" AND seq < (SELECT max(seq) FROM " + changeTable + ")"
	if !d.sqlite {
		text = "DELETE FROM " + changeTable + " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " + changeTable + " WHERE at < " + d.Present + " - $1::bigint LIMIT $2))"
	}
	keep := mapping.IntValue((c.keep + keptLonger).Milliseconds())
	for {
		var n int64
		err := db.Write(ctx, func(conn Conn) (err error) {
			n, err = conn.Exec(ctx, text, keep, mapping.IntValue(pruneAtOnce))
			return err
		})
		if err != nil {
			return fmt.Errorf("purge changes: %w", err)
		}
		if n < pruneAtOnce {
			return nil
		}
	}
}

// Quietly runs f without noting its changes, for records of which nobody can have a copy yet.
// It applies only to the transaction that the store is bound to.
func (s *Store) Quietly(ctx context.Context, f func() error) error {
	quiet := func(n int64) error {
		_, err := s.conn.Exec(ctx, "UPDATE "+changeLogTable+" SET quiet = "+s.db.Dialect().Placeholder(1), mapping.IntValue(n))
		return err
	}
	if err := quiet(1); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return quiet(0)
}

// State returns about how many changes are kept and, on PostgreSQL, for how long the oldest
// transaction that has written, in any database of the server, has been under way: only changes
// before it are reported.
func (c *Changes) State(ctx context.Context) (kept int64, lag time.Duration, err error) {
	text := "SELECT coalesce(max(seq) - min(seq) + 1, 0), 0 FROM " + changeTable
	if !c.db.Dialect().sqlite {
		text = `SELECT greatest(reltuples, 0)::bigint, (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start) * 1000), 0)::bigint
			FROM pg_stat_activity WHERE backend_xid IS NOT NULL) FROM pg_class WHERE oid = to_regclass('` + changeTable + `')`
	}
	err = Reserved(c.db).Read(ctx, func(conn Conn) error {
		return conn.Query(ctx, text, []Column{{Type: mapping.Int4}, {Type: mapping.Int4}}, nil, func(row []mapping.Value) error {
			kept, lag = row[0].Int(), time.Duration(row[1].Int())*time.Millisecond
			return nil
		})
	})
	return kept, lag, err
}
