package sqlrecord

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// putRows is how many records one statement of Put stores at most, putArgs how
// many parameters it has at most: SQLite takes 32,766 of them.
const (
	putRows = 100
	putArgs = 30000
)

// Each calls each for every record of the client's own, by ID, with all fields
// but arrays. The record is used again for the next one; its values may be kept.
func (s *Store) Each(ctx context.Context, client auth.Client, r *mapping.Resource, each func(mapping.Record) error) error {
	t := s.tables[r]
	text := t.one.head + " WHERE " + t.ofClient + " ORDER BY " + t.columns[r.ID]
	rec := mapping.NewRecord(r)
	return s.read(ctx, func(c Conn) error {
		return c.Query(ctx, text, t.one.columns, []mapping.Value{mapping.IntValue(client.ID)}, func(row []mapping.Value) error {
			return each(t.one.fill(rec, row))
		})
	})
}

// EachID calls each for the ID of every record of a resource, in their order: those of a client, or
// with 0 all.
func (s *Store) EachID(ctx context.Context, r *mapping.Resource, client int64, each func(id int32) error) error {
	t, d := s.tables[r], s.db.Dialect()
	p := d.Placeholder(1)
	text := "SELECT " + t.columns[r.ID] + " FROM " + t.name + " WHERE " + p + " = 0 OR " + d.Quote(clientColumn) + " = " + p + " ORDER BY " + t.columns[r.ID]
	return s.read(ctx, func(c Conn) error {
		return c.Query(ctx, text, oneInt, []mapping.Value{mapping.IntValue(client)}, func(row []mapping.Value) error { return each(int32(row[0].Int())) })
	})
}

// LastID returns the highest ID that a record of the resource ever had, of
// whatever client; 0 if there was none.
func (s *Store) LastID(ctx context.Context, r *mapping.Resource) (last int32, err error) {
	err = s.read(ctx, func(c Conn) error {
		n, err := number(ctx, c, s.db.Dialect().lastID(r.Name))
		last = int32(n)
		return err
	})
	return last, err
}

// ReserveIDs keeps IDs up to last from being issued, and invalidates the bookmarks of the
// client's list, because records are inserted between them.
func (s *Store) ReserveIDs(ctx context.Context, client auth.Client, r *mapping.Resource, last int32) error {
	upTo := mapping.IntValue(int64(last))
	return s.write(ctx, func(tx *Store) error {
		if d := s.db.Dialect(); d.reserve != nil {
			for _, text := range d.reserve(r.Name) {
				if _, err := tx.conn.Exec(ctx, text, upTo); err != nil {
					return fmt.Errorf("reserve IDs of %s: %w", r.Name, err)
				}
			}
		}
		if err := tx.advance(ctx, r, client, upTo); err != nil {
			return fmt.Errorf("reserve IDs of %s: %w", r.Name, err)
		}
		return nil
	})
}

// Put stores records of one resource as they are, with their IDs, versions and
// moments. Elements of arrays are records
// of their own. ReserveIDs must have been called for their IDs.
func (s *Store) Put(ctx context.Context, client auth.Client, records []mapping.Record) error {
	if len(records) == 0 {
		return nil
	}
	return s.put(ctx, client, records, "")
}

// put inserts records; end is the end of the statement.
func (s *Store) put(ctx context.Context, client auth.Client, records []mapping.Record, end string) error {
	t := s.tables[records[0].Resource]
	most := min(putRows, putArgs/(len(t.stored)+3))
	return s.write(ctx, func(tx *Store) error {
		for len(records) > 0 {
			n := min(most, len(records))
			if _, err := tx.conn.Exec(ctx, t.putText(s.db.Dialect(), n)+end, t.putArgs(client, records[:n])...); err != nil {
				return fmt.Errorf("put %s: %w", t.r.Name, err)
			}
			records = records[n:]
		}
		return nil
	})
}

func (t *table) putText(d *Dialect, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + t.name + " (" + d.quoteAll([]string{clientColumn, versionColumn}) + ", " + t.columns[t.r.ID])
	for _, i := range t.stored {
		b.WriteString(", " + t.columns[i])
	}
	b.WriteString(") VALUES ")
	width := len(t.stored) + 3
	for n := range rows {
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(" + d.placeholders(n*width+1, (n+1)*width) + ")")
	}
	return b.String()
}

func (t *table) putArgs(client auth.Client, records []mapping.Record) []mapping.Value {
	args := make([]mapping.Value, 0, len(records)*(len(t.stored)+3))
	for _, rec := range records {
		args = append(args, mapping.IntValue(client.ID), mapping.IntValue(rec.Version), rec.Values[t.r.ID])
		for _, i := range t.stored {
			v := rec.Values[i]
			if v.IsAbsent() {
				v = mapping.NullValue()
			}
			args = append(args, v)
		}
	}
	return args
}
