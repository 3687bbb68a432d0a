package legacy

import (
	"slices"
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// Schema is the tables of a database: those of the source's own schema, and of other schemas that
// the sheet names.
type Schema struct {
	Own    string  // the source's schema, which a name without a schema belongs to
	Tables []Table // and views, by name
}

// Table is a table or a view.
type Table struct {
	Schema  string
	Name    string // without the schema
	View    bool
	Columns []Column
	Primary []string // columns of the primary key, in its order
	Indexes []Index  // including the primary key's
	Foreign []ForeignKey
	Checks  []Check // conditions of its rows
	// Triggers are those that the database shows: MariaDB and MySQL show them only to users with
	// the right TRIGGER.
	Triggers []Trigger
	// Lasting is the engine of a table that has no transactions, MyISAM: what was written to it stays
	// when the transaction is undone. "" of all others.
	Lasting string
}

// Trigger is a program that runs when a table is written.
type Trigger struct {
	Name string // with what it fires on: TR_REL_BU BEFORE UPDATE
	Text string // on MariaDB and MySQL; else ""
}

// Column is a column. Lengths are in characters, bytes for binary types.
type Column struct {
	Name             string
	Type             string // as the engine names it, in small letters, without sizes
	Sort             sqlrecord.Sort
	Length           int // the longest possible; 0 if the type has no limit
	Precision, Scale int // of decimals; of integers the digits, if the engine reports them; not of floats
	Nullable         bool
	Default          string // as the engine words it; "" for none
	Collation        string // of texts, as the engine names it; "" for comparison by bytes
	IgnoresCase      bool   // texts that differ only in case are equal
	Generated        bool   // identity, auto-increment or computed: never written
	CountsBlanks     bool   // texts that differ only in blanks at the end are not equal
	bits             uint   // of whole numbers; 0 if the type does not say how many
	// Rights are what the gateway's account may do with the column: select, insert, update. nil
	// for the result of a SELECT.
	Rights []string
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
	Refuses    bool // rows that the key refers to cannot be deleted
}

// Check is a condition on rows, about these columns. An unnamed one of SQLite has its text as
// its name.
type Check struct {
	Name    string
	Columns []string
}

// Table returns the table of that name, or nil. Case counts only if two names differ
// in nothing else.
func (s Schema) Table(name string) *Table {
	return calledAs(s.Tables, s.full(name), func(t *Table) string { return t.Schema + "." + t.Name })
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
	return calledAs(t.Columns, name, func(c *Column) string { return c.Name })
}

// may reports whether the gateway's account has a right.
func (c *Column) may(right string) bool { return c.Rights == nil || slices.Contains(c.Rights, right) }

// decimals is how many decimals a column keeps; -1 if it keeps all, or that is not known.
func (c *Column) decimals(d *sqlrecord.Dialect) int {
	if c.bits > 0 {
		return 0
	}
	if !d.FlexibleTypes && c.Sort == sqlrecord.Decimals && c.Precision > 0 {
		return c.Scale
	}
	return -1
}

// Identifies reports whether the columns are unique together. Nothing is known of a view, whose columns
// count as unique.
func (t *Table) Identifies(columns []string) bool {
	within := func(of []string) bool {
		return len(of) > 0 && !slices.ContainsFunc(of, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return t.View || within(t.Primary) || slices.ContainsFunc(t.Indexes, func(i Index) bool { return i.Unique && within(i.Columns) })
}

// CaseOf reports how keys of these columns are compared: whether all texts in them are compared
// without case, and whether all are compared with it. Both are true if there are no texts.
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

// IgnoresCase reports whether a table treats the kept keys of a resource as equal if they differ
// only in case, unless the sheet says otherwise.
func (t *Table) IgnoresCase(r *sheet.Resource) bool {
	ignored, counts := t.CaseOf(r.Key.Places)
	return r.Key.Kept && !r.Key.CaseCounts && ignored && !counts
}

func calledAs[T any](all []T, name string, of func(*T) string) *T {
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

// Referrer is a foreign key that keeps rows of a resource's table from being deleted.
type Referrer struct {
	ForeignKey
	Of string // the table that has the key
	At string // the resource with a field for the key; "" for none
}

// Referrers are the foreign keys that keep rows of a resource from being deleted.
func (s Schema) Referrers(sh *sheet.Sheet, to *sheet.Resource) (all []Referrer) {
	for _, t := range s.Tables {
		for _, key := range t.Foreign {
			if !key.Refuses || !strings.EqualFold(s.full(key.Table), s.full(to.Table)) {
				continue
			}
			ref := Referrer{ForeignKey: key, Of: t.Name}
			for _, r := range sh.Model.Resources {
				if known := sh.Resources[r]; ref.At == "" && known.Table != "" && strings.EqualFold(s.full(known.Table), t.Schema+"."+t.Name) && refersBy(known, to, key.Columns) {
					ref.At = r.Name
				}
			}
			all = append(all, ref)
		}
	}
	return all
}

// refersBy reports whether a field refers to a resource in one of these columns.
func refersBy(r, to *sheet.Resource, columns []string) bool {
	return slices.ContainsFunc(r.Fields, func(f sheet.Field) bool {
		return (f.Field.Target() == to.Resource || f.ReferenceBy != "") && slices.ContainsFunc(r.SQL.Fields[f.Index].Names, func(name string) bool { return slices.Contains(columns, name) })
	})
}

// integerBits are the sizes of whole numbers, by their types.
var integerBits = map[string]uint{
	"tinyint": 8, "smallint": 16, "int2": 16, "smallserial": 16, "mediumint": 24,
	"int": 32, "integer": 32, "int4": 32, "serial": 32, "bigint": 64, "int8": 64, "bigserial": 64,
}

// sorted sets the column's Sort, and what follows from it, by its type.
func (c *Column) sorted(d *sqlrecord.Dialect) {
	if c.Sort = d.SortOf(c.Type); !d.FlexibleTypes {
		c.bits = integerBits[strings.TrimSuffix(c.Type, " unsigned")]
	}
}
