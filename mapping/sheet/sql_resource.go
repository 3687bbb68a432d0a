package sheet

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// sqlDraft is a resource of a database while it is compiled.
type sqlDraft struct {
	*draft
	sql     *sqlLoader
	file    sqlResourceFile
	out     *ResourceSQL
	columns map[string]*Column // by field
	named   map[string]bool    // fields that statements of create or update name
	writers map[string]string  // by column, the field that writes it
}

func (l *sqlLoader) resource(d *draft) own {
	s := &sqlDraft{draft: d, sql: l, file: l.file.Resources[d.of.Name], columns: map[string]*Column{}, named: map[string]bool{}, writers: map[string]string{}}
	d.owner = &s.file.ownerFile
	s.out = &ResourceSQL{Statements: map[mapping.Scope][]string{}, NewKey: s.file.Key.Generated.SQL, Constants: s.file.Constants}
	d.resource.SQL = s.out
	for _, statement := range slices.Concat(s.file.Create, s.file.Update) {
		for _, p := range Params(statement) {
			s.named[p.of()] = true
		}
	}
	return s
}

// key compiles the key, client and version of records, and the tables.
func (d *sqlDraft) key() {
	r, f := d.resource, d.file
	r.Table, r.Read, r.Where = f.Table, f.Read, f.Where
	if r.Read == "" {
		r.Read = r.Table
	}
	whose := d.whose()
	d.out.Client, d.out.Version = Expr{whose.text, whose.Read.text}, Expr{f.Version.text, f.Version.Read.text}
	d.sql.judgeSQL(d.at("client", "read"), f.Client.Read.text)
	d.sql.judgeSQL(d.at("version", "read"), f.Version.Read.text, "client")
	d.sql.judgeSQL(d.at("where"), f.Where, "client")
	d.sql.judgeSQL(d.at("read"), f.Read)
	for i, statement := range f.Key.Generated.SQL {
		d.sql.judgeSQL(d.item(d.at("key", "generated", "sql"), i), statement, statementParams...)
	}
	for path, column := range map[string]string{d.at("client"): d.out.Client.Column, d.at("version"): d.out.Version.Column} {
		if column != "" {
			d.sql.isPlace(path, column)
		}
	}
	if len(f.Key.Columns) == 0 {
		d.fail(d.at("key"), "missing, expected key: {columns: …} with the columns or paths that identify a record")
	}
	for i, name := range f.Key.Columns {
		if path := d.at("key", "columns"); d.sql.isPlace(path, name) && slices.Contains(f.Key.Columns[:i], name) {
			d.fail(path, "found %s twice", name)
		}
	}
	r.Key.Places = f.Key.Columns
	r.Key.ByClient = len(f.Key.Columns) > 1 && f.Key.Columns[0] == r.client
	d.keyID("column", "column", f.Key.ID, f.Key.Case, len(f.Key.Columns))
	switch how := f.Key.Generated.how; {
	case how == "" && !r.Key.Kept:
		r.Key.Generated = "identity"
	case how != "" && (how != generatedBySQL || len(f.Key.Generated.SQL) == 0):
		d.oneOf(d.at("key", "generated"), how, "identity", "max+1", "supplied", "{sql: SQL}")
		fallthrough
	default:
		r.Key.Generated = how
	}
	d.assigned(d.at("constants"), "constants", f.Constants, statementParams...)
}

// item returns the path of an item of a list, or that of a single item without a list.
func (d *sqlDraft) item(path string, i int) string {
	if one := item(path, i); d.doc.Has(one) {
		return one
	}
	return path
}

// isOwn reports whether the resource has an operation for which frontdesk runs a statement of its own,
// because the statements of the sheet do not do all of it.
func (d *sqlDraft) isOwn(op mapping.Scope) bool {
	statements := d.statements(op)
	return d.has(op) && (len(statements) == 0 || slices.ContainsFunc(statements, func(text string) bool { return isOwn(op, text) }))
}

