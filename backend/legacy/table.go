package legacy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// table is a resource as statements refer to it.
type table struct {
	*sheet.Resource
	fields
	sheet    *sheet.Sheet
	rows     sqlrecord.Table
	name     string   // quoted; what is written
	from     string   // quoted, or a SELECT; what is read
	keys     []string // quoted columns of the key
	keySorts []sort
	// parent has the records that tell whose a row is; nil where it tells itself.
	parent *table
	// known is what the database says of the written table; nil where it says nothing, as of
	// another schema.
	known   *Table
	journal *Table // the table of changes; nil where there is none, or nothing is known of it
	// referrers are the keys that keep its rows from being deleted.
	referrers []Referrer
	// links are the fields with kept IDs of other records, and arrays the positions of the
	// fields whose elements are records of their own.
	links   []link
	arrays  []int
	lookups []int // see lacks
	plates  []int // license plates: Dutch ones are answered with their dashes
	// client and version are where what is read beside the fields has these, -1 for nowhere.
	client, version int
	clientSort      sort
	// Parts of the condition for what a client sees.
	where, clientRead, clientValue sqlrecord.Expr
	// perClient tells that numbers made as the highest plus one are counted per client, because
	// the client's column is part of the primary key.
	perClient bool
}

// link is a field that holds the kept ID of another record.
type link struct {
	field *mapping.Field
	at    int             // of the first part of the key, beside the fields
	names int             // how many parts there are
	to    *sheet.Resource // nil where ReferenceBy tells it of each record
}

// schema is what the database says of tables and expressions.
type schema struct {
	Schema
	version string // the engine's
	// reads are what is read of each resource, by its name; nil of one in a schema that was not
	// looked at.
	reads map[string]*Table
	// refused is SQL of the sheet that the database refuses, by resource.
	refused map[string][]*Problem
	// results are the sorts of expressions, by the table that they are over and their text.
	results map[[2]string]column
}

// newTable makes the table of a resource. What the database says of its columns decides how
// they are compared.
func newTable(sh *sheet.Sheet, d *sqlrecord.Dialect, of *sheet.Resource, s *schema) *table {
	engine, prefix := sh.Source.SQL.Engine, sh.Source.SQL.Schema
	t := &table{Resource: of, sheet: sh, name: qualified(d, prefix, of.Table), from: readFrom(d, prefix, of), client: -1, version: -1, lookups: lookups(of)}
	t.known = s.Table(of.Table)
	read := s.reads[of.Name]
	t.fields = fields{engine: engine, d: d,
		column: func(name string) column { return columnOf(engine, read, name) },
		result: func(sql string) column { return s.results[[2]string{of.Name, sql}] },
	}
	for _, name := range of.Key.Places {
		t.keys = append(t.keys, d.Quote(name))
	}
	t.rows = sqlrecord.Table{Resource: of.Resource, From: t.from, Fields: make([]sqlrecord.Field, len(of.Fields))}
	t.makeKey()
	for i := range of.Fields {
		t.makeField(i)
	}
	if v := of.SQL.Version; v != (sheet.Expr{}) {
		t.version = t.beside(t.exprOf(v), mapping.Text)
	}
	t.referrers = s.Referrers(sh, of)
	if of.Changes.Table != nil {
		t.journal = s.Table(of.Changes.Table.Name)
	}
	t.clientSort = t.sortOfExpr(of.SQL.Client)
	t.perClient = of.SQL.Client.Column != "" && t.known != nil && slices.ContainsFunc(t.known.Primary, func(c string) bool { return strings.EqualFold(c, of.SQL.Client.Column) })
	t.rows.Scope = func(w *sqlrecord.Writer, q backend.Query) { t.scope(w, true) }
	t.where, t.clientRead, t.clientValue = parse(of.Where), t.exprOf(of.SQL.Client), t.clientOperand()
	return t
}

// complete ends what newTable began, once all tables are known.
func (t *table) complete(tables map[*mapping.Resource]*table) {
	if p := t.Parent(); p != nil {
		t.parent = tables[p.Resource]
	}
}

// keep makes what is the same in all statements, once all tables are complete.
func (t *table) keep() {
	if t.SystemClient != "" {
		t.client = t.beside(t.clientExpr(), mapping.Text)
	}
	t.rows.Keep(t.d)
}

// columnOf is what is known of a column of a table that is read.
func columnOf(engine string, t *Table, name string) column {
	if t == nil {
		return column{scale: -1, nullable: true}
	}
	c := t.Column(name)
	if c == nil {
		return column{scale: -1, nullable: true}
	}
	scale := c.Scale
	if c.Precision == 0 {
		scale = -1
	}
	return column{sort: sortOf(engine, c.Type), scale: scale, nullable: c.Nullable || t.View, length: c.Length}
}

