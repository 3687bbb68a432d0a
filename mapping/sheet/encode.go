package sheet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// fixed is a place that is written with a value from the sheet.
type fixed struct {
	place string
	value Raw
	now   *codec // writes the present time in place of value
	parts []part // a text that names the client, in place of value
}

func (f fixed) at(now time.Time) Assignment {
	if f.now != nil {
		raw, _ := f.now.writeTime(now.UnixMilli())
		return Assignment{Place: f.place, Value: raw}
	}
	return Assignment{Place: f.place, Value: f.value}
}

// of is at for a client. A text with {client.name} fails for a client that has no name.
func (f fixed) of(client auth.Client, now time.Time) (Assignment, error) {
	if f.parts == nil {
		return f.at(now), nil
	}
	var text strings.Builder
	for _, p := range f.parts {
		switch {
		case p.name == "client.id" && len(f.parts) == 1:
			return Assignment{Place: f.place, Value: intRaw(client.ID)}, nil
		case p.name == "client.id":
			text.WriteString(strconv.FormatInt(client.ID, 10))
		case p.name == "client.name" && client.Name == "":
			return Assignment{}, fmt.Errorf("constants: %s: client %d has no name", f.place, client.ID)
		case p.name == "client.name":
			text.WriteString(client.Name)
		default:
			text.WriteString(p.literal)
		}
	}
	return Assignment{Place: f.place, Value: textRaw(text.String())}, nil
}

// NeedsIDs adds the IDs that Encode and Filter will ask Keys for: those in rec of records with
// kept keys.
func (r *Resource) NeedsIDs(rec mapping.Record, add func(IDRef)) {
	if !r.refers {
		return
	}
	for i := range r.Fields {
		v := rec.Values[i]
		if v.Kind() != mapping.KindInt {
			continue
		}
		if target := r.keptTarget(&r.Fields[i], rec); target != nil {
			add(IDRef{target.Name, int32(v.Int())})
		}
	}
}

// keptTarget is the resource whose kept ID the field holds in rec; nil if it holds none.
func (r *Resource) keptTarget(f *Field, rec mapping.Record) *Resource {
	switch {
	case f.source == fromReference:
		return f.Target
	case f.source == fromReferred:
		if target := r.sheet.byName[rec.Get(f.ReferenceBy).Text()]; target != nil && target.Key.Kept {
			return target
		}
	case f.source == fromKey && r.Key.Kept:
		return r
	}
	return nil
}

