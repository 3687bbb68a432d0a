package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// session runs statements on a connection: one of the pool, or that of a transaction.
type session struct {
	*Store
	conn  sqlrecord.Conn
	tx    *transaction // nil outside of one
	doubt *bool        // see certain; nil if each statement sees the present state
}

type recordID struct {
	r  *mapping.Resource
	id int32
}

// get returns the record q.ID.
func (s session) get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, err error) {
	t, err := s.TableFor(ctx, r, q.Client)
	if err != nil {
		return rec, err
	}
	keys, err := s.keys(ctx, q.Client, s.keptID(nil, t, q.ID))
	if err != nil {
		return rec, err
	}
	key, known, err := t.keyOf(q.ID, keys)
	switch {
	case err != nil:
		return rec, err
	case !known:
		return rec, backend.ErrNotFound
	}
	rec, err = s.byKey(ctx, t, q, key)
	if err != nil {
		return rec, err
	}
	if r.HasArray(q.Fields) {
		one := backend.Page{Records: []mapping.Record{rec}}
		if err = one.AddArrays(q, r, s.elements(ctx, q)); err != nil {
			return rec, err
		}
		rec = one.Records[0]
	}
	if q.Tagged {
		err = s.tag(ctx, t, q.Client, &rec)
	}
	return rec, err
}

// tag gives a record its tag. It reads the record's elements even if they were not asked for.
func (s session) tag(ctx context.Context, t *Mapped, client auth.Client, rec *mapping.Record) error {
	var all []mapping.Record
	for _, i := range t.arrays {
		elements, ok := rec.Children[i]
		if !ok {
			var err error
			if elements, err = s.elements(ctx, backend.Query{Client: client})(t.Fields[i].Field, []mapping.Record{*rec}); err != nil {
				return err
			}
		}
		all = append(all, elements...)
	}
	rec.Tag = sheet.Tag(*rec, all)
	return nil
}

// byKey returns the record with a key, and locks it if the query says so.
func (s session) byKey(ctx context.Context, t *Mapped, q backend.Query, key []mapping.Value) (rec mapping.Record, err error) {
	if q.ForUpdate && t.From != t.Written { // not every view can be locked
		if err := s.lockRow(ctx, t, q.Client, key); err != nil {
			return rec, err
		}
	}
	one := q
	one.Fields, one.ForUpdate = nil, q.ForUpdate && t.From == t.Written
	if !t.isKey(key) {
		return rec, backend.ErrNotFound
	}
	b := batch{session: s, t: t, client: q.Client}
	b.records = b.first[:0]
	err = t.Rows.One(s.d, s.Params(t, q.Client), one, key).Each(ctx, s.conn, b.add)
	switch {
	case err != nil:
		return rec, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet})
	case b.lost != nil:
		return rec, fmt.Errorf("%w: %s: %s of a record has a value that is none of the field", backend.ErrUnexpected, t.Name, b.lost.Name)
	case len(b.records) == 0:
		s.missed()
		return rec, backend.ErrNotFound
	}
	if err := b.finish(ctx, false); err != nil {
		return rec, err
	}
	if rec = b.records[0]; t.lacks(rec) {
		s.missed()
	}
	if q.ForUpdate && s.tx != nil {
		s.tx.held[recordID{t.Resource.Resource, rec.ID()}] = held{rec, key}
	}
	return rec, nil
}

// isKey reports whether a row can have a key.
func (t *Mapped) isKey(key []mapping.Value) bool {
	for i, v := range key {
		if v.Kind() == mapping.KindText && t.ColumnOf(t.Key.Places[i]).Sort == sqlrecord.Integers && !isWhole(v.Text()) {
			return false
		}
	}
	return true
}

