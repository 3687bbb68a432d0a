package sqlrecord

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// MigrateCopy is Migrate for a copy of records that another system keeps. The tables have neither
// foreign keys nor unique values: references and uniqueness are up to that system.
func MigrateCopy(ctx context.Context, db DB, model *mapping.Model) error {
	return migrate(ctx, db, schema{d: db.Dialect(), model: model, copied: true})
}

// Kept is what a copy knows of one of its records.
type Kept struct {
	Client   int64 // 0 of records of all clients
	Version  int64
	Created  mapping.Value // created_at
	Modified mapping.Value // modified_at
}

// Kept returns what the copy knows of records, of whatever client.
func (s *Store) Kept(ctx context.Context, r *mapping.Resource, ids []int32) (map[int32]Kept, error) {
	t, d := s.tables[r], s.db.Dialect()
	names := []string{t.columns[r.ID], d.Quote(clientColumn), d.Quote(versionColumn), t.columns[r.CreatedAt], t.columns[r.ModifiedAt]}
	columns := []Column{Number, Number, Number, {Type: mapping.Timestamp}, {Type: mapping.Timestamp}}
	found := make(map[int32]Kept, len(ids))
	return found, s.byIDs(ctx, t, "SELECT "+strings.Join(names, ", "), columns, r.ID, ids, func(row []mapping.Value) error {
		found[int32(row[0].Int())] = Kept{row[1].Int(), row[2].Int(), row[3], row[4]}
		return nil
	})
}

// ElementIDs returns the IDs of the records whose field refers to one of these, in their order.
func (s *Store) ElementIDs(ctx context.Context, f *mapping.Field, r *mapping.Resource, of ...int32) (ids []int32, err error) {
	t := s.tables[r]
	err = s.byIDs(ctx, t, "SELECT "+t.columns[r.ID], oneInt, f.Index, of, func(row []mapping.Value) error {
		ids = append(ids, int32(row[0].Int()))
		return nil
	})
	return ids, err
}

// Elements reads the elements of an array of records, in the order in which lists have them.
func (s *Store) Elements(ctx context.Context, q backend.Query, f *mapping.Field, of []mapping.Record) (all []mapping.Record, err error) {
	err = s.read(ctx, func(c Conn) error {
		all, err = s.elements(ctx, c, s.tables[of[0].Resource], q)(f, of)
		return err
	})
	return all, err
}

// CountSet counts the records of these that have a value in a field, and those that are there without one.
func (s *Store) CountSet(ctx context.Context, f *mapping.Field, r *mapping.Resource, ids []int32) (set, unset int, err error) {
	t := s.tables[r]
	return set, unset, s.byIDs(ctx, t, "SELECT count("+t.columns[f.Index]+"), count(*)", []Column{Number, Number}, r.ID, ids, func(row []mapping.Value) error {
		set += int(row[0].Int())
		unset += int(row[1].Int() - row[0].Int())
		return nil
	})
}

// byIDs reads the rows in which a field is one of these IDs.
func (s *Store) byIDs(ctx context.Context, t *table, head string, columns []Column, field int, ids []int32, each func([]mapping.Value) error) error {
	return s.read(ctx, func(c Conn) error {
		return ByIDs(ctx, c, s.db.Dialect(), head+" FROM "+t.name+" WHERE "+t.columns[field], columns, nil, ids, each)
	})
}

// Replace is Put for records whose IDs may exist already. Absent fields become null.
func (s *Store) Replace(ctx context.Context, client auth.Client, records []mapping.Record) error {
	if len(records) == 0 {
		return nil
	}
	r := records[0].Resource
	return s.write(ctx, func(tx *Store) error {
		if err := tx.put(ctx, client, records, s.tables[r].replace(s.db.Dialect())); err != nil {
			return err
		}
		d := s.db.Dialect()
		_, err := tx.conn.Exec(ctx, bumpEpoch(d.Placeholder(1), d.Placeholder(2)), mapping.TextValue(r.Name), mapping.IntValue(client.ID))
		return err
	})
}

// replace is the end of an INSERT that replaces records of the same IDs.
func (t *table) replace(d *Dialect) string {
	names := []string{d.Quote(clientColumn), d.Quote(versionColumn)}
	for _, i := range t.stored {
		names = append(names, t.columns[i])
	}
	sets := make([]string, len(names))
	for i, name := range names {
		sets[i] = name + " = excluded." + name
	}
	return " ON CONFLICT (" + t.columns[t.r.ID] + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

// Remove removes records, of whatever client. IDs without a record are ignored.
func (s *Store) Remove(ctx context.Context, r *mapping.Resource, ids ...int32) error {
	t, d := s.tables[r], s.db.Dialect()
	return s.write(ctx, func(tx *Store) error {
		for _, id := range ids {
			text := "DELETE FROM " + t.name + " WHERE " + t.columns[r.ID] + " = " + d.Placeholder(1)
			if _, err := tx.conn.Exec(ctx, text, mapping.IntValue(int64(id))); err != nil {
				return fmt.Errorf("remove %s: %w", r.Name, err)
			}
		}
		return nil
	})
}
