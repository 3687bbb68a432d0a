package sheet

import (
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// written tells whether a field of format 2 is written although it is read by SQL.
func (s fieldSettings) written() bool {
	return s.asSQL != nil && (len(s.asSQL.Write) > 0 || s.asSQL.named)
}

// isSQL tells whether SQL of the sheet reads, writes or finds a field.
func (s fieldSettings) isSQL() bool {
	return s.sql != "" || s.asSQL != nil && (len(s.asSQL.Write) > 0 || s.asSQL.Find != "")
}

// judgeColumn reports keys of a field that do not fit the field, or each other, and returns the
// settings without them.
func (d *draft) judgeColumn(path string, ff fieldFile, f *mapping.Field) fieldFile {
	s := ff.asSQL
	if s == nil {
		return ff
	}
	fault := func(key string, given bool, format string, args ...any) bool {
		if given {
			d.fail(strictyaml.Child(path, key), format, args...)
		}
		return given
	}
	typed := s.Type != ""
	if fault("type", typed && f.Type != mapping.Timestamp, "type is for a timestamp, and %s is %s", f.Name, article(f.Type)) ||
		fault("type", typed && ff.Codes.given(), "codes say what the system has, letter by letter: expected codes or type") {
		ff.Type, ff.Format = "", ""
	}
	for key, given := range map[string]bool{"codes": ff.Codes.given(), "zero": len(ff.Zero) > 0, "empty": ff.Empty != ""} {
		fault(key, given && len(s.Column) == 0, "found without column, expected it in SQL of read, and of write")
	}
	isRead := len(s.Column) > 0 || s.Read != ""
	for key, given := range map[string]bool{"write": len(s.Write) > 0, "find": s.Find != ""} {
		fault(key, given && !isRead, "found without column or read, expected one of them too")
	}
	fault("write", len(s.Write) > 0 && s.Readonly, "found with readonly: true, expected one of them")
	fault("stamp", s.Stamp != "" && len(s.Column) == 0 && len(s.Write) == 0, "found without a column that is written, expected column or write")
	if fault("ordered", s.Ordered && len(s.Write) != 1, "found with %s that write sets, expected one, which sorts as the values do", count(len(s.Write), "column")) || s.Find == "" {
		return ff
	}
	find := strictyaml.Child(path, "find")
	if !slices.Contains(d.judgeSQL(find, s.Find, "value", "client"), "value") {
		d.fail(find, "found no :value, expected the value that rows are found by")
	}
	return ff
}

// assigns compiles what a write of a field of format 2 sets.
func (d *draft) assigns(path string, s *sqlFieldSettings, out *Field) {
	var names []string
	for _, p := range s.Write {
		at := strictyaml.Child(path, "write", p.Key)
		if !d.isPlace(at, p.Key) {
			continue
		}
		names = append(names, d.judgeSQL(at, p.Value, "value", "client")...)
		d.notClient(at, p.Key)
		d.writes(p.Key, out.Name, at)
		out.Write = append(out.Write, p.Key)
		d.column(out).Write = append(d.column(out).Write, Assign{p.Key, p.Value})
	}
	if len(s.Write) > 0 && s.Stamp == "" && !slices.Contains(names, "value") {
		d.fail(strictyaml.Child(path, "write"), "found no :value, expected the value that is written")
	}
}

// column is how a database has a field.
func (d *draft) column(f *Field) *Column {
	c := d.columns[f.Name]
	if c == nil {
		c = &Column{}
		d.columns[f.Name] = c
	}
	return c
}

// columnOf completes how a database has a field that is compiled.
func (d *draft) columnOf(ff fieldFile, f *Field) {
	s, c, of := ff.asSQL, d.column(f), &f.codec
	c.Names, c.Read, c.Find, c.Ordered, c.ByStatement = s.Column, s.Read, s.Find, s.Ordered, s.named
	c.Kind, c.Nulls, c.EmptyIsNull = Kind(s.Type), of.zero, of.emptyNull
	if f.Type == mapping.Timestamp {
		c.Zone = of.loc
	}
	if of.codes != nil {
		c.Codes, c.UnknownIsNull = of.codes.list, of.codes.unknown == "null"
	}
	if c.Write == nil {
		for _, place := range f.Write {
			if place != d.resource.Client { // never another's
				c.Write = append(c.Write, Assign{place, ":value"})
			}
		}
	}
	c.Default, c.Stamp = f.onCreate, f.stamp
}

// bindSQL moves the columns onto the narrowed model.
func (d *draft) bindSQL() {
	r := d.resource
	if r.SQL == nil {
		return
	}
	r.SQL.Fields = make([]Column, len(r.Fields))
	for i, f := range mapping.Each(r.Fields) {
		if c := d.columns[f.Name]; c != nil {
			r.SQL.Fields[i] = *c
		}
		if f.isFixed() {
			r.SQL.Fields[i].Constant = f.constant
		}
	}
}

// statements compiles what is run to create, update and delete a record.
func (d *draft) statements() {
	if d.file.asSQL == nil {
		return
	}
	known := slices.Clone(statementParams)
	for _, f := range d.drafted {
		switch {
		case f.Type == mapping.Array:
		case len(f.From) > 1:
			for _, column := range f.From {
				known = append(known, f.Name+"."+column)
			}
		default:
			known = append(known, f.Name)
		}
	}
	keys := []string{"key"}
	if places := d.resource.Key.Places; len(places) > 1 {
		keys = nil
		for _, place := range places {
			keys = append(keys, "key."+place)
		}
	}
	known = slices.Concat(keys, known)
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
		given, path := d.said(op), d.at(string(op))
		if len(given) == 0 {
			continue
		}
		if !d.has(op) {
			d.fail(path, "%s is not among operations, expected it there", op)
		}
		isKeyed := op != mapping.OpCreate || d.resource.Key.Generated != "identity" || !slices.Contains(given, OwnStatement) // else the database makes it on the way
		for i, statement := range given {
			at := d.item(path, i)
			switch {
			case !isOwn(op, statement):
				names := d.judgeSQL(at, statement, known...)
				if !isKeyed && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(keys, name) }) {
					d.fail(at, "found the key before the database makes it, expected the statement after default")
				}
			case slices.Contains(given[:i], statement):
				d.fail(at, "found %s twice, expected it once", statement)
			default:
				isKeyed = true
			}
		}
		d.resource.SQL.Statements[op] = given
	}
}

