package legacy

import (
	"cmp"
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// session runs statements on a connection: one of the pool for each, or that of a transaction.
type session struct {
	*Store
	conn conn
	tx   *transaction // nil outside of one
}

// heldRecord is a record that the transaction has locked, as it last read it.
type heldRecord struct {
	row []sheet.Raw
	rec mapping.Record
}

type recordID struct {
	r  *mapping.Resource
	id int32
}

// get returns the record q.ID and its row.
func (s session) get(ctx context.Context, r *mapping.Resource, q backend.Query) (held heldRecord, err error) {
	t, err := s.table(r)
	if err != nil {
		return held, err
	}
	key, ok, err := s.keyOf(ctx, t, q.Client, q.ID)
	if err != nil || !ok {
		return held, cmp.Or(err, backend.ErrNotFound)
	}
	held, err = s.byKey(ctx, t, q.Client, key, q.ForUpdate)
	if err != nil {
		return held, err
	}
	one := backend.Page{Records: []mapping.Record{held.rec}}
	if err = one.AddArrays(q, r, s.elements(ctx, q)); err != nil {
		return held, err
	}
	if held.rec = one.Records[0]; q.Tagged {
		err = s.tag(ctx, t, q.Client, &held.rec)
	}
	return held, err
}

// tag gives a record its tag. It reads the record's elements even if they were not asked for.
func (s session) tag(ctx context.Context, t *table, client auth.Client, rec *mapping.Record) error {
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
func (s session) byKey(ctx context.Context, t *table, client auth.Client, key []sheet.Raw, hold bool) (held heldRecord, err error) {
	if op := t.Operations[mapping.OpGet]; op != nil && op.Procedure != "" {
		return s.getByProcedure(ctx, t, op, client, key)
	}
	if hold && t.Read != t.Table { // a view can not always be locked
		lock := newStatement(s.d).add("SELECT 1 FROM ", t.name)
		t.writeKey(lock, client, key)
		if _, err := queryOne(ctx, s.conn, lock.add(s.d.lockClause())); err != nil {
			return held, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet})
		}
	}
	b := s.byKeyText(t, client, key, hold && t.Read == t.Table)
	var row []sheet.Raw
	err = s.rows(ctx, b, func(r []sheet.Raw) error {
		row = r
		return nil
	})
	if err != nil {
		return held, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet})
	}
	if row == nil {
		return held, backend.ErrNotFound
	}
	return s.one(ctx, t, client, row, hold)
}

func (s session) byKeyText(t *table, client auth.Client, key []sheet.Raw, hold bool) *statement {
	b := newStatement(s.d)
	t.selected(b, client, true)
	t.visible(b, client)
	t.keyed(b, key)
	if hold {
		b.add(s.d.lockClause())
	}
	return b
}

// one makes the record of a row, and remembers it if the record is locked.
func (s session) one(ctx context.Context, t *table, client auth.Client, row []sheet.Raw, hold bool) (held heldRecord, err error) {
	records, err := s.decode(ctx, t, backend.Query{Client: client}, [][]sheet.Raw{row})
	if err != nil {
		return held, err
	}
	if len(records) == 0 {
		return held, backend.ErrNotFound
	}
	held = heldRecord{row: row, rec: records[0]}
	if hold && s.tx != nil {
		s.tx.held[recordID{t.Resource.Resource, held.rec.ID()}] = held
	}
	return held, nil
}

// list returns a page of records.
func (s session) list(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	t, err := s.table(r)
	if err != nil {
		return page, err
	}
	page.Records = []mapping.Record{}
	if op := t.Operations[mapping.OpList]; op != nil && op.Procedure != "" {
		return s.listByProcedure(ctx, t, op, q)
	}
	if s.tx != nil {
		var possible bool
		if q.Filters, possible = without(q.Filters, s.tx.tries.unfit); !possible {
			return page, nil
		}
	}
	l, err := s.listing(ctx, t, q)
	if err != nil {
		return page, err
	}
	var rows [][]sheet.Raw
	if q.Total {
		page.Total, err = l.total(ctx)
	}
	if err == nil && !l.beyond {
		rows, page.More, err = l.rows(ctx)
	}
	if unfit := l.unfit(ctx, err); unfit != nil {
		return l.withoutUnfit(ctx, unfit, err)
	}
	if err != nil {
		return page, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	}
	page.Records, err = s.decode(ctx, t, q, rows)
	return page, err
}

// listing is one list while it is read.
type listing struct {
	session
	t      *table
	q      backend.Query
	keys   sheet.Keys
	after  []sheet.Raw // the key that the page is behind; nil for none
	beyond bool        // it is behind an ID that was never given out
}

// listing finds the keys of a list.
func (s session) listing(ctx context.Context, t *table, q backend.Query) (*listing, error) {
	l := &listing{session: s, t: t, q: q}
	var err error
	if l.keys, err = s.keysFor(ctx, t, q); err != nil {
		return nil, err
	}
	after, known, err := t.afterKey(q, l.keys)
	if err != nil {
		return nil, err
	}
	l.after, l.beyond = after, !known
	return l, nil
}

// text appends the statement for rows from an offset on, at most that many, 0 for all. It is
// false if no row can match.
func (l *listing) text(b *statement, offset, limit int) (*statement, bool, error) {
	l.t.selected(b, l.q.Client, l.t.wantsHeavy(l.q.Fields))
	if possible, err := l.t.match(b, l.q, l.keys, l.after); err != nil || !possible {
		return b, false, err
	}
	l.t.sorted(b, l.q)
	l.d.page(b, limit, offset)
	return b, true, nil
}

