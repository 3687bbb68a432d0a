package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// The changes that an existing database itself records: in a table with a row for each change, or, for
// a resource by version, by rows that are marked as deleted. They are read, never written.

var _ follow.Journal = (*Store)(nil)

// Position implements follow.Journal.
func (s *Store) Position(ctx context.Context, r *mapping.Resource, client auth.Client) (at string, err error) {
	err = s.journal(ctx, r, client, func(on session, t *Mapped) error {
		last, err := on.lastChange(ctx, t)
		at = strconv.FormatInt(last, 10)
		return err
	})
	return at, err
}

// Entries implements follow.Journal.
func (s *Store) Entries(ctx context.Context, r *mapping.Resource, client auth.Client, after string, most int) (page follow.Entries, err error) {
	err = s.journal(ctx, r, client, func(on session, t *Mapped) error {
		if t.Changes.By == sheet.ByVersion {
			page, err = on.deletedSince(ctx, t, client, after, most)
		} else {
			page, err = on.changedSince(ctx, t, after, most)
		}
		return err
	})
	return page, err
}

// Named implements follow.Journal.
func (s *Store) Named(ctx context.Context, r *mapping.Resource, client auth.Client, keys [][]string) (records []mapping.Record, others []int32, err error) {
	err = s.journal(ctx, r, client, func(on session, t *Mapped) error {
		records, others, err = on.named(ctx, t, client, keys)
		return err
	})
	return records, others, err
}

// journal runs a function that reads the journal of a resource.
func (s *Store) journal(ctx context.Context, r *mapping.Resource, client auth.Client, f func(session, *Mapped) error) error {
	t, err := s.TableFor(ctx, r, client)
	if err != nil {
		return err
	}
	return s.db.Read(ctx, func(c sqlrecord.Conn) error {
		err := f(session{Store: s, conn: c}, t)
		if errors.Is(err, follow.ErrPositionGone) {
			return err
		}
		return s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	})
}

// A position is a value of the column that grows: a whole number, or a time in milliseconds since
// 1970.

// beforeAll is the position before the first change.
const beforeAll = math.MinInt64

// sequence is the column of positions.
func (t *Mapped) sequence() sqlrecord.Field {
	name, of := t.Changes.Sequence, mapping.Field{Type: mapping.Int4}
	column := columnOf(t.journal, name)
	isTime := column.Sort == sqlrecord.Days || column.Sort == sqlrecord.Clocks || column.Sort == sqlrecord.Instants
	if isTime {
		of.Type = mapping.Timestamp
	}
	f := t.value(&of, &sheet.Column{Conversion: sheet.Conversion{Zone: time.UTC}}, sqlrecord.Plain(t.Dialect.Quote(name)), column, true)
	if !isTime {
		f.As.Type = mapping.Text // a position may be longer than an int4
	}
	return f
}

// position reads a value of the column.
func (t *Mapped) position(v mapping.Value) (int64, error) {
	switch {
	case v.Kind() == mapping.KindNull:
		return beforeAll, nil
	case v.Kind() == mapping.KindTime:
		return v.Int(), nil
	case isWhole(v.Text()):
		return asWhole(v).Int(), nil
	default:
		return 0, fmt.Errorf("%w: %s: %s is neither a whole number nor a date and time", backend.ErrUnexpected, t.Name, t.Changes.Sequence)
	}
}

// noted begins a statement on the table of changes: for the rows from a position on and, unless
// before is beforeAll, up to before.
func (s session) noted(t *Mapped, columns string, from, before int64) *sqlrecord.Writer {
	c, sequence := t.Changes, t.sequence()
	w := sqlrecord.NewWriter(s.d, nil).Add("SELECT ", columns, " FROM ", Qualified(s.d, s.source.Schema, c.Table), " WHERE ", s.d.Quote(c.Sequence), " IS NOT NULL")
	if c.Where != "" {
		w.Add(" AND (", c.Where, ")")
	}
	value := mapping.IntValue
	if sequence.As.Type == mapping.Timestamp {
		value = mapping.MilliValue
	}
	if from != beforeAll {
		sequence.Compare(w.Add(" AND "), mapping.AtLeast, value(from))
	}
	if before != beforeAll {
		sequence.Compare(w.Add(" AND "), mapping.Below, value(before))
	}
	return w
}

// lastChange is the end of the table of changes.
func (s session) lastChange(ctx context.Context, t *Mapped) (int64, error) {
	text, args := s.noted(t, "MAX("+s.d.Quote(t.Changes.Sequence)+")", beforeAll, beforeAll).Statement()
	row, err := sqlrecord.One(ctx, s.conn, text, []sqlrecord.Column{t.sequence().As}, args...)
	if err != nil || row == nil {
		return beforeAll, err
	}
	return t.position(row[0])
}

// mostTogether is how many rows with the same position are accepted, such as those of one transaction
// if its time is their position. With more, reading all records takes less memory and time.
const mostTogether = 20_000