// isOwn reports whether a statement of the sheet stands for one of frontdesk's own.
func isOwn(op mapping.Scope, statement string) bool {
	return statement == OwnStatement || statement == OwnUpdate && op == mapping.OpCreate
}

// statements returns the statements that the sheet has for an operation.
func (d *sqlDraft) statements(op mapping.Scope) names {
	return map[mapping.Scope]names{mapping.OpCreate: d.file.Create, mapping.OpUpdate: d.file.Update, mapping.OpDelete: d.file.Delete}[op]
}

// operations compiles the operations and their statements.
func (d *sqlDraft) operations() {
	lacking := ""
	for _, name := range operationNames {
		op := mapping.Scope(name)
		d.resource.Operations[op] = d.names(op)
		if d.isOwn(op) && d.file.Table == "" && (d.file.Read == "" || op != mapping.OpGet && op != mapping.OpList) {
			lacking = cmp.Or(lacking, name)
		}
	}
	if lacking != "" {
		d.fail(d.at("table"), "missing, and %s is frontdesk's own: expected the table", lacking)
	}
	if key := d.resource.Key; d.isOwn(mapping.OpCreate) && key.Generated == "" && len(key.Places) > 0 {
		d.fail(d.at("key"), "generated is missing, expected where the key of a new %s comes from: identity, max+1, {sql: SQL} or supplied", d.of.Name)
	}
	keys := []string{"key"}
	if places := d.resource.Key.Places; len(places) > 1 {
		keys = below("key", places)
	}
	known := slices.Concat(keys, statementParams)
	for _, f := range d.mapped {
		switch c := d.columns[f.Name]; {
		case f.Type == mapping.Array:
		case len(c.Names) > 1:
			known = append(known, below(f.Name, c.Names)...)
		default:
			known = append(known, f.Name)
		}
	}
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
		d.judgeStatements(op, keys, known)
	}
	d.changes()
}

// below returns the names of parts.
func below(name string, parts []string) (all []string) {
	for _, part := range parts {
		all = append(all, name+"."+part)
	}
	return all
}

// judgeStatements judges and compiles the statements of an operation.
func (d *sqlDraft) judgeStatements(op mapping.Scope, keys, known []string) {
	given, path := d.statements(op), d.at(string(op))
	if len(given) == 0 {
		return
	}
	if !d.has(op) {
		d.fail(path, "%s is not among operations, expected it there", op)
	}
	isKeyed := op != mapping.OpCreate || d.resource.Key.Generated != "identity" || !slices.Contains(given, OwnStatement) // an identity exists only after the INSERT
	for i, statement := range given {
		at := d.item(path, i)
		switch {
		case !isOwn(op, statement):
			names := d.sql.judgeSQL(at, statement, known...)
			if !isKeyed && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(keys, name) }) {
				d.fail(at, "found the key before the database makes it, expected the statement after default")
			}
		case slices.Contains(given[:i], statement):
			d.fail(at, "found %s twice, expected it once", statement)
		default:
			isKeyed = true
		}
	}
	d.out.Statements[op] = given
}

// related sets SameRow of references to a record in the same row, such as the contact of an address
// that is stored in the contact's columns. Such a record does not count as use of the other, and is
// created and deleted with it.
func (l *sqlLoader) related() {
	for _, of := range l.drafts {
		d := of.own.(*sqlDraft)
		for _, f := range d.mapped {
			target, key, names := d.draftOf(f.Reference), d.resource.Key.Places, d.columns[f.Name].Names
			if target == nil || d.file.Table == "" || d.file.Table != target.resource.Table || !slices.Equal(names, key) || !slices.Equal(names, target.resource.Key.Places) {
				continue
			}
			n := d.narrowing[f.Name]
			n.SameRow = true
			d.narrowing[f.Name] = n
			if d.isOwn(mapping.OpCreate) || d.isOwn(mapping.OpDelete) {
				d.fail(d.at("operations"), "a %s is stored on the row of its %s: creating one would add a second row, and deleting one would delete the %s. Expected operations: {only: [get, list, update]}, and delete where a statement empties its columns",
					d.of.Name, f.Reference, f.Reference)
			}
		}
	}
}

