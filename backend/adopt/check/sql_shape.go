package check

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// resourceCheck compares a resource with the table that it is written to.
type resourceCheck struct {
	*sqlCheck
	*sheet.Resource
	table *legacy.Table // nil if its schema is not visible
	path  string
}

func (c *sqlCheck) of(r *mapping.Resource) *resourceCheck {
	known, path := c.Options.Sheet.Resources[r], strictyaml.Child("resources", r.Name)
	t := c.schema.Table(known.Table)
	if t == nil && strings.Contains(known.Table, ".") {
		c.add(Note, "sql.other-schema", path+".table", known.Table+" is in another schema, and was not found there", "write the name in its letters, or let the user of the database see it")
	}
	return &resourceCheck{sqlCheck: c, Resource: known, table: t, path: path}
}

func (c *resourceCheck) at(keys ...string) string { return strictyaml.Child(c.path, keys...) }

// ofField is where the sheet says something of a field.
func (c *resourceCheck) ofField(f *mapping.Field) string { return ofField(c.Name, f.Name) }

// changes reports whether clients change records.
func (c *resourceCheck) changes() bool {
	return slices.ContainsFunc([]mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete}, func(op mapping.Scope) bool { return c.Operations[op] })
}

// isOwn reports whether there is an operation that frontdesk itself does.
func (c *resourceCheck) isOwn(op mapping.Scope) bool {
	statements := c.SQL.Statements[op]
	return c.Operations[op] && (statements == nil || slices.Contains(statements, sheet.OwnStatement))
}

// fits compares the lengths of columns with the fields that are written into them without a
// conversion. The driver itself checks the types.
func (c *resourceCheck) fits() {
	if !c.Operations[mapping.OpCreate] && !c.Operations[mapping.OpUpdate] {
		return
	}
	for i, f := range mapping.Each(c.Fields) {
		of := &c.SQL.Fields[i]
		if len(of.Write) != 1 || of.Write[0].SQL != ":value" || len(of.Codes) > 0 || f.Reference != "" || f.ReferenceBy != "" {
			continue
		}
		column := c.table.Column(of.Write[0].Column)
		if column != nil && f.IsText() && (column.Sort == sqlrecord.Texts || column.Sort == sqlrecord.Padded) && column.Length > 0 && column.Length < f.Length {
			c.add(Warning, "sql.too-short", c.ofField(f.Field), fmt.Sprintf("%s.%s takes %d characters, and clients may send %d", c.table.Name, column.Name, column.Length, f.Length),
				fmt.Sprintf("say length: %d; longer values would be cut off or fail", column.Length))
		}
	}
}

// keys compares the key with those of the table.
func (c *resourceCheck) keys() {
	table, places := c.table, strings.Join(c.Key.Places, ", ")
	if p := c.Parent(); p != nil {
		if known, of := c.schema.Table(p.Table), p.SQL.Client.Column; known != nil && of != "" && !known.Identifies(p.Key.Places) && slices.Contains(known.Primary, of) {
			c.add(Error, "sql.through", c.at("client"), fmt.Sprintf("%s of %s is unique for each client only, and does not tell whose a record is", strings.Join(p.Key.Places, ", "), p.Table),
				"name the client's column, or make the key unique by itself")
		}
	}
	if table.View {
		return
	}
	if !table.Identifies(append(slices.Clone(c.Key.Places), c.SQL.Client.Column)) {
		c.add(Error, "sql.key", c.at("key"), fmt.Sprintf("no primary key or unique index of %s keeps %s from standing twice; its primary key is (%s)",
			table.Name, places, strings.Join(table.Primary, ", ")), "name the columns of the primary key, or make a unique index")
	}
	switch ignored, counts := table.CaseOf(c.Key.Places); {
	case c.Key.Kept && !c.Key.IgnoresCase && !counts && !table.IgnoresCase(c.Resource):
		c.add(Warning, "sql.key-case", c.at("key"), fmt.Sprintf("%s compares (%s) without case, and each spelling would be given an ID of its own", table.Name, places),
			"say case: ignore, or leave case out where all of its texts are")
	case c.Key.IgnoresCase && !ignored:
		c.add(Error, "sql.key-case", c.at("key"), fmt.Sprintf("to %s keys (%s) that differ in case alone are two, and they would have one ID", table.Name, places), "take case: ignore out")
	}
	last := table.Column(c.Key.Places[len(c.Key.Places)-1])
	switch {
	case last == nil || !c.isOwn(mapping.OpCreate):
	case c.Key.Generated == "identity" && !last.Generated:
		c.add(Error, "sql.key-generated", c.at("key"), fmt.Sprintf("%s.%s gets no number from the database", table.Name, last.Name), "say where new keys come from: generated: max+1, supplied, or {sql: SELECT …}")
	case c.Key.Generated == "max+1" && last.Generated:
		c.add(Warning, "sql.key-generated", c.at("key"), fmt.Sprintf("%s.%s gets its numbers from the database", table.Name, last.Name), "say generated: identity")
	}
}