// said are the statements that the sheet has for an operation.
func (d *draft) said(op mapping.Scope) []string {
	if f := d.file.asSQL; f != nil {
		return map[mapping.Scope]names{mapping.OpCreate: f.Create, mapping.OpUpdate: f.Update, mapping.OpDelete: f.Delete}[op]
	}
	return nil
}

// isOwn tells whether frontdesk itself writes in an operation that there is: no procedure, and no
// statements of the system, do all of it.
func (d *draft) isOwn(op mapping.Scope) bool {
	how, said := d.resource.Operations[op], d.said(op)
	return how != nil && (len(said) == 0 || slices.ContainsFunc(said, func(text string) bool { return isOwn(op, text) }))
}

// judgeLost requires that what clients may send is written: what an operation leaves out would
// be confirmed to the client, and lost.
func (d *draft) judgeLost() {
	if d.resource.SQL == nil {
		return
	}
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate} {
		named := map[string]bool{}
		for _, statement := range d.said(op) {
			for _, p := range Params(statement) {
				named[p.of()] = true
			}
		}
		var lost []string
		for i, f := range mapping.Each(d.resource.Fields) {
			sent := f.writable && !f.Readonly && (op == mapping.OpCreate || !f.Immutable)
			if sent && !named[f.Name] && !(d.isOwn(op) && len(d.resource.SQL.Fields[i].Write) > 0) {
				lost = append(lost, f.Name)
			}
		}
		if len(lost) > 0 && d.has(op) {
			d.fail(d.at(string(op)), "nothing writes what clients may send: %s. Expected :FIELD of each in a statement, default among the statements for columns, or readonly: true%s at the field",
				strings.Join(lost, ", "), map[mapping.Scope]string{mapping.OpUpdate: " or immutable: true"}[op])
		}
	}
}