// unfit returns why a reference cannot identify the client of a record; "" if it can.
func (d *sqlDraft) unfit(through *Field, target *draft) string {
	c, name := d.columns[through.Name], through.Name
	switch {
	case len(c.Names) == 0:
		return name + " is computed, expected a reference with column"
	case c.Codes != nil:
		return name + " has a code list, expected the key of " + through.Reference + " as it is"
	case len(c.Names) < len(target.resource.Key.Places):
		return name + " lacks the client's number that the key of " + through.Reference + " begins with, and so does not tell whose it is: expected the column or path of the client's number"
	case target.resource.Read == "":
		return through.Reference + " is to tell whose the records are, and has no table: expected its table, or the client's column here"
	case target.resource.Table == d.file.Table:
		return through.Reference + " is of the same table, expected the client's column here too"
	}
	return ""
}

// bind assigns the columns to the fields of the narrowed model.
func (d *sqlDraft) bind() {
	for _, f := range d.mapped {
		if c := d.columns[f.Name]; f.writable && c.Default.IsAbsent() && len(c.Nulls) > 0 {
			c.Default = mapping.NullValue()
		}
	}
	d.out.Fields = bound(d.resource, d.columns, func(c *Column) *Conversion { return &c.Conversion })
}

func (d *sqlDraft) judge() {
	d.judgeNewKey()
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate} {
		if d.has(op) {
			d.judgeLost(op)
		}
	}
}

// judgeNewKey requires that every part of a new row's key is supplied or generated.
func (d *sqlDraft) judgeNewKey() {
	made := map[string]int{"supplied": 0, "max+1": 1, generatedBySQL: 1}
	most, isOurs := made[d.resource.Key.Generated]
	if !isOurs || !d.isOwn(mapping.OpCreate) {
		return
	}
	var missing []string
	for _, place := range d.resource.Key.Places {
		if place != d.resource.client && !d.gives(place) { // constants do not count, since only the database knows their values
			missing = append(missing, place)
		}
	}
	if len(missing) > most {
		d.fail(d.at("key"), "nothing gives %s of a new %s: expected a field that clients must send, not readonly, or a default, a constant, another generated, or operations: {only: …} without create",
			strings.Join(missing, " and "), d.of.Name)
	}
}

// gives reports whether every create writes a field to a column.
func (d *sqlDraft) gives(place string) bool {
	for i, f := range mapping.Each(d.resource.Resource.Fields) {
		c := d.out.Fields[i]
		sent := f.Required && !f.Readonly || f.Default != "" || c.Default.IsSet() || c.Stamp != StampNever
		if sent && slices.ContainsFunc(c.Write, func(a Assign) bool { return a.Column == place }) {
			return true
		}
	}
	return false
}

// judgeLost requires that every field that clients may send is written: a field that an operation
// left out would be confirmed to the client, and lost.
func (d *sqlDraft) judgeLost(op mapping.Scope) {
	named := map[string]bool{}
	for _, statement := range d.statements(op) {
		for _, p := range Params(statement) {
			named[p.of()] = true
		}
	}
	var lost []string
	for i, f := range mapping.Each(d.resource.Resource.Fields) {
		sent := d.resource.Fields[i].writable && !f.Readonly && (op == mapping.OpCreate || !f.Immutable)
		if sent && !named[f.Name] && !(d.isOwn(op) && len(d.out.Fields[i].Write) > 0) {
			lost = append(lost, f.Name)
		}
	}
	if len(lost) > 0 {
		d.fail(d.at(string(op)), "nothing writes what clients may send: %s. Expected :FIELD of each in a statement, default among the statements for columns, or readonly: true%s at the field",
			strings.Join(lost, ", "), map[mapping.Scope]string{mapping.OpUpdate: " or immutable: true"}[op])
	}
}
