package remote

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// versionOf is a number that changes with every change of a record: the value at the sheet's
// version, if that is a number; or else a sum of 63 bits, over that value or, without one,
// over all that is read. It survives restarts.
func (r *resource) versionOf(values []sheet.Raw) int64 {
	if r.version < 0 {
		return r.Sum(values)
	}
	if v := values[r.version]; v.Kind == sheet.RawInt {
		return v.Int
	}
	return sheet.Sum(values[r.version : r.version+1])
}

// tag gives a record its tag. It reads elements that are records of their own even if they
// were not asked for. If the service does not list all of them, there is no tag.
func (s *service) tag(ctx context.Context, r *resource, client auth.Client, rec *mapping.Record) error {
	var all []mapping.Record
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Field.Type != mapping.Array {
			continue
		}
		elements, whole := rec.Children[i]
		if child := s.resources[f.Field.Target()]; !whole && f.Children == "" && child != nil && child.list != nil {
			page, err := s.List(ctx, f.Field.Target(), elementsOf(client, f.Field, *rec))
			if err != nil {
				rec.Tag = mapping.Untold
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			elements, whole = page.Records, !page.More
		}
		if !whole {
			rec.Tag = mapping.Untold
			return nil
		}
		all = append(all, elements...)
	}
	rec.Tag = sheet.Tag(*rec, all)
	return nil
}

// elementsOf is the query for the elements of an array that are records of their own.
func elementsOf(client auth.Client, f *mapping.Field, of mapping.Record) backend.Query {
	q := backend.ElementsOf(backend.Query{Client: client}, f, []mapping.Record{of})
	q.Limit = mapping.MaxElements
	return q
}
