package sheet

import (
	"slices"

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
		d.fail(d.at("key"), "generated is missing, expected where the key of a new %s comes from: identity, max+1, {sql: SQL} or supplied", d.of.Name)
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
	if d.sql() {
		d.statement(op)
		return
	}
	d.call(path, op, of, out)
}

// statement compiles an operation in SQL.
func (d *draft) statement(op mapping.Scope) {
	if d.isOwn(op) && d.resource.Table == "" && (d.resource.Read == "" || op != mapping.OpGet && op != mapping.OpList) {
		d.once(d.at("table"), "missing, and %s is frontdesk's own: expected the table", op)
	}
}
