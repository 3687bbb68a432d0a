package sqlrecord

import (
	"context"
	"errors"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// Get returns the record q.ID, with the elements of those array fields that
// q.Fields names.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, err error) {
	if rec, known := s.ahead.get(r, q); known {
		return rec, nil
	}
	t := s.tables[r]
	read := s.read
	sel, text := &t.one, t.get
	if q.Fields != nil {
		chosen := t.choose(s.db.Dialect(), q.Fields)
		sel, text = &chosen, chosen.head+t.get[len(t.one.head):]
		if r.HasArray(q.Fields) {
			read = s.snapshot // the version must be that of the elements, too
		}
	}
	if q.ForUpdate {
		text += s.db.Dialect().ForUpdate
	}
	args := []mapping.Value{mapping.IntValue(q.Client.ID), mapping.IntValue(int64(q.ID))}
	err = read(ctx, func(c Conn) error {
		found := false
		err := c.Query(ctx, text, sel.columns, args, func(row []mapping.Value) error {
			rec, found = sel.record(r, row), true
			return nil
		})
		switch {
		case err != nil:
			return err
		case !found:
			return backend.ErrNotFound
		case !r.HasArray(q.Fields):
			return nil
		}
		one := backend.Page{Records: []mapping.Record{rec}}
		err = one.AddArrays(q, r, s.elements(ctx, c, t, q))
		rec = one.Records[0]
		return err
	})
	if err != nil {
		return mapping.Record{}, err
	}
	return rec, nil
}

// elements reads the elements of an array field of some records, with one statement.
func (s *Store) elements(ctx context.Context, c Conn, t *table, q backend.Query) backend.ReadElements {
	return func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error) {
		child := t.children[f.Index]
		ids := make([]int32, len(of))
		for i, rec := range of {
			ids[i] = rec.ID()
		}
		args := idValues(ids, mapping.IntValue(q.Client.ID))
		text := child.head + s.db.Dialect().placeholders(2, len(args)) + child.tail
		lines, bytes := []mapping.Record{}, 0
		err := c.Query(ctx, text, child.table.list.columns, args, func(row []mapping.Value) error {
			line := child.table.list.record(f.Target(), row)
			lines = append(lines, line)
			if q.Room == nil {
				return nil
			}
			bytes += line.ElementBytes()
			return q.Room(bytes, len(of))
		})
		return lines, err
	}
}

// ErrEnough is returned by a function that wants no more rows.
var ErrEnough = errors.New("no more rows are wanted")

// List returns a page of the records that q describes. NULL sorts below every
// value. A q.Limit of 0 or less is no limit.
func (s *Store) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if s.ahead.lacks(q) {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	t := s.tables[r]
	l := s.listing(t, q)
	var page backend.Page
	read := s.read
	if l.deep || q.Total || r.HasArray(q.Fields) {
		read = s.snapshot
	}
	err := read(ctx, func(c Conn) error {
		records := newSlab(r, q.Limit)
		page = backend.Page{Records: make([]mapping.Record, 0, max(0, min(q.Limit, 100)))}
		if l.deep {
			if err := s.skip(ctx, c, t, q, &l); err != nil {
				return err
			}
		}
		if pg, ok := c.(*postgresConn); ok && l.varied {
			c = plannedConn{pg}
		}
		err := c.Query(ctx, l.text, l.sel.columns, l.args, func(row []mapping.Value) error {
			rec := l.sel.fill(records.record(), row)
			switch added, err := page.Add(&q, rec); {
			case err != nil:
				return err
			case !added && len(page.Records) < q.Limit:
				return ErrEnough
			default:
				return nil
			}
		})
		if errors.Is(err, ErrEnough) {
			err = nil
		}
		if err == nil {
			err = page.AddArrays(q, r, s.elements(ctx, c, t, q))
		}
		if err != nil || !q.Total {
			return err
		}
		rest, err := number(ctx, c, l.count, l.countArgs...)
		page.Total = l.counted + rest
		return err
	})
	if err != nil {
		return backend.Page{}, err
	}
	return page, nil
}
