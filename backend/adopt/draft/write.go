package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/backend"
)

// write writes the whole sheet.
func (d *drafter) write() string {
	var resources strings.Builder
	d.shared = map[string]*sharedList{}
	for range 2 { // first to see which lists are shared
		resources.Reset()
		d.summary, d.users = Summary{}, nil
		for _, t := range d.tables {
			for _, c := range t.columns {
				c.used = ""
			}
		}
		for _, name := range d.resources() {
			d.writeResource(&resources, d.matches[name])
		}
		d.users = d.findAccounts()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A first draft, of names, types, keys and some of what is there.\n"+
		"# Read every line marked guess, answer every TODO, then run frontdesk-kit map check.\n")
	fmt.Fprintf(&b, "format: 1\n")
	d.writeSource(&b)
	fmt.Fprintf(&b, "keep: keep.db\n")
	if d.client != "" {
		fmt.Fprintf(&b, "client: %s%s\n", scalar(d.client, false), d.remark("whose record it is: "+d.clientWhy, d.clientTodo))
	} else {
		d.doubt(&b, "# TODO client: nothing tells whose record it is: all clients see all of them\n")
	}
	if d.ownRules {
		fmt.Fprintf(&b, "rules: backend%s\n", d.remark("the service cannot be asked for all that rules depend on", []string{"does it keep them itself?"}))
	}
	if without := d.withoutRules(); len(without) > 0 {
		fmt.Fprintf(&b, "without_rules: [%s]%s\n", strings.Join(without, ", "), d.remark("their fields were not found", []string{"must these be kept?"}))
	}
	d.writeAccounts(&b)
	if lists := d.lists(); len(lists) > 0 {
		fmt.Fprintf(&b, "\ncodes:\n")
		for _, name := range slices.Sorted(maps.Keys(lists)) {
			fmt.Fprintf(&b, "  %s: %s\n", name, lists[name])
		}
	}
	d.writeErrors(&b)
	if fmt.Fprintf(&b, "\nresources:\n%s", resources.String()); len(d.matches) == 0 {
		d.writeNone(&b)
	}
	d.writeRest(&b)
	d.count()
	return b.String()
}

// writeNone writes the one resource that a sheet has to have, where none was found.
func (d *drafter) writeNone(b *strings.Builder) {
	if d.http != nil {
		d.doubt(b, "  contact: # TODO nothing was found that is like a resource: where is this one?\n    key: {columns: TODO}\n"+
			"    operations: {list: {path: /TODO}}\n    fields: {name: TODO}\n\n")
		return
	}
	d.doubt(b, "  contact: # TODO no table was found that is like a resource: where is this one?\n    table: TODO\n    key: {columns: TODO}\n"+
		"    operations: {only: [get, list]}\n    fields: {name: TODO}\n\n")
}

// writeSource says where the records are.
func (d *drafter) writeSource(b *strings.Builder) {
	if d.http != nil {
		fmt.Fprintf(b, "source:\n  http:\n    url: ${%s}\n", d.variable)
		if of := d.http.expressions(); of != "" {
			fmt.Fprintf(b, "    expressions: %s\n", of)
		}
		d.http.writeAccess(b)
		d.summary.Doubts++
		return
	}
	fmt.Fprintf(b, "source:\n  sql:\n    engine: %s\n    dsn: ${%s}\n", d.source.Engine, d.variable)
	if d.source.Schema != "" {
		fmt.Fprintf(b, "    schema: %s\n", scalar(d.source.Schema, false))
	}
}

// doubt writes what somebody has to look at.
func (d *drafter) doubt(b *strings.Builder, format string, args ...any) {
	d.summary.Doubts++
	fmt.Fprintf(b, format, args...)
}

// remark is the comment behind a guess: what speaks for it, and what somebody has to say.
func (d *drafter) remark(why string, todo []string) string {
	text := " # guess: " + comment(why)
	d.summary.Guesses++
	if len(todo) > 0 {
		d.summary.Doubts++
		text += "; TODO " + comment(strings.Join(todo, "; "))
	}
	return text
}

