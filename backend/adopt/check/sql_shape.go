package check

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// alike are the types that are read and written as one another.
var alike = map[string][]string{
	"integer": {"decimal", "boolean"}, "decimal": {"integer"}, "boolean": {"integer"},
	"datetime": {"timestamp", "date"}, "timestamp": {"datetime"}, "date": {"datetime", "timestamp"}, "text": {"bytes"}, "bytes": {"text"},
}

// fits compares the type and the length of a column with a field.
func (c *resourceCheck) fits(f *sheet.Field, column *legacy.Column) {
	t := f.Traits()
	engine := c.Sheet.Source.SQL.Engine
	has := column.Sort(engine)
	if engine == "sqlite" && (has == "date" || has == "datetime" || has == "timestamp") {
		has = "" // SQLite has no such types: what the column holds is in its rows
	}
	if t.System != "" && has != "" && !t.Reference && t.System != has && !slices.Contains(alike[t.System], has) {
		c.add(Error, "sql.type", c.ofField(f), fmt.Sprintf("%s.%s is %s, and %s is read as %s", c.read.Name, column.Name, typeOf(column), f.Name, t.System),
			remedyOfType(f, has))
		return
	}
	c.narrow(f, column)
	if !f.IsText() || has != "text" || column.Length == 0 || t.Codes != nil || len(f.Write) == 0 || !writes(c.Resource) {
		return
	}
	if column.Length < f.Length {
		c.add(Warning, "sql.too-short", c.ofField(f), fmt.Sprintf("%s.%s takes %d characters, and clients may send %d", c.read.Name, column.Name, column.Length, f.Length),
			fmt.Sprintf("say length: %d; longer values would be cut off or fail", column.Length))
	}
}

func typeOf(c *legacy.Column) string {
	switch {
	case c.Length > 0:
		return fmt.Sprintf("%s(%d)", c.Type, c.Length)
	case c.Precision > 0 && c.Scale > 0:
		return fmt.Sprintf("%s(%d,%d)", c.Type, c.Precision, c.Scale)
	}
	return c.Type
}

func remedyOfType(f *sheet.Field, has string) string {
	switch {
	case f.Type == mapping.Timestamp && (has == "text" || has == "integer"):
		return "say type: " + has + " and the format, such as yyyyMMdd"
	case has == "text" && len(f.OneOf) > 0:
		return "say codes: {…}, what the column has before what clients see"
	default:
		return "say type: " + has + ", or name another column"
	}
}

// keys compares the key with those of the table.
func (c *resourceCheck) keys() {
	table := c.table
	if table.View {
		return
	}
	if !table.Identifies(append(slices.Clone(c.Key.Places), c.Client)) {
		c.add(Error, "sql.key", c.at("key"), fmt.Sprintf("no primary key or unique index of %s keeps %s from standing twice; its primary key is (%s)",
			table.Name, strings.Join(c.Key.Places, ", "), strings.Join(table.Primary, ", ")), "name the columns of the primary key, or make a unique index")
	}
	switch ignored, counts := table.CaseOf(c.Key.Places); {
	case c.Key.Kept && !c.Key.IgnoresCase && !counts && !table.IgnoresCase(c.Resource):
		c.add(Warning, "sql.key-case", c.at("key"), fmt.Sprintf("%s compares (%s) without case, and each spelling would be given an ID of its own", table.Name, strings.Join(c.Key.Places, ", ")),
			"say case: ignore, or leave case out where all of its texts are")
	case c.Key.IgnoresCase && !ignored:
		c.add(Error, "sql.key-case", c.at("key"), fmt.Sprintf("to %s keys (%s) that differ in case alone are two, and they would have one ID", table.Name, strings.Join(c.Key.Places, ", ")),
			"take case: ignore out")
	}
	if c.Key.Generated == "identity" && c.Operations[mapping.OpCreate] != nil {
		if last := table.Column(c.Key.Places[len(c.Key.Places)-1]); last != nil && !last.Generated {
			c.add(Error, "sql.key-generated", c.at("key"), fmt.Sprintf("%s.%s gets no number from the database", table.Name, last.Name), "say where new keys come from: generated: max+1, sequence:NAME or supplied")
		}
	}
	if c.Key.Generated == "max+1" {
		if last := table.Column(c.Key.Places[len(c.Key.Places)-1]); last != nil && last.Generated {
			c.add(Warning, "sql.key-generated", c.at("key"), fmt.Sprintf("%s.%s gets its numbers from the database", table.Name, last.Name), "say generated: identity")
		}
	}
}

