package drivertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Oracle reads an administration directly, without any of the code under test: the rows of
// its tables, or what its service answers to a plain request.
type Oracle interface {
	// Rows are all rows of a resource, including other clients' and hidden ones, in the
	// default order of lists.
	Rows(ctx context.Context, resource string) ([]Row, error)
}

// Row is a record as an Oracle has it.
type Row struct {
	Key    Key
	Client int64 // its owner: mapping.OfAll for everybody, 0 for nobody
	Hidden bool  // the sheet shows it to nobody
	// Fields are what a client must see, by field name. A value is nil for null, a Key
	// for a reference, or what a query parameter would be: text, a number, a time of RFC
	// 3339. A field that is left out is not judged.
	Fields map[string]any
	// Finer are unrounded fields that clients see rounded: values that clients see as
	// equal are sorted by these.
	Finer map[string]float64
	// Rest is whatever else the system has of the row. Under the name of a field it is the
	// system's form of the field's value, which may change only with the field. No write
	// may change the others.
	Rest map[string]string
}

// Key identifies a row in the system, and among the values of Row.Fields a row of the
// resource that a field refers to. The row of a key never changes its client.
type Key string

// Walk compares an administration behind a Client with an Oracle of it: drawn lists, with
// filters, sorts, sizes and totals, page by page and by after; records one by one; and
// writes. Nothing may be missing, double, another client's, or changed without being
// requested. Between the pages of a list, and between writes, the administration may be
// changed behind the gateway's back.
//
// The system keeps its state from one drawn case to the next, so a failure may not repeat
// when rapid runs the case again: the first failure is logged separately.
type Walk struct {
	Client *backend.Client
	Oracle Oracle
	// Clients make the calls: at least two, if records belong to clients.
	Clients []auth.Client
	// Resources are those that are walked, including every one that a field refers to.
	// All operations that they have are tried.
	Resources []string
	// ByKey is the order of records in lists with after; nil for the order of lists.
	ByKey func(resource string, a, b Key) int
	// Weigh is what texts are compared and sorted by; nil for their letters.
	Weigh func(text string) string
	// Texts are further values to filter by; default: what other languages might take
	// for syntax.
	Texts []string
	// Draw makes the values of a new record, of which updates take some; pick draws a
	// record of another resource that the client may refer to. nil: nothing is written.
	Draw func(t *rapid.T, resource string, pick func(resource string) Key) map[string]any
	// Refusals are the reasons for which a drawn write may be refused. A refused write
	// must change nothing.
	Refusals []mapping.Reason
	// Meddle changes something in the system directly; nil: nothing else changes it.
	Meddle func(t *rapid.T)
	// Steps are tried in each drawn case, 4 by default; of cases there are 100 in each
	// of Rounds, which are 1 by default.
	Steps, Rounds int

	rows  map[string][]Row
	begun map[string]int // how many rows there were at first
	ids   map[string]map[Key]int32
	keys  map[string]map[int32]Key
	done  map[string]int
	made  Key // the row that is picked; "" if it is drawn

	failed string // what failed first
}

// Texts is the default of Walk.Texts. Draw functions may use it, too.
var Texts = []string{
	"", " ", "O'Neil", `"`, `'`, `\`, `\'`, "''", `' || 1=1 //`, `' or '1'='1`, `x") || ("y`, "%", "_", "*", "a,b", "a&b=c#d", "é", "Ω", "null", "true", "0", "{", "${X}", "{key}", "a/../b", "<b>&amp;", "a+b c", "%27", "‘’",
}

