package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func (s *service) get(ctx context.Context, m *mapping.Resource, q backend.Query) (mapping.Record, []sheet.Raw, error) {
	o := s.owners(q.Client)
	if q.ForUpdate {
		o.about = ownerRef{m, int64(q.ID)}
	}
	rec, err := s.find(ctx, m, q, o)
	return rec, o.row, err
}

// find is get by a caller that has found the owners of some records already.
func (s *service) find(ctx context.Context, m *mapping.Resource, q backend.Query, o *owners) (mapping.Record, error) {
	r := s.resources[m]
	if r == nil {
		return mapping.Record{}, backend.ErrNotFound
	}
	key, err := s.keyOf(ctx, r, q.Client, q.ID)
	if err != nil {
		return mapping.Record{}, err
	}
	var rec mapping.Record
	if r.get == nil {
		rec, err = s.search(ctx, r, q, o)
	} else {
		rec, err = s.read(ctx, r, o, key, q.ID)
	}
	if err == nil {
		rec, err = s.withChildren(ctx, r, q, rec)
	}
	if err == nil && q.Tagged {
		err = s.tag(ctx, r, q.Client, &rec)
	}
	if err != nil {
		return rec, err
	}
	for _, i := range r.arrays { // come only when they are asked for
		if !slices.Contains(q.Fields, i) {
			rec.Values[i] = mapping.Value{}
			delete(rec.Children, i)
		}
	}
	return rec, nil
}

// read asks for the record of a key.
func (s *service) read(ctx context.Context, r *resource, o *owners, key []sheet.Raw, id int32) (rec mapping.Record, err error) {
	v := s.newValues()
	defer s.freeValues(v)
	v.client, v.key, v.id = o.client, key, id
	a, err := s.call(ctx, r.get, v)
	if sheet.IsUnsendable(err) {
		err = backend.ErrNotFound // no record has such a key
	}
	if err != nil {
		return mapping.Record{}, err
	}
	defer s.wire.conclude(a, &err)
	scan := s.scanner()
	defer s.free(scan)
	attempt := sheet.Attempt{ID: id}
	top, err := s.result(a, r.get, scan, attempt)
	if err != nil {
		return mapping.Record{}, err
	}
	if rows := top.lists[0].rows; len(rows) == 1 {
		r.supplyKey(rows[0], key, r.get.Request)
		if err = r.isOf(rows[0], o.client, key); err == nil {
			s.wire.trust(a) // to tell whose it is may take other calls
			rec, err = s.one(ctx, r, o, top)
		}
	} else {
		rec, err = s.one(ctx, r, o, top)
	}
	if errors.Is(err, backend.ErrUnexpected) && !errors.Is(err, errOther) {
		// An error of the service may look like success. If it is none, the log is not
		// to have more of the answer: it may be another's.
		if refusal := s.refused(a, r.get, attempt, err); !errors.Is(refusal, backend.ErrUnexpected) {
			err = refusal
		}
	}
	return rec, err
}

// errOther says that an answer is about another record than the one asked for.
var errOther = errors.New("the answer is about another record")

// isOf tells whether a row is the record of a key and all its elements are records, whether or
// not the client may see it. A row without its client belongs to nobody and is not shown.
func (r *resource) isOf(found row, client auth.Client, key []sheet.Raw) error {
	if place := r.MissingKey(found.values); place != "" && place == r.Client {
		return nil
	} else if place != "" {
		return r.without(place)
	}
	if !r.IsOf(found.values, key) {
		return unexpected(fmt.Errorf("%w: %s %s of client %d was asked for, %[2]s %[5]s came", errOther, r.Name, sheet.JoinKey(key), client.ID, sheet.JoinKey(r.KeyOf(found.values))))
	}
	return r.haveKeys(client, []row{found})
}

// one makes a record of an answer that must have one.
func (s *service) one(ctx context.Context, r *resource, o *owners, top row) (mapping.Record, error) {
	rows := top.lists[0].rows
	switch {
	case len(rows) == 0:
		return mapping.Record{}, backend.ErrNotFound
	case len(rows) > 1:
		return mapping.Record{}, unexpected(fmt.Errorf("the answer has %d records in place of one", len(rows)))
	}
	ids, err := s.ids(ctx, r, o.client, rows)
	if err != nil {
		return mapping.Record{}, err
	}
	rec, shown, err := o.whole(ctx, r, rows[0], ids)
	if err == nil && !shown {
		err = backend.ErrNotFound
	}
	return rec, err
}

// search finds a record in the list, if the service has no other way to read it.
func (s *service) search(ctx context.Context, r *resource, q backend.Query, o *owners) (mapping.Record, error) {
	if r.list == nil {
		return mapping.Record{}, backend.ErrNotFound
	}
	id := backend.Filter{Field: &r.Resource.Resource.Fields[r.ID], Value: mapping.IntValue(int64(q.ID))}
	page, err := s.listFor(ctx, r.Resource.Resource, backend.Query{Client: q.Client, Filters: []backend.Filter{id}, Limit: 1}, o)
	if err != nil {
		return mapping.Record{}, err
	}
	if len(page.Records) == 0 {
		return mapping.Record{}, backend.ErrNotFound
	}
	return page.Records[0], nil
}

// withChildren reads the requested arrays whose elements are records of their own in the
// service.
func (s *service) withChildren(ctx context.Context, r *resource, q backend.Query, rec mapping.Record) (mapping.Record, error) {
	for _, i := range q.Fields {
		f := &r.Fields[i]
		if f.Field.Type != mapping.Array || f.Children != "" || s.resources[f.Field.Target()] == nil {
			continue
		}
		elements, err := s.elements(ctx, q)(f.Field, []mapping.Record{rec})
		if err != nil {
			return rec, err
		}
		rec.SetElements(i, elements)
	}
	return rec, nil
}