// written looks at what writes meet: columns that nothing fills, triggers, views.
func (c *resourceCheck) written() {
	if !legacy.Changes(c.Resource) {
		return
	}
	if c.table.View {
		c.add(Warning, "sql.view-written", c.at("table"), c.table.Name+" is a view, and records are written to it", "name the table as table, and the view as read")
	}
	if len(c.table.Triggers) > 0 {
		names := make([]string, len(c.table.Triggers))
		for i, t := range c.table.Triggers {
			names[i] = t.Name
		}
		c.add(Note, "sql.trigger", c.at("table"), fmt.Sprintf("%s has triggers: %s", c.table.Name, strings.Join(names, ", ")),
			"mark fields that they fill readonly, and translate the errors that they raise under errors")
	}
	c.referrers()
	c.beside()
	create := c.Operations[mapping.OpCreate]
	if create == nil || create.Procedure != "" || c.table.View {
		return
	}
	filled := c.filled()
	for _, column := range c.table.Columns {
		if !column.Nullable && column.Default == "" && !column.Generated && !filled[column.Name] {
			c.add(Error, "sql.unfilled", c.at("fields"), fmt.Sprintf("%s.%s must have a value and has no default, and nothing fills it on create", c.table.Name, column.Name),
				"map a required field to it, or set it under constants")
		}
	}
	c.nullable()
}

// referrers looks for tables that no resource is of, and that keep records from being
// deleted.
func (c *resourceCheck) referrers() {
	how := c.Operations[mapping.OpDelete]
	if how == nil || how.Procedure != "" || c.SoftDelete() != nil {
		return
	}
	for _, key := range c.schema.Referrers(c.Sheet, c.Resource) {
		refusal := legacy.RefusalOf(c.Sheet.Source.SQL.Engine, key.ForeignKey)
		if key.At != "" || c.Sheet.Errors.Translate(refusal, sheet.Attempt{Resource: c.Resource, Op: mapping.OpDelete, ID: 1}) != nil {
			continue
		}
		when := fmt.Sprintf("code: %q", refusal.Code)
		if refusal.Constraint != "" {
			when += ", constraint: " + refusal.Constraint
		}
		c.add(Warning, "sql.in-use", c.at("table"), fmt.Sprintf("%s of %s refers to %s, and no resource is of it: clients are told of what it refers to that it is in use elsewhere", key.Name, key.Of, c.table.Name),
			fmt.Sprintf("say under errors what clients call it: {when: {%s}, reason: in_use, at: NAME, on: [%s.delete]}", when, c.Name))
	}
}

// filled are the columns that every create writes.
func (c *resourceCheck) filled() map[string]bool {
	filled := map[string]bool{c.Client: true}
	for _, k := range c.Key.Places {
		filled[k] = true
	}
	for _, place := range c.Constants() {
		filled[place] = true
	}
	for i := range c.Fields {
		if f := &c.Fields[i]; f.Traits().Filled {
			for _, place := range f.Write {
				filled[place] = true
			}
		}
	}
	return filled
}

// nullable looks for fields that clients may clear where the column may not be.
func (c *resourceCheck) nullable() {
	for _, f := range mapping.Each(c.Fields) {
		for k, place := range f.Write {
			column := c.table.Column(place)
			if column == nil || k > 0 || column.Nullable || f.Required || f.Readonly || f.Traits().Null || f.WritesNull() {
				continue
			}
			if f.IsState() {
				continue // never null
			}
			c.add(Warning, "sql.not-null", c.ofField(f), fmt.Sprintf("%s.%s takes no null, and clients may send one for %s", c.table.Name, column.Name, f.Name),
				"say what null is written as (null_as), or required: true")
		}
	}
	for _, f := range mapping.Each(c.Fields) {
		if !f.Required || len(f.From) == 0 || f.Primary {
			continue
		}
		if column := c.read.Column(f.From[0]); column != nil && column.Nullable && !c.read.View {
			c.add(Note, "sql.nullable", c.ofField(f), fmt.Sprintf("%s.%s may be null, and %s is required", c.read.Name, column.Name, f.Name),
				"records without it are answered with null; say required: false if clients may leave it out")
		}
	}
}

