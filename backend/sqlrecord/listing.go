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

	count     string // counts what follows counted, where that is asked for
	countArgs []mapping.Value
	counted   int64

	deep bool // places help to find the page
}

// listing writes the statement of a list. The list that asks for nothing but a
// first page has its text ready.
func (s *Store) listing(t *table, q backend.Query) listing {
	plain := q.Fields == nil && len(q.Filters) == 0 && len(q.Sort) == 0 && !q.ModifiedSince.IsSet()
	if plain && q.After == 0 && q.Offset == 0 && q.Limit > 0 && !q.Total {
		return listing{sel: &t.list, text: t.pageOne,
			args: []mapping.Value{mapping.IntValue(q.Client.ID), mapping.IntValue(int64(q.Limit) + 1)}}
	}
	w := listWriter{d: s.db.Dialect(), t: t}
	l := listing{sel: &t.list}
	if q.Fields != nil {
		chosen := t.choose(w.d, q.Fields)
		l.sel = &chosen
	}
	w.where(q)
	if q.Total {
		l.count = "SELECT count(*) FROM " + t.name + w.b.String()
		l.countArgs = slices.Clip(w.args)
	}
	w.order(q)
	l.deep = s.remembers(t, q)
	w.page(q)
	l.text, l.args = l.sel.head+w.b.String(), w.args
	return l
}

// listWriter gathers what follows FROM, and its arguments.
type listWriter struct {
	d    *Dialect
	t    *table
	b    strings.Builder
	args []mapping.Value
}

func (w *listWriter) arg(v mapping.Value) string {
	w.args = append(w.args, v)
	return w.d.Placeholder(len(w.args))
}

func (w *listWriter) where(q backend.Query) {
	w.b.Grow(160)
	w.args = make([]mapping.Value, 0, len(q.Filters)+5)
	w.arg(mapping.IntValue(q.Client.ID))
	w.b.WriteString(" WHERE ")
	w.b.WriteString(w.client(q))
	for _, f := range q.Filters {
		w.b.WriteString(" AND ")
		w.b.WriteString(w.d.Compared(f.Field, w.t.columns[f.Field.Index]))
		w.b.WriteString(" = ")
		w.b.WriteString(w.d.Compared(f.Field, w.arg(f.Value)))
	}
	if q.ModifiedSince.IsSet() {
		w.b.WriteString(" AND ")
		w.b.WriteString(w.t.columns[w.t.r.ModifiedAt])
		w.b.WriteString(" >= ")
		w.b.WriteString(w.arg(q.ModifiedSince))
	}
	if q.After > 0 {
		w.b.WriteString(" AND ")
		w.b.WriteString(w.t.columns[w.t.r.ID])
		w.b.WriteString(" > ")
		w.b.WriteString(w.arg(mapping.IntValue(int64(q.After))))
	}
}

// client is the condition of what the client sees. Where another index finds
// fewer records, it keeps the planner from this one.
func (w *listWriter) client(q backend.Query) string {
	for _, f := range q.Filters {
		if w.t.narrow[f.Field.Index] {
			return w.d.unindexed("") + w.t.visible
		}
	}
	return w.t.visible
}

func (w *listWriter) order(q backend.Query) {
	w.b.WriteString(" ORDER BY ")
	for _, o := range q.Sort {
		w.b.WriteString(w.d.OrderBy(w.t.columns[o.Field.Index], o.Descending))
		if o.Field.Primary {
			return
		}
		w.b.WriteString(", ")
	}
	w.b.WriteString(w.t.columns[w.t.r.ID])
}

func (w *listWriter) page(q backend.Query) {
	if q.Limit > 0 {
		w.b.WriteString(" LIMIT ")
		w.b.WriteString(w.arg(mapping.IntValue(int64(q.Limit) + 1)))
	}
	if q.Offset > 0 {
		if q.Limit <= 0 && w.d.steers {
			w.b.WriteString(" LIMIT -1") // SQLite knows no OFFSET without it
		}
		w.b.WriteString(" OFFSET ")
		w.b.WriteString(w.arg(mapping.IntValue(int64(q.Offset))))
	}
}
