package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Create stores a record with its elements. Fields that are absent get their
// default; created_at and modified_at the transaction's moment. A record that has an ID
// keeps it, as a restored one must.
func (s *Store) Create(ctx context.Context, client auth.Client, rec mapping.Record) (out mapping.Record, err error) {
	err = s.write(ctx, func(tx *Store) error {
		if out, err = tx.insert(ctx, client, rec); err != nil {
			return err
		}
		return tx.touchParents(ctx, out)
	})
	if err != nil {
		return mapping.Record{}, err
	}
	return out, nil
}

func (s *Store) insert(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	t := s.tables[rec.Resource]
	out := mapping.Record{Resource: rec.Resource, Values: slices.Clone(rec.Values), Version: 1, Owner: ownerOf(client.ID)}
	now := mapping.TimeValue(s.now())
	for i := range out.Values {
		switch v := &out.Values[i]; {
		case !v.IsAbsent():
		case i == t.r.CreatedAt || i == t.r.ModifiedAt:
			*v = now
		case t.columns[i] != "":
			*v = t.defaults[i]
		}
	}
	args := make([]mapping.Value, 1, len(t.stored)+2)
	args[0] = mapping.IntValue(client.ID)
	for _, i := range t.stored {
		args = append(args, out.Values[i])
	}
	id, drawn := int64(rec.ID()), s.ahead.id(rec.Resource)
	var err error
	switch {
	case id == 0 && drawn != 0:
		id = drawn
		s.ahead.conn.postpone(nil, t.insertAt, append(args, mapping.IntValue(id))...)
	case id == 0:
		id, err = s.conn.Insert(ctx, t.insert, args...)
	default:
		err = s.insertAt(ctx, t, client, append(args, mapping.IntValue(id)))
	}
	if err == nil && id > math.MaxInt32 { // SQLite counts on
		err = errors.New("there is no further id: they are int4")
	}
	if err != nil {
		return out, fmt.Errorf("create %s: %w", t.r.Name, err)
	}
	out.Values[t.r.ID] = mapping.IntValue(id)
	s.ahead.written(out)
	return out, s.insertChildren(ctx, client, rec, &out)
}

// insertAt stores a record with an ID that the caller chose, and keeps that ID from
// being issued later.
func (s *Store) insertAt(ctx context.Context, t *table, client auth.Client, args []mapping.Value) error {
	if _, err := s.conn.Insert(ctx, t.insertAt, args...); err != nil {
		return err
	}
	return s.advance(ctx, t.r, client, args[len(args)-1])
}

// advance keeps IDs up to last from being issued, if inserts do not, and invalidates bookmarks.
func (s *Store) advance(ctx context.Context, r *mapping.Resource, client auth.Client, last mapping.Value) error {
	d := s.db.Dialect()
	if d.advance != nil {
		if _, err := number(ctx, s.conn, d.advance(r.Name), last); err != nil {
			return err
		}
	}
	_, err := s.conn.Exec(ctx, bumpEpoch(d.Placeholder(1), d.Placeholder(2)), mapping.TextValue(r.Name), mapping.IntValue(client.ID))
	return err
}

// insertChildren stores the elements of array fields, which refer to the stored
// record out.
func (s *Store) insertChildren(ctx context.Context, client auth.Client, rec mapping.Record, out *mapping.Record) error {
	for _, i := range slices.Sorted(maps.Keys(rec.Children)) {
		f := &rec.Resource.Fields[i]
		children := make([]mapping.Record, 0, len(rec.Children[i]))
		for _, child := range rec.Children[i] {
			child.Values = slices.Clone(child.Values)
			child.Set(f.ArrayKey, out.Values[rec.Resource.ID])
			stored, err := s.insert(ctx, client, child)
			if err != nil {
				return err
			}
			children = append(children, stored)
		}
		if out.Children == nil {
			out.Children = map[int][]mapping.Record{}
		}
		out.Children[i], out.Values[i] = children, mapping.RecordsValue()
	}
	return nil
}

