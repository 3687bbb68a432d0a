package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// How an existing database itself records changes: a table with a row for each change, or, for a
// resource by version, the rows that are marked as deleted. These are read, never written.

var _ follow.Journal = (*Store)(nil)

// Position implements follow.Journal.
func (s *Store) Position(ctx context.Context, r *mapping.Resource, _ auth.Client, _ string) (at string, more bool, err error) {
	t, err := s.table(r)
	if err != nil {
		return "", false, err
	}
	err = s.read(ctx, func(on session) error {
		last, err := on.lastChange(ctx, t)
		at = last.String()
		return err
	})
	return at, false, err
}

// Entries implements follow.Journal.
func (s *Store) Entries(ctx context.Context, r *mapping.Resource, client auth.Client, after string, most int) (page follow.Entries, err error) {
	t, err := s.table(r)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(on session) error {
		if t.Changes.By == sheet.ByVersion {
			page, err = on.deletedSince(ctx, t, client, after, most)
		} else {
			page, err = on.changedSince(ctx, t, client, after, most)
		}
		return err
	})
	return page, err
}

// Named implements follow.Journal.
func (s *Store) Named(ctx context.Context, r *mapping.Resource, client auth.Client, keys [][]sheet.Raw) (records []mapping.Record, others []int32, err error) {
	t, err := s.table(r)
	if err != nil {
		return nil, nil, err
	}
	err = s.read(ctx, func(on session) error {
		records, others, err = on.named(ctx, t, client, keys)
		return err
	})
	return records, others, err
}

// spot is a value of the column that grows: as much of it as frontdesk tells apart.
type spot struct {
	kind sheet.RawKind // RawInt, RawTime or RawWall; RawAbsent before all
	n    int64
}

var spotNames = map[sheet.RawKind]string{sheet.RawInt: "n", sheet.RawTime: "t", sheet.RawWall: "w", sheet.RawAbsent: "0"}

func (p spot) String() string { return spotNames[p.kind] + strconv.FormatInt(p.n, 10) }

func parseSpot(text string) (p spot, ok bool) {
	for kind, name := range spotNames {
		if digits, is := strings.CutPrefix(text, name); is {
			n, err := strconv.ParseInt(digits, 10, 64)
			return spot{kind, n}, err == nil
		}
	}
	return p, false
}

func (p spot) raw() sheet.Raw { return sheet.Raw{Kind: p.kind, Int: p.n} }

// spotOf reads a value of the column.
func (t *table) spotOf(v sheet.Raw) (p spot, err error) {
	switch v.Kind {
	case sheet.RawInt, sheet.RawTime, sheet.RawWall:
		return spot{v.Kind, v.Int}, nil
	case sheet.RawAbsent, sheet.RawNull:
		return spot{}, nil
	}
	n, err := strconv.ParseInt(v.String(), 10, 64)
	if err != nil {
		return p, fmt.Errorf("%w: %s: %s is neither a whole number nor a date and time", backend.ErrUnexpected, t.Name, t.Changes.Table.Sequence)
	}
	return spot{sheet.RawInt, n}, nil
}

// noted appends what is read of the table of changes: the rows from a spot on and, unless it
// is absent, before another one.
func (s session) noted(b *statement, t *table, columns []string, from, before spot) *statement {
	c := t.Changes.Table
	b.add("SELECT ", strings.Join(columns, ", "), " FROM ", qualified(s.d, s.source.Schema, c.Name), " WHERE 1 = 1")
	if c.Where != "" {
		b.add(" AND (", c.Where, ")")
	}
	if from.kind != sheet.RawAbsent {
		b.add(" AND ", s.d.quote(c.Sequence), " >= ").arg(from.raw())
	}
	if before.kind != sheet.RawAbsent {
		b.add(" AND ", s.d.quote(c.Sequence), " < ").arg(before.raw())
	}
	return b
}

// lastChange is the end of the table of changes.
func (s session) lastChange(ctx context.Context, t *table) (spot, error) {
	row, err := queryOne(ctx, s.conn, s.noted(newStatement(s.d), t, []string{"MAX(" + s.d.quote(t.Changes.Table.Sequence) + ")"}, spot{}, spot{}))
	if err != nil || len(row) == 0 {
		return spot{}, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	}
	return t.spotOf(row[0])
}

// mostTogether is how many rows at one spot are taken, such as those of one transaction where
// they are numbered by its time. To read all records takes less memory and time than more.
const mostTogether = 20_000

