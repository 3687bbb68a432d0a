package remote

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// versionOf is what changes with every change of a record: the number at the
// sheet's version, where that is one, or else a sum of 63 bits, of what is there
// or, without a version, of all that is read. It stays the same over restarts.
func (r *resource) versionOf(values []sheet.Raw) int64 {
	if r.version < 0 {
		return r.Sum(values)
	}
	if v := values[r.version]; v.Kind == sheet.RawInt {
		return v.Int
	}
	return sheet.Sum(values[r.version : r.version+1])
}

// tag gives a record its tag, for which elements that are records of their own are read,
// asked for or not. Where the service does not tell all of them there is none.
func (s *service) tag(ctx context.Context, r *resource, client auth.Client, rec *mapping.Record) error {
	var all []mapping.Record
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Field.Type != mapping.Array {
			continue
		}
		elements, told := rec.Children[i]
		if child := s.resources[f.Field.Target()]; !told && f.Children == "" && child != nil && child.list != nil {
			page, err := s.list(ctx, f.Field.Target(), elementsOf(client, f.Field, *rec))
			if err != nil {
				rec.Tag = mapping.Untold
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			elements, told = page.Records, !page.More
		}
		if !told {
			rec.Tag = mapping.Untold
			return nil
		}
		all = append(all, elements...)
	}
	rec.Tag = sheet.Tag(*rec, all)
	return nil
}

// elementsOf asks for the elements of an array that are records of their own.
func elementsOf(client auth.Client, f *mapping.Field, of mapping.Record) backend.Query {
	q := backend.ElementsOf(backend.Query{Client: client}, f, []mapping.Record{of})
	q.Limit = mapping.MaxElements
	return q
}
