package remote

import (
	"context"
	"fmt"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// addArrays adds the requested arrays to the records of a page. Elements within a record come
// with the list, or with the record if the list leaves them out.
func (s *service) addArrays(ctx context.Context, m *mapping.Resource, q backend.Query, page *backend.Page) error {
	r, own := s.resources[m], q
	own.Fields = nil
	for _, i := range q.Fields {
		if f := &r.Fields[i]; f.Type == mapping.Array && f.Children == "" {
			own.Fields = append(own.Fields, i)
			continue
		} else if f.Type != mapping.Array {
			continue
		}
		for k := range page.Records {
			rec := &page.Records[k]
			if rec.Values[i].IsSet() {
				continue
			}
			whole, err := s.find(ctx, m, backend.Query{Client: q.Client, ID: rec.ID(), Fields: []int{i}}, s.owners(q.Client))
			if err != nil {
				return fmt.Errorf("%s of %s: %w", r.Fields[i].Name, m.Name, err)
			}
			*rec = whole
		}
	}
	return page.AddArrays(own, m, s.elements(ctx, q))
}

// elements reads the elements of an array for several records: in one list, unless the service
// lists only those of one record.
func (s *service) elements(ctx context.Context, q backend.Query) backend.ReadElements {
	return func(f *mapping.Field, of []mapping.Record) (all []mapping.Record, err error) {
		child := s.resources[f.Target()]
		if child == nil || child.list == nil {
			return nil, nil
		}
		asked := []backend.Query{backend.ElementsOf(q, f, of)}
		if child.list.Request.Uses("filter." + f.ArrayKey) {
			asked = asked[:0]
			for i := range of {
				asked = append(asked, backend.ElementsOf(q, f, of[i:i+1]))
			}
		}
		for _, q := range asked {
			q.Limit = maxRows // all of them: what bodies are bounded by is no bound of a service
			page, err := s.List(ctx, f.Target(), q)
			if err == nil && page.More {
				err = unexpected(fmt.Errorf("more than %d elements", maxRows))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			all = append(all, page.Records...)
		}
		return all, nil
	}
}
