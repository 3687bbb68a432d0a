package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func (s *service) create(ctx context.Context, client auth.Client, rec mapping.Record, key string) (mapping.Record, error) {
	r := s.resources[rec.Resource]
	if r == nil || r.create == nil {
		return mapping.Record{}, unexpected(fmt.Errorf("the sheet has no create of %s", rec.Resource.Name))
	}
	keys, err := s.keys(ctx, r, client, rec)
	if err != nil {
		return mapping.Record{}, err
	}
	o := s.owners(client)
	if err := s.takes(ctx, r, rec, o); err != nil {
		return mapping.Record{}, err
	}
	v := &values{client: client, once: key}
	if v.fields, err = r.Encode(rec, nil, client, keys, true); err != nil {
		return mapping.Record{}, unsaid(err)
	}
	if r.Key.Generated == "uuid" {
		if err := r.makeKey(v); err != nil {
			return mapping.Record{}, err
		}
	}
	for _, e := range r.elements {
		f := &r.Fields[e.field]
		if rec.Values[e.field].IsAbsent() {
			continue
		}
		array := sheet.Assignment{Place: f.Children, Field: f.Field, Rows: [][]sheet.Assignment{}}
		for k, child := range rec.Children[e.field] {
			element, err := e.of.Encode(child, nil, client, keys, true)
			if err != nil {
				return mapping.Record{}, ofElement(unsaid(err), f.Name, k)
			}
			array.Rows = append(array.Rows, element)
		}
		v.fields = append(v.fields, array)
	}
	return s.write(ctx, r, r.create, v, o, rec, nil)
}

// unsaid is the error of a write that cannot be put into a request. The cause is the client's
// value or the sheet; it does not mean that the service is down.
func unsaid(err error) error {
	if _, ok := mapping.AsViolations(err); ok {
		return err
	}
	return unexpected(err)
}

// makeKey makes the part of a new record's key that neither the client nor the service
// provides.
func (r *resource) makeKey(v *values) error {
	for _, place := range r.Key.Places {
		i := slices.IndexFunc(v.fields, func(a sheet.Assignment) bool { return a.Place == place })
		if i < 0 {
			id, err := uuid.NewRandom()
			if err != nil {
				return fmt.Errorf("key of a %s: %w", r.Name, err)
			}
			i, v.fields = len(v.fields), append(v.fields, sheet.Assignment{Place: place, Value: sheet.Raw{Kind: sheet.RawText, Text: id.String()}})
		}
		v.key = append(v.key, v.fields[i].Value)
	}
	return nil
}

// takes checks that a new record, and each of its elements, will belong to the client.
func (s *service) takes(ctx context.Context, r *resource, rec mapping.Record, o *owners) error {
	if err := o.takes(ctx, r, rec); err != nil {
		return err
	}
	for _, e := range r.elements {
		f := &r.Fields[e.field]
		if e.of.Through == nil || e.of.Through.Name == f.ArrayKey {
			continue // an element belongs to its record
		}
		for k, element := range rec.Children[e.field] {
			if err := o.takes(ctx, e.of, element); err != nil {
				return ofElement(err, f.Name, k)
			}
		}
	}
	return nil
}

// ofElement prefixes the field of a violation with its element.
func ofElement(err error, array string, n int) error {
	found, ok := mapping.AsViolations(err)
	if !ok {
		return err
	}
	named := make(mapping.Violations, len(found))
	for i, e := range found {
		named[i] = e.In(fmt.Sprintf("%s[%d]", array, n))
	}
	return named
}

func (s *service) update(ctx context.Context, client auth.Client, before, patch mapping.Record, row []sheet.Raw) (mapping.Record, error) {
	r := s.resources[patch.Resource]
	if r == nil || r.update == nil {
		return mapping.Record{}, unexpected(fmt.Errorf("the sheet has no update of %s", patch.Resource.Name))
	}
	key, err := s.keyOf(ctx, r, client, before.ID())
	if err != nil {
		return mapping.Record{}, err
	}
	after, changed := before.Merge(patch), r.Complete(before, patch)
	if changed.IsBlank() {
		return s.find(ctx, before.Resource, backend.Query{Client: client, ID: before.ID(), Tagged: true}, s.owners(client))
	}
	keys, err := s.keys(ctx, r, client, changed)
	if err != nil {
		return mapping.Record{}, err
	}
	o := s.owners(client)
	if r.Through != nil && !patch.Values[r.Through.Index].IsAbsent() {
		if err := o.takes(ctx, r, patch); err != nil {
			return mapping.Record{}, err
		}
	}
	v := &values{client: client, key: key, id: before.ID(), version: before.Version}
	along := func(f *sheet.Field) bool { return r.goesAlong(f, patch) }
	if v.fields, err = r.EncodeChange(before, changed, row, along, client, keys); err != nil {
		return mapping.Record{}, unsaid(err)
	}
	if len(v.fields) == 0 {
		return mapping.Record{}, unexpected(fmt.Errorf("none of the changed fields of a %s can be written", r.Name))
	}
	return s.write(ctx, r, r.update, v, o, after, key)
}

// goesAlong tells whether an update also sends a field that does not change: the service takes
// whole records, the path has the field, or a template names it.
func (r *resource) goesAlong(f *sheet.Field, patch mapping.Record) bool {
	name := "value." + f.Name
	return r.update.SendAll || r.update.Request.IsInPath(name) || !patch.Values[f.Index].IsAbsent() && r.update.Request.Uses(name)
}

