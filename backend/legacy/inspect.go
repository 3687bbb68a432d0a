package legacy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping/sheet"
)

// Schema is the tables and routines of a database: those of the source's own schema, and of
// other schemas that were asked for.
type Schema struct {
	Own      string  // the source's schema, which a name without a schema is of
	Tables   []Table // and views, by name
	Routines []Routine
}

// Table is a table or a view.
type Table struct {
	Schema  string
	Name    string // without the schema
	View    bool
	Columns []Column
	Primary []string // columns of the primary key, in its order
	Indexes []Index  // the primary key's among them
	Foreign []ForeignKey
	Checks  []Check // conditions of its rows
	// Triggers are those that the database shows: MariaDB and MySQL do to users with the
	// right TRIGGER alone.
	Triggers []Trigger
}

// Trigger is a program that runs when a table is written.
type Trigger struct {
	Name string // with what it fires on: TR_REL_BU BEFORE UPDATE
	Text string // of MariaDB and MySQL; "" where it was not asked for
}

// Column is a column. Lengths are in characters, bytes for binary types.
type Column struct {
	Name             string
	Type             string // as the engine names it, in small letters, without sizes
	Length           int    // the longest possible; 0 where the type has no limit
	Precision, Scale int    // of decimals; of integers the digits, if the engine tells them; not of floats
	Nullable         bool
	Default          string // as the engine words it; "" for none
	IgnoresCase      bool   // texts that differ in case alone are equal
	Generated        bool   // identity, auto-increment or computed: never written
	CountsBlanks     bool   // texts that differ in blanks behind alone are not equal
}

// Index is an index, in the order that it is looked up by.
type Index struct {
	Name    string
	Columns []string
	Unique  bool
}

// ForeignKey is a reference of Columns to References in Table, whose name includes its schema
// if that is not the source's.
type ForeignKey struct {
	Name       string
	Columns    []string
	Table      string
	References []string
	Refuses    bool // rows that it refers to cannot be deleted
}

// Check is a condition on rows, about these columns. An unnamed one of SQLite has its text as
// its name.
type Check struct {
	Name    string
	Columns []string
}

// Routine is a stored procedure or function.
type Routine struct {
	Name       string
	Function   bool
	Parameters []Parameter
}

// Parameter is one parameter of a routine.
type Parameter struct {
	Name, Type string
	In, Out    bool
}

// Table returns the table of that name, or nil. Case counts only where two names
// differ in nothing else.
func (s Schema) Table(name string) *Table {
	return named(s.Tables, s.full(name), func(t *Table) string { return t.Schema + "." + t.Name })
}

// full is a table's name with its schema.
func (s Schema) full(name string) string {
	if schemaOf(name) == "" {
		return s.Own + "." + name
	}
	return name
}

// schemaOf is the schema in the name of a table; "" for the source's.
func schemaOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// Column returns the column of that name, or nil, like Schema.Table.
func (t *Table) Column(name string) *Column {
	return named(t.Columns, name, func(c *Column) string { return c.Name })
}

