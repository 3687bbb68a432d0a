package sqlrecord

import (
	"iter"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// The columns that every table has besides its fields.
const (
	// clientColumn holds the client that the record belongs to; 0 for a system
	// record, which every client sees.
	clientColumn = "client_id"
	// versionColumn counts the changes of the record, from 1.
	versionColumn = "row_version"
)

// Table says how the records of a resource are read: from our own tables, whose columns are
// the fields, or from a vendor's, whose fields may be expressions.
type Table struct {
	Resource *mapping.Resource
	From     string  // the SQL after FROM
	Fields   []Field // by field position
	Key      []Field // what identifies a record; the default order of lists
	Extra    []Field // what is read with every record besides its fields
	// Scope appends the condition for the records that are seen.
	Scope func(w *Writer, q backend.Query)

	kept *keptTexts // see Keep
}

// Field says how a value is read, compared and sorted. Without the functions Read is used for
// all of that.
type Field struct {
	Read Expr // what clients see; nil if the table does not have it
	As   Column
	// Null says that Read may be null.
	Null bool
	// Unknown says that Read may be UnknownOf a text.
	Unknown bool
	// Fold is SQL around both sides of a comparison, the field and the value.
	Fold [2]string
	// Operand appends the value that Read is compared with; nil for the value itself.
	Operand func(w *Writer, v mapping.Value)
	// Nulls appends the condition that the field is null, Equals that it has a value, and Ranges
	// that it is above or below one; nil for a comparison with Read.
	Nulls  func(w *Writer)
	Equals func(w *Writer, v mapping.Value)
	Ranges func(w *Writer, op mapping.Operator, v mapping.Value)
	// Filter appends the condition of a filter; nil for those of the other functions.
	Filter func(w *Writer, f backend.Filter)
	// Order is what ORDER BY sorts by; nil for Read.
	Order []Expr
}

// table is what is computed in advance for one of our own tables: its columns, and the texts of
// the statements that never change.
type table struct {
	Table
	r        *mapping.Resource
	shared   bool     // the table has records of all clients
	name     string   // quoted
	columns  []string // quoted, by field position; "" for arrays
	defaults []mapping.Value
	stored   []int // positions of the fields that have a column, but id
	parents  []parent

	one, list selection // the fields that Get and List answer by default
	ofClient  string    // condition: the client's own; its parameter is ?1 or $1
	visible   string    // the same with system records
	get       string    // client, id
	exists    string    // client, id
	insert    string    // client, stored…
	insertAt  string    // client, stored…, id
	remove    string    // client, id, version
	touch     string    // moment, id
	pageOne   string    // client, limit: a list without parameters
	children  map[int]childTable
	narrow    map[int]bool // fields that an index begins with
	bookmarks bookmarkTexts
}

// parent is a record whose array field the records of a table are elements of.
type parent struct {
	key      int // position of the field that refers to it
	resource *mapping.Resource
}

// childTable says how the elements of an array field are read.
type childTable struct {
	table *table
	head  string // SELECT … WHERE key
	tail  string // the SQL after the ids of the records
}

// selection is a choice of fields, read as one row.
type selection struct {
	fields  []int // by column; Table.Extra follows
	columns []Column
	head    string // SELECT … FROM table; "" if it has parameters
}

func newTable(d *Dialect, r *mapping.Resource, shared bool) *table {
	t := &table{r: r, shared: shared, name: d.Quote(r.Name), children: map[int]childTable{}, narrow: map[int]bool{r.ID: true}}
	for i := range r.Fields {
		f := &r.Fields[i]
		column, of := "", Field{As: Column{Type: f.Type, Scale: f.Scale}, Null: i != r.ID && i != r.CreatedAt && i != r.ModifiedAt}
		if f.Type != mapping.Array {
			column = d.Quote(f.Name)
			of.Read = Plain(column)
			if i != r.ID {
				t.stored = append(t.stored, i)
			}
		}
		if f.IgnoreDashes {
			of.Fold = d.Bare()
		}
		t.Fields = append(t.Fields, of)
		t.columns = append(t.columns, column)
		t.defaults = append(t.defaults, f.DefaultValue())
		if f.Reference != "" || f.ReferenceBy != "" {
			t.narrow[i] = true
		}
		t.parents = append(t.parents, parentsBy(f, r)...)
	}
	client := d.Quote(clientColumn)
	t.Table = Table{Resource: r, From: t.name, Fields: t.Fields, Key: t.Fields[r.ID : r.ID+1], Scope: t.scope,
		Extra: []Field{{Read: Plain(d.Quote(versionColumn)), As: Column{Type: mapping.Int4}}, {Read: Plain(client), As: Column{Type: mapping.Int4}}}}
	t.ofClient = client + " = " + d.Placeholder(1)
	t.visible = t.ofClient
	if shared {
		t.visible = client + " IN (0, " + d.Placeholder(1) + ")"
	}
	t.one, t.list = t.choose(d, r.RecordFields()), t.choose(d, r.ListFields())
	t.statements(d)
	return t
}

// parentsBy returns the resource that a field refers to, if records of r are
// elements of one of its array fields.
func parentsBy(f *mapping.Field, r *mapping.Resource) []parent {
	target := f.Target()
	if f.Reference == "" || target == nil {
		return nil
	}
	for i := range target.Fields {
		if a := &target.Fields[i]; a.Target() == r && a.ArrayKey == f.Name && a.Type == mapping.Array {
			return []parent{{f.Index, target}}
		}
	}
	return nil
}

func (t *table) statements(d *Dialect) {
	id, version := t.columns[t.r.ID], d.Quote(versionColumn)
	byID := id + " = " + d.Placeholder(2) + " AND " + t.visible
	t.get = t.one.head + " WHERE " + byID
	t.exists = "SELECT 1 FROM " + t.name + " WHERE " + byID
	t.insert = t.insertText(d, false)
	t.insertAt = t.insertText(d, true)
	t.remove = "DELETE FROM " + t.name + " WHERE " + t.ofClient + " AND " + id + " = " + d.Placeholder(2) +
		" AND " + version + " = " + d.Placeholder(3)
	modified := t.columns[t.r.ModifiedAt]
	t.touch = "UPDATE " + t.name + " SET " + version + " = " + version + " + 1, " + modified + " = " +
		d.later(modified, d.Placeholder(1)) + " WHERE " + id + " = " + d.Placeholder(2)
	t.bookmarks = t.bookmarkTexts(d)
	t.pageOne = t.list.head + t.pageOneText(d)
}

// pageOneText is the first page of a list in the order of IDs.
func (t *table) pageOneText(d *Dialect) string {
	w := t.writer(d, backend.Query{Limit: 1})
	w.where()
	w.order()
	w.page()
	return w.b.String()
}

func (t *table) insertText(d *Dialect, withID bool) string {
	names := []string{d.Quote(clientColumn), d.Quote(versionColumn)}
	fields := t.stored
	if withID {
		fields = append(fields[:len(fields):len(fields)], t.r.ID)
	}
	for _, i := range fields {
		names = append(names, t.columns[i])
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + d.Placeholder(1) + ", 1, " + d.placeholders(2, len(fields)+1) + ")" + d.ReturnID
}

// link prepares reading the elements of array fields, once all tables are
// known.
func (t *table) link(d *Dialect, tables map[*mapping.Resource]*table) {
	for i := range t.r.Fields {
		f := &t.r.Fields[i]
		if f.Type != mapping.Array {
			continue
		}
		child := tables[f.Target()]
		key := child.r.Field(f.ArrayKey)
		order := child.columns[child.r.ID]
		if place := child.r.Field("sort_order"); place != nil {
			order = child.columns[place.Index] + " NULLS LAST, " + order
		}
		t.children[i] = childTable{table: child, head: child.list.head + " WHERE " + child.columns[key.Index] + " IN (",
			tail: ") AND " + strings.Replace(child.visible, d.Quote(clientColumn), d.unindexed(d.Quote(clientColumn)), 1) + " ORDER BY " + order}
	}
}

// choose makes the selection of these fields. It always includes the primary ID, if the table has
// it, and never arrays.
func (t *Table) choose(d *Dialect, fields []int) selection {
	var s selection
	hasID := false
	for _, i := range fields {
		if t.Fields[i].Read != nil {
			s.fields = append(s.fields, i)
			hasID = hasID || i == t.Resource.ID
		}
	}
	if !hasID && t.Fields[t.Resource.ID].Read != nil {
		s.fields = append(s.fields, t.Resource.ID)
	}
	plain := true
	for f := range t.selected(s.fields) {
		s.columns = append(s.columns, f.As)
		plain = plain && len(f.Read) == 1 && f.Read[0].Param == ""
	}
	if plain {
		w := Writer{d: d}
		t.selectInto(&w, &s)
		s.head = w.b.String()
	}
	return s
}

// selected are the columns of a row.
func (t *Table) selected(fields []int) iter.Seq[*Field] {
	return func(yield func(*Field) bool) {
		for _, i := range fields {
			if !yield(&t.Fields[i]) {
				return
			}
		}
		for i := range t.Extra {
			if !yield(&t.Extra[i]) {
				return
			}
		}
	}
}

// selectInto appends SELECT … FROM table.
func (t *Table) selectInto(w *Writer, s *selection) {
	if s.head != "" {
		w.Add(s.head)
		return
	}
	between, n := "SELECT ", 0
	for f := range t.selected(s.fields) {
		if w.Add(between).Expr(f.Read); f.isComputed() { // PostgreSQL would name it after a column in it, and then sort by it
			w.Add(" AS ", w.d.Quote("_"+strconv.Itoa(n)))
		}
		between, n = ", ", n+1
	}
	w.Add(" FROM ", t.From)
}

// isComputed reports whether a field is an expression and not a column.
func (f *Field) isComputed() bool {
	return f.As.Foreign && !strings.ContainsAny(f.Read[0].SQL[:1], "\"`")
}

// record makes a record of a row.
func (s *selection) record(r *mapping.Resource, row []mapping.Value) mapping.Record {
	return s.fill(mapping.NewRecord(r), row)
}

func (s *selection) fill(rec mapping.Record, row []mapping.Value) mapping.Record {
	for n, i := range s.fields {
		rec.Values[i] = row[n]
	}
	rec.Version, rec.Owner = row[len(s.fields)].Int(), ownerOf(row[len(s.fields)+1].Int())
	return rec
}

// ownerOf is the owner of a record, by its clientColumn.
func ownerOf(client int64) int64 {
	if client == 0 {
		return mapping.OfAll
	}
	return client
}

// slab gives the records of one list their values from common pieces of memory.
type slab struct {
	r     *mapping.Resource
	piece int // how many records share a piece
	free  []mapping.Value
}

func newSlab(r *mapping.Resource, limit int) slab {
	const most = 17 // in a piece
	records := most
	if limit > 0 {
		records = limit + 1 // one more shows whether there is another page
	}
	pieces := (records + most - 1) / most
	return slab{r: r, piece: (records + pieces - 1) / pieces}
}

func (s *slab) record() mapping.Record {
	n := len(s.r.Fields)
	if len(s.free) < n {
		s.free = make([]mapping.Value, s.piece*n)
	}
	rec := mapping.Record{Resource: s.r, Values: s.free[:n:n]}
	s.free = s.free[n:]
	return rec
}