// makeKey adds the key. Parts of kept keys are read as texts.
func (t *table) makeKey() {
	for i, quoted := range t.keys {
		of := t.column(t.Key.Places[i])
		t.keySorts = append(t.keySorts, of.sort)
		as := sqlrecord.Column{Type: mapping.Int4, Foreign: true}
		if t.Key.Kept {
			as.Type = mapping.Text
		}
		f := sqlrecord.Field{Read: sqlrecord.Plain(quoted), As: as}
		t.simply(&f, of.sort)
		if t.Key.Kept {
			t.part(&f, of.sort)
			t.rows.Beside = append(t.rows.Beside, f)
		}
		t.rows.Key = append(t.rows.Key, f)
	}
	if t.Key.Kept {
		t.rows.Fields[t.ID] = t.linked(&sheet.Column{}, t.rows.Key, t.Resource)
	} else {
		t.rows.Fields[t.ID] = t.rows.Key[0]
	}
}

// part makes the comparison of a part of a key with a text.
func (t *table) part(f *sqlrecord.Field, s sort) {
	sql := f.Read
	f.Operand = func(w *sqlrecord.Writer, v mapping.Value) { t.partOperand(w, s, v) }
	f.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		switch {
		case !v.IsSet():
			w.Expr(sql).Add(" IS NULL")
		case s == integers && !isWhole(v.Text()):
			w.Add(nothing)
		default:
			w.Expr(sql).Add(" = ")
			t.partOperand(w, s, v)
		}
	}
}

// partOperand appends a part of a key.
func (t *table) partOperand(w *sqlrecord.Writer, s sort, v mapping.Value) {
	if s == integers && v.Kind() == mapping.KindText && isWhole(v.Text()) {
		n, _ := strconv.ParseInt(v.Text(), 10, 64)
		v = mapping.IntValue(n)
	}
	if s == "" || s == others {
		s = texts
	}
	t.operand(w, s, v)
}

// makeField adds a field that is in the table.
func (t *table) makeField(i int) {
	f, c := t.Fields[i].Field, &t.SQL.Fields[i]
	switch {
	case f.Type == mapping.Array:
		t.arrays = append(t.arrays, i)
		return
	case f.Primary:
		return
	case len(c.Names) == 0 && c.Read == "":
		t.rows.Fields[i] = fixed(c)
		return
	}
	if f.IgnoreDashes {
		t.plates = append(t.plates, i)
	}
	target, kept := t.targetOf(f)
	if !kept {
		t.rows.Fields[i] = t.field(f, c)
		return
	}
	names := c.Names
	l := link{field: f, at: len(t.rows.Beside), names: len(names), to: target}
	var parts []sqlrecord.Field
	for _, name := range names {
		part := sqlrecord.Field{Read: sqlrecord.Plain(t.d.Quote(name)), As: sqlrecord.Column{Type: mapping.Text, Foreign: true}}
		t.part(&part, t.column(name).sort)
		parts = append(parts, part)
	}
	if c.Read != "" {
		l.names = 1
		part := sqlrecord.Field{Read: parse("(" + c.Read + ")"), As: sqlrecord.Column{Type: mapping.Text, Foreign: true}}
		t.part(&part, t.result(c.Read).sort)
		parts = append(parts, part)
	}
	t.rows.Beside = append(t.rows.Beside, parts...)
	t.links = append(t.links, l)
	t.rows.Fields[i] = t.linked(c, parts, target)
}