// page reads a page of records.
func (s session) page(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	page.Records = []mapping.Record{}
	t, err := s.TableFor(ctx, r, q.Client)
	if err != nil {
		return page, err
	}
	translated, after, known, err := s.translated(ctx, t, q)
	if err != nil {
		return page, err
	}
	if translated.Total {
		text, args := t.Rows.Count(s.d, s.Params(t, q.Client), translated)
		err := s.conn.Query(ctx, text, oneInt, args, func(row []mapping.Value) error {
			page.Total = row[0].Int()
			return nil
		})
		if err != nil {
			return page, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
		}
	}
	if !known {
		return page, nil
	}
	if !q.Unversioned && t.version < 0 && q.Fields != nil { // the version is a sum of all
		translated.Fields = all(q.Fields, r)
	}
	b := batch{session: s, t: t, client: q.Client}
	read := 0
	err = t.Rows.Many(s.d, s.Params(t, q.Client), translated, after).Each(ctx, s.conn, func(rec mapping.Record, extra []mapping.Value, lost *mapping.Field) error {
		if t.lacks(rec) {
			s.missed()
		}
		if read++; q.Limit > 0 && read > q.Limit {
			page.More = true
			return sqlrecord.ErrEnough
		}
		n := len(b.records)
		if err := b.add(rec, extra, lost); err != nil || len(b.records) == n {
			return err
		}
		switch added, err := page.Add(&q, b.records[n]); {
		case err != nil:
			return err
		case !added:
			b.records = b.records[:n]
			return sqlrecord.ErrEnough
		}
		return nil
	})
	if err != nil {
		return page, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	}
	if read == 0 {
		s.missed()
	}
	if err := b.finish(ctx, q.Unversioned); err != nil {
		return page, err
	}
	copy(page.Records, b.records)
	return page, page.AddArrays(q, r, s.elements(ctx, q))
}

var oneInt = []sqlrecord.Column{{Type: mapping.Int4}}

// all are the requested fields, and those that a version is computed from.
func all(requested []int, r *mapping.Resource) []int {
	fields := r.ListFields()
	for _, i := range requested {
		if r.Fields[i].Type == mapping.Bytea {
			fields = append(fields[:len(fields):len(fields)], i)
		}
	}
	return fields
}

// elements reads the elements of an array field of some records, with one statement.
func (s session) elements(ctx context.Context, q backend.Query) backend.ReadElements {
	return func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error) {
		page, err := s.page(ctx, f.Target(), backend.ElementsOf(q, f, of))
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", f.Name, of[0].Resource.Name, err)
		}
		return page.Records, nil
	}
}

// translated is a query with keys in place of kept IDs, and the key after which the page begins.
// known is false if q.After was never issued.
func (s session) translated(ctx context.Context, t *Mapped, q backend.Query) (out backend.Query, after []mapping.Value, known bool, err error) {
	var refs []sheet.IDRef
	for _, f := range q.Filters {
		if target := t.filtered(f, q.Filters); target != nil {
			for _, v := range f.Operands() {
				refs = s.keptID(refs, s.view.Load().tables[target.Resource], int32(v.Int()))
			}
		}
	}
	if q.After > 0 {
		refs = s.keptID(refs, t, q.After)
	}
	keys, err := s.keys(ctx, q.Client, refs)
	if err != nil {
		return q, nil, false, err
	}
	out = q
	out.Filters = make([]backend.Filter, len(q.Filters))
	for i, f := range q.Filters {
		if target := t.filtered(f, q.Filters); target != nil && f.Op != mapping.IsNull {
			f.Value, f.Values = keyed(target, keys, f.Value), slices.Clone(f.Values)
			for n, v := range f.Values {
				f.Values[n] = keyed(target, keys, v)
			}
		}
		out.Filters[i] = f
	}
	if out.Fields != nil { // read also what filters and orders use, so that a changed type of it is noticed
		out.Fields = slices.Clone(out.Fields)
		for _, f := range q.Filters {
			out.Fields = append(out.Fields, f.Field.Index)
		}
		for _, o := range q.Sort {
			out.Fields = append(out.Fields, o.Field.Index)
		}
		slices.Sort(out.Fields)
		out.Fields = slices.Compact(out.Fields)
	}
	if known = true; q.After > 0 {
		after, known, err = t.keyOf(q.After, keys)
	}
	return out, after, known, err
}

// keptID adds an ID to refs, whose keys are looked up.
func (s session) keptID(refs []sheet.IDRef, t *Mapped, id int32) []sheet.IDRef {
	if t == nil || !t.Key.Kept {
		return refs
	}
	return append(refs, sheet.IDRef{Resource: t.Name, ID: id})
}

