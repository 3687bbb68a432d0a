package remote

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// touch notes that records were read or written by themselves, or reported as changed.
func touch(ctx context.Context, c sqlrecord.Conn, r *mapping.Resource, ids ...int32) error {
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), touchedAtOnce) {
		rows := make([]string, len(some))
		for i, id := range some {
			rows[i] = "(" + strconv.Itoa(int(id)) + ")"
		}
		if _, err := c.Exec(ctx, "INSERT INTO "+touchedTable+" (resource, id, at) SELECT CAST(?1 AS TEXT), v.column1, (SELECT coalesce(max(at), 0) + 1 FROM "+touchedTable+") FROM (VALUES "+strings.Join(rows, ", ")+
			") AS v WHERE true ON CONFLICT (resource, id) DO UPDATE SET at = excluded.at", mapping.TextValue(r.Name)); err != nil {
			return err
		}
	}
	return nil
}

// touchedAtOnce is how many touches a statement notes.
const touchedAtOnce = 250

// lastTouch is the number of a record's last touch, 0 for none. It locks the record against other touches
// until the transaction ends.
func lastTouch(ctx context.Context, c sqlrecord.Conn, r *mapping.Resource, id int32) (at int64, err error) {
	of := []mapping.Value{mapping.TextValue(r.Name), mapping.IntValue(int64(id))}
	if _, err = c.Exec(ctx, "INSERT INTO "+touchedTable+" (resource, id, at) VALUES (?1, ?2, 0) ON CONFLICT (resource, id) DO UPDATE SET at = "+touchedTable+".at", of...); err != nil {
		return 0, err
	}
	row, err := sqlrecord.One(ctx, c, "SELECT at FROM "+touchedTable+" WHERE resource = ?1 AND id = ?2", []sqlrecord.Column{sqlrecord.Number}, of...)
	if err == nil {
		at = row[0].Int()
	}
	return at, err
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

// prune removes touches that are older than every walk of the resource under way. The very last touch
// stays, since the numbers go on from it.
func (c *copied) prune(ctx context.Context, r *mapping.Resource, mark int64) error {
	_, err := sqlrecord.Change(ctx, c.db, "DELETE FROM "+touchedTable+" WHERE resource = ?1 AND at <= ?2 AND at < (SELECT max(at) FROM "+touchedTable+")",
		mapping.TextValue(r.Name), mapping.IntValue(mark))
	return ownFailure("copy of records", err)
}
