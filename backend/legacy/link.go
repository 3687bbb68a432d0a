package legacy

import (
	"context"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// link is a field that holds the kept ID of another record.
type link struct {
	field *mapping.Field
	at    int             // position of the key's first part in Table.Extra
	names int             // how many parts the key has
	to    *sheet.Resource // nil if ReferenceBy names it, in each record
}

// targetOf returns the resource that a field refers to, and whether the field may hold kept IDs. The
// resource is nil if another field names it.
func (t *Mapped) targetOf(f *mapping.Field) (target *sheet.Resource, kept bool) {
	if f.Reference != "" {
		target = t.sheet.Resource(f.Reference)
		return target, target != nil && target.Key.Kept
	}
	if f.ReferenceBy == "" {
		return nil, false
	}
	for _, r := range t.sheet.Resources {
		kept = kept || r.Key.Kept
	}
	return nil, kept
}

// linked makes a field that refers to kept keys. In a filter the key, as one text, takes the place of
// the ID.
func (t *Mapped) linked(c *sheet.Column, parts []sqlrecord.Field, target *sheet.Resource) sqlrecord.Field {
	of := sqlrecord.Field{Null: true}
	for _, p := range parts {
		of.Order = append(of.Order, p.Read)
	}
	of.Nulls = func(w *sqlrecord.Writer) {
		w.Add("(")
		for i := range parts {
			w.Add(Between(i, " OR "))
			w.Expr(parts[i].Read).Add(" IS NULL")
			if i < len(c.Names) && t.IsText(c.Names[i]) {
				w.Add(" OR TRIM(").Expr(parts[i].Read).Add(") = ''")
			}
			if len(c.Nulls) > 0 {
				w.Add(" OR ").Expr(parts[i].Read).Add(" IN (", t.Literals(c.Nulls), ")")
			}
		}
		w.Add(")")
	}
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		key := keyIn(v, len(parts), target)
		if key == nil {
			w.Add(nothing)
			return
		}
		w.Add("(")
		for i := range parts {
			w.Add(Between(i, " AND "))
			parts[i].Equals(w, key[i])
		}
		w.Add(")")
	}
	return of
}

// IsText reports whether a column has texts.
func (t *Mapped) IsText(name string) bool {
	s := t.ColumnOf(name).Sort
	return s == sqlrecord.Texts || s == sqlrecord.Padded
}

// keyIn are the parts of the key in a filter's value; nil if the value is no key.
func keyIn(v mapping.Value, parts int, target *sheet.Resource) (key []mapping.Value) {
	if v.Text() == noKey {
		return nil
	}
	if v.Kind() != mapping.KindText { // the resource's keys are the IDs
		return []mapping.Value{mapping.TextValue(v.String())}[:min(1, parts)]
	}
	for _, part := range sheet.SplitKey(v.Text()) {
		key = append(key, mapping.TextValue(part))
	}
	if target != nil && target.Key.ByClient && len(key) == parts+1 {
		key = key[1:]
	}
	if len(key) != parts {
		return nil
	}
	return key
}

// link notes which keys of a row need kept IDs. It returns the field of an incomplete key.
func (b *batch) link(rec mapping.Record, extra []mapping.Value) *mapping.Field {
	t, n := b.t, len(b.records)
	if t.Key.Kept {
		parts := extra[:len(t.Keys)]
		for _, p := range parts {
			if !p.IsSet() {
				return t.Fields[t.ID].Field
			}
		}
		b.pending = append(b.pending, pending{n, t.ID, t.RefOf(textsOf(parts), b.client)})
	}
	for _, l := range t.links {
		to := l.to
		if to == nil {
			if to = t.sheet.Resource(rec.Get(l.field.ReferenceBy).Text()); to == nil || !to.Key.Kept {
				rec.Values[l.field.Index] = number(extra[l.at])
				continue
			}
		}
		parts := extra[l.at : l.at+l.names]
		rec.Values[l.field.Index] = mapping.NullValue()
		if t.refersToNone(l, parts) {
			continue
		}
		key := make([]string, 0, len(to.Key.Places))
		if to.Key.ByClient && len(parts) == len(to.Key.Places)-1 {
			key = append(key, b.identity(b.client))
		}
		for _, p := range parts {
			key = append(key, textOf(p))
		}
		b.pending = append(b.pending, pending{n, l.field.Index, to.RefOf(key, b.client)})
	}
	return nil
}

// refersToNone reports whether the parts of a reference are no key, so that it refers to nothing.
func (t *Mapped) refersToNone(l link, parts []mapping.Value) bool {
	for _, p := range parts {
		if !p.IsSet() || strings.Trim(p.Text(), " ") == "" {
			return true
		}
		for _, null := range t.SQL.Fields[l.field.Index].Nulls {
			if p.Text() == null {
				return true
			}
		}
	}
	return false
}

// refer looks up the keys of the records that the write refers to.
func (w *write) refer(ctx context.Context, rec mapping.Record) (err error) {
	var refs []sheet.IDRef
	for _, l := range w.t.links {
		if v := rec.Values[l.field.Index]; v.IsSet() {
			if to := w.t.linkOf(l, rec); to != nil {
				refs = append(refs, sheet.IDRef{Resource: to.Name, ID: int32(v.Int())})
			}
		}
	}
	w.keys, err = w.session.keys(ctx, w.client, refs)
	return err
}

// linkOf is the resource that a record refers to by a kept ID; nil for none.
func (t *Mapped) linkOf(l link, rec mapping.Record) *sheet.Resource {
	if l.to != nil {
		return l.to
	}
	if to := t.sheet.Resource(rec.Get(l.field.ReferenceBy).Text()); to != nil && to.Key.Kept {
		return to
	}
	return nil
}

// partsOf are the parts of the key that a field refers to by a kept ID, nil for none; linked is
// false if the field holds no kept IDs.
func (w *write) partsOf(f *mapping.Field, v mapping.Value) (parts []mapping.Value, linked bool, _ *mapping.Error) {
	for _, l := range w.t.links {
		if l.field != f {
			continue
		}
		to := w.t.linkOf(l, w.after)
		if to == nil {
			return nil, false, nil
		}
		if !v.IsSet() {
			return nil, true, nil
		}
		key := w.keys[sheet.IDRef{Resource: to.Name, ID: int32(v.Int())}]
		if key == "" {
			return nil, true, mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), v.String())
		}
		for _, part := range sheet.SplitKey(key) {
			parts = append(parts, mapping.TextValue(part))
		}
		return parts, true, nil
	}
	return nil, false, nil
}

// filtered is the resource whose kept IDs a filter compares with; nil if it compares with none.
func (t *Mapped) filtered(f backend.Filter, others []backend.Filter) *sheet.Resource {
	if f.Field.Primary && t.Key.Kept {
		return t.Resource
	}
	for _, l := range t.links {
		if l.field != f.Field {
			continue
		}
		if l.to != nil {
			return l.to
		}
		for _, o := range others {
			if o.Field.Name == f.Field.ReferenceBy && o.Op == mapping.Equals {
				if to := t.sheet.Resource(o.Value.Text()); to != nil && to.Key.Kept {
					return to
				}
			}
		}
	}
	return nil
}

// noKey stands for the key of an ID that was never issued.
const noKey = "\x1a"

// keyed is the key of an ID, as one text.
func keyed(target *sheet.Resource, keys sheet.Keys, id mapping.Value) mapping.Value {
	if !id.IsSet() {
		return id
	}
	key := keys[sheet.IDRef{Resource: target.Name, ID: int32(id.Int())}]
	if key == "" {
		key = noKey
	}
	return mapping.TextValue(key)
}