func (s session) keys(ctx context.Context, client auth.Client, refs []sheet.IDRef) (sheet.Keys, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys, err := s.idStore.Keys(ctx, client, refs)
	if err != nil {
		return nil, fmt.Errorf("keys of IDs: %w", err)
	}
	return keys, nil
}

// batch makes records of rows.
type batch struct {
	session
	t       *Mapped
	client  auth.Client
	records []mapping.Record
	pending []pending
	lost    *mapping.Field    // of the last row that could not be shown
	first   [1]mapping.Record // room for the only record of a get
}

// pending is a field that waits for the kept ID of a key.
type pending struct {
	record, field int
	ref           sheet.KeyRef
}

// add adds a row. A row with a value that cannot be shown is left out.
func (b *batch) add(rec mapping.Record, extra []mapping.Value, lost *mapping.Field) error {
	t, linked := b.t, len(b.pending)
	if lost == nil {
		lost = b.link(rec, extra)
	}
	if lost != nil {
		b.lost, b.pending = lost, b.pending[:linked]
		b.leftOut(t, lost)
		return nil
	}
	for _, i := range t.plates {
		if plate, dutch := mapping.DutchPlate(rec.Values[i].Text()); dutch {
			rec.Values[i] = mapping.TextValue(plate)
		}
	}
	for _, f := range t.fixed {
		rec.Values[f.at] = f.value
	}
	switch {
	case t.client >= 0 && strings.TrimRight(extra[t.client].Text(), " ") == t.SystemClient:
		rec.Owner, rec.Values[t.IsSystem] = mapping.OfAll, mapping.IntValue(1)
	case t.parent == nil && t.SQL.Client == (sheet.Expr{}):
		rec.Owner = mapping.OfAll
	default:
		rec.Owner = b.client.ID // the statement reads no others
	}
	if t.version >= 0 {
		rec.Version = versionOf(extra[t.version])
	}
	b.records = append(b.records, rec)
	return nil
}

func (t *Mapped) IsLinked(i int) bool {
	for _, l := range t.links {
		if l.field.Index == i {
			return true
		}
	}
	return false
}

// textsOf are the parts of a key as texts.
func textsOf(parts []mapping.Value) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = textOf(p)
	}
	return out
}

// number converts a whole number that was read as a text.
func number(v mapping.Value) mapping.Value {
	if v = asWhole(v); v.Kind() != mapping.KindInt {
		return mapping.NullValue()
	}
	return v
}

// finish fills in the kept IDs, and hashes records that have no version.
func (b *batch) finish(ctx context.Context, unversioned bool) error {
	if len(b.pending) > 0 {
		var refs []sheet.KeyRef
		seen := map[sheet.KeyRef]bool{}
		for _, p := range b.pending {
			if p.record < len(b.records) && !seen[p.ref] {
				seen[p.ref] = true
				refs = append(refs, p.ref)
			}
		}
		ids, err := b.idStore.IDs(ctx, refs)
		if err != nil {
			return fmt.Errorf("IDs of %s: %w", b.t.Name, err)
		}
		for _, p := range b.pending {
			if p.record < len(b.records) {
				b.records[p.record].Values[p.field] = mapping.IntValue(int64(ids[p.ref]))
			}
		}
	}
	if b.t.version >= 0 || unversioned {
		return nil
	}
	for i := range b.records {
		b.records[i].Version = sheet.Tag(b.records[i], nil)
	}
	return nil
}

// versionOf is a number that changes with the version of a row.
func versionOf(v mapping.Value) int64 {
	if n := asWhole(v); n.Kind() == mapping.KindInt {
		return n.Int()
	}
	return sheet.Sum(v.Text())
}

// lockRow locks the row of a key.
func (s session) lockRow(ctx context.Context, t *Mapped, client auth.Client, key []mapping.Value) error {
	w := sqlrecord.NewWriter(s.d, s.Params(t, client))
	w.Add("SELECT 1 FROM ", t.Written)
	t.writeKey(w, key)
	text, args := w.Add(s.d.ForUpdate).Statement()
	err := s.conn.Query(ctx, text, oneInt, args, func([]mapping.Value) error { return nil })
	return s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet})
}
