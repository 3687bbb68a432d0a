package legacy

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Mapped is a resource as statements refer to it.
type Mapped struct {
	*sheet.Resource
	Builder
	sheet   *sheet.Sheet
	Rows    sqlrecord.Table
	Written string   // quoted; what is written
	From    string   // quoted, or a SELECT; what is read
	Keys    []string // quoted columns of the key
	// parent has the records that determine the client of a row; nil if the row has its client.
	parent *Mapped
	// Target describes the written table; nil if the database does not, as for another schema.
	Target  *Table
	journal *Table // the table of changes; nil if there is none, or it is not known
	// referrers are the keys that keep its rows from being deleted.
	referrers []Referrer
	// links are the fields with kept IDs of other records, and arrays the positions of the
	// fields whose elements are records of their own.
	links   []link
	arrays  []int
	lookups []int        // see lacks
	plates  []int        // license plates: Dutch ones are answered with their dashes
	fixed   []fixedField // fields that are the same in all records
	// client and version are their positions in Rows.Extra, -1 for none.
	client, version int
	clientSort      sqlrecord.Sort
	// Parts of the condition for what a client sees.
	where, clientRead, clientValue sqlrecord.Expr
	// perClient says that numbers made as the highest plus one are counted per client, because the
	// client's column is part of the primary key.
	perClient bool
}

// fixedField is the value of a field in all records.
type fixedField struct {
	at    int
	value mapping.Value
}

// schema is what the database says of tables and expressions.
type schema struct {
	Schema
	version string // the engine's
	// reads are the tables that resources are read from, by the resource's name; nil for one in a
	// schema that was not inspected.
	reads map[string]*Table
	// refused is SQL of the sheet that the database refuses, by resource.
	refused map[string][]*Problem
	// results are the types of expressions, by the table that they are over and their text.
	results map[[2]string]Known
}

// newTable makes the table of a resource. The types of its columns decide how they are compared.
func newTable(sh *sheet.Sheet, d *sqlrecord.Dialect, of *sheet.Resource, s *schema) *Mapped {
	prefix := sh.Source.SQL.Schema
	t := &Mapped{Resource: of, sheet: sh, Written: Qualified(d, prefix, of.Table), From: readFrom(d, prefix, of), client: -1, version: -1, lookups: lookups(of)}
	t.Target = s.Table(of.Table)
	read := s.reads[of.Name]
	t.Builder = Builder{Dialect: d,
		ColumnOf: func(name string) Known { return columnOf(read, name) },
		Result:   func(sql string) Known { return s.results[[2]string{of.Name, sql}] },
	}
	for _, name := range of.Key.Places {
		t.Keys = append(t.Keys, d.Quote(name))
	}
	t.Rows = sqlrecord.Table{Resource: of.Resource, From: t.From, Fields: make([]sqlrecord.Field, len(of.Fields))}
	t.makeKey()
	for i := range of.Fields {
		t.makeField(i)
	}
	if v := of.SQL.Version; v != (sheet.Expr{}) {
		t.version = t.extra(t.ExprOf(v), mapping.Text)
	}
	t.referrers = s.Referrers(sh, of)
	if of.Changes.IsReported() {
		t.journal = s.Table(of.Changes.Table)
	}
	t.clientSort = t.sortOfExpr(of.SQL.Client)
	t.perClient = of.SQL.Client.Column != "" && t.Target != nil && slices.ContainsFunc(t.Target.Primary, func(c string) bool { return strings.EqualFold(c, of.SQL.Client.Column) })
	t.Rows.Scope = func(w *sqlrecord.Writer, q backend.Query) { t.scope(w, true) }
	t.where, t.clientRead, t.clientValue = Parse(of.Where), t.ExprOf(of.SQL.Client), t.clientOperand()
	return t
}

// complete ends what newTable began, once all tables are known.
func (t *Mapped) complete(tables map[*mapping.Resource]*Mapped) {
	if p := t.Parent(); p != nil {
		t.parent = tables[p.Resource]
	}
}

// keep computes what is the same in all statements, once all tables are complete.
func (t *Mapped) keep() {
	if t.SystemClient != "" {
		t.client = t.extra(t.clientExpr(), mapping.Text)
	}
	t.Rows.Keep(t.Dialect)
}

// columnOf is what is known of a column of a table that is read.
func columnOf(t *Table, name string) Known {
	var c *Column
	if t != nil {
		c = t.Column(name)
	}
	if c == nil {
		return Known{scale: -1, nullable: true, collation: backend.UnknownCollation}
	}
	scale := c.Scale
	if c.Precision == 0 {
		scale = -1
	}
	return Known{Sort: c.Sort, scale: scale, nullable: c.Nullable || t.View, collation: c.Collation}
}

// makeKey adds the key. Parts of kept keys are read as texts.
func (t *Mapped) makeKey() {
	for i, quoted := range t.Keys {
		of := t.ColumnOf(t.Key.Places[i])
		as := sqlrecord.Column{Type: mapping.Int4, Foreign: true}
		if t.Key.Kept {
			as.Type = mapping.Text
		}
		f := sqlrecord.Field{Read: sqlrecord.Plain(quoted), As: as}
		t.simply(&f, of.Sort)
		if t.Key.Kept {
			t.part(&f, of.Sort)
			t.Rows.Extra = append(t.Rows.Extra, f)
		}
		t.Rows.Key = append(t.Rows.Key, f)
	}
	if t.Key.Kept {
		t.Rows.Fields[t.ID] = t.linked(&sheet.Column{}, t.Rows.Key, t.Resource)
	} else {
		t.Rows.Fields[t.ID] = t.Rows.Key[0]
	}
}

