package sqlrecord

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// ahead is what a transaction has read in advance for several writes. It serves only answers that let
// a write pass: that a record exists, or that no record has a value. Any other answer is read from the
// database when it is needed, and then includes the earlier writes.
type ahead struct {
	conn   *postgresConn
	client auth.Client
	locked map[recordKey]mapping.Record    // records to be changed, locked
	seen   map[recordKey]mapping.Record    // records that others refer to
	free   map[claim]bool                  // values that no record has
	ids    map[*mapping.Resource][]int64   // for new records
	wanted map[*mapping.Resource]*lookouts // what Prepare has to read
}

// claim is a value that only one record may have.
type claim struct {
	field      *mapping.Field
	value, per mapping.Value // per is absent unless the field is unique per another
}

// lookouts are what is to be read of a resource.
type lookouts struct {
	changed, referred map[int64]bool
	created           int
	claims            map[*mapping.Field][]claim
}

// Prepare reads ahead, in two round trips, what it takes to judge and write records that are
// created (those without an ID) or changed next. The writes have the same results, but one may
// fail later than usual, at the end of the transaction at the latest. Prepare returns false if it
// does nothing, because that would save no round trip.
func (s *Store) Prepare(ctx context.Context, client auth.Client, coming []mapping.Record) (bool, error) {
	conn, ok := s.conn.(*postgresConn)
	if !ok || len(coming) < 2 {
		return false, nil
	}
	a := &ahead{
		conn: conn, client: client, locked: map[recordKey]mapping.Record{}, seen: map[recordKey]mapping.Record{}, free: map[claim]bool{},
		ids: map[*mapping.Resource][]int64{}, wanted: map[*mapping.Resource]*lookouts{},
	}
	for _, rec := range coming {
		a.want(rec)
	}
	var first, second []request
	d := s.db.Dialect()
	for r, wanted := range a.wanted {
		t := s.tables[r]
		first = append(first, a.records(d, t, wanted.changed, d.ForUpdate, a.locked)...)
		second = append(second, a.records(d, t, wanted.referred, "", a.seen)...)
		for f, claims := range wanted.claims {
			second = append(second, a.values(d, t, f, claims))
		}
		if wanted.created > 0 {
			second = append(second, a.identities(d, r, wanted.created))
		}
	}
	a.wanted = nil
	// Records to be changed are locked before what they are judged by is read.
	for _, all := range [][]request{first, second} {
		if err := conn.together(ctx, all...); err != nil {
			return true, fmt.Errorf("read ahead: %w", err)
		}
	}
	s.ahead = a
	return true, nil
}

// want notes what writing a record needs.
func (a *ahead) want(rec mapping.Record) {
	l := a.of(rec.Resource)
	if id := rec.ID(); id != 0 {
		l.changed[int64(id)] = true
	} else {
		l.created++
	}
	for i, v := range rec.Values {
		f := &rec.Resource.Fields[i]
		if target := f.Target(); target != nil && f.Type != mapping.Array && v.Int() > 0 {
			a.of(target).referred[v.Int()] = true
		}
		if c, ok := claimOf(rec, f); ok {
			l.claims[f] = append(l.claims[f], c)
			a.free[c] = true // unless it is found
		}
	}
	for _, elements := range rec.Children {
		for _, e := range elements {
			a.want(e)
		}
	}
}

func (a *ahead) of(r *mapping.Resource) *lookouts {
	if a.wanted[r] == nil {
		a.wanted[r] = &lookouts{changed: map[int64]bool{}, referred: map[int64]bool{}, claims: map[*mapping.Field][]claim{}}
	}
	return a.wanted[r]
}

// claimed is the form in which a value is compared with others.
func claimed(f *mapping.Field, v mapping.Value) claim {
	if f.IgnoreDashes && v.Kind() == mapping.KindText {
		v = mapping.TextValue(mapping.BarePlate(v.Text()))
	}
	return claim{field: f, value: v}
}

// claimOf is what a record claims by a field; false if that is nothing, or is not known.
func claimOf(rec mapping.Record, f *mapping.Field) (claim, bool) {
	c := claimed(f, rec.Values[f.Index])
	if !f.MustBeUnique(rec.Values[f.Index]) {
		return c, false
	}
	if f.UniquePer != "" {
		c.per = rec.Get(f.UniquePer)
		return c, c.per.IsSet()
	}
	return c, true
}