// Complete returns the patch without values that the record already has. Writing them back
// could change the system, where several codes stand for one value or one value fills several
// places. If another field names a field's resource, both stay. Drivers call it before
// NeedsIDs and Encode of an update; an empty result changes nothing.
func (r *Resource) Complete(before, patch mapping.Record) mapping.Record {
	patch = before.Changes(patch)
	for _, i := range r.referred {
		by := r.Field(r.Fields[i].ReferenceBy).Index
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

// Encode returns what to write for the fields present in rec, in the order of the model. On
// create it adds constants, defaults and the client's number, and always the present time
// where the sheet has stamps. Children are not written. A violation (mapping.Fail) says that
// the system has no such value: RelatedIDNotFound for an ID that was never issued,
// VarcharInvalid for a text outside the charset, and so on.
//
// A field whose resource is named by another field (ReferenceBy) can only be encoded together
// with that field, which Complete ensures; otherwise it is an error. row is the record's row,
// aligned with Places; nil on create.
func (r *Resource) Encode(rec mapping.Record, row []Raw, client auth.Client, keys Keys, create bool) ([]Assignment, error) {
	return r.encodeAll(rec, row, client, keys, create, nil)
}

// EncodeChange is Encode for a change that sends the whole record: fields that the change
// leaves out are written as the system has them, because decoding and encoding can alter a
// value. before is the record that was read from row.
func (r *Resource) EncodeChange(before, changed mapping.Record, row []Raw, along func(*Field) bool, client auth.Client, keys Keys) ([]Assignment, error) {
	out, err := r.encodeAll(changed, row, client, keys, false, func(out []Assignment, f *Field) ([]Assignment, error) {
		if !along(f) {
			return out, nil
		}
		if len(row) != len(r.Places) {
			return out, fmt.Errorf("%s: it was not read to be changed", r.Name)
		}
		if whole, ok := r.asRead(out, f, row); ok {
			return whole, nil
		}
		return r.encode(out, f, before.Values[f.Index], before, row, client, keys)
	})
	if err != nil || len(r.siblings) == 0 {
		return out, err
	}
	return r.besideSiblings(out, row)
}

// besideSiblings puts each object that is changed in part before the changes, whole and as it was
// read, so that an update does not lose its other members.
func (r *Resource) besideSiblings(changed []Assignment, row []Raw) ([]Assignment, error) {
	if len(row) != len(r.Places) {
		return nil, fmt.Errorf("%s: it was not read to be changed", r.Name)
	}
	var out []Assignment
	for _, a := range changed {
		object, _, _ := strings.Cut(a.Place, ".")
		at, ok := r.siblings[object]
		if ok && row[at].Kind == RawJSON && !slices.ContainsFunc(out, func(o Assignment) bool { return o.Place == object }) {
			out = append(out, Assignment{Place: object, Value: row[at]})
		}
	}
	return append(out, changed...), nil
}

// asRead appends what a row has at the places that a field is written to. ok is false if set
// computes a place and the row lacks one of them.
func (r *Resource) asRead(out []Assignment, f *Field, row []Raw) (all []Assignment, ok bool) {
	for i, place := range f.Write {
		at, read := r.places[place]
		if !read && f.set == nil {
			at, read = r.places[f.From[i]]
		}
		switch {
		case !read:
			return out, false
		case f.source == fromList && slices.ContainsFunc(out, func(a Assignment) bool { return a.Place == place }):
			return out, true // with another of its elements
		case place != r.Client && row[at].Kind != RawAbsent:
			all = append(all, Assignment{Place: place, Value: row[at], Field: f.Field})
		}
	}
	if len(all) > 0 {
		all = f.withBeside(all)
	}
	return append(out, all...), true
}

// encodeAll is Encode. rest, if not nil, appends what is also sent for a field that rec leaves
// out.
func (r *Resource) encodeAll(rec mapping.Record, row []Raw, client auth.Client, keys Keys, create bool, rest func([]Assignment, *Field) ([]Assignment, error)) ([]Assignment, error) {
	out := make([]Assignment, 0, len(r.Fields)+len(r.constants)+1)
	now := time.Time{}
	if create || len(r.stamps) > 0 {
		now = r.sheet.now()
	}
	if create {
		if r.Client != "" {
			out = append(out, Assignment{Place: r.Client, Value: intRaw(client.ID)})
		}
		for _, c := range r.constants {
			a, err := c.of(client, now)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			out = append(out, a)
		}
	}
	var found mapping.Violations
	for i := range r.Fields {
		f := &r.Fields[i]
		v := rec.Values[i]
		if f.source == fromKey || f.source == fromElements {
			continue
		}
		switch {
		case f.stamp == StampChange || f.stamp == StampCreate && create:
			v = mapping.TimeValue(now)
		case !v.IsAbsent():
		case create:
			v = f.onCreate
		}
		var err error
		switch {
		case !f.writable:
		case !v.IsAbsent() && f.source == fromList:
			out, err = r.encodeElement(out, f, v, row, create)
		case !v.IsAbsent():
			out, err = r.encode(out, f, v, rec, row, client, keys)
		case rest != nil:
			out, err = rest(out, f)
		}
		if err != nil {
			if err := found.Add(err); err != nil {
				return nil, err
			}
		}
	}
	if len(found) > 0 {
		return nil, found
	}
	return out, nil
}

// encode appends what is written for one field.
func (r *Resource) encode(out []Assignment, f *Field, v mapping.Value, rec mapping.Record, row []Raw, client auth.Client, keys Keys) ([]Assignment, error) {
	if f.set != nil {
		for _, s := range f.set {
			raw, err := s.set(v, row)
			if err != nil {
				return out, fmt.Errorf("%s.%s: set %s: %w", r.Name, f.Name, s.place, err)
			}
			out = append(out, Assignment{Place: s.place, Value: raw, Field: f.Field})
		}
		return out, nil
	}
	if f.source == fromReferred && v.IsSet() && !rec.Get(f.ReferenceBy).IsSet() {
		return out, fmt.Errorf("%s.%s: cannot be written without %s, which names the resource", r.Name, f.Name, f.ReferenceBy)
	}
	if target := r.keptTarget(f, rec); target != nil {
		out, err := r.encodeReference(out, f, target, v, keys)
		return f.withBeside(out), err
	}
	raw, clock, e := f.codec.write(v)
	if e != nil {
		return out, e
	}
	out = append(out, Assignment{Place: f.Write[0], Value: raw, Field: f.Field})
	if len(f.Write) > 1 && f.codec.clock != nil {
		out = append(out, Assignment{Place: f.Write[1], Value: clock, Field: f.Field})
	}
	return f.withBeside(out), nil
}

// withBeside completes a reference, which was appended last, by the constants in its object.
// Null is null of the whole object.
func (f *Field) withBeside(out []Assignment) []Assignment {
	if len(f.beside) == 0 {
		return out
	}
	if last := &out[len(out)-1]; last.Value.Kind == RawNull {
		last.Place = objectOf(last.Place)
		return out
	}
	return append(out, f.beside...)
}

// encodeReference appends the key of the record that the field refers to.
func (r *Resource) encodeReference(out []Assignment, f *Field, target *Resource, v mapping.Value, keys Keys) ([]Assignment, error) {
	parts, err := r.keyParts(f, target, v, keys)
	if err != nil {
		return out, err
	}
	for i, place := range f.Write {
		if place == r.Client {
			continue // never another's
		}
		raw, _ := f.codec.null()
		if parts != nil {
			raw = parts[i]
		}
		out = append(out, Assignment{Place: place, Value: raw, Field: f.Field})
	}
	return out, nil
}

// keyParts returns the parts of the key that v stands for, aligned with the
// field's places; nil for null.
func (r *Resource) keyParts(f *Field, target *Resource, v mapping.Value, keys Keys) ([]Raw, error) {
	if !v.IsSet() {
		return nil, nil
	}
	key := keys[IDRef{target.Name, int32(v.Int())}]
	if key == "" {
		return nil, mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), v.String())
	}
	parts := target.SplitKey(key)
	if surplus := len(parts) - len(f.Write); surplus > 0 { // the client's own number
		parts = parts[surplus:]
	}
	if len(parts) != len(f.Write) {
		return nil, fmt.Errorf("%s.%s: the key %q of %s has %d parts, expected %d", r.Name, f.Name, key, target.Name, len(parts), len(f.Write))
	}
	return parts, nil
}

// SoftDelete returns what DELETE writes instead of removing the record; none if it removes it.
func (r *Resource) SoftDelete() []Assignment {
	if len(r.softDelete) == 0 {
		return nil
	}
	now := r.sheet.now()
	out := make([]Assignment, len(r.softDelete))
	for i, f := range r.softDelete {
		out[i] = f.at(now)
	}
	return out
}