// each gives the rows of text to a function.
func (l *listing) each(ctx context.Context, offset, limit int, f func(row []sheet.Raw) error) error {
	b, possible, err := l.text(newStatement(l.d), offset, limit)
	if err != nil || !possible {
		return err
	}
	return l.session.rows(ctx, b, f)
}

// rows reads the rows of the page, and tells whether more follow. If the sheet hides rows, it
// reads from the beginning until the page is full.
func (l *listing) rows(ctx context.Context) (rows [][]sheet.Raw, more bool, err error) {
	skip, from, limit := 0, l.q.Offset, 0
	if l.t.HidesRows() {
		skip, from = from, 0
	}
	if l.q.Limit > 0 {
		limit = skip + l.q.Limit + 1 // the one more tells whether there is a next page
	}
	for ; ; limit *= 4 {
		read, shown, size := 0, 0, 0
		rows = nil
		err = l.each(ctx, from, limit, func(row []sheet.Raw) error {
			read++
			if l.t.HidesRows() && l.t.Hides(row, l.q.Client) {
				return nil
			}
			switch shown++; {
			case shown <= skip:
			case l.q.Limit > 0 && len(rows) == l.q.Limit:
				more = true
			default:
				if size += bytesOf(row); l.q.Room != nil {
					if err := l.q.Room(size, len(rows)+1); err != nil {
						more = l.q.Keyset && len(rows) > 0
						return err
					}
				}
				rows = append(rows, row)
			}
			return nil
		})
		if more {
			err = nil // the page ends there
		}
		if err != nil || more || limit == 0 || read < limit {
			return rows, more, err
		}
		if err := backend.Yield(ctx); err != nil {
			return nil, false, err
		}
	}
}

// bytesOf is the size of a row's texts and contents.
func bytesOf(row []sheet.Raw) (n int) {
	for i := range row {
		n += len(row[i].Text)
	}
	return n
}

// total counts all matching records.
func (l *listing) total(ctx context.Context) (n int64, err error) {
	all := *l
	all.after = nil
	if l.t.HidesRows() {
		err = all.each(ctx, 0, 0, func(row []sheet.Raw) error {
			if !l.t.Hides(row, l.q.Client) {
				n++
			}
			return nil
		})
		return n, err
	}
	b := newStatement(l.d).add("SELECT COUNT(*) FROM ", l.t.from)
	if possible, err := l.t.match(b, l.q, l.keys, nil); err != nil || !possible {
		return 0, err
	}
	row, err := queryOne(ctx, l.conn, b)
	if err != nil {
		return 0, err
	}
	return row[0].Int, nil
}

// wantsHeavy tells whether a list asks for a bytea field.
func (t *table) wantsHeavy(fields []int) bool {
	for _, i := range fields {
		if t.Resource.Resource.Fields[i].Type == mapping.Bytea {
			return true
		}
	}
	return false
}

// decode makes records of the rows of a query, and drops those that the sheet hides.
func (s session) decode(ctx context.Context, t *table, q backend.Query, rows [][]sheet.Raw) ([]mapping.Record, error) {
	var refs []sheet.KeyRef
	seen := map[sheet.KeyRef]bool{}
	for _, row := range rows {
		err := t.Refs(row, q.Client, func(ref sheet.KeyRef) {
			if !seen[ref] {
				seen[ref] = true
				refs = append(refs, ref)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", backend.ErrUnexpected, t.Name, err)
		}
	}
	var ids sheet.IDs
	if len(refs) > 0 {
		var err error
		if ids, err = s.idStore.IDs(ctx, refs); err != nil {
			return nil, fmt.Errorf("IDs of %s: %w", t.Name, err)
		}
	}
	records := make([]mapping.Record, 0, len(rows))
	for _, row := range rows {
		rec, ok, err := t.Decode(row, q.Client, ids)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", backend.ErrUnexpected, t.Name, err)
		}
		if ok {
			if !q.Unversioned {
				rec.Version = t.versionOf(row)
			}
			if rec.Owner == 0 && t.parent != nil {
				rec.Owner = q.Client.ID // the statement, or owned, has asked the records that it belongs to
			}
			records = append(records, rec)
		}
	}
	return records, nil
}

// keysFor reads the keys that a list needs from the id store.
func (s session) keysFor(ctx context.Context, t *table, q backend.Query) (sheet.Keys, error) {
	var refs []sheet.IDRef
	for _, f := range q.Filters {
		for _, v := range f.Operands() {
			t.NeedsIDs(t.asked(q, f, v), func(ref sheet.IDRef) { refs = append(refs, ref) })
		}
	}
	if q.After > 0 && t.Key.Kept {
		refs = append(refs, sheet.IDRef{Resource: t.Name, ID: q.After})
	}
	return s.keys(ctx, q.Client, refs)
}

// keyOf returns the parts of an ID's key; false if there is no such key.
func (s session) keyOf(ctx context.Context, t *table, client auth.Client, id int32) ([]sheet.Raw, bool, error) {
	var keys sheet.Keys
	if t.Key.Kept {
		var err error
		if keys, err = s.keys(ctx, client, []sheet.IDRef{{Resource: t.Name, ID: id}}); err != nil {
			return nil, false, err
		}
	}
	return t.keyOf(id, keys)
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
