package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// session runs statements on a connection: one of the pool for each, or that of
// a transaction.
type session struct {
	*Store
	conn conn
	tx   *transaction // nil outside of one
}

// heldRecord is a record that the transaction has locked, as it last saw it.
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
		return held, orNotFound(err)
	}
	held, err = s.byKey(ctx, t, q.Client, key, q.ForUpdate)
	if err != nil {
		return held, err
	}
	for _, i := range q.Fields {
		if f := &r.Fields[i]; f.Type == mapping.Array {
			if err := s.elements(ctx, t, q.Client, f, &held.rec); err != nil {
				return held, err
			}
		}
	}
	return held, nil
}

func orNotFound(err error) error {
	if err == nil {
		return backend.ErrNotFound
	}
	return err
}

// byKey returns the record with a key, which it locks where that is asked for.
func (s session) byKey(ctx context.Context, t *table, client auth.Client, key []sheet.Raw, hold bool) (held heldRecord, err error) {
	if op := t.Operations[mapping.OpGet]; op != nil && op.Procedure != "" {
		return s.getByProcedure(ctx, t, op, client, key)
	}
	if hold && t.Read != t.Table { // a view can not always be locked
		lock := newStatement(s.d).add("SELECT 1 FROM ", t.name, s.d.lockHint())
		t.own(lock, client, key)
		if _, err := queryOne(ctx, s.conn, lock.add(s.d.lockClause())); err != nil {
			return held, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpGet})
		}
	}
	b := s.byKeyText(t, client, key, hold && t.Read == t.Table)
	row, err := queryOne(ctx, s.conn, b)
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
	if hold {
		b.add(s.d.lockHint())
	}
	t.visible(b, client)
	t.keyed(b, key)
	if hold {
		b.add(s.d.lockClause())
	}
	return b
}