// indexes looks for conditions and orders that no index serves.
func (c *resourceCheck) indexes() {
	if c.read.View {
		return // what it is made of serves them, or not
	}
	given := map[string]bool{c.Client: true} // that conditions always have
	for _, name := range c.ListRequires {
		for _, place := range c.Fields[c.Field(name).Index].From {
			given[place] = true
		}
	}
	served := func(columns ...string) bool {
		return slices.ContainsFunc(c.read.Indexes, func(i legacy.Index) bool {
			n := 0
			for _, name := range i.Columns {
				switch {
				case n < len(columns) && name == columns[n]:
					n++
				case !given[name] && !slices.Contains(columns, name):
					return n >= len(columns)
				}
			}
			return n >= len(columns)
		})
	}
	if c.Client != "" && c.read.Column(c.Client) != nil && !slices.ContainsFunc(c.read.Indexes, func(i legacy.Index) bool { return i.Columns[0] == c.Client }) {
		c.add(Warning, "sql.unindexed-client", c.at("client"), fmt.Sprintf("no index of %s begins with %s, by which every list is narrowed", c.read.Name, c.Client), "make an index over "+c.Client+" and the key")
	}
	if !served(c.Key.Places...) {
		c.add(Warning, "sql.unindexed-key", c.at("key"), fmt.Sprintf("no index of %s serves the order by %s, in which pages are read", c.read.Name, strings.Join(c.Key.Places, ", ")), "make an index over the key")
	}
	c.modified(served)
	c.noted()
	var rest []string
	for _, f := range mapping.Each(c.Fields) {
		if !f.Filterable() || len(f.From) == 0 || f.Primary || c.read.Column(f.From[0]) == nil || served(f.From[0]) || f.From[0] == c.Client {
			continue
		}
		unique := f.Unique && len(f.UniqueWhen) == 0
		if slices.Contains(c.ListRequires, f.Name) || f.Reference != "" || unique {
			c.add(Warning, "sql.unindexed-filter", c.ofField(f), fmt.Sprintf("no index of %s serves a filter by %s, and clients filter by it", c.read.Name, strings.Join(f.From, ", ")), "make an index, or take it out of filters")
		} else {
			rest = append(rest, f.Name)
		}
		if unique && !f.Readonly && (c.Operations[mapping.OpCreate] != nil || c.Operations[mapping.OpUpdate] != nil && !f.Immutable) {
			c.add(Warning, "sql.not-unique", c.ofField(f), fmt.Sprintf("no unique index keeps %s.%s from standing twice", c.read.Name, f.From[0]), "make one: two clients at once could both be right")
		}
	}
	if len(rest) > 0 {
		c.add(Note, "sql.unindexed-filters", c.at("fields"), "no index serves filters by "+strings.Join(rest, ", "), "on a large table list under filters those that clients need")
	}
}

// noted judges the table in which the system notes what changes.
func (c *resourceCheck) noted() {
	if d := c.Changes.Deleted; d != nil {
		c.column(c.table, c.at("changes"), d.Place)
	}
	told := c.Changes.Table
	if told == nil {
		return
	}
	at := c.at("changes")
	t := c.find(at, told.Name)
	if t == nil {
		return
	}
	for _, name := range append([]string{told.Sequence}, told.Key...) {
		c.column(t, at, name)
	}
	begins := func(columns []string) bool { return len(columns) > 0 && strings.EqualFold(columns[0], told.Sequence) }
	if !t.View && !begins(t.Primary) && !slices.ContainsFunc(t.Indexes, func(i legacy.Index) bool { return begins(i.Columns) }) {
		c.add(Warning, "sql.unindexed-changes", at, fmt.Sprintf("no index of %s begins with %s: all of it is read for each look", t.Name, told.Sequence), "make one")
	}
}

// modified judges the column by which changes are looked for.
func (c *resourceCheck) modified(served func(columns ...string) bool) {
	f := &c.Fields[c.ModifiedAt]
	if c.Changes.By != sheet.ByVersion || len(f.From) == 0 {
		return
	}
	column := c.read.Column(f.From[0])
	switch {
	case column == nil:
		return
	case !served(f.From[0]):
		c.add(Warning, "sql.unindexed-changes", c.at("changes"), fmt.Sprintf("no index of %s serves what was modified since a time (%s), by which changes are looked for again and again", c.read.Name, f.From[0]),
			"make an index over the client and "+f.From[0])
	}
	if column.Nullable {
		c.add(Note, "sql.changes-null", c.at("changes"), fmt.Sprintf("%s.%s may be null, and a change of such a row is not found by version", c.read.Name, f.From[0]), "see that it is always written, or let deletions read all records, too")
	}
}
