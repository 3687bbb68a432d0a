package sqlrecord

import (
	"context"
	"errors"
	"sync/atomic"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// unknownText is UnknownOf a text.
const unknownText = "\x1a"

// UnknownOf is the SQL of a value that is read as absent. Expressions yield it if they find no value
// of a datatype, such as for a code that no list has.
func UnknownOf(t mapping.Datatype) string {
	if t == mapping.Varchar || t == mapping.Text {
		return "'" + unknownText + "'"
	}
	return "-9999999999" // below every int4
}

// Query is a statement that reads records.
type Query struct {
	text string
	args []mapping.Value
	sel  *selection
	t    *Table
	most int // records; 0 if that is not known
}

// keptTexts are the parts that are the same in all statements of a table.
type keptTexts struct {
	one, list selection
	byKey     [2]atomic.Pointer[string] // see One; locked or not
}

// Keep computes what is the same in all statements of a table, once the table is complete.
func (t *Table) Keep(d *Dialect) {
	t.kept = &keptTexts{one: t.choose(d, t.Resource.RecordFields()), list: t.choose(d, t.Resource.ListFields())}
}

// One is the query for the record of a key. The kinds of the values of all keys are the same.
func (t *Table) One(d *Dialect, p Params, q backend.Query, key []mapping.Value) Query {
	kept := &t.kept.byKey[0]
	if q.ForUpdate {
		kept = &t.kept.byKey[1]
	}
	text := kept.Load()
	w := &listWriter{Writer: Writer{d: d, params: p, mute: text != nil, args: make([]mapping.Value, 0, 4)}, t: t, q: q}
	t.selectInto(&w.Writer, &t.kept.one)
	w.Add(" WHERE ")
	t.Scope(&w.Writer, q)
	for i := range t.Key {
		w.Add(" AND ")
		t.Key[i].Compare(&w.Writer, mapping.Equals, key[i])
	}
	if q.ForUpdate {
		w.Add(d.ForUpdate)
	}
	if text == nil {
		made := w.b.String()
		text = &made
		kept.Store(text)
	}
	return Query{*text, w.args, &t.kept.one, t, 1}
}

// Many is the query for a page of a list. With a limit it reads one more record, which shows whether
// there is another page. The page begins after the key after; nil for none.
func (t *Table) Many(d *Dialect, p Params, q backend.Query, after []mapping.Value) Query {
	w := &listWriter{Writer: Writer{d: d, params: p}, t: t, q: q, after: after}
	sel := &t.kept.list
	if q.Fields != nil {
		chosen := t.choose(d, q.Fields)
		sel = &chosen
	}
	t.selectInto(&w.Writer, sel)
	w.where()
	w.order()
	w.page()
	return Query{w.b.String(), w.args, sel, t, q.Limit}
}

// Count is the query for how many records a list has in all.
func (t *Table) Count(d *Dialect, p Params, q backend.Query) (text string, args []mapping.Value) {
	w := &listWriter{Writer: Writer{d: d, params: p}, t: t, q: q}
	w.Add("SELECT count(*) FROM ", t.From)
	w.where()
	return w.b.String(), w.args
}

// Each calls each for every record, with the Extra values of its row. each may keep the record but
// not extra. If a value could not be read, lost is its field, else nil.
func (q Query) Each(ctx context.Context, c Conn, each func(rec mapping.Record, extra []mapping.Value, lost *mapping.Field) error) error {
	r := q.t.Resource
	records := newSlab(r, q.most)
	if q.most == 1 {
		records.piece = 1
	}
	err := c.Query(ctx, q.text, q.sel.columns, q.args, func(row []mapping.Value) error {
		rec := records.record()
		var lost *mapping.Field
		for n, i := range q.sel.fields {
			if row[n].IsAbsent() || q.t.Fields[i].Unknown && row[n].Kind() == mapping.KindText && row[n].Text() == unknownText {
				lost = &r.Fields[i]
			}
			rec.Values[i] = row[n]
		}
		return each(rec, row[len(q.sel.fields):], lost)
	})
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// Statement is the text of the query and its arguments.
func (q Query) Statement() (text string, args []mapping.Value) { return q.text, q.args }
