package legacy

import (
	"context"
	"fmt"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// page returns a page of records with the requested arrays.
func (s session) page(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	page, err := s.list(ctx, r, q)
	if err == nil {
		err = page.AddArrays(q, r, s.elements(ctx, q))
	}
	return page, err
}

// elements reads the elements of an array field of some records, with one statement.
func (s session) elements(ctx context.Context, q backend.Query) backend.ReadElements {
	return func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error) {
		page, err := s.list(ctx, f.Target(), backend.ElementsOf(q, f, of))
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", f.Name, of[0].Resource.Name, err)
		}
		return page.Records, nil
	}
}