func (d *drafter) writeAccounts(b *strings.Builder) {
	a := d.users
	fmt.Fprintf(b, "\naccounts:\n")
	if d.http != nil && d.http.login != nil && d.noAccounts == "" {
		d.http.login.write(b, d)
		return
	}
	if a == nil || d.noAccounts != "" {
		todo := "no table with passwords was found: who may log in?"
		if d.http != nil {
			todo = "who may log in? verify: {path: …} asks the service"
		} else if a != nil {
			todo = a.table.Name + ": " + d.noAccounts
		}
		d.doubt(b, "  users: [] # TODO %s\n", comment(todo))
		return
	}
	fmt.Fprintf(b, "  table: %s%s\n  columns:\n", scalar(a.table.Name, false), d.remark(a.why, a.todo))
	for _, f := range a.facts {
		fmt.Fprintf(b, "    %s: %s%s\n", f.name, f.value(), d.remark(f.why, f.todo))
	}
	why, todo := "the form of the stored hashes", []string(nil)
	if a.hashed == 0 {
		why, todo = "none was seen", []string{"how are passwords hashed?"}
	}
	fmt.Fprintf(b, "  hash: [%s]%s\n", strings.Join(a.hashes, ", "), d.remark(why, todo))
}

// value is a field as the sheet says it, in one line.
func (m *mapped) value() string {
	if len(m.settings) == 1 && m.settings[0].key == "from" {
		return scalar(m.settings[0].value, false)
	}
	var all []string
	for _, s := range m.settings {
		value := s.value
		if s.key == "from" || s.key == "time_from" {
			value = scalar(value, false)
		}
		all = append(all, s.key+": "+value)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (d *drafter) writeErrors(b *strings.Builder) {
	all := d.errors()
	if len(all) == 0 {
		return
	}
	some := false
	fmt.Fprintf(b, "\nerrors:\n")
	for _, e := range all {
		if e.meant && !d.withoutErrors {
			some = true
			fmt.Fprintf(b, "  - %s%s\n", e.text, d.remark(e.why, nil))
		} else {
			d.doubt(b, "  # - %s # TODO what does a client read? %s\n", comment(e.text), comment(e.why))
		}
	}
	if !some {
		fmt.Fprintf(b, "  []\n")
	}
}

func (d *drafter) writeResource(b *strings.Builder, m *match) {
	t := m.table
	if d.http != nil {
		d.writeService(b, m)
		return
	}
	fmt.Fprintf(b, "  %s:\n    table: %s%s\n", m.Name, scalar(t.Name, false), d.remark(m.why, m.doubt))
	if v := d.viewOf(m); v != nil {
		fmt.Fprintf(b, "    read: %s%s\n", scalar(v.Name, false), d.remark("a view of the same columns", nil))
	}
	k := d.keyOf(m)
	made := d.creatorOf(m, k)
	if made == nil {
		made = d.numbererOf(m, k)
	}
	d.writeKey(b, m, k, made)
	if m.client(d) == nil && d.client != "" {
		fmt.Fprintf(b, "    client: %s\n", d.whose(m))
	}
	if v := d.versionOf(m); v != nil {
		fmt.Fprintf(b, "    version: %s%s\n", scalar(v.Name, false), d.remark("name, a trigger or the engine keeps it", nil))
	}
	d.writeDeletion(b, m)
	switch {
	case m.readOnly(d):
		fmt.Fprintf(b, "    operations: {only: [get, list]}%s\n", d.remark("one list for all clients", nil))
	case m.only != "":
		fmt.Fprintf(b, "    operations: {only: [%s]}%s\n", m.only, d.remark("without the others", []string{m.onlyWhy}))
	case made != nil:
		arguments := make([]string, len(made.arguments))
		for i, a := range made.arguments {
			arguments[i] = scalar(a, false)
		}
		fmt.Fprintf(b, "    operations:\n      create: {procedure: %s, arguments: [%s], out: [%s]}%s\n", scalar(made.name, false), strings.Join(arguments, ", "), strings.Join(made.out, ", "), d.remark("its name and parameters", nil))
	}
	fields := strings.Builder{}
	d.writeFields(&fields, m)
	d.writeConstants(b, m)
	fmt.Fprintf(b, "%s\n", fields.String())
}

// writeDeletion says which rows are there, and how they go.
func (d *drafter) writeDeletion(b *strings.Builder, m *match) {
	del := d.deletionOf(m)
	if m.nobodys {
		d.doubt(b, "    where: \"0 = :client\" # TODO whose are they? A column, or a condition with :client here. Until then nobody sees them\n")
	}
	if del == nil || m.readOnly(d) {
		return
	}
	if d.viewOf(m) == nil && !m.nobodys {
		fmt.Fprintf(b, "    where: %s%s\n", quoted(del.where), d.remark("those not deleted", nil))
	}
	fmt.Fprintf(b, "    soft_delete: {%s: %s}%s\n", scalar(del.column.Name, false), del.set, d.remark("name, values", nil))
	del.column.used = "soft_delete"
}

func (d *drafter) writeKey(b *strings.Builder, m *match, k key, made *creator) {
	text := "columns: " + names(k.columns)
	if k.kept {
		text += ", id: kept"
	}
	if k.ignoresCase {
		text += ", case: ignore"
	}
	generated := k.generated
	if made != nil && m.only == "" {
		generated, k.doubt = "answer", ""
	}
	if generated != "" {
		text += ", generated: " + generated
	}
	var todo []string
	if k.doubt != "" {
		todo = []string{k.doubt}
	}
	fmt.Fprintf(b, "    key: {%s}%s\n", text, d.remark(k.why, todo))
}

// withoutRules are the rules whose fields were not found.
func (d *drafter) withoutRules() (without []string) {
	for _, name := range d.resources() {
		m := d.matches[name]
		has := func(field string) bool { return m.said[field] != nil }
		for _, rule := range m.Rules {
			needed, _ := backend.RuleFields(rule)
			for _, alternatives := range needed {
				if !slices.ContainsFunc(strings.Split(alternatives, "|"), has) && !slices.Contains(without, rule) {
					without = append(without, rule)
				}
			}
		}
	}
	return without
}

// writeRest lists what was not used.
func (d *drafter) writeRest(b *strings.Builder) {
	if len(d.unread) > 0 {
		d.doubt(b, "# TODO cannot be read: %s.\n", comment(strings.Join(d.unread, ", ")))
	}
	for _, why := range d.dropped {
		d.doubt(b, "# TODO %s\n", comment(why))
	}
	for _, r := range d.model.Resources {
		if d.matches[r.Name] == nil {
			d.summary.Missing = append(d.summary.Missing, r.Name)
		}
	}
	what := map[bool]string{true: "path", false: "table"}[d.http != nil]
	if len(d.summary.Missing) > 0 {
		fmt.Fprintf(b, "# No "+what+" was found for: %s.\n", strings.Join(d.summary.Missing, ", "))
	}
	taken := map[*table]*match{}
	for _, m := range d.matches {
		taken[m.table] = m
	}
	for _, t := range d.tables {
		if t.View || d.users != nil && d.users.table == t {
			continue
		}
		m := taken[t]
		if m == nil {
			fmt.Fprintf(b, "# Not used: %s %s (%s).\n", what, comment(t.Name), comment(strings.Join(columnNames(t.columns), ", ")))
			continue
		}
		if rest := d.unused(m); len(rest) > 0 {
			fmt.Fprintf(b, "# Not used of %s: %s.\n", comment(t.Name), comment(strings.Join(columnNames(rest), ", ")))
		}
	}
}

// unused are the columns of a resource's table that the sheet does not name.
func (d *drafter) unused(m *match) []*column {
	version := d.versionOf(m)
	return slices.DeleteFunc(slices.Clone(m.table.columns), func(c *column) bool {
		return c.used != "" || c.Name == d.client || d.ofKey(m.table, c) || c == version
	})
}

func columnNames(columns []*column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return all
}

func (d *drafter) count() {
	d.summary.Resources = len(d.matches)
	for _, t := range d.tables {
		if !t.View {
			d.summary.Tables++
		}
	}
}