// written checks what writes depend on: columns that nothing fills or that take no null, triggers,
// views, and rows that refer to deleted records.
func (c *resourceCheck) written() {
	if !c.changes() {
		return
	}
	if c.table.View {
		c.add(Warning, "sql.view-written", c.at("table"), c.table.Name+" is a view, and records are written to it", "name the table as table, and the view as read")
		return
	}
	if engine := c.table.Lasting; engine != "" {
		c.add(Error, "sql.no-transactions", c.at("table"), fmt.Sprintf("%s is a table of %s, which has no transactions: of a write that is refused or fails a part stays, such as an order without its lines", c.table.Name, engine),
			fmt.Sprintf("ALTER TABLE %s ENGINE=InnoDB, or say operations: {only: [get, list]}", c.table.Name))
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
	for i, f := range mapping.Each(c.Fields) {
		of := &c.SQL.Fields[i]
		isFilled := f.Required || of.Default.IsSet() || of.Stamp != sheet.StampNever || f.Default != "" || of.Read != ""
		if !isFilled && len(of.Write) > 0 && of.Write[0].SQL == ":value" {
			c.nullable(f.Field, of)
		}
		unique := f.Unique && f.UniquePer == "" && len(f.UniqueWhen) == 0 && !f.Readonly && len(of.Names) == 1 && c.Read == c.Table
		if unique && !c.table.Identifies(append(slices.Clone(of.Names), c.SQL.Client.Column)) && (c.Operations[mapping.OpCreate] || c.Operations[mapping.OpUpdate] && !f.Immutable) {
			c.add(Warning, "sql.not-unique", c.ofField(f.Field), fmt.Sprintf("no unique index keeps %s.%s from standing twice", c.table.Name, of.Names[0]), "make one: two clients at once could both be right")
		}
	}
}

// nullable adds a finding if clients may clear a field whose column takes no null.
func (c *resourceCheck) nullable(f *mapping.Field, of *sheet.Column) {
	column := c.table.Column(of.Write[0].Column)
	hasNull := len(of.Nulls) > 0 || of.EmptyIsNull || slices.ContainsFunc(of.Codes, func(code sheet.Code) bool { return !code.Shown.IsSet() })
	if column == nil || column.Nullable || f.Readonly || hasNull || f.IsState() { // a state is never null
		return
	}
	c.add(Warning, "sql.not-null", c.ofField(f), fmt.Sprintf("%s.%s takes no null, and clients may send one for %s", c.table.Name, column.Name, f.Name),
		fmt.Sprintf("say what is written then (write: {%s: \"COALESCE(:value, …)\"}), or required: true", column.Name))
}

// referrers looks for tables without a resource that keep records from being
// deleted.
func (c *resourceCheck) referrers() {
	if !c.isOwn(mapping.OpDelete) {
		return
	}
	for _, key := range c.schema.Referrers(c.Options.Sheet, c.Resource) {
		d := c.DB().Dialect()
		refusal := sheet.Failure{SQLState: d.InUse.SQLState, Code: d.InUse.Code}
		if d.NamesConstraints {
			refusal.Constraint = key.Name
		}
		if key.At != "" || c.Options.Sheet.Errors.Translate(refusal, sheet.Attempt{Resource: c.Resource, Op: mapping.OpDelete, ID: 1}) != nil {
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

// noted judges the system's table of changes.
func (c *resourceCheck) noted() {
	at, of := c.at("changes"), c.Changes
	if !of.IsReported() {
		return
	}
	t := c.schema.Table(of.Table)
	if t == nil {
		c.add(Error, "sql.missing", at, "there is no table "+of.Table, c.known(of.Table, "", ""))
		return
	}
	for _, name := range append([]string{of.Sequence}, of.Key...) {
		if t.Column(name) == nil {
			c.add(Error, "sql.missing", at, fmt.Sprintf("there is no column %s in %s", name, t.Name), c.known("", name, t.Name))
		}
	}
	if !t.View && !slices.ContainsFunc(t.Indexes, func(i legacy.Index) bool { return strings.EqualFold(i.Columns[0], of.Sequence) }) {
		c.add(Warning, "sql.unindexed-changes", at, fmt.Sprintf("no index of %s begins with %s: all of it is read for each look", t.Name, of.Sequence), "make one")
	}
}