// Run walks, and fails if a step never succeeds: a walk that met only refusals has shown
// nothing.
func (w *Walk) Run(t *testing.T) {
	t.Helper()
	w.ids, w.keys, w.done = map[string]map[Key]int32{}, map[string]map[int32]Key{}, map[string]int{}
	for _, name := range w.Resources {
		w.ids[name], w.keys[name] = map[Key]int32{}, map[int32]Key{}
	}
	if w.Texts == nil {
		w.Texts = Texts
	}
	if w.Weigh == nil {
		w.Weigh = func(text string) string { return text }
	}
	w.look(t)
	w.begun = map[string]int{}
	for _, name := range w.Resources {
		w.begun[name] = len(w.rows[name])
	}
	t.Cleanup(func() {
		if w.failed != "" {
			t.Logf("what failed first: %s", w.failed)
		}
	})
	for range max(1, w.Rounds) {
		rapid.Check(t, func(rt *rapid.T) { w.walk(&try{rt, w}) })
	}
	for _, name := range w.Resources {
		for _, s := range w.steps(w.resource(name)) {
			if s.name == string(mapping.OpDelete) && w.Client.Offer().Has(w.resource(name), mapping.OpCreate) {
				s.try = w.deleteMade // all other records may be in use
			}
			rapid.Check(t, func(rt *rapid.T) { // steps that were not drawn, or always refused
				if w.done[s.name+" "+name] == 0 {
					w.walk(&try{rt, w}) // may make what the step needs, such as an open order
					w.take(&try{rt, w}, w.resource(name), s)
				}
			})
			require.NotZero(t, w.done[s.name+" "+name], "%s of %s was refused each time", s.name, name)
		}
	}
	t.Logf("tried: %v", w.done)
}

// tester is what is common to testing.T and rapid.T.
type tester interface {
	require.TestingT
	Context() context.Context
}

// try is a case that remembers for its Walk what failed first.
type try struct {
	*rapid.T
	w *Walk
}

// Errorf implements require.TestingT.
func (t *try) Errorf(format string, args ...any) {
	if t.w.failed == "" {
		t.w.failed = fmt.Sprintf(format, args...)
	}
	t.T.Errorf(format, args...)
}

// look reads all rows anew.
func (w *Walk) look(t tester) {
	w.rows = map[string][]Row{}
	for _, name := range w.Resources {
		rows, err := w.Oracle.Rows(t.Context(), name)
		require.NoError(t, err, "the oracle's %s", name)
		w.rows[name] = rows
	}
}

func (w *Walk) resource(name string) *mapping.Resource { return w.Client.Model().Resource(name) }

// step is one thing to try of a resource, by a client.
type step struct {
	name string
	try  func(t *try, r *mapping.Resource, who auth.Client) (done bool)
}

// steps are all steps of a resource.
func (w *Walk) steps(r *mapping.Resource) []step {
	var steps []step
	add := func(op mapping.Scope, try func(*try, *mapping.Resource, auth.Client) bool) {
		if w.Client.Offer().Has(r, op) {
			steps = append(steps, step{string(op), try})
		}
	}
	add(mapping.OpList, w.list)
	add(mapping.OpList, w.list) // lists can go wrong in the most ways
	add(mapping.OpGet, w.get)
	if w.Draw != nil {
		add(mapping.OpCreate, w.create)
		add(mapping.OpUpdate, w.update)
		add(mapping.OpDelete, w.delete)
	}
	return steps
}

// enough is how many rows a resource may gain at most, so that a long walk spends its time
// on steps and not on reading.
const enough = 60

// walk is one case: some steps, one after the other.
func (w *Walk) walk(t *try) {
	w.look(t) // an interrupted case may have left changes
	for range cmp.Or(w.Steps, 4) {
		if w.Meddle != nil && rapid.IntRange(0, 3).Draw(t.T, "meddle") == 3 {
			w.Meddle(t.T)
			w.look(t)
		}
		r := w.resource(rapid.SampledFrom(w.Resources).Draw(t.T, "resource"))
		steps := w.steps(r)
		s := steps[rapid.IntRange(0, len(steps)-1).Draw(t.T, "step")]
		if s.name == string(mapping.OpCreate) && len(w.rows[r.Name]) >= w.begun[r.Name]+enough && w.Client.Offer().Has(r, mapping.OpDelete) {
			s = step{string(mapping.OpDelete), w.delete}
		}
		w.take(t, r, s)
	}
}

// take takes a step.
func (w *Walk) take(t *try, r *mapping.Resource, s step) {
	who := rapid.SampledFrom(w.Clients).Draw(t.T, "client")
	t.Logf("%s of %s by %s", s.name, r.Name, who.Name)
	if s.try(t, r, who) {
		w.done[s.name+" "+r.Name]++
	}
}

// sees reports whether a row is a record to a client.
func (row Row) sees(who auth.Client) bool {
	return !row.Hidden && (row.Client == who.ID || row.Client == mapping.OfAll)
}

// seen are the rows of a resource that are records to a client.
func (w *Walk) seen(r *mapping.Resource, who auth.Client) []Row {
	return slices.DeleteFunc(slices.Clone(w.rows[r.Name]), func(row Row) bool { return !row.sees(who) })
}

