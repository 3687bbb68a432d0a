package drivertest

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// create makes a record of drawn values.
func (w *Walk) create(t *try, r *mapping.Resource, who auth.Client) bool {
	values := w.draw(t, r, who)
	body := mapping.BodyOf(w.record(t, r, values))
	require.Empty(t, body.CheckCreate(), "what is drawn for %s is wrong by itself: %v", r.Name, values)
	before := w.rows
	stored, err := w.Client.Create(t.Context(), who, body, backend.Write{})
	w.look(t)
	if w.refused(t, err, before) {
		return false
	}
	had := w.named(before[r.Name])
	made := slices.DeleteFunc(slices.Clone(w.rows[r.Name]), func(row Row) bool { _, old := had[row.Key]; return old })
	require.Len(t, made, 1, "new rows of %s after one was made: %v", r.Name, values)
	require.True(t, made[0].sees(who), "%s made one that is not for it: %+v", who.Name, made[0])
	w.holds(t, r, made[0], values)
	w.same(t, stored, made[0])
	w.unchanged(t, before, r.Name, made[0].Key)
	return true
}

// update changes some fields of a record, which may be another client's.
func (w *Walk) update(t *try, r *mapping.Resource, who auth.Client) bool {
	row, id, ok := w.pick(t, r, who, rapid.IntRange(0, 3).Draw(t.T, "own") > 0)
	if !ok {
		return false
	}
	values := w.draw(t, r, who)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if r.Field(name).Immutable || rapid.Bool().Draw(t.T, "not "+name) {
			delete(values, name)
		}
	}
	body := mapping.BodyOf(w.record(t, r, values))
	require.Empty(t, body.CheckUpdate(), "what is drawn for %s is wrong by itself: %v", r.Name, values)
	before := w.rows
	stored, err := w.Client.Update(t.Context(), who, id, body, backend.Write{})
	w.look(t)
	if w.refusedOf(t, err, before, row, who) {
		return false
	}
	after, there := w.row(r.Name, row.Key)
	require.True(t, there, "%s %s is gone after a change", r.Name, row.Key)
	w.holds(t, r, after, values)
	w.same(t, stored, after)
	w.kept(t, r, row, after, values)
	w.unchanged(t, before, r.Name, row.Key)
	return true
}

// delete deletes a record, which may be another client's.
func (w *Walk) delete(t *try, r *mapping.Resource, who auth.Client) bool {
	row, id, ok := w.pick(t, r, who, rapid.IntRange(0, 3).Draw(t.T, "own") > 0)
	if !ok {
		return false
	}
	before := w.rows
	err := w.Client.Delete(t.Context(), who, r, id, backend.Write{})
	w.look(t)
	if w.refusedOf(t, err, before, row, who) {
		return false
	}
	after, there := w.row(r.Name, row.Key)
	require.True(t, !there || after.Hidden, "%s %s is there after it was deleted", r.Name, row.Key)
	w.unchanged(t, before, r.Name, row.Key)
	return true
}

// deleteMade deletes a record that it makes before.
func (w *Walk) deleteMade(t *try, r *mapping.Resource, who auth.Client) bool {
	had := w.named(w.rows[r.Name])
	if !w.create(t, r, who) {
		return false
	}
	for key := range w.named(w.rows[r.Name]) {
		if _, old := had[key]; !old {
			w.made = key
		}
	}
	defer func() { w.made = "" }()
	return w.delete(t, r, who)
}

// draw draws the values of a record that a client writes.
func (w *Walk) draw(t *try, r *mapping.Resource, who auth.Client) map[string]any {
	return w.Draw(t.T, r.Name, func(resource string) Key {
		row, _, ok := w.pick(t, w.resource(resource), who, true)
		if !ok {
			t.Skipf("no %s for %s to refer to", resource, who.Name)
		}
		return row.Key
	})
}

// record makes a record of some values, as a client would send it.
func (w *Walk) record(t *try, r *mapping.Resource, values map[string]any) mapping.Record {
	rec := mapping.NewRecord(r)
	for name, v := range values {
		f := r.Field(name)
		require.NotNil(t, f, "%s of %s is drawn, and no field", name, r.Name)
		value, known := w.value(t, f, v)
		require.True(t, known, "%s of %s refers to what has no ID", name, r.Name)
		rec.Values[f.Index] = value
	}
	return rec
}

// refusedOf is refused for a write of an existing row, which must be refused if the client
// may not see the row.
func (w *Walk) refusedOf(t *try, err error, before map[string][]Row, row Row, who auth.Client) bool {
	if !row.sees(who) {
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%s is not for %s: %v", row.Key, who.Name, err)
		w.unchanged(t, before, "", "")
		return true
	}
	return w.refused(t, err, before)
}

// refused reports whether a write was refused. The reason must be one of Refusals, and the
// write must have had no effect.
func (w *Walk) refused(t *try, err error, before map[string][]Row) bool {
	if err == nil {
		return false
	}
	require.True(t, slices.ContainsFunc(w.Refusals, func(r mapping.Reason) bool { return mapping.Is(err, r) }), "%v", err)
	w.unchanged(t, before, "", "")
	return true
}

// holds compares a row with what was written.
func (w *Walk) holds(t *try, r *mapping.Resource, row Row, values map[string]any) {
	for name, v := range values {
		want, _ := w.value(t, r.Field(name), v)
		have, judged := row.Fields[name]
		require.True(t, judged, "%s of %s is written, and the oracle does not tell it", name, r.Name)
		got, known := w.value(t, r.Field(name), have)
		require.True(t, known && want == got, "%s of %s %s was to be %s, and is %v", name, r.Name, row.Key, want, have)
	}
}

// kept requires that an update has changed only its values. Fields that a client cannot
// write may be derived by the system.
func (w *Walk) kept(t *try, r *mapping.Resource, before, after Row, values map[string]any) {
	require.Equal(t, [2]any{before.Client, before.Hidden}, [2]any{after.Client, after.Hidden}, "whose %s %s is", r.Name, before.Key)
	for name, v := range before.Fields {
		if _, written := values[name]; !written && !r.Field(name).Readonly {
			require.Equal(t, v, after.Fields[name], "%s of %s %s, which was not sent", name, r.Name, before.Key)
		}
	}
	for _, rest := range []map[string]string{before.Rest, after.Rest} { // a member may come or go
		for name := range rest {
			if f := r.Field(name); f == nil || before.Fields[name] == after.Fields[name] {
				was, had := before.Rest[name]
				is, has := after.Rest[name]
				require.Equal(t, []any{was, had}, []any{is, has}, "%s of %s %s, which did not change", name, r.Name, before.Key)
			}
		}
	}
}

// unchanged requires that all rows but one are as before.
func (w *Walk) unchanged(t *try, before map[string][]Row, resource string, but Key) {
	for _, name := range w.Resources {
		was, is := w.named(before[name]), w.named(w.rows[name])
		if name == resource {
			delete(was, but)
			delete(is, but)
		}
		require.Equal(t, was, is, "%s, of which nothing was to change but %s", name, but)
	}
}

func (w *Walk) named(rows []Row) map[Key]Row {
	named := make(map[Key]Row, len(rows))
	for _, row := range rows {
		named[row.Key] = row
	}
	return named
}