// records read records by their IDs. Contents are not read ahead: they may be large.
func (a *ahead) records(d *Dialect, t *table, ids map[int64]bool, lock string, into map[recordKey]mapping.Record) []request {
	if len(ids) == 0 || len(t.r.ListFields()) < len(t.r.RecordFields()) {
		return nil
	}
	args := []mapping.Value{mapping.IntValue(a.client.ID)}
	var wanted []mapping.Value
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		wanted = append(wanted, mapping.IntValue(id))
	}
	args = append(args, filledUp(wanted)...)
	id := t.columns[t.r.ID]
	return []request{{
		sql:  t.one.head + " WHERE " + id + " IN (" + d.placeholders(2, len(args)) + ") AND " + t.visible + " ORDER BY " + id + lock, // everybody locks in one order
		args: postgresArgs(nil, args), columns: t.one.columns,
		each: func(row []mapping.Value) error {
			rec := t.one.record(t.r, row)
			into[recordKey{t.r, rec.ID()}] = rec
			return nil
		},
	}}
}

// values look for claimed values that are taken.
func (a *ahead) values(d *Dialect, t *table, f *mapping.Field, claims []claim) request {
	var values, per []mapping.Value
	for _, c := range claims {
		values, per = append(values, c.value), append(per, c.per)
	}
	column := d.Compared(f, t.columns[f.Index])
	columns, text := []Column{{Type: f.Type, Scale: f.Scale}}, "SELECT "+column
	args := append([]mapping.Value{mapping.IntValue(a.client.ID)}, filledUp(values)...)
	where := " WHERE " + t.visible + " AND " + column + " IN (" + d.placeholders(2, len(args)) + ")"
	if f.UniquePer != "" {
		other := t.r.Field(f.UniquePer)
		columns, text = append(columns, Column{Type: other.Type, Scale: other.Scale}), text+", "+t.columns[other.Index]
		from := len(args) + 1
		args = append(args, filledUp(per)...)
		where += " AND " + t.columns[other.Index] + " IN (" + d.placeholders(from, len(args)) + ")"
	}
	return request{sql: text + " FROM " + t.name + where, args: postgresArgs(nil, args), columns: columns, each: func(row []mapping.Value) error {
		taken := claim{field: f, value: row[0]}
		if f.UniquePer != "" {
			taken.per = row[1]
		}
		delete(a.free, taken)
		return nil
	}}
}

// identities draw IDs for new records.
func (a *ahead) identities(d *Dialect, r *mapping.Resource, n int) request {
	return request{sql: d.nextIDs(r.Name), args: []any{n}, columns: oneInt, each: func(row []mapping.Value) error {
		a.ids[r] = append(a.ids[r], row[0].Int())
		return nil
	}}
}

// get returns a record that was read ahead and has not changed since.
func (a *ahead) get(r *mapping.Resource, q backend.Query) (mapping.Record, bool) {
	if a == nil || q.Client != a.client || q.Fields != nil || q.Tagged {
		return mapping.Record{}, false
	}
	rec, ok := a.locked[recordKey{r, q.ID}]
	if !ok && !q.ForUpdate {
		rec, ok = a.seen[recordKey{r, q.ID}]
	}
	rec.Values = slices.Clone(rec.Values)
	return rec, ok
}

// lacks reports whether it is known that a list is empty.
func (a *ahead) lacks(q backend.Query) bool {
	if a == nil || q.Client != a.client || !q.Decides || len(q.Filters) == 0 || len(q.Filters) > 2 || q.Filters[0].Op != mapping.Equals {
		return false
	}
	c := claimed(q.Filters[0].Field, q.Filters[0].Value)
	if len(q.Filters) == 2 {
		if q.Filters[1].Op != mapping.Equals || q.Filters[1].Field.Name != c.field.UniquePer {
			return false
		}
		c.per = q.Filters[1].Value
	}
	return a.free[c]
}

// id is an ID for a new record; 0 if none was drawn.
func (a *ahead) id(r *mapping.Resource) (id int64) {
	if a == nil || len(a.ids[r]) == 0 {
		return 0
	}
	id, a.ids[r] = a.ids[r][0], a.ids[r][1:]
	return id
}

// written notes that a record was written.
func (a *ahead) written(rec mapping.Record) {
	if a == nil {
		return
	}
	a.touched(rec.Resource, rec.ID())
	for i := range rec.Resource.Fields {
		if c, ok := claimOf(rec, &rec.Resource.Fields[i]); ok {
			delete(a.free, c)
		}
	}
}

// touched notes that a record is no longer as it was read.
func (a *ahead) touched(r *mapping.Resource, id int32) {
	if a != nil {
		delete(a.locked, recordKey{r, id})
		delete(a.seen, recordKey{r, id})
	}
}

// run runs a statement that changes records; in a prepared transaction it is postponed.
func (s *Store) run(ctx context.Context, check func(rows int64) error, text string, args ...mapping.Value) error {
	if s.ahead != nil {
		s.ahead.conn.postpone(check, text, args...)
		return nil
	}
	n, err := s.conn.Exec(ctx, text, args...)
	if err == nil && check != nil {
		err = check(n)
	}
	return err
}
