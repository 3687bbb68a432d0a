package sheet

import (
	"slices"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// operationNames are the operations in the order of the documentation.
var operationNames = []string{"get", "list", "create", "update", "delete"}

// operations compiles the operations that there are.
func (d *draft) operations() {
	f := d.file.Operations
	given := map[string]*operationFile{"get": f.Get, "list": f.List, "create": f.Create, "update": f.Update, "delete": f.Delete}
	for i, name := range f.Only {
		path := d.at("operations", "only") + "[" + itoa(i) + "]"
		d.oneOf(path, name, operationNames...)
	}
	for _, name := range operationNames {
		of := given[name]
		named := len(f.Only) == 0 || slices.Contains(f.Only, name)
		if of != nil && !named {
			d.fail(d.at("operations", name), "%s is not among only, expected it there", name)
		}
		if !named || of == nil && d.http() {
			if named && len(f.Only) > 0 {
				d.fail(d.at("operations", "only"), "%s is not described, expected operations: {%s: …}", name, name)
			}
			continue
		}
		d.operation(mapping.Scope(name), of)
	}
	if len(d.resource.Operations) == 0 && !d.doc.Broken(d.at("operations")) {
		d.fail(d.at("operations"), "missing, expected what is called to get, list, create, update or delete a record")
	}
	d.judgeKeyOfNew()
	d.judgePlaces()
}

// judgeKeyOfNew requires that the sheet says where the key of a new record comes from.
func (d *draft) judgeKeyOfNew() {
	key := d.resource.Key
	op := d.resource.Operations[mapping.OpCreate]
	if op == nil || len(key.Places) == 0 {
		return
	}
	if key.Generated == "" && d.isOwn(mapping.OpCreate) {
		d.fail(d.at("key"), "generated is missing, expected where the key of a new %s comes from: identity, %s or supplied", d.of.Name, d.word("sequence:NAME, max+1, uuid", "max+1, {sql: SQL}"))
	}
	if key.Generated == "answer" && op.Nothing && op.Key == nil {
		d.fail(d.at("operations", "create", "result"), "found none, but the key of a new %s comes from the answer", d.of.Name)
	}
}

// operation compiles one operation; of is nil for plain SQL.
func (d *draft) operation(op mapping.Scope, of *operationFile) {
	path := d.at("operations", string(op))
	out := &Operation{}
	d.resource.Operations[op] = out
	if of == nil {
		of = &operationFile{}
	}
	if d.sql() {
		d.procedure(path, op, of, out)
		return
	}
	if of.Procedure != "" || of.After != "" || of.Arguments != nil || of.Out != nil {
		d.fail(path, "found a stored procedure of an HTTP service, expected a path")
	}
	d.call(path, op, of, out)
}

// procedure compiles an operation in SQL.
func (d *draft) procedure(path string, op mapping.Scope, of *operationFile, out *Operation) {
	out.Procedure, out.After, out.Arguments, out.Out = of.Procedure, of.After, of.Arguments, of.Out
	if of.Path != "" || of.Body != "" || of.Each != nil || of.Method != "" || of.Query != nil || of.Filter != nil || of.Sort != nil || of.Connections != "" {
		d.fail(path, "found an HTTP call in a database, expected a procedure")
	}
	if of.Procedure == "" && of.After == "" && (of.Arguments != nil || of.Out != nil) {
		d.fail(path, "found arguments without procedure, expected its name")
	}
	after := strictyaml.Child(path, "after")
	switch {
	case of.After == "":
	case of.Procedure != "":
		d.fail(after, "found beside procedure, which does all of the write: expected one of them")
	case op == mapping.OpGet || op == mapping.OpList:
		d.fail(after, "found at %s, which writes nothing: expected it at create, update or delete", op)
	case of.Out != nil:
		d.fail(strictyaml.Child(path, "out"), "found with after, whose answer is not read: the record is read again. Expected arguments alone")
	}
	if of.Out != nil && (op == mapping.OpGet || op == mapping.OpList) && (d.engine() == "mysql" || d.engine() == "mariadb") {
		d.fail(strictyaml.Child(path, "out"), "found at %s, whose statements may go to different connections, while the variables of out parameters belong to one: expected the columns in the result row of the procedure", op)
	}
	if d.isOwn(op) && d.resource.Table == "" && (d.resource.Read == "" || op != mapping.OpGet && op != mapping.OpList) {
		d.once(d.at("table"), "missing, and %s is %s: expected the table", op, d.word("no procedure", "frontdesk's own"))
	}
	known := []string{":client"}
	known = append(known, d.resource.Key.Places...)
	for place := range d.writers {
		known = append(known, place)
	}
	for _, p := range d.resource.Places {
		known = append(known, p.Name)
	}
	slices.Sort(known)
	for i, name := range of.Arguments {
		literal := len(name) > 1 && name[0] == '\'' && name[len(name)-1] == '\''
		if !literal && !slices.Contains(known, name) {
			d.unknown(path+".arguments["+itoa(i)+"]", "column that is written", name, slices.Compact(known))
		}
	}
	out.ReadBack, out.SendAll = of.ReadBack, of.Send == "all"
	if out.Nothing = of.Result == "none"; !out.Nothing {
		out.Result = of.Result
	}
}