// changedSince reads the keys that the rows behind a spot name. Rows that are at one spot
// come together.
func (s session) changedSince(ctx context.Context, t *table, client auth.Client, after string, most int) (page follow.Entries, err error) {
	at, ok := parseSpot(after)
	if !ok && after != "" {
		return page, follow.ErrPositionGone
	}
	from, end := at, at
	if from.kind != sheet.RawAbsent {
		from.n++
	}
	sequence := s.d.quote(t.Changes.Table.Sequence)
	columns := []string{sequence}
	for _, k := range t.Changes.Table.Key {
		columns = append(columns, s.d.quote(k))
	}
	keys := keySet{of: t}
	n := 0
	read := func(b *statement) error {
		err := query(ctx, s.conn, b, func(row []sheet.Raw) (err error) {
			if n++; n > most+mostTogether {
				return follow.ErrPositionGone
			}
			keys.add(row[1:])
			end, err = t.spotOf(row[0])
			return err
		})
		if errors.Is(err, follow.ErrPositionGone) {
			return err
		}
		return s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	}
	b := s.noted(newStatement(s.d), t, columns, from, spot{}).add(" ORDER BY ", sequence)
	s.d.page(b, most, 0)
	if err := read(b); err != nil {
		return page, err
	}
	if n == most {
		page.More = true
		if err := read(s.noted(newStatement(s.d), t, columns, end, spot{end.kind, end.n + 1})); err != nil {
			return page, err
		}
	}
	if n == 0 && at.kind != sheet.RawAbsent { // it may have begun anew
		last, err := s.lastChange(ctx, t)
		if err != nil || last.kind == at.kind && last.n < at.n {
			return page, cmp.Or(err, follow.ErrPositionGone)
		}
	}
	page.Next, page.Keys, page.Nameless = end.String(), keys.all, keys.nameless
	return page, nil
}

// keySet are keys, each once.
type keySet struct {
	of       *table
	all      [][]sheet.Raw
	seen     map[string]bool
	nameless int
}

func (k *keySet) add(key []sheet.Raw) {
	key = k.of.Padded(key)
	if k.seen == nil {
		k.seen = map[string]bool{}
	}
	switch joined := k.of.JoinKey(key); {
	case slices.ContainsFunc(key, func(part sheet.Raw) bool { return !part.IsSet() }):
		k.nameless++
	case !k.seen[joined]:
		k.seen[joined] = true
		k.all = append(k.all, key)
	}
}

// named reads the records of keys as the client sees them. others are the IDs of those that he
// does not see.
func (s session) named(ctx context.Context, t *table, client auth.Client, keys [][]sheet.Raw) (records []mapping.Record, others []int32, err error) {
	var unseen [][]sheet.Raw
	for _, key := range keys {
		if !t.OfClient(key, client) {
			continue
		}
		held, err := s.byKey(ctx, t, client, key, false)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			unseen = append(unseen, key)
		case err != nil:
			return nil, nil, err
		default:
			records = append(records, held.rec)
		}
	}
	others, err = t.Known(ctx, s.idStore, client, unseen)
	return records, others, err
}

// deletedSince returns the IDs of rows that were marked as deleted since a time, in the order
// of their keys: after is the time and, of further pages, the last key.
func (s session) deletedSince(ctx context.Context, t *table, client auth.Client, after string, most int) (page follow.Entries, err error) {
	since, last, further := strings.Cut(after, " ")
	ms, err := strconv.ParseInt(since, 10, 64)
	if err != nil {
		return page, fmt.Errorf("since when: %w", err)
	}
	b := newStatement(s.d)
	b.add("SELECT ", strings.Join(t.keys, ", "), " FROM ", t.name, " WHERE ", s.d.quote(t.Changes.Deleted.Place), " IN (").list(t.Changes.Deleted.Values).add(")")
	if t.Client != "" {
		t.equal(b.add(" AND "), t.Client, intRaw(client.ID))
	}
	bounds, _ := t.Since(mapping.MilliValue(ms)) // which lists are asked by, too
	t.compared(b.add(" AND "), bounds, " > ", " >= ")
	if further {
		key, err := t.split(last)
		if err != nil {
			return page, err
		}
		bounds := make([]sheet.Assignment, len(key))
		for i, v := range key {
			bounds[i] = sheet.Assignment{Place: t.Key.Places[i], Value: v}
		}
		t.compared(b.add(" AND "), bounds, " > ", " > ")
	}
	b.add(" ORDER BY ", strings.Join(t.keys, ", "))
	s.d.page(b, most, 0)
	var keys [][]sheet.Raw
	err = query(ctx, s.conn, b, func(row []sheet.Raw) error {
		keys = append(keys, row)
		return nil
	})
	if err != nil {
		return page, s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
	}
	if page.Next, page.More = after, len(keys) == most; page.More {
		page.Next = since + " " + t.JoinKey(keys[len(keys)-1])
	}
	page.Others, err = t.Known(ctx, s.idStore, client, keys)
	return page, err
}