func (w *Walk) row(resource string, key Key) (Row, bool) {
	i := slices.IndexFunc(w.rows[resource], func(row Row) bool { return row.Key == key })
	if i < 0 {
		return Row{}, false
	}
	return w.rows[resource][i], true
}

// value is what a client must see of a row's value; known is false for a reference to a row
// that has no ID yet.
func (w *Walk) value(t tester, f *mapping.Field, v any) (value mapping.Value, known bool) {
	switch v := v.(type) {
	case nil:
		return mapping.NullValue(), true
	case Key:
		id, known := w.ids[f.Reference][v]
		return mapping.IntValue(int64(id)), known
	default:
		value, bad := f.Parse(fmt.Sprint(v), time.UTC)
		require.Nil(t, bad, "the oracle's %s: %v", f.Name, v)
		return value, true
	}
}

// canBe reports whether a record can be that of a row: by its ID if that is known, else by
// its fields.
func (w *Walk) canBe(t tester, rec mapping.Record, row Row) bool {
	name := rec.Resource.Name
	if key, known := w.keys[name][rec.ID()]; known || w.ids[name][row.Key] != 0 {
		return known && key == row.Key
	}
	return w.differs(t, rec, row) == ""
}

// same compares a record with its row, and learns its ID.
func (w *Walk) same(t tester, rec mapping.Record, row Row) {
	require.Empty(t, w.differs(t, rec, row), "%s %s", rec.Resource.Name, row.Key)
	w.learn(t, rec.Resource, rec.ID(), row.Key)
	for name, v := range row.Fields {
		if key, refers := v.(Key); refers {
			f := rec.Resource.Field(name)
			w.learn(t, f.Target(), int32(rec.Values[f.Index].Int()), key)
		}
	}
}

// differs returns the field in which a record differs from its row; "" for none. References to
// rows without a known ID are left out.
func (w *Walk) differs(t tester, rec mapping.Record, row Row) string {
	for _, name := range slices.Sorted(maps.Keys(row.Fields)) {
		f := rec.Resource.Field(name)
		require.NotNil(t, f, "the oracle's %s of %s is no field", name, rec.Resource.Name)
		got := rec.Values[f.Index]
		if got.IsAbsent() {
			got = mapping.NullValue() // clients see it as null
		}
		want, known := w.value(t, f, row.Fields[name])
		if key, refers := row.Fields[name].(Key); !known && refers {
			if !got.IsSet() {
				return fmt.Sprintf("%s refers to %s: got null", name, key)
			}
		} else if got != want {
			return fmt.Sprintf("%s: want %s, got %s", name, want, got)
		}
	}
	return ""
}

// learn remembers which record an ID is of, for good.
func (w *Walk) learn(t tester, r *mapping.Resource, id int32, key Key) {
	had, known := w.ids[r.Name][key]
	require.True(t, !known || had == id, "%s %s had the id %d, and now %d", r.Name, key, had, id)
	of, known := w.keys[r.Name][id]
	require.True(t, !known || of == key, "the id %d was of %s %s, and is now of %s", id, r.Name, of, key)
	w.ids[r.Name][key], w.keys[r.Name][id] = id, key
}

// pick draws a row whose ID is known; any rather than one that the client sees, where
// own is false.
func (w *Walk) pick(t *try, r *mapping.Resource, who auth.Client, own bool) (row Row, id int32, ok bool) {
	rows := slices.DeleteFunc(slices.Clone(w.rows[r.Name]), func(row Row) bool {
		return w.ids[r.Name][row.Key] == 0 || own && !row.sees(who) || w.made != "" && w.made != row.Key
	})
	if len(rows) == 0 {
		return Row{}, 0, false
	}
	row = rapid.SampledFrom(rows).Draw(t.T, "which "+r.Name)
	return row, w.ids[r.Name][row.Key], true
}

// get asks for one record, which may be another client's or hidden.
func (w *Walk) get(t *try, r *mapping.Resource, who auth.Client) bool {
	row, id, ok := w.pick(t, r, who, false)
	if !ok {
		return false
	}
	rec, err := w.Client.Get(t.Context(), r, backend.Query{Client: who, ID: id})
	if !row.sees(who) {
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%s %s is not for %s: %v", r.Name, row.Key, who.Name, err)
		return false
	}
	require.NoError(t, err, "%s %s", r.Name, row.Key)
	w.same(t, rec, row)
	return true
}
