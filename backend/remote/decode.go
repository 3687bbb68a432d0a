package remote

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// supply fills in a place that the answer leaves out because the request said it.
func (r *resource) supply(to row, place string, value sheet.Raw) {
	if i, ok := r.Place(place); ok && to.values[i].Kind == sheet.RawAbsent {
		to.values[i] = value
	}
}

// supplyAll fills in what was sent, or stood in the path of a list, except the client: only
// the answer tells whose a record is. Of the key it fills in what supplyKey does.
func (r *resource) supplyAll(to row, from []sheet.Assignment) {
	for _, a := range from {
		if part := slices.Index(r.Key.Places, a.Place); a.Rows == nil && a.Place != r.Client && (part < 0 || r.supplied[part]) {
			r.supply(to, a.Place, a.Value)
		}
	}
}

// supplyKey fills in those parts of the key that were asked for and that an answer can leave
// out: the client, and the parent record, such as the order in the path of its lines. The
// record's own part must be in the answer, which otherwise could be any record. The client's
// number is filled in only if the call named that part; q is nil after a write.
func (r *resource) supplyKey(to row, parts []sheet.Raw, q *sheet.Request) {
	for i, place := range r.Key.Places {
		if r.supplied[i] && i < len(parts) && (q == nil || place != r.Client || q.Uses("key") || q.Uses("key."+strconv.Itoa(i+1))) {
			r.supply(to, place, parts[i])
		}
	}
}

// suppliedParts are the parts of a key that supplyKey fills in.
func suppliedParts(r *sheet.Resource) []bool {
	supplied, own := make([]bool, len(r.Key.Places)), len(r.Key.Places)
	for i, place := range r.Key.Places {
		supplied[i] = place == r.Client || slices.ContainsFunc(r.Fields, func(f sheet.Field) bool {
			return f.Reference != "" && slices.Contains(f.From, place)
		})
		if supplied[i] {
			own--
		}
	}
	if own == 0 {
		clear(supplied)
	}
	return supplied
}