// changedSince reads the keys in the rows after a position. All rows with the same position are on one
// page.
func (s session) changedSince(ctx context.Context, t *Mapped, after string, most int) (page follow.Entries, err error) {
	at := int64(beforeAll)
	if after != "" {
		if at, err = strconv.ParseInt(after, 10, 64); err != nil {
			return page, follow.ErrPositionGone
		}
	}
	from, end := at, at
	if from != beforeAll {
		from++
	}
	names, as := []string{s.d.Quote(t.Changes.Sequence)}, []sqlrecord.Column{t.sequence().As}
	for _, k := range t.Changes.Key {
		names, as = append(names, s.d.Quote(k)), append(as, foreignText)
	}
	columns, seen, n, nameless := strings.Join(names, ", "), map[string]bool{}, 0, 0
	read := func(w *sqlrecord.Writer) error { // rows at the last position are read again
		text, args := w.Statement()
		return s.conn.Query(ctx, text, as, args, func(row []mapping.Value) error {
			if n++; n > most+mostTogether {
				return follow.ErrPositionGone
			}
			at, err := t.position(row[0])
			if at != end {
				end, nameless = at, page.Nameless
			}
			t.noteKey(&page, seen, row[1:])
			return err
		})
	}
	w := s.noted(t, columns, from, beforeAll).Add(" ORDER BY ", names[0], " LIMIT ")
	if err := read(w.Add(w.Arg(mapping.IntValue(int64(most))))); err != nil {
		return page, err
	}
	if n == most {
		page.More, page.Nameless = true, nameless
		if err := read(s.noted(t, columns, end, end+1)); err != nil {
			return page, err
		}
	}
	if n == 0 && at != beforeAll { // the sequence may have begun anew
		last, err := s.lastChange(ctx, t)
		if err != nil || last != beforeAll && last < at {
			return page, cmp.Or(err, follow.ErrPositionGone)
		}
	}
	page.Next = strconv.FormatInt(end, 10)
	return page, nil
}

// noteKey adds the key of a row to a page, once.
func (t *Mapped) noteKey(page *follow.Entries, seen map[string]bool, parts []mapping.Value) {
	if slices.ContainsFunc(parts, func(part mapping.Value) bool { return !part.IsSet() }) {
		page.Nameless++
		return
	}
	key := textsOf(parts)
	if joined := t.JoinKey(key); !seen[joined] {
		seen[joined] = true
		page.Keys = append(page.Keys, key)
	}
}

// named reads the records of keys as the client sees them. others are the IDs of records that the
// client does not see.
func (s session) named(ctx context.Context, t *Mapped, client auth.Client, keys [][]string) (records []mapping.Record, others []int32, err error) {
	var unseen [][]string
	for _, key := range keys {
		parts, ok := t.partsOf(key)
		if !ok || t.Key.ByClient && t.SystemClient == "" && key[0] != s.identity(client) {
			continue
		}
		switch rec, err := s.byKey(ctx, t, backend.Query{Client: client}, parts); {
		case errors.Is(err, backend.ErrNotFound):
			unseen = append(unseen, key)
		case err != nil:
			return nil, nil, err
		default:
			records = append(records, rec)
		}
	}
	others, err = s.known(ctx, t, client, unseen)
	return records, others, err
}

// partsOf are the parts of a key that was read as texts; false for one that no record has.
func (t *Mapped) partsOf(key []string) (parts []mapping.Value, ok bool) {
	for _, part := range key {
		v := mapping.TextValue(part)
		if !t.Key.Kept {
			v = number(v)
		}
		if !v.IsSet() {
			return nil, false
		}
		parts = append(parts, v)
	}
	return parts, true
}

// known are the IDs of the keys that have one: the number itself, or an ID that was issued.
func (s session) known(ctx context.Context, t *Mapped, client auth.Client, keys [][]string) (ids []int32, err error) {
	if !t.Key.Kept {
		for _, key := range keys {
			ids = append(ids, int32(asWhole(mapping.TextValue(key[0])).Int()))
		}
		return ids, nil
	}
	refs := make([]sheet.KeyRef, len(keys))
	for i, key := range keys {
		refs[i] = t.RefOf(key, client)
	}
	given, err := s.idStore.Given(ctx, refs)
	for _, ref := range refs {
		if id, ok := given[ref]; ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// deletedSince returns the IDs of rows that were marked as deleted since a time, in the order
// of their keys: after is the time and, of further pages, the last key.
func (s session) deletedSince(ctx context.Context, t *Mapped, client auth.Client, after string, most int) (page follow.Entries, err error) {
	since, last, further := strings.Cut(after, " ")
	ms, err := strconv.ParseInt(since, 10, 64)
	if err != nil {
		return page, fmt.Errorf("since when: %w", err)
	}
	var afterKey []mapping.Value
	if further {
		if afterKey, err = t.split(last); err != nil {
			return page, err
		}
		if !t.Key.Kept {
			afterKey[0] = number(afterKey[0])
		}
	}
	rows := t.Rows // read from the table itself: a view may hide deleted rows
	rows.From, rows.Scope, rows.Extra = t.Written, func(w *sqlrecord.Writer, _ backend.Query) { t.marked(w) }, nil
	for _, k := range t.Rows.Key {
		k.As = foreignText
		rows.Extra = append(rows.Extra, k)
	}
	q := backend.Query{Client: client, Fields: []int{}, ModifiedSince: mapping.MilliValue(ms), Limit: most}
	var keys [][]string
	err = rows.Many(s.d, s.Params(t, client), q, afterKey).Each(ctx, s.conn, func(_ mapping.Record, key []mapping.Value, _ *mapping.Field) error {
		if page.More = len(keys) == most; page.More {
			return sqlrecord.ErrEnough
		}
		keys = append(keys, textsOf(key))
		return nil
	})
	if err != nil {
		return page, err
	}
	if page.Next = after; page.More {
		page.Next = since + " " + t.JoinKey(keys[len(keys)-1])
	}
	page.Others, err = s.known(ctx, t, client, keys)
	return page, err
}

// marked appends the condition for the client's rows that are marked as deleted.
func (t *Mapped) marked(w *sqlrecord.Writer) {
	w.Add("(", t.Changes.Deleted, ")")
	if t.SQL.Client != (sheet.Expr{}) {
		w.Add(" AND ").Expr(t.ExprOf(t.SQL.Client)).Add(" = ").Expr(t.clientOperand())
	}
}