// fixed makes a field that has the same value in all records, null where it is in none.
func fixed(c *sheet.Column) sqlrecord.Field {
	v := c.Constant
	if v.IsAbsent() {
		v = mapping.NullValue()
	}
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

// targetOf is the resource that a field refers to, and tells whether the field may hold kept
// IDs. The resource is nil where another field tells it.
func (t *table) targetOf(f *mapping.Field) (target *sheet.Resource, kept bool) {
	if f.Reference != "" {
		target = t.sheet.Resource(f.Reference)
		return target, target != nil && target.Key.Kept
	}
	if f.ReferenceBy == "" {
		return nil, false
	}
	for _, r := range t.sheet.Resources {
		kept = kept || r.Key.Kept
	}
	return nil, kept
}

// linked makes a field that refers to kept keys. A filter has the key in place of the ID, as one
// text.
func (t *table) linked(c *sheet.Column, parts []sqlrecord.Field, target *sheet.Resource) sqlrecord.Field {
	of := sqlrecord.Field{Null: true}
	for _, p := range parts {
		of.Order = append(of.Order, p.Read)
	}
	isNull := func(w *sqlrecord.Writer) {
		w.Add("(")
		for i := range parts {
			w.Add(between(i, " OR "))
			w.Expr(parts[i].Read).Add(" IS NULL")
			if i < len(c.Names) && t.isText(c.Names[i]) {
				w.Add(" OR TRIM(").Expr(parts[i].Read).Add(") = ''")
			}
			if len(c.Nulls) > 0 {
				w.Add(" OR ").Expr(parts[i].Read).Add(" IN (", t.literals(c.Nulls), ")")
			}
		}
		w.Add(")")
	}
	of.Equals = func(w *sqlrecord.Writer, v mapping.Value) {
		if !v.IsSet() {
			isNull(w)
			return
		}
		key := keyIn(v, len(parts), target)
		if key == nil {
			w.Add(nothing)
			return
		}
		w.Add("(")
		for i := range parts {
			w.Add(between(i, " AND "))
			parts[i].Equals(w, key[i])
		}
		w.Add(")")
	}
	of.Ranges = func(w *sqlrecord.Writer, op mapping.Operator, v mapping.Value) {
		key := keyIn(v, len(parts), target)
		if key == nil {
			w.Add(nothing)
			return
		}
		beyond(w, parts, key, op)
	}
	return of
}

func (t *table) isText(name string) bool {
	s := t.column(name).sort
	return s == texts || s == padded
}

// keyIn are the parts of the key that a filter names; nil where it names none.
func keyIn(v mapping.Value, parts int, target *sheet.Resource) (key []mapping.Value) {
	if v.Text() == noKey {
		return nil
	}
	if v.Kind() != mapping.KindText { // of a resource whose keys are the IDs
		return []mapping.Value{mapping.TextValue(v.String())}[:min(1, parts)]
	}
	for _, part := range sheet.SplitKey(v.Text()) {
		key = append(key, mapping.TextValue(part.String()))
	}
	if target != nil && target.Key.ByClient && len(key) == parts+1 {
		key = key[1:]
	}
	if len(key) != parts {
		return nil
	}
	return key
}

// beyond appends that a key is on one side of another one.
func beyond(w *sqlrecord.Writer, parts []sqlrecord.Field, key []mapping.Value, op mapping.Operator) {
	strict := map[mapping.Operator]string{mapping.AtLeast: " > ", mapping.Above: " > ", mapping.AtMost: " < ", mapping.Below: " < "}[op]
	w.Add("(")
	for i := range parts {
		w.Add(between(i, " OR "))
		for k := range i {
			parts[k].Equals(w, key[k])
			w.Add(" AND ")
		}
		operator := strict
		if i == len(parts)-1 {
			operator = comparisons[op]
		}
		w.Expr(parts[i].Read).Add(operator)
		parts[i].Operand(w, key[i])
	}
	w.Add(")")
}

// beside adds what is read with every record, and returns where.
func (t *table) beside(e sqlrecord.Expr, as mapping.Datatype) int {
	t.rows.Beside = append(t.rows.Beside, sqlrecord.Field{Read: e, As: sqlrecord.Column{Type: as, Foreign: true}})
	return len(t.rows.Beside) - 1
}

// exprOf is a column or SQL of the sheet.
func (t *table) exprOf(e sheet.Expr) sqlrecord.Expr {
	if e.Column != "" {
		return sqlrecord.Plain(t.d.Quote(e.Column))
	}
	return parse("(" + e.SQL + ")")
}

func (t *table) sortOfExpr(e sheet.Expr) sort {
	if e.Column != "" {
		return t.column(e.Column).sort
	}
	return t.result(e.SQL).sort
}

// qualified quotes a table's name, with the schema that it names, or else the one given.
func qualified(d *sqlrecord.Dialect, prefix, name string) string {
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

// between is the word that stands before the n-th of several parts, counted from 0.
func between(n int, word string) string {
	if n == 0 {
		return ""
	}
	return word
}

func comma(n int) string { return between(n, ", ") }

// errKeyForm says that a kept key no longer fits the sheet.
var errKeyForm = fmt.Errorf("%w: a kept key has another number of parts than the sheet's", backend.ErrUnexpected)

// keyOf returns the parts of an ID's key, from those of the id store if it has them. It is false
// where there is no such key.
func (t *table) keyOf(id int32, keys sheet.Keys) (key []mapping.Value, ok bool, err error) {
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
func (t *table) split(key string) (parts []mapping.Value, err error) {
	for _, part := range sheet.SplitKey(key) {
		parts = append(parts, mapping.TextValue(part.String()))
	}
	if len(parts) != len(t.keys) {
		err = fmt.Errorf("resource %s: %w", t.Name, errKeyForm)
	}
	return parts, err
}

// join writes the parts of a key as one text.
func join(of *sheet.Resource, parts []mapping.Value) string {
	raws := make([]sheet.Raw, len(parts))
	for i, p := range parts {
		raws[i] = sheet.Raw{Kind: sheet.RawText, Text: p.Text()}
		if p.Kind() != mapping.KindText {
			raws[i].Text = p.String()
		}
	}
	return of.JoinKey(raws)
}