// haveKeys fails if a row of a list, or an element in it, has no key. Rows that are not shown
// need none.
func (r *resource) haveKeys(client auth.Client, rows []row) error {
	for _, row := range rows {
		if place := r.MissingKey(row.values); place != "" && !r.Hides(row.values, client) {
			return r.without(place)
		}
		for n, child := range r.children {
			r.supplyParent(n, row, client)
			if err := child.haveKeys(client, row.lists[n].rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// without is the error that a record of an answer has no key.
func (r *resource) without(place string) error {
	return unexpected(fmt.Errorf("a %s without its key, at %s", r.Name, place))
}

// supplyParent gives elements of an array the client of their record, unless they name one.
func (r *resource) supplyParent(list int, parent row, client auth.Client) {
	child := r.children[list]
	if child.Client != "" {
		whose := sheet.Raw{Kind: sheet.RawInt, Int: client.ID}
		if i, ok := r.Place(r.Client); ok {
			whose = parent.values[i]
		}
		for _, element := range parent.lists[list].rows {
			child.supply(element, child.Client, whose)
		}
	}
	key := r.Resource.Resource.Fields[r.arrays[list]].ArrayKey
	f := child.Resource.Resource.Field(key)
	if f == nil {
		return
	}
	from := child.Fields[f.Index].From
	parts := r.KeyOf(parent.values)
	if len(from) > len(parts) {
		return
	}
	for _, element := range parent.lists[list].rows {
		for i, place := range from {
			child.supply(element, place, parts[len(parts)-len(from)+i])
		}
	}
}

// decode makes records of rows, and asks for all their IDs at once. shown says of each row
// whether it is a record that the client sees.
func (s *service) decode(ctx context.Context, r *resource, o *owners, rows []row) (records []mapping.Record, shown []bool, err error) {
	ids, err := s.ids(ctx, r, o.client, rows)
	if err != nil {
		return nil, nil, err
	}
	records, shown = make([]mapping.Record, len(rows)), make([]bool, len(rows))
	for i, row := range rows {
		if records[i], shown[i], err = o.whole(ctx, r, row, ids); err != nil {
			return nil, nil, err
		}
	}
	return records, shown, nil
}

// whole makes a record of a row, with its arrays. shown says whether it is one that the client
// sees.
func (o *owners) whole(ctx context.Context, r *resource, from row, ids sheet.IDs) (rec mapping.Record, shown bool, err error) {
	rec, shown, err = o.decode(ctx, r, from, ids)
	if err == nil && shown {
		err = r.decodeArrays(ctx, &rec, from, o, ids)
	}
	if err != nil {
		return mapping.Record{}, false, err
	}
	if shown && o.about == (ownerRef{rec.Resource, int64(rec.ID())}) { // and no other of its list, nor one that it belongs to
		o.row = slices.Clone(from.values)
	}
	return rec, shown, nil
}

// decode makes a record of a row, without its arrays. shown says whether it is one that the
// client sees.
func (o *owners) decode(ctx context.Context, r *resource, from row, ids sheet.IDs) (rec mapping.Record, shown bool, err error) {
	rec, shown, err = r.Decode(from.values, o.client, ids)
	if err != nil {
		return rec, false, unexpected(err)
	}
	if shown {
		shown, err = o.shows(ctx, r, rec)
	}
	if err != nil || !shown {
		return mapping.Record{}, false, err
	}
	if !o.unversioned {
		rec.Version = r.versionOf(from.values)
	}
	if r.Through != nil {
		rec.Owner = o.client.ID
	}
	return rec, true, nil
}

func (r *resource) decodeArrays(ctx context.Context, to *mapping.Record, from row, o *owners, ids sheet.IDs) error {
	if slices.ContainsFunc(r.children, func(c *resource) bool { return c.Through != nil }) {
		o.found(*to)
	}
	for n, i := range r.arrays {
		if !from.lists[n].there {
			continue
		}
		children := []mapping.Record{}
		for _, row := range from.lists[n].rows {
			rec, shown, err := o.decode(ctx, r.children[n], row, ids)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Fields[i].Name, err)
			}
			if shown {
				children = append(children, rec)
			}
		}
		to.SetElements(i, children)
	}
	return nil
}

// ids returns the IDs that decoding the rows needs.
func (s *service) ids(ctx context.Context, r *resource, client auth.Client, rows []row) (sheet.IDs, error) {
	var refs []sheet.KeyRef
	add := func(ref sheet.KeyRef) { refs = append(refs, ref) }
	for _, row := range rows {
		for n := range r.arrays {
			r.supplyParent(n, row, client)
			for _, element := range row.lists[n].rows {
				if err := r.children[n].Refs(element.values, client, add); err != nil {
					return nil, unexpected(err)
				}
			}
		}
		if err := r.Refs(row.values, client, add); err != nil {
			return nil, unexpected(err)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	ids, err := s.o.IDStore.IDs(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("ids of %s: %w", r.Name, err)
	}
	return ids, nil
}

// keys returns the keys of the records that rec, and the records in it, refer to.
func (s *service) keys(ctx context.Context, r *resource, client auth.Client, rec mapping.Record) (sheet.Keys, error) {
	var refs []sheet.IDRef
	add := func(ref sheet.IDRef) { refs = append(refs, ref) }
	r.NeedsIDs(rec, add)
	for _, e := range r.elements {
		for _, child := range rec.Children[e.field] {
			e.of.NeedsIDs(child, add)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	keys, err := s.o.IDStore.Keys(ctx, client, refs)
	if err != nil {
		return nil, fmt.Errorf("keys of %s: %w", r.Name, err)
	}
	return keys, nil
}

// keyOf returns the key of the record of that ID. It fails with backend.ErrNotFound where there
// is none.
func (s *service) keyOf(ctx context.Context, r *resource, client auth.Client, id int32) ([]sheet.Raw, error) {
	if !r.Key.Kept {
		key, ok := r.NumberKey(int64(id))
		if !ok {
			return nil, backend.ErrNotFound
		}
		return []sheet.Raw{key}, nil
	}
	ref := sheet.IDRef{Resource: r.Name, ID: id}
	keys, err := s.o.IDStore.Keys(ctx, client, []sheet.IDRef{ref})
	if err != nil {
		return nil, fmt.Errorf("key of a %s: %w", r.Name, err)
	}
	if keys[ref] == "" {
		return nil, backend.ErrNotFound
	}
	return r.SplitKey(keys[ref]), nil
}