// one makes the record of a row, and remembers it where it is held.
func (s session) one(ctx context.Context, t *table, client auth.Client, row []sheet.Raw, hold bool) (held heldRecord, err error) {
	records, err := s.decode(ctx, t, client, [][]sheet.Raw{row})
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

// elements reads the elements of an array field into rec.
func (s session) elements(ctx context.Context, t *table, client auth.Client, f *mapping.Field, rec *mapping.Record) error {
	target := f.Target()
	page, err := s.list(ctx, target, backend.Query{
		Client:  client,
		Filters: []backend.Filter{{Field: target.Field(f.ArrayKey), Value: mapping.IntValue(int64(rec.ID()))}},
	})
	if err != nil {
		return fmt.Errorf("read %s of %s: %w", f.Name, t.Name, err)
	}
	if rec.Children == nil {
		rec.Children = map[int][]mapping.Record{}
	}
	rec.Children[f.Index], rec.Values[f.Index] = page.Records, mapping.RecordsValue()
	return nil
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
	l, err := s.listing(ctx, t, q)
	if err != nil || l == nil {
		return page, err
	}
	attempt := sheet.Attempt{Resource: t.Resource, Op: mapping.OpList}
	if l.count != nil {
		row, err := queryOne(ctx, s.conn, l.count)
		if s.knowsNoSuch(err, q) {
			return page, nil
		}
		if err != nil {
			return page, s.failure(err, attempt)
		}
		page.Total = row[0].Int
	}
	var rows [][]sheet.Raw
	err = query(ctx, s.conn, l.page, func(row []sheet.Raw) error {
		if q.Limit > 0 && len(rows) == q.Limit {
			page.More = true
			return nil
		}
		rows = append(rows, row)
		return nil
	})
	if s.knowsNoSuch(err, q) {
		return page, nil
	}
	if err != nil {
		return page, s.failure(err, attempt)
	}
	page.Records, err = s.decode(ctx, t, q.Client, rows)
	return page, err
}

// knowsNoSuch tells whether an error says that a text which is filtered by has
// letters that the column cannot have: so no record has it. Every column can have
// those of ASCII, but for NUL: about these the error is one of the sheet or of the
// database.
func (s session) knowsNoSuch(err error, q backend.Query) bool {
	f, ok := s.d.fault(err)
	return ok && f.class == faultCharset && slices.ContainsFunc(q.Filters, func(f backend.Filter) bool {
		return strings.ContainsFunc(f.Value.String(), func(r rune) bool { return r > unicode.MaxASCII || r == 0 })
	})
}

// listing are the statements of a list.
type listing struct{ page, count *statement }

// listing writes the statements of a list; nil where no record can match.
func (s session) listing(ctx context.Context, t *table, q backend.Query) (*listing, error) {
	keys, err := s.keysFor(ctx, t, q)
	if err != nil {
		return nil, err
	}
	after, ok, err := t.afterKey(q, keys)
	if err != nil || !ok {
		return nil, err
	}
	l := &listing{page: newStatement(s.d)}
	t.selected(l.page, q.Client, t.wantsHeavy(q.Fields))
	if ok, err := t.match(l.page, q, keys, after); err != nil || !ok {
		return nil, err
	}
	t.sorted(l.page, q.Sort)
	limit := 0
	if q.Limit > 0 {
		limit = q.Limit + 1 // the one more tells whether there is a next page
	}
	s.d.page(l.page, limit, q.Offset)
	if q.Total {
		l.count = newStatement(s.d).add("SELECT COUNT(*) FROM ", t.from)
		if _, err := t.match(l.count, q, keys, after); err != nil {
			return nil, err
		}
	}
	return l, nil
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

// decode makes records of rows. Those that the sheet hides are left out.
func (s session) decode(ctx context.Context, t *table, client auth.Client, rows [][]sheet.Raw) ([]mapping.Record, error) {
	var refs []sheet.KeyRef
	seen := map[sheet.KeyRef]bool{}
	for _, row := range rows {
		err := t.Refs(row, client, func(ref sheet.KeyRef) {
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
		if ids, err = s.keep.IDs(ctx, refs); err != nil {
			return nil, fmt.Errorf("%w: IDs of %s: %w", errKeep, t.Name, err)
		}
	}
	records := make([]mapping.Record, 0, len(rows))
	for _, row := range rows {
		rec, ok, err := t.Decode(row, client, ids)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", backend.ErrUnexpected, t.Name, err)
		}
		if ok {
			rec.Version = t.versionOf(row)
			records = append(records, rec)
		}
	}
	return records, nil
}

// keysFor asks for the keys that a list needs.
func (s session) keysFor(ctx context.Context, t *table, q backend.Query) (sheet.Keys, error) {
	var refs []sheet.IDRef
	if len(q.Filters) > 0 {
		t.NeedsIDs(t.filterRecord(q), func(ref sheet.IDRef) { refs = append(refs, ref) })
	}
	if q.After > 0 && t.Key.Kept {
		refs = append(refs, sheet.IDRef{Resource: t.Name, ID: q.After})
	}
	return s.keys(ctx, q.Client, refs)
}

// keyOf returns the key's parts of an ID; false where there is no such key.
func (s session) keyOf(ctx context.Context, t *table, client auth.Client, id int32) ([]sheet.Raw, bool, error) {
	var keys sheet.Keys
	if t.Key.Kept {
		var err error
		if keys, err = s.keys(ctx, client, []sheet.IDRef{{Resource: t.Name, ID: id}}); err != nil {
			return nil, false, err
		}
	}
	return t.keyOf(client.ID, id, keys)
}

func (s session) keys(ctx context.Context, client auth.Client, refs []sheet.IDRef) (sheet.Keys, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys, err := s.keep.Keys(ctx, client, refs)
	if err != nil {
		return nil, fmt.Errorf("%w: keys of IDs: %w", errKeep, err)
	}
	return keys, nil
}
