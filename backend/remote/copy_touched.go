package remote

import (
	"context"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// touch notes that a record was read or written by itself.
func touch(ctx context.Context, c sqlrecord.Conn, r *mapping.Resource, id int32) error {
	_, err := c.Exec(ctx, "INSERT INTO "+touchedTable+" (resource, id, at) SELECT CAST(?1 AS TEXT), CAST(?2 AS BIGINT), coalesce(max(at), 0) + 1 FROM "+touchedTable+
		" WHERE true ON CONFLICT (resource, id) DO UPDATE SET at = excluded.at", mapping.TextValue(r.Name), mapping.IntValue(int64(id)))
	return err
}

// touchedSince returns the records of a resource that were touched after mark.
func touchedSince(ctx context.Context, c sqlrecord.Conn, r *mapping.Resource, mark int64) (map[int32]bool, error) {
	all := map[int32]bool{}
	err := c.Query(ctx, "SELECT id FROM "+touchedTable+" WHERE at > ?2 AND resource = ?1", []sqlrecord.Column{sqlrecord.Number},
		[]mapping.Value{mapping.TextValue(r.Name), mapping.IntValue(mark)}, func(row []mapping.Value) error {
			all[int32(row[0].Int())] = true
			return nil
		})
	return all, err
}

// mark is the number of the last touch.
func (c *copied) mark(ctx context.Context) (mark int64, err error) {
	err = c.db.Read(ctx, func(conn sqlrecord.Conn) error {
		row, err := sqlrecord.One(ctx, conn, "SELECT coalesce(max(at), 0) FROM "+touchedTable, []sqlrecord.Column{sqlrecord.Number})
		if err == nil {
			mark = row[0].Int()
		}
		return err
	})
	return mark, ownFailure("copy of records", err)
}

// prune forgets touches that no walk of the resource can still be older than. The last of all
// stays, since the numbers go on from it.
func (c *copied) prune(ctx context.Context, r *mapping.Resource, mark int64) error {
	_, err := sqlrecord.Change(ctx, c.db, "DELETE FROM "+touchedTable+" WHERE resource = ?1 AND at <= ?2 AND at < (SELECT max(at) FROM "+touchedTable+")",
		mapping.TextValue(r.Name), mapping.IntValue(mark))
	return ownFailure("copy of records", err)
}