// write makes the call of a write. sent is the record as it is to be; key is what it has now,
// nil on create.
func (s *service) write(ctx context.Context, r *resource, op *operation, v *values, o *owners, sent mapping.Record, key []sheet.Raw) (rec mapping.Record, err error) {
	defer r.wrote()
	a, err := s.call(ctx, op, v)
	if err != nil {
		return mapping.Record{}, refusedValue(err, sent)
	}
	defer s.wire.conclude(a, &err)
	attempt := sheet.Attempt{Record: sent, ID: v.id}
	if !isSuccess(a.status) {
		return mapping.Record{}, s.refused(a, op, attempt, nil)
	}
	scan := s.scanner()
	defer s.free(scan)
	found := row{values: make([]sheet.Raw, len(r.Places)), lists: make([]nest, len(r.arrays))}
	if len(op.Key) > 0 {
		top, err := scan.scan(op.answer, a.body)
		if err != nil {
			return mapping.Record{}, s.refused(a, op, attempt, err)
		}
		for i, place := range r.Key.Places[:min(len(op.Key), len(r.Key.Places))] {
			r.supply(found, place, top.values[i])
		}
	} else if op.Nothing && s.mayBeFault(a) {
		return mapping.Record{}, s.refused(a, op, attempt, nil)
	}
	if !op.Nothing {
		top, err := s.result(a, op, scan, attempt)
		if err != nil {
			return mapping.Record{}, err
		}
		if len(top.lists[0].rows) != 1 {
			return mapping.Record{}, afterWrite{fmt.Errorf("the answer has %d records in place of one", len(top.lists[0].rows))}
		}
		found = top.lists[0].rows[0]
	}
	if key, err = r.judgeWritten(op, v, found, key); err != nil {
		return mapping.Record{}, afterWrite{err}
	}
	s.wire.trust(a)
	if rec, err = s.written(ctx, r, op, v, o, sent, found, key); err != nil {
		return mapping.Record{}, afterWrite{err}
	}
	_ = s.tag(ctx, r, v.client, &rec) // the write is done, with a tag or without
	return rec, nil
}

// judgeWritten returns the key of the record that was written. The answer must have the key if
// it has the record; other values that it leaves out are as they were sent.
func (r *resource) judgeWritten(op *operation, v *values, found row, key []sheet.Raw) ([]sheet.Raw, error) {
	if op.Nothing {
		r.supplyUntold(op, v, found, key)
	}
	r.supplyKey(found, key, nil)
	if key == nil && len(op.Key) == 0 || !(op.ReadBack || op.Nothing) {
		r.supplyAll(found, v.fields)
	}
	switch place := r.MissingKey(found.values); {
	case place == "" && key != nil:
		return key, r.isOf(found, v.client, key)
	case place == "":
		return r.KeyOf(found.values), r.haveKeys(v.client, []row{found})
	case key != nil && op.ReadBack:
		return key, nil
	default:
		return nil, r.without(place)
	}
}

// supplyUntold fills in the key of a record if the sheet says that the answer does not have
// it.
func (r *resource) supplyUntold(op *operation, v *values, found row, key []sheet.Raw) {
	for i, place := range r.Key.Places {
		if i < len(key) {
			r.supply(found, place, key[i])
		}
		for _, a := range v.fields {
			if key == nil && len(op.Key) == 0 && a.Place == place && a.Rows == nil {
				r.supply(found, place, a.Value)
			}
		}
	}
}

// written returns the record after a write: read again if the sheet says so, or as the answer
// has it. Values that the answer leaves out are as they were sent.
func (s *service) written(ctx context.Context, r *resource, op *operation, v *values, o *owners, sent mapping.Record, found row, key []sheet.Raw) (mapping.Record, error) {
	if (op.ReadBack || op.Nothing) && r.get != nil {
		return s.read(ctx, r, o, key, v.id)
	}
	if r.Client != "" { // what was written is the client's own, and need not be said again
		r.supply(found, r.Client, sheet.Raw{Kind: sheet.RawInt, Int: v.client.ID})
	}
	records, shown, err := s.decode(ctx, r, o, []row{found})
	if err != nil {
		return mapping.Record{}, err
	}
	rec := records[0]
	if !shown[0] {
		return mapping.Record{}, unexpected(errors.New("the answer has a record that the sheet hides, or of another client"))
	}
	for i, value := range rec.Values {
		if value.IsAbsent() && r.Fields[i].Field.Type != mapping.Array {
			rec.Values[i] = sent.Values[i]
		}
	}
	return rec, nil
}

// afterWrite is a failure after a write was done. The error that it wraps must not be taken
// for a failure of the write, so it is only shown, unless it is ErrUnexpected.
type afterWrite struct{ err error }

func (a afterWrite) Error() string { return "after the write was done: " + a.err.Error() }

func (a afterWrite) Is(target error) bool {
	return target == backend.ErrUnexpected && errors.Is(a.err, target)
}

func (s *service) delete(ctx context.Context, client auth.Client, before mapping.Record) (err error) {
	r := s.resources[before.Resource]
	if r == nil || r.delete == nil {
		return unexpected(fmt.Errorf("the sheet has no delete of %s", before.Resource.Name))
	}
	key, err := s.keyOf(ctx, r, client, before.ID())
	if err != nil {
		return err
	}
	v := &values{client: client, key: key, id: before.ID(), version: before.Version, fields: r.SoftDelete()}
	defer r.wrote()
	a, err := s.call(ctx, r.delete, v)
	if err != nil {
		return err
	}
	defer s.wire.conclude(a, &err)
	if !isSuccess(a.status) || s.source.XML && s.mayBeFault(a) {
		return s.refused(a, r.delete, sheet.Attempt{Record: before, ID: before.ID()}, nil)
	}
	return nil
}