// Identifies tells whether columns are unique without any other. What a view has is not known,
// and taken for unique.
func (t *Table) Identifies(columns []string) bool {
	within := func(of []string) bool {
		return len(of) > 0 && !slices.ContainsFunc(of, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return t.View || within(t.Primary) || slices.ContainsFunc(t.Indexes, func(i Index) bool { return i.Unique && within(i.Columns) })
}

// isCalled tells whether a name, with its schema or without, is the table's.
func (t *Table) isCalled(name string) bool {
	return strings.EqualFold(name, t.Name) || strings.EqualFold(name, t.Schema+"."+t.Name)
}

// CaseOf tells how keys of these columns are compared: whether all texts among them are
// compared without case, and whether all are compared with it. Both are true if there are no
// texts.
func (t *Table) CaseOf(columns []string) (ignored, counts bool) {
	ignored, counts = true, true
	for _, name := range columns {
		c := t.Column(name)
		if c == nil || !strings.Contains(c.Type, "char") && !strings.Contains(c.Type, "text") {
			continue
		}
		ignored, counts = ignored && c.IgnoresCase, counts && !c.IgnoresCase
	}
	return ignored, counts
}

// IgnoresCase tells whether a table treats the kept keys of a resource as equal if they differ
// only in case, unless the sheet says otherwise.
func (t *Table) IgnoresCase(r *sheet.Resource) bool {
	ignored, counts := t.CaseOf(r.Key.Places)
	return r.Key.Kept && !r.Key.CaseCounts && ignored && !counts
}

func named[T any](all []T, name string, of func(*T) string) *T {
	var found *T
	for i := range all {
		switch {
		case of(&all[i]) == name:
			return &all[i]
		case strings.EqualFold(of(&all[i]), name):
			found = &all[i]
		}
	}
	return found
}

// schemaQueries are the queries about a schema, "" where the engine cannot tell. Each takes
// :schema, null for the default one, and returns the columns that the functions below read.
type schemaQueries struct {
	version  string
	own      string // the schema of names that name none
	columns  string // table, is view, column, type, length, precision, scale, nullable, default, generated, ignores case, counts blanks
	indexes  string // table, index, column, is unique, is primary
	foreign  string // table, name, column, referenced table, referenced column, whether its rows cannot be deleted, referenced schema
	checks   string // table, name, a text that its columns stand in
	triggers string // table, words, text or null
	routines string // name, is function, parameter, type, mode

	charset string // in which the database keeps texts
	explain string // what is put before a statement to get its plan
}

// Inspect reads what the database has: in the source's schema, and of the tables that a sheet
// names in others.
func (s *Store) Inspect(ctx context.Context, tables ...string) (Schema, error) {
	i := inspector{s: s, queries: s.d.schema(), schema: Schema{Own: s.source.Schema}}
	if i.schema.Own == "" {
		row, err := queryOne(ctx, s.db, newStatement(s.d).add(i.queries.own))
		if err != nil {
			return Schema{}, fmt.Errorf("inspect: %w", err)
		}
		if len(row) == 1 {
			i.schema.Own = row[0].String()
		}
	}
	looked := []string{i.schema.Own}
	for _, table := range tables {
		if of := schemaOf(table); of != "" && !slices.Contains(looked, of) {
			looked = append(looked, of)
		}
	}
	for _, i.in = range looked {
		if err := i.look(ctx); err != nil {
			return Schema{}, err
		}
	}
	if s.d.engine() == "sqlite" {
		return i.schema, i.collations(ctx)
	}
	return i.schema, nil
}

// look reads one schema.
func (i *inspector) look(ctx context.Context) error {
	steps := []struct {
		what, query string
		row         func([]sheet.Raw)
	}{
		{"tables", i.queries.columns, i.column},
		{"indexes", i.queries.indexes, i.index},
		{"foreign keys", i.queries.foreign, i.foreign},
		{"conditions", i.queries.checks, i.check},
		{"triggers", i.queries.triggers, i.trigger},
		{"routines", i.queries.routines, i.routine},
	}
	for _, step := range steps {
		if step.query == "" || step.what == "routines" && i.in != i.schema.Own {
			continue
		}
		b := newStatement(i.s.d).replaced(step.query, ":schema", schemaRaw(i.in))
		err := query(ctx, i.s.db, b, func(row []sheet.Raw) error {
			step.row(row)
			return nil
		})
		if err != nil {
			return fmt.Errorf("inspect %s: %w", step.what, err)
		}
	}
	return nil
}

// schemaRaw is the name of a schema as queries take it, null for the default one.
func schemaRaw(name string) sheet.Raw {
	if name == "" {
		return sheet.Raw{Kind: sheet.RawNull}
	}
	return textRaw(name)
}

// inspector collects the results.
type inspector struct {
	s       *Store
	queries schemaQueries
	schema  Schema
	in      string // the schema that is looked at
}

func (i *inspector) column(row []sheet.Raw) {
	name := row[0].String()
	t := i.table(name)
	if t == nil {
		i.schema.Tables = append(i.schema.Tables, Table{Schema: i.in, Name: name, View: truth(row[1])})
		t = &i.schema.Tables[len(i.schema.Tables)-1]
	}
	c := Column{
		Name: row[2].String(), Type: strings.ToLower(row[3].String()), Length: count(row[4]), Precision: count(row[5]), Scale: count(row[6]),
		Nullable: truth(row[7]), Default: defaultOf(row[8]), Generated: truth(row[9]), IgnoresCase: truth(row[10]), CountsBlanks: truth(row[11]),
	}
	if !row[6].IsSet() { // a float: of its digits nobody knows how many are behind the point
		c.Precision = 0
	}
	if sizes := sizesOf.FindStringSubmatch(c.Type); sizes != nil { // SQLite tells them with the type
		c.Type = sizes[1]
		if sizes[3] != "" || strings.HasPrefix(c.Type, "dec") || strings.HasPrefix(c.Type, "num") {
			c.Precision, _ = strconv.Atoi(sizes[2])
			c.Scale, _ = strconv.Atoi(sizes[3])
		} else {
			c.Length, _ = strconv.Atoi(sizes[2])
		}
	}
	t.Columns = append(t.Columns, c)
}

// defaultOf is a default as the engine writes it. MySQL writes the empty text as nothing,
// which still is a default.
func defaultOf(v sheet.Raw) string {
	if v.IsSet() && v.String() == "" {
		return "''"
	}
	return v.String()
}

var sizesOf = regexp.MustCompile(`^([^(]*?) *\(([0-9]+)(?:, *([0-9]+))?\)$`)

// table returns exactly that table; rows of one table come together.
func (i *inspector) table(name string) *Table {
	for k := len(i.schema.Tables) - 1; k >= 0; k-- {
		if i.schema.Tables[k].Name == name && i.schema.Tables[k].Schema == i.in {
			return &i.schema.Tables[k]
		}
	}
	return nil
}

func (i *inspector) index(row []sheet.Raw) {
	t := i.table(row[0].String())
	if t == nil {
		return
	}
	name, column := row[1].String(), row[2].String()
	if n := len(t.Indexes); n == 0 || t.Indexes[n-1].Name != name {
		t.Indexes = append(t.Indexes, Index{Name: name, Unique: truth(row[3])})
	}
	last := &t.Indexes[len(t.Indexes)-1]
	last.Columns = append(last.Columns, column)
	if truth(row[4]) {
		t.Primary = append(t.Primary, column)
	}
}

func (i *inspector) foreign(row []sheet.Raw) {
	t := i.table(row[0].String())
	if t == nil {
		return
	}
	name := row[1].String()
	if n := len(t.Foreign); n == 0 || t.Foreign[n-1].Name != name {
		to := row[3].String()
		if schema := row[6].String(); !strings.EqualFold(schema, i.schema.Own) {
			to = schema + "." + to
		}
		t.Foreign = append(t.Foreign, ForeignKey{Name: name, Table: to, Refuses: truth(row[5])})
	}
	last := &t.Foreign[len(t.Foreign)-1]
	last.Columns, last.References = append(last.Columns, row[2].String()), append(last.References, row[4].String())
}

// check adds a condition. SQLite shows them only in the statement that made the table.
func (i *inspector) check(row []sheet.Raw) {
	t := i.table(row[0].String())
	switch {
	case t == nil:
	case row[1].IsSet():
		t.Checks = append(t.Checks, Check{row[1].String(), t.columnsIn(row[2].String())})
	default:
		for name, text := range checksIn(row[2].String()) {
			t.Checks = append(t.Checks, Check{name, t.columnsIn(text)})
		}
	}
}

func (i *inspector) trigger(row []sheet.Raw) {
	if t := i.table(row[0].String()); t != nil {
		t.Triggers = append(t.Triggers, Trigger{row[1].String(), row[2].String()})
	}
}

func (i *inspector) routine(row []sheet.Raw) {
	name := row[0].String()
	if n := len(i.schema.Routines); n == 0 || i.schema.Routines[n-1].Name != name {
		i.schema.Routines = append(i.schema.Routines, Routine{Name: name, Function: truth(row[1])})
	}
	if !row[4].IsSet() {
		return
	}
	last, mode := &i.schema.Routines[len(i.schema.Routines)-1], strings.ToUpper(row[4].String())
	last.Parameters = append(last.Parameters, Parameter{
		Name: row[2].String(), Type: strings.ToLower(row[3].String()),
		In: strings.HasPrefix(mode, "IN"), Out: strings.HasSuffix(mode, "OUT"),
	})
}

// truth reads 1, true, YES and the like.
func truth(v sheet.Raw) bool {
	switch strings.ToUpper(v.String()) {
	case "1", "TRUE", "YES", "T", "Y":
		return true
	default:
		return false
	}
}

func count(v sheet.Raw) int {
	n, err := strconv.ParseInt(v.String(), 10, 32)
	if err != nil {
		return 0 // none, or more than counts, as of a LONGTEXT
	}
	return int(max(0, n))
}
