package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// parentName is the name under which jq sees the record of an element. It is no member of the element.
const parentName = "_parent"

// encoding makes the form in which a record is sent.
type encoding struct {
	c      *connector
	keys   sheet.Keys // of the records that the record refers to
	create bool
}

// encode writes the fields of rec into a record of the service.
func (c *connector) encode(ctx context.Context, r *sheet.Resource, client auth.Client, rec mapping.Record, create bool, into map[string]any) error {
	e := &encoding{c: c, create: create}
	var refs []sheet.IDRef
	c.refersTo(rec, func(ref sheet.IDRef) { refs = append(refs, ref) })
	if len(refs) > 0 {
		var err error
		if e.keys, err = c.IDStore.Keys(ctx, client, refs); err != nil {
			return err
		}
	}
	return e.put(ctx, r, rec, into)
}

// refersTo adds the kept IDs in a record and its elements.
func (c *connector) refersTo(rec mapping.Record, add func(sheet.IDRef)) {
	for i, v := range rec.Values {
		f := &rec.Resource.Fields[i]
		if target := c.target(f, rec); target != nil && target.Key.Kept && v.Kind() == mapping.KindInt {
			add(sheet.IDRef{Resource: target.Name, ID: int32(v.Int())})
		}
		for _, child := range rec.Children[i] {
			c.refersTo(child, add)
		}
	}
}

func (e *encoding) put(ctx context.Context, r *sheet.Resource, rec mapping.Record, into map[string]any) error {
	var found mapping.Violations
	for i := range rec.Values {
		f, how := &r.Resource.Fields[i], &r.Service.Fields[i]
		var err error
		switch v := rec.Values[i]; {
		case f.Type == mapping.Array:
			if how.Elements.Path != nil && v.Kind() == mapping.KindRecords {
				err = e.elements(ctx, f, how.Elements.Path, rec.Children[i], into)
			}
		case !how.Writable:
		case e.c.source.XML && v.Kind() == mapping.KindText && !isXML(v.Text()):
			err = mapping.Fail(mapping.VarcharInvalid, mapping.Literal(f.Name), v.Text())
		case !v.IsAbsent():
			err = e.field(ctx, f, how, rec, v, into)
		case e.create && !how.Default.IsAbsent():
			err = e.field(ctx, f, how, rec, how.Default, into)
		}
		if err != nil {
			if err := found.Add(err); err != nil {
				return err
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

func (e *encoding) elements(ctx context.Context, f *mapping.Field, at sheet.Path, children []mapping.Record, into map[string]any) error {
	of := e.c.Sheet.Resources[f.Target()]
	all := make([]any, len(children))
	for n, child := range children {
		one := map[string]any{}
		if err := e.put(ctx, of, child, one); err != nil {
			return ofElement(err, f.Name, n)
		}
		delete(one, parentName)
		all[n] = one
	}
	at.Put(into, all)
	return nil
}

func (e *encoding) field(ctx context.Context, f *mapping.Field, how *sheet.ServiceField, rec mapping.Record, v mapping.Value, into map[string]any) error {
	stored, err := e.stored(ctx, f, how, rec, v)
	if err != nil {
		return err
	}
	if !how.Put(into, stored) {
		return unexpected(fmt.Errorf("%s.%s: write yields no object, and there is no path", rec.Resource.Name, f.Name))
	}
	return nil
}

// stored is the service's form of a value: the value itself, or what jq makes of it; for a reference
// the key takes its place.
func (e *encoding) stored(ctx context.Context, f *mapping.Field, how *sheet.ServiceField, rec mapping.Record, v mapping.Value) (any, error) {
	var in any
	if target := e.c.target(f, rec); target != nil && target.Key.Kept && v.IsSet() {
		key := e.keys[sheet.IDRef{Resource: target.Name, ID: int32(v.Int())}]
		if key == "" {
			return nil, mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), v.String())
		}
		if in = keyOf(sheet.KeyParts(key)); how.Write == nil {
			return in, nil
		}
	} else if how.Write == nil {
		return how.Stored(f, v)
	} else {
		in = sheet.Shown(v)
	}
	out, err := how.Write.First(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, sheet.ErrNothing) {
		return nil, f.Invalid(v.String()).Because(err)
	}
	return out, nil
}

// shown is a record as jq sees it: its values in the form of the interface.
func shown(rec mapping.Record) map[string]any {
	all := make(map[string]any, len(rec.Values))
	for i, v := range rec.Values {
		f := &rec.Resource.Fields[i]
		switch {
		case v.IsAbsent():
		case f.Type == mapping.Array:
			elements := make([]any, len(rec.Children[i]))
			for n, child := range rec.Children[i] {
				elements[n] = shown(child)
			}
			all[f.Name] = elements
		default:
			all[f.Name] = sheet.Shown(v)
		}
	}
	return all
}

// complete is a patch without the values that the record already has: writing them back could
// change the service's. A reference and the field that names its resource stay together.
func complete(before, patch mapping.Record) mapping.Record {
	patch = before.Changes(patch)
	for i := range patch.Resource.Fields {
		f := &patch.Resource.Fields[i]
		if f.Type == mapping.Array {
			patch.Values[i] = mapping.Value{}
		}
		if f.ReferenceBy == "" {
			continue
		}
		by := patch.Resource.Field(f.ReferenceBy).Index
		if patch.Values[i].IsAbsent() == patch.Values[by].IsAbsent() {
			continue
		}
		for _, k := range [...]int{i, by} {
			if patch.Values[k].IsAbsent() {
				patch.Values[k] = before.Values[k]
			}
		}
	}
	return patch
}

// ownOf is a record as the service has it, without what frontdesk added.
func ownOf(row map[string]any) map[string]any {
	if _, is := row[parentName]; !is {
		return row
	}
	own := maps.Clone(row)
	delete(own, parentName)
	return own
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
