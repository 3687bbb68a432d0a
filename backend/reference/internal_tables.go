package reference

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// internalTables are the tables that hold no records (users, resets, counters, stored
// answers), on one connection.
type internalTables struct {
	conn    sqlrecord.Conn
	dialect *sqlrecord.Dialect
}

func (s *Store) internalTables(conn sqlrecord.Conn) internalTables {
	return internalTables{conn: conn, dialect: s.db.Dialect()}
}

// How columns of internal tables are read.
var number, words, octets = sqlrecord.Number, sqlrecord.Words, sqlrecord.Octets

func (h internalTables) postgres() bool { return h.dialect.Name == sqlrecord.Postgres().Name }

// one returns the only number of the only row; false if there is no row.
func (h internalTables) one(ctx context.Context, sql string, args ...mapping.Value) (n int64, found bool, err error) {
	err = h.conn.Query(ctx, sql, []sqlrecord.Column{number}, args, func(row []mapping.Value) error {
		n, found = row[0].Int(), true
		return nil
	})
	return n, found, err
}

// next returns the next number of a client's counter, from 1. A rollback of the transaction takes
// it back, so that the numbers of records have no gaps; on PostgreSQL the row stays locked until
// the transaction ends.
func (h internalTables) next(ctx context.Context, client auth.Client, counter string) (int64, error) {
	n, _, err := h.one(ctx, `INSERT INTO counter (client_id, name, value) VALUES (?1, ?2, 1)
		ON CONFLICT (client_id, name) DO UPDATE SET value = counter.value + 1 RETURNING value`,
		mapping.IntValue(client.ID), mapping.TextValue(counter))
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", counter, err)
	}
	return n, nil
}
