package sqlrecord

import (
	"context"

	"frontdesk/mapping"
)

// altered finds tables that were written anew since the transaction took its snapshot.
const altered = `SELECT count(*) FROM pg_catalog.pg_class WHERE relkind = 'r' AND relfilenode <> 0 AND relfilenode <> pg_catalog.pg_relation_filenode(oid) AND relpersistence <> 't'`

// Altered reports whether a table was emptied or rewritten since a transaction of a foreign database
// began: PostgreSQL shows such a table as empty to the transaction. Other engines end the transaction.
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
