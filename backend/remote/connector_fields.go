package remote

import (
	"fmt"
	"strings"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// fields converts the fields of a record, except for IDs.
func (t *taking) fields(d *draft) {
	for i := range d.r.Resource.Fields {
		if f := &d.r.Resource.Fields[i]; i != d.r.ID && f.ReferenceBy == "" {
			t.field(d, f)
		}
	}
	for i := range d.r.Resource.Fields { // references whose resource another field names
		if f := &d.r.Resource.Fields[i]; f.ReferenceBy != "" {
			t.field(d, f)
		}
	}
}

func (t *taking) field(d *draft, f *mapping.Field) {
	how := &d.r.Service.Fields[f.Index]
	if f.Type == mapping.Array {
		if !how.Elements.IsZero() {
			t.elements(d, f, how)
		}
		return
	}
	target := t.c.target(f, d.rec)
	if target == nil || !target.Key.Kept || how.Read.IsZero() {
		v, absent, err := how.Value(t.ctx, f, d.raw)
		if err != nil {
			d.fail(f.Name, err)
			return
		}
		if d.rec.Values[f.Index] = v; absent {
			d.absent = append(d.absent, f.Index)
		}
		return
	}
	d.rec.Values[f.Index] = mapping.NullValue()
	v, there, err := how.Read.Of(t.ctx, d.raw)
	switch {
	case err != nil:
		d.fail(f.Name, fmt.Errorf("%s: %w", f.Name, err))
		return
	case !there:
		d.absent = append(d.absent, f.Index)
		return
	case how.IsNull(v) || v == nil:
		return
	}
	parts, several := v.([]any)
	if !several {
		parts = []any{v}
	}
	for _, part := range parts {
		text, ok := sheet.ScalarText(part)
		if ok && isBlank(text) {
			return
		}
		if !ok || len(parts) != len(target.Service.Key) {
			d.fail(f.Name, fmt.Errorf("%s: %s has what is no key of a %s", f.Name, how.Read, target.Name))
			return
		}
	}
	of := t.client
	if of.ID == 0 {
		of.ID = d.client
	}
	ref := sheet.KeyRef{Resource: target.Name, Client: keyed(target, of), Key: sheet.KeyText(parts...)}
	t.refs = append(t.refs, ref)
	d.refers = append(d.refers, reference{f.Index, ref})
}

// target is the resource whose ID a field holds in a record; nil for none.
func (c *connector) target(f *mapping.Field, rec mapping.Record) *sheet.Resource {
	switch {
	case f.Reference != "":
		return c.Sheet.Resources[f.Target()]
	case f.ReferenceBy != "":
		return c.Sheet.Resources[c.Sheet.Model.Resource(rec.Get(f.ReferenceBy).Text())]
	default:
		return nil
	}
}

// elements begins the elements of an array within its record. jq sees the record as their _parent.
func (t *taking) elements(d *draft, f *mapping.Field, how *sheet.ServiceField) {
	v, there, err := how.Elements.Find(t.ctx, d.raw)
	all, isList := v.List()
	switch {
	case err != nil:
		d.fail(f.Name, fmt.Errorf("%s: %w", f.Name, err))
		return
	case isList, there && v.IsNull():
	case t.c.source.XML && there && !v.IsEmpty(): // a list of one
		all = []sheet.JSON{v}
	case t.c.source.XML && isAround(how.Elements, d.raw):
	case !there:
		d.absent = append(d.absent, f.Index)
		return
	default:
		d.fail(f.Name, fmt.Errorf("%s: %s has what is no list", f.Name, how.Elements))
		return
	}
	of := t.c.Sheet.Resources[f.Target()]
	drafts := make([]*draft, 0, len(all))
	for n, row := range all {
		if !row.IsObject() {
			d.fail(f.Name, fmt.Errorf("%s[%d]: what is no record", f.Name, n))
			return
		}
		e := &draft{taken: &taken{client: d.client, raw: row.With(parentName, d.raw)}, r: of}
		if err := t.begin(e); err != nil {
			d.fail(f.Name, fmt.Errorf("%s[%d]: %w", f.Name, n, err))
			return
		}
		if e.isShown() {
			t.fields(e)
		}
		drafts = append(drafts, e)
	}
	if d.arrays == nil {
		d.arrays = map[int][]*draft{}
	}
	d.arrays[f.Index] = drafts
}

// isAround reports whether the parent of a place exists: XML leaves out an empty list.
func isAround(at sheet.Spot, body sheet.JSON) bool {
	if len(at.Path) == 0 {
		return false
	}
	v, there := at.Path[:len(at.Path)-1].Find(body)
	return v.IsObject() || there && v.IsEmpty() // an empty element
}