// part lets a part of a key be compared with a text.
func (t *Mapped) part(f *sqlrecord.Field, s sqlrecord.Sort) {
	sql := f.Read
	f.Operand = func(w *sqlrecord.Writer, v mapping.Value) { t.partOperand(w, s, v) }
	f.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		switch {
		case s == sqlrecord.Integers && !isWhole(v.Text()):
			w.Add(nothing)
		default:
			w.Expr(sql).Add(" = ")
			t.partOperand(w, s, v)
		}
	}
}

// partOperand appends a part of a key.
func (t *Mapped) partOperand(w *sqlrecord.Writer, s sqlrecord.Sort, v mapping.Value) {
	if s == sqlrecord.Integers {
		v = asWhole(v)
	}
	if s == "" || s == sqlrecord.Others {
		s = sqlrecord.Texts
	}
	t.Put(w, s, v)
}

// makeField adds the field at a position.
func (t *Mapped) makeField(i int) {
	f, c := t.Fields[i].Field, &t.SQL.Fields[i]
	switch {
	case f.Type == mapping.Array:
		t.arrays = append(t.arrays, i)
		return
	case f.Primary:
		return
	case len(c.Names) == 0 && c.Read == "":
		v := c.Constant
		if v.IsAbsent() {
			v = mapping.NullValue()
		}
		t.fixed = append(t.fixed, fixedField{i, v})
		t.Rows.Fields[i] = fixed(v)
		return
	}
	if f.IgnoreDashes {
		t.plates = append(t.plates, i)
	}
	target, kept := t.targetOf(f)
	if !kept {
		t.Rows.Fields[i] = t.field(f, c)
		return
	}
	names := c.Names
	l := link{field: f, at: len(t.Rows.Extra), names: len(names), to: target}
	var parts []sqlrecord.Field
	for _, name := range names {
		part := sqlrecord.Field{Read: sqlrecord.Plain(t.Dialect.Quote(name)), As: sqlrecord.Column{Type: mapping.Text, Foreign: true}}
		t.part(&part, t.ColumnOf(name).Sort)
		parts = append(parts, part)
	}
	if c.Read != "" {
		l.names = 1
		part := sqlrecord.Field{Read: Parse("(" + c.Read + ")"), As: sqlrecord.Column{Type: mapping.Text, Foreign: true}}
		t.part(&part, t.Result(c.Read).Sort)
		parts = append(parts, part)
	}
	t.Rows.Extra = append(t.Rows.Extra, parts...)
	t.links = append(t.links, l)
	t.Rows.Fields[i] = t.linked(c, parts, target)
}

// writes reports whether clients write its records.
func (t *Mapped) writes() bool {
	return t.Operations[mapping.OpCreate] || t.Operations[mapping.OpUpdate] || t.Operations[mapping.OpDelete]
}

// fixed makes a field that has the same value in all records; null if it is absent from them.
func fixed(v mapping.Value) sqlrecord.Field {
	return sqlrecord.Field{
		Order: []sqlrecord.Expr{sqlrecord.Plain("(SELECT 1)")},
		Filter: func(w *sqlrecord.Writer, f backend.Filter) {
			w.Add([...]string{nothing, "1 = 1"}[b2i(f.Matches(v))])
		},
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// extra adds an expression that is read with every record, and returns its position.
func (t *Mapped) extra(e sqlrecord.Expr, as mapping.Datatype) int {
	t.Rows.Extra = append(t.Rows.Extra, sqlrecord.Field{Read: e, As: sqlrecord.Column{Type: as, Foreign: true}})
	return len(t.Rows.Extra) - 1
}

// ExprOf is a column or SQL of the sheet.
func (t *Mapped) ExprOf(e sheet.Expr) sqlrecord.Expr {
	if e.Column != "" {
		return sqlrecord.Plain(t.Dialect.Quote(e.Column))
	}
	return Parse("(" + e.SQL + ")")
}

func (t *Mapped) sortOfExpr(e sheet.Expr) sqlrecord.Sort {
	if e.Column != "" {
		return t.ColumnOf(e.Column).Sort
	}
	return t.Result(e.SQL).Sort
}

// Qualified quotes a table's name, with the schema that it names, or else the one given.
func Qualified(d *sqlrecord.Dialect, prefix, name string) string {
	if name == "" {
		return ""
	}
	parts := strings.Split(name, ".")
	if len(parts) == 1 && prefix != "" {
		parts = []string{prefix, name}
	}
	for i, p := range parts {
		parts[i] = d.Quote(p)
	}
	return strings.Join(parts, ".")
}

// Between is the word before the n-th of several parts, counted from 0: none before the first.
func Between(n int, word string) string {
	if n == 0 {
		return ""
	}
	return word
}

func comma(n int) string { return Between(n, ", ") }

// errKeyForm says that a kept key no longer fits the sheet.
var errKeyForm = fmt.Errorf("%w: a kept key has another number of parts than the sheet's", backend.ErrUnexpected)

// keyOf returns the parts of an ID's key: those in the id store, if keys are kept. It returns false
// if there is no such key.
func (t *Mapped) keyOf(id int32, keys sheet.Keys) (key []mapping.Value, ok bool, err error) {
	if !t.Key.Kept {
		return []mapping.Value{mapping.IntValue(int64(id))}, true, nil
	}
	text := keys[sheet.IDRef{Resource: t.Name, ID: id}]
	if text == "" {
		return nil, false, nil
	}
	key, err = t.split(text)
	return key, err == nil, err
}

// split separates the parts of a kept key.
func (t *Mapped) split(key string) (parts []mapping.Value, err error) {
	for _, part := range sheet.SplitKey(key) {
		parts = append(parts, mapping.TextValue(part))
	}
	if len(parts) != len(t.Keys) {
		err = fmt.Errorf("resource %s: %w", t.Name, errKeyForm)
	}
	return parts, err
}
