package sqlrecord

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"frontdesk/mapping"
)

// TryLock takes a lock by name, on a connection of a Write, until the transaction ends; false if
// another transaction has it. Locks belong to the database.
func TryLock(ctx context.Context, c Conn, name string) (bool, error) {
	return c.(interface {
		tryLock(ctx context.Context, name string) (bool, error)
	}).tryLock(ctx, name)
}

// tryLock has nothing to do: this transaction is the only one that writes.
func (c *sqliteConn) tryLock(context.Context, string) (bool, error) { return true, nil }

func (c *postgresConn) tryLock(ctx context.Context, name string) (bool, error) {
	sum := sha256.Sum256([]byte(name))
	key := mapping.IntValue(int64(binary.BigEndian.Uint64(sum[:])))
	row, err := One(ctx, c, "SELECT CASE WHEN pg_try_advisory_xact_lock(CAST($1 AS bigint)) THEN 1::bigint ELSE 0 END", []Column{Number}, key)
	return len(row) == 1 && row[0].Int() == 1, err
}

// mysqlLock names a lock. MySQL's locks belong to the server and the session, and their names have at
// most 64 letters.
const mysqlLock = "CONCAT('frontdesk:', LEFT(SHA2(CONCAT_WS(' ', DATABASE(), ?), 256), 32))"

func (c *mysqlConn) tryLock(ctx context.Context, name string) (bool, error) {
	row, err := One(ctx, c, "SELECT GET_LOCK("+mysqlLock+", 0)", []Column{Number}, mapping.TextValue(name))
	taken := len(row) == 1 && row[0].Int() == 1
	if taken {
		c.locks = append(c.locks, name)
	}
	return taken, err
}

// unlock gives the locks back, whatever became of the transaction.
func (c *mysqlConn) unlock(ctx context.Context) error {
	for _, name := range c.locks {
		stmt, err := c.prepare(ctx, "DO RELEASE_LOCK("+mysqlLock+")")
		if err != nil {
			return err
		}
		if _, err := stmt.ExecContext(ctx, mysqlArgs([]mapping.Value{mapping.TextValue(name)})); err != nil {
			return err
		}
	}
	return nil
}
