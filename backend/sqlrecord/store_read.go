package sqlrecord

import (
	"context"
	"errors"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Get returns the record q.ID, with the elements of those array fields that
// q.Fields names.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, err error) {
	t := s.tables[r]
	read := s.read
	sel, text := &t.one, t.get
	var arrays []int
	if q.Fields != nil {
		chosen := t.choose(s.db.Dialect(), q.Fields)
		sel, text = &chosen, chosen.head+t.get[len(t.one.head):]
		for _, i := range q.Fields {
			if _, ok := t.children[i]; ok {
				arrays = append(arrays, i)
				read = s.snapshot // the version must be that of the elements, too
			}
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
		if err != nil {
			return err
		}
		if !found {
			return backend.ErrNotFound
		}
		return s.children(ctx, c, t, q.Client, rec.ID(), arrays, &rec)
	})
	if err != nil {
		return mapping.Record{}, err
	}
	return rec, nil
}

// children reads the elements of array fields into rec.
func (s *Store) children(ctx context.Context, c Conn, t *table, client auth.Client, id int32, arrays []int, rec *mapping.Record) error {
	for _, i := range arrays {
		child := t.children[i]
		sel := &s.tables[child.field.Target()].list
		lines := []mapping.Record{}
		args := []mapping.Value{mapping.IntValue(client.ID), mapping.IntValue(int64(id))}
		err := c.Query(ctx, child.query, sel.columns, args, func(row []mapping.Value) error {
			lines = append(lines, sel.record(child.field.Target(), row))
			return nil
		})
		if err != nil {
			return err
		}
		if rec.Children == nil {
			rec.Children = map[int][]mapping.Record{}
		}
		rec.Children[i] = lines
		rec.Values[i] = mapping.RecordsValue()
	}
	return nil
}

// errEnough is the error of a function that wants no more rows.
var errEnough = errors.New("no more rows are wanted")

// List returns a page of the records that q describes. NULL sorts below every
// value. A q.Limit of 0 or less is no limit.
func (s *Store) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	t := s.tables[r]
	l := s.listing(t, q)
	var page backend.Page
	read := s.read
	if l.deep || q.Total {
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
		if v, ok := c.(valuePlanner); ok && l.varied {
			c = v.plannedForValues()
		}
		err := c.Query(ctx, l.text, l.sel.columns, l.args, func(row []mapping.Value) error {
			rec := l.sel.fill(records.record(), row)
			switch added, err := page.Add(&q, rec); {
			case err != nil:
				return err
			case !added && len(page.Records) < q.Limit:
				return errEnough
			default:
				return nil
			}
		})
		if errors.Is(err, errEnough) {
			err = nil
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
