package sqlrecord

import (
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// listing is a list turned into SQL.
type listing struct {
	sel  *selection
	text string
	args []mapping.Value

	count     string // counts what follows "counted", if the list asks for a count
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
	w := newListWriter(s.db.Dialect(), t, q)
	l := listing{sel: &t.list, varied: selective(q)}
	if q.Fields != nil {
		chosen := t.choose(w.d, q.Fields)
		l.sel = &chosen
	}
	w.where()
	if q.Total {
		all := w
		if q.After > 0 { // the count includes the records before q.After
			everything := q
			everything.After = 0
			all = newListWriter(s.db.Dialect(), t, everything)
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
	d    *Dialect
	t    *table
	q    backend.Query
	b    strings.Builder
	args []mapping.Value

	// ranged makes PostgreSQL use the one index that has the client's records in the order
	// of their IDs. For "client = $1 ORDER BY id" PostgreSQL may walk through all clients'
	// records by ID. That is quick for a client who owns half of them, but reads the whole
	// table for a client who owns a few. A range of clients, in the order of client and
	// ID, leaves it no choice.
	ranged bool
	floor  string // the lower end of the range
}

func newListWriter(d *Dialect, t *table, q backend.Query) *listWriter {
	byID := len(q.Sort) == 0 || q.Sort[0].Field.Primary
	return &listWriter{d: d, t: t, q: q, ranged: !d.sqlite && byID && !selective(q) && !t.r.SystemRecords}
}

// selective tells whether a list leaves records out.
func selective(q backend.Query) bool { return len(q.Filters) > 0 || q.ModifiedSince.IsSet() }

func (w *listWriter) arg(v mapping.Value) string {
	w.args = append(w.args, v)
	return w.d.Placeholder(len(w.args))
}

func (w *listWriter) add(text ...string) {
	for _, s := range text {
		w.b.WriteString(s)
	}
}

func (w *listWriter) where() {
	w.b.Grow(160)
	w.args = make([]mapping.Value, 0, len(w.q.Filters)+5)
	w.arg(mapping.IntValue(w.q.Client.ID)) // the first: $1
	w.b.WriteString(" WHERE ")
	if w.ranged {
		w.floor = w.from()
		w.b.WriteString(w.floor + " AND " + w.ceiling())
		return
	}
	w.b.WriteString(w.client())
	for _, f := range w.q.Filters {
		w.b.WriteString(" AND ")
		w.filter(f)
	}
	if w.q.ModifiedSince.IsSet() {
		w.add(" AND ", w.t.columns[w.t.r.ModifiedAt], " >= ", w.arg(w.q.ModifiedSince))
	}
	if w.q.After > 0 {
		w.add(" AND ", w.t.columns[w.t.r.ID], " > ", w.arg(mapping.IntValue(int64(w.q.After))))
	}
}

// from returns the lower end of a ranged list.
func (w *listWriter) from() string {
	if w.q.After > 0 {
		return w.orderColumns() + " > ($1, " + w.arg(mapping.IntValue(int64(w.q.After))) + ")"
	}
	return w.d.Quote(clientColumn) + " >= $1"
}

// ceiling returns the upper end of a ranged list.
func (w *listWriter) ceiling() string { return w.d.Quote(clientColumn) + " <= $1" }

// orderColumns returns the columns that a ranged list is ordered by.
func (w *listWriter) orderColumns() string {
	return "(" + w.d.Quote(clientColumn) + ", " + w.t.columns[w.t.r.ID] + ")"
}

// skip makes a ranged list begin at the first record of its page, which it finds in the
// index alone, without reading the earlier records.
func (w *listWriter) skip() {
	w.order()
	first := "SELECT " + w.t.columns[w.t.r.ID] + " FROM " + w.t.name + w.b.String() + " LIMIT 1 OFFSET " + w.arg(mapping.IntValue(int64(w.q.Offset)))
	w.q.Offset = 0
	w.b.Reset()
	if w.descending() {
		w.b.WriteString(" WHERE " + w.orderColumns() + " <= ($1, (" + first + ")) AND " + w.floor)
	} else {
		w.b.WriteString(" WHERE " + w.orderColumns() + " >= ($1, (" + first + ")) AND " + w.ceiling())
	}
}

func (w *listWriter) descending() bool { return len(w.q.Sort) > 0 && w.q.Sort[0].Descending }

// client writes the condition for the records that the client sees. If another index finds
// fewer records, the condition keeps the planner from using this one.
func (w *listWriter) client() string {
	for _, f := range w.q.Filters {
		if w.t.narrow[f.Field.Index] && (f.Op == mapping.Equals || f.Op == mapping.AnyOf) {
			return w.d.unindexed("") + w.t.visible
		}
	}
	return w.t.visible
}

func (w *listWriter) order() {
	w.b.WriteString(" ORDER BY ")
	if w.ranged {
		w.add(w.d.OrderBy(w.d.Quote(clientColumn), w.descending(), false), ", ")
	}
	for _, o := range w.q.Sort {
		i := o.Field.Index
		always := i == w.t.r.ID || i == w.t.r.CreatedAt || i == w.t.r.ModifiedAt
		w.b.WriteString(w.d.OrderBy(w.t.columns[i], o.Descending, !always))
		if o.Field.Primary {
			return
		}
		w.b.WriteString(", ")
	}
	w.b.WriteString(w.t.columns[w.t.r.ID])
}

func (w *listWriter) page() {
	if w.q.Limit > 0 {
		w.add(" LIMIT ", w.arg(mapping.IntValue(int64(w.q.Limit)+1)))
	}
	if w.q.Offset > 0 {
		if w.q.Limit <= 0 && w.d.sqlite {
			w.b.WriteString(" LIMIT -1") // SQLite knows no OFFSET without it
		}
		w.add(" OFFSET ", w.arg(mapping.IntValue(int64(w.q.Offset))))
	}
}