// Update sets the fields that patch has on the record before, as long as that
// is what is stored; else it fails with backend.ErrStale. Its modified_at
// is later than before's, if only by a millisecond.
func (s *Store) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (after mapping.Record, err error) {
	err = s.write(ctx, func(tx *Store) error {
		after, err = tx.update(ctx, client, before, patch)
		return err
	})
	if err != nil {
		return mapping.Record{}, err
	}
	return after, nil
}

func (s *Store) update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	t := s.tables[before.Resource]
	after := before.Merge(patch)
	after.Values[t.r.ID] = before.Values[t.r.ID]
	after.Values[t.r.ModifiedAt] = mapping.MilliValue(max(s.now().UnixMilli(), before.Values[t.r.ModifiedAt].Int()+1))
	after.Version++
	w := Writer{d: s.db.Dialect(), args: make([]mapping.Value, 0, 8)}
	client1, id, version := w.Arg(mapping.IntValue(client.ID)), w.Arg(before.Values[t.r.ID]), w.Arg(mapping.IntValue(before.Version))
	versionName := w.d.Quote(versionColumn)
	w.b.WriteString("UPDATE " + t.name + " SET " + versionName + " = " + versionName + " + 1")
	for _, i := range t.stored {
		if i == t.r.ModifiedAt || !patch.Values[i].IsAbsent() {
			w.b.WriteString(", " + t.columns[i] + " = " + w.Arg(after.Values[i]))
		}
	}
	w.b.WriteString(" WHERE " + t.columns[t.r.ID] + " = " + id + " AND " + w.d.unindexed(w.d.Quote(clientColumn)) + " = " + client1 +
		" AND " + versionName + " = " + version)
	s.ahead.written(after)
	if err := s.run(ctx, one, w.b.String(), w.args...); err != nil {
		return after, fmt.Errorf("update %s: %w", t.r.Name, err)
	}
	return after, s.touchParents(ctx, before, after)
}

// Delete removes the record before, as long as that is what is stored; else it
// fails with backend.ErrStale.
func (s *Store) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	t := s.tables[before.Resource]
	return s.write(ctx, func(tx *Store) error {
		err := tx.run(ctx, one, t.remove, mapping.IntValue(client.ID), before.Values[t.r.ID], mapping.IntValue(before.Version))
		if err != nil {
			return fmt.Errorf("delete %s: %w", t.r.Name, inUse(err))
		}
		return tx.touchParents(ctx, before)
	})
}

// one turns a write that found no record into backend.ErrStale: the record
// has been changed or deleted since it was read.
func one(n int64) error {
	if n == 0 {
		return fmt.Errorf("%w: the record was changed meanwhile", backend.ErrStale)
	}
	return nil
}

// Touch marks a record as changed although no field is: modified_at and the
// version go up. If there is no such record, Touch does nothing.
func (s *Store) Touch(ctx context.Context, r *mapping.Resource, id int32) error {
	return s.write(ctx, func(tx *Store) error {
		tx.ahead.touched(r, id)
		err := tx.run(ctx, nil, s.tables[r].touch, mapping.TimeValue(tx.now()), mapping.IntValue(int64(id)))
		if err != nil {
			return fmt.Errorf("touch %s: %w", r.Name, err)
		}
		return nil
	})
}

// touchParents marks the records as changed of which the given versions of a record
// are array elements, because their answers include the element.
func (s *Store) touchParents(ctx context.Context, versions ...mapping.Record) error {
	for _, p := range s.tables[versions[0].Resource].parents {
		touched := int32(0)
		for _, rec := range versions {
			id := int32(rec.Values[p.key].Int())
			if id == 0 || id == touched {
				continue
			}
			if err := s.Touch(ctx, p.resource, id); err != nil {
				return err
			}
			touched = id
		}
	}
	return nil
}
