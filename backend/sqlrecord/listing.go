package sqlrecord

import (
	"slices"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// listing is a list turned into SQL.
type listing struct {
	sel  *selection
	text string
	args []mapping.Value

	count     string // counts what follows "counted", if the list asks for a total
	countArgs []mapping.Value
	counted   int64

	deep   bool // bookmarks (bookmarks.go) help to find the page
	varied bool // the best index depends on the values in the statement
}

// listing writes the statement of a list. A list that asks only for a first page uses a
// prepared text.
func (s *Store) listing(t *table, q backend.Query) listing {
	plain := q.Fields == nil && len(q.Filters) == 0 && len(q.Sort) == 0 && !q.ModifiedSince.IsSet()
	if plain && q.After == 0 && q.Offset == 0 && q.Limit > 0 && !q.Total {
		return listing{sel: &t.list, text: t.pageOne,
			args: []mapping.Value{mapping.IntValue(q.Client.ID), mapping.IntValue(int64(q.Limit) + 1)}}
	}
	w := t.writer(s.db.Dialect(), q)
	l := listing{sel: &t.list, varied: selective(q)}
	if q.Fields != nil {
		chosen := t.choose(s.db.Dialect(), q.Fields)
		l.sel = &chosen
	}
	w.where()
	if q.Total {
		all := w
		if q.After > 0 { // the count includes the records before q.After
			everything := q
			everything.After = 0
			all = t.writer(s.db.Dialect(), everything)
			all.where()
		}
		l.count = "SELECT count(*) FROM " + t.name + all.b.String()
		l.countArgs = slices.Clip(all.args)
	}
	if w.ranged && q.Offset > 0 {
		w.skip()
	}
	w.order()
	l.deep = s.remembers(t, q)
	w.page()
	l.text, l.args = l.sel.head+w.b.String(), w.args
	return l
}

// listWriter writes the part of the statement after FROM, and its arguments.
type listWriter struct {
	Writer
	t     *Table
	q     backend.Query
	after []mapping.Value // the key after which the page begins; nil for none

	// ranged makes PostgreSQL use the one index that has the client's records in the order
	// of their IDs. For "client = $1 ORDER BY id" PostgreSQL may walk through all clients'
	// records by ID. That is quick for a client who owns half of them, but reads the whole
	// table for a client who owns a few. A range of clients, in the order of client and
	// ID, leaves it no choice.
	ranged bool
	floor  string // the lower end of the range
}

// writer writes a list of one of our own tables.
func (t *table) writer(d *Dialect, q backend.Query) *listWriter {
	byID := len(q.Sort) == 0 || q.Sort[0].Field.Primary
	w := &listWriter{Writer: Writer{d: d}, t: &t.Table, q: q, ranged: !d.sqlite && byID && !selective(q) && !t.shared}
	if q.After > 0 {
		w.after = []mapping.Value{mapping.IntValue(int64(q.After))}
	}
	return w
}

// selective reports whether a list leaves records out.
func selective(q backend.Query) bool { return len(q.Filters) > 0 || q.ModifiedSince.IsSet() }

func (w *listWriter) where() {
	w.b.Grow(160)
	w.args = slices.Grow(w.args, len(w.q.Filters)+5)
	w.Add(" WHERE ")
	if w.ranged {
		w.Arg(mapping.IntValue(w.q.Client.ID)) // the first: $1
		w.floor = w.from()
		w.Add(w.floor, " AND ", w.ceiling())
		return
	}
	w.t.Scope(&w.Writer, w.q)
	for _, f := range w.q.Filters {
		w.Add(" AND ")
		w.filter(f)
	}
	if w.q.ModifiedSince.IsSet() {
		w.Add(" AND ")
		w.t.Fields[w.t.Resource.ModifiedAt].Compare(&w.Writer, mapping.AtLeast, w.q.ModifiedSince)
	}
	if w.after != nil {
		w.Add(" AND ")
		w.afterKey()
	}
}

// afterKey appends the condition that a row comes after a key. It is written out, because not every
// engine compares rows.
func (w *listWriter) afterKey() {
	parts := w.t.Key
	w.Add([...]string{"", "("}[min(len(parts)-1, 1)])
	for i := range parts {
		w.Add([...]string{"", " OR "}[min(i, 1)])
		for k := range i {
			parts[k].Compare(&w.Writer, mapping.Equals, w.after[k])
			w.Add(" AND ")
		}
		parts[i].Compare(&w.Writer, mapping.Above, w.after[i])
	}
	w.Add([...]string{"", ")"}[min(len(parts)-1, 1)])
}

// from returns the lower end of a ranged list.
func (w *listWriter) from() string {
	if w.after != nil {
		return w.orderColumns() + " > ($1, " + w.Arg(w.after[0]) + ")"
	}
	return w.d.Quote(clientColumn) + " >= $1"
}

// ceiling returns the upper end of a ranged list.
func (w *listWriter) ceiling() string { return w.d.Quote(clientColumn) + " <= $1" }

// orderColumns returns the columns that a ranged list is ordered by.
func (w *listWriter) orderColumns() string {
	return "(" + w.d.Quote(clientColumn) + ", " + w.t.Key[0].Read[0].SQL + ")"
}

// skip makes a ranged list begin at the first record of its page, which it finds in the
// index alone, without reading the earlier records.
func (w *listWriter) skip() {
	w.order()
	first := "SELECT " + w.t.Key[0].Read[0].SQL + " FROM " + w.t.From + w.b.String() + " LIMIT 1 OFFSET " + w.Arg(mapping.IntValue(int64(w.q.Offset)))
	w.q.Offset = 0
	w.b.Reset()
	if w.descending() {
		w.Add(" WHERE ", w.orderColumns(), " <= ($1, (", first, ")) AND ", w.floor)
	} else {
		w.Add(" WHERE ", w.orderColumns(), " >= ($1, (", first, ")) AND ", w.ceiling())
	}
}

func (w *listWriter) descending() bool { return len(w.q.Sort) > 0 && w.q.Sort[0].Descending }

// scope writes the condition for the records that the client sees. If another index finds
// fewer records, the condition keeps the planner from using this one.
func (t *table) scope(w *Writer, q backend.Query) {
	w.Arg(mapping.IntValue(q.Client.ID)) // the first: $1
	for _, f := range q.Filters {
		if t.narrow[f.Field.Index] && (f.Op == mapping.Equals || f.Op == mapping.AnyOf) {
			w.Add(w.d.unindexed(""))
			break
		}
	}
	w.Add(t.visible)
}

func (w *listWriter) order() {
	w.Add(" ORDER BY ")
	if w.ranged {
		w.Add(w.d.OrderBy(w.d.Quote(clientColumn), w.descending(), false), ", ")
	}
	descending := false
	for _, o := range w.q.Sort {
		if descending = o.Field.Primary && o.Descending; o.Field.Primary {
			break
		}
		w.by(&w.t.Fields[o.Field.Index], o.Descending)
		w.Add(", ")
	}
	for i := range w.t.Key {
		if i > 0 {
			w.Add(", ")
		}
		w.by(&w.t.Key[i], descending)
	}
}

// by appends a field that is sorted by.
func (w *listWriter) by(f *Field, descending bool) {
	if f.Order == nil {
		w.Expr(f.Read).Add(w.d.OrderBy("", descending, f.Null))
		return
	}
	for i, e := range f.Order {
		if i > 0 {
			w.Add(", ")
		}
		w.Expr(e).Add(w.d.OrderBy("", descending, f.Null))
	}
}

func (w *listWriter) page() {
	if w.q.Limit > 0 {
		w.Add(" LIMIT ", w.Arg(mapping.IntValue(int64(w.q.Limit)+1)))
	}
	if w.q.Offset > 0 {
		if w.q.Limit <= 0 {
			w.Add(w.d.noLimit)
		}
		w.Add(" OFFSET ", w.Arg(mapping.IntValue(int64(w.q.Offset))))
	}
}
