package sqlrecord

import (
	"context"

	"frontdesk/mapping"
)

// altered finds tables that were written anew since the transaction took its snapshot.
const altered = `SELECT count(*) FROM pg_catalog.pg_class WHERE relkind = 'r' AND relfilenode <> 0 AND relfilenode <> pg_catalog.pg_relation_filenode(oid) AND relpersistence <> 't'`

// Altered reports whether a table was emptied, or altered in all its rows, since the transaction of
// a foreign database began: PostgreSQL shows it as empty to a transaction that had begun before.
// Other engines end that one.
func Altered(ctx context.Context, c Conn) (is bool, err error) {
	p, ok := c.(*postgresConn)
	if !ok {
		return false, nil
	}
	err = p.Query(ctx, altered, oneInt, nil, func(row []mapping.Value) error {
		is = row[0].Int() > 0
		return nil
	})
	return is, err
}
