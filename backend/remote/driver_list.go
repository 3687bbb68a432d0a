package remote

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// List implements backend.Reader.
func (d *Driver) List(ctx context.Context, m *mapping.Resource, q backend.Query) (backend.Page, error) {
	if q.None {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	of := []*mapping.Resource{m}
	for _, i := range q.Fields {
		if f := &m.Fields[i]; f.Type == mapping.Array {
			of = append(of, f.Target())
		}
	}
	if err := d.freshAll(ctx, q.Client, q.Copy, of...); err != nil {
		return backend.Page{}, err
	}
	page, err := d.copy.records.List(ctx, m, q)
	if err != nil {
		return page, ownUnlessAnswer(err)
	}
	return page, d.contents(ctx, m, q, page.Records)
}

// freshAll makes the copies of resources as fresh as a request wants them.
func (d *Driver) freshAll(ctx context.Context, client auth.Client, wish *backend.Copy, of ...*mapping.Resource) error {
	var done []*source
	for _, m := range of {
		s := d.copy.sources[m]
		if s == nil || slices.Contains(done, s) {
			continue
		}
		done = append(done, s)
		if err := d.copy.fresh(ctx, s.of(d.copy, client), wish); err != nil {
			return err
		}
	}
	return nil
}

// contents reads the requested contents from the service: the copy has none.
func (d *Driver) contents(ctx context.Context, m *mapping.Resource, q backend.Query, records []mapping.Record) error {
	for _, i := range q.Fields {
		if m.Fields[i].Type != mapping.Bytea {
			continue
		}
		for k := range records {
			rec, err := d.Get(ctx, m, backend.Query{Client: q.Client, ID: records[k].ID()})
			if err != nil {
				return err
			}
			records[k].Values[i] = rec.Values[i]
		}
	}
	return nil
}

// ownUnlessAnswer marks an error of the gateway's own database.
func ownUnlessAnswer(err error) error {
	if _, answer := mapping.AsViolations(err); answer || errors.Is(err, backend.ErrNotFound) {
		return err
	}
	return ownFailure("copy of records", err)
}

// Feed implements backend.ChangeFeed.
func (d *Driver) Feed(m *mapping.Resource) backend.Feed { return Feeds(d.Sheet)(m) }

// Feeds returns which changes of a resource a sheet has reported.
func Feeds(sh *sheet.Sheet) func(*mapping.Resource) backend.Feed {
	walked := newSources(sh)
	return func(m *mapping.Resource) backend.Feed {
		if walked[m] == nil {
			return backend.FeedNone
		}
		return backend.FeedAll
	}
}

// changesMaxAge is how old the copy may be that answers Changes: many clients poll them, each time for
// all resources.
const changesMaxAge = 5 * time.Second

// Changes implements backend.ChangeFeed.
func (d *Driver) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	if err := d.freshAll(ctx, q.Client, &backend.Copy{Within: changesMaxAge}, q.Resources...); err != nil {
		return backend.ChangesPage{}, err
	}
	page, err := d.copy.changes.Page(ctx, q)
	return page, ownUnlessAnswer(err)
}

// Digest implements backend.ChangeFeed.
func (d *Driver) Digest(ctx context.Context, m *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	if err := d.freshAll(ctx, q.Client, nil, m); err != nil {
		return backend.Digest{}, err
	}
	digest, err := d.copy.changes.Digest(ctx, m, q)
	return digest, ownUnlessAnswer(err)
}

// ChangesState returns about how many changes are kept.
func (d *Driver) ChangesState(ctx context.Context) (kept int64, lag time.Duration, err error) {
	return d.copy.changes.State(ctx)
}
