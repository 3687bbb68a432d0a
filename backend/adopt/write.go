package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// write writes the whole sheet.
func (d *drafter) write() string {
	d.summary = Summary{Resources: len(d.matches)}
	d.findClients()
	var b strings.Builder
	fmt.Fprintf(&b, "# A first draft, of names, keys and types. Answer every TODO, then run frontdesk-kit map check.\nformat: 2\n")
	d.writeSource(&b)
	b.WriteString("keep: keep.db\n")
	if d.ownRules {
		fmt.Fprintf(&b, "rules: backend # TODO the service does not tell all that rules depend on: does it keep them itself?\n")
	}
	if without := d.withoutRules(); len(without) > 0 {
		fmt.Fprintf(&b, "without_rules: [%s] # TODO their fields were not found: must these be kept?\n", strings.Join(without, ", "))
	}
	d.writeAccounts(&b)
	b.WriteString("\nresources:\n")
	for _, r := range d.model.Resources {
		if m := d.matches[r.Name]; m != nil {
			d.writeResource(&b, m)
		} else {
			d.summary.Missing = append(d.summary.Missing, r.Name)
		}
	}
	if len(d.matches) == 0 {
		d.writeNone(&b)
	}
	d.writeRest(&b)
	d.summary.Open = strings.Count(b.String(), "# TODO")
	return b.String()
}

// writeAccounts names the table in which most values of a column are hashes of passwords. Facts without
// a column of their name become questions.
func (d *drafter) writeAccounts(b *strings.Builder) {
	var of *table
	var password *column
	var hashed int
	var hash []string
	for _, t := range d.tables {
		for _, c := range t.columns {
			if n, alike, algorithms := c.hashes(); n > hashed && 2*(n+alike) >= c.filled {
				of, password, hashed, hash = t, c, n, algorithms
			}
		}
	}
	b.WriteString("\naccounts:\n")
	if of == nil || d.noUsers {
		fmt.Fprintf(b, "  users: [] # TODO who may log in? A table of users, or verify of a service\n")
		return
	}
	user, client, mark := of.called("username"), of.called("client", "clientid"), ""
	evidence := fmt.Sprintf("%d of %d values of %s are hashes of passwords", hashed, password.filled, password.name)
	if user == "" || client == "" {
		mark = "# "
		fmt.Fprintf(b, "  users: [] # TODO who may log in? In the table of users, which column has the login name, and which the client?\n")
	}
	columns := "username: " + scalar(cmp.Or(user, "TODO")) + ", password: " + scalar(password.name)
	if email := of.called("email"); email != "" {
		columns += ", email: " + scalar(email)
	}
	fmt.Fprintf(b, "  %stable: %s # %s\n", mark, comment(scalar(of.name)), comment(evidence))
	fmt.Fprintf(b, "  %scolumns: {%s, client_id: %s}\n", mark, comment(columns), comment(scalar(cmp.Or(client, "TODO"))))
	if hashed < password.filled {
		fmt.Fprintf(b, "  %shash: [%s] # TODO and of which form are the others?\n", mark, strings.Join(hash, ", "))
	} else {
		fmt.Fprintf(b, "  %shash: [%s]\n", mark, strings.Join(hash, ", "))
	}
}

// writeNone writes the one resource that a sheet must have, if none was found.
func (d *drafter) writeNone(b *strings.Builder) {
	place := "    table: TODO\n    client: \"\"\n    key: {columns: TODO}\n    where: \"0 = :client\"\n    operations: {only: [get, list]}\n"
	if d.ofService {
		place = "    path: /TODO\n    client: \"\"\n    key: TODO\n    select: \"false\"\n    operations: {only: [list]}\n"
	}
	fmt.Fprintf(b, "  contact: # TODO nothing is called as a resource is: where is this one?\n%s    fields: {name: TODO}\n\n", place)
}

// writeSource says where the records are.
func (d *drafter) writeSource(b *strings.Builder) {
	if !d.ofService {
		fmt.Fprintf(b, "source:\n  sql:\n    engine: %s\n    dsn: ${%s}\n", d.source.Engine, d.variable)
		if d.source.Schema != "" {
			fmt.Fprintf(b, "    schema: %s\n", scalar(d.source.Schema))
		}
		return
	}
	fmt.Fprintf(b, "source:\n  http:\n    url: ${%s}\n", d.variable)
	if d.access != "" {
		fmt.Fprintf(b, "    secrets: {token: \"${SERVICE_TOKEN}\"}\n    headers: %s # TODO is one token for all clients right? Else log_on\n", d.access)
		return
	}
	fmt.Fprintf(b, "    # TODO how does the service know who asks? secrets and headers, or log_on\n")
}

func (d *drafter) writeResource(b *strings.Builder, m *match) {
	fmt.Fprintf(b, "  %s:\n", m.Name)
	if d.ofService {
		fmt.Fprintf(b, "    path: %s\n", quoted(m.table.endpoint.list))
	} else {
		fmt.Fprintf(b, "    table: %s\n", scalar(m.table.name))
	}
	d.writeKey(b, m)
	switch {
	case m.client != "":
		fmt.Fprintf(b, "    client: %s\n", scalar(m.client))
	case m.parent != "":
		fmt.Fprintf(b, "    client: {through: %s}\n", m.parent)
	default:
		closed := `where: "0 = :client"`
		if d.ofService {
			closed = `select: "false"`
		}
		fmt.Fprintf(b, "    client: \"\"\n    %s # TODO whose are they? Until client says so, or shared: true, nobody sees them, and nobody writes\n", closed)
	}
	if d.ofService {
		d.writeOperations(b, m)
	} else if m.closed || m.unwritten != "" {
		b.WriteString("    operations: {only: [get, list]}" + m.whyUnwritten() + "\n")
	}
	d.writeFields(b, m)
	b.WriteString("\n")
}

// whyUnwritten is a comment that says why a resource is not written.
func (m *match) whyUnwritten() string {
	if m.closed || m.unwritten == "" {
		return ""
	}
	return " # TODO what lacks for writes? " + comment(m.unwritten)
}

// writeKey writes the key of records: a whole number is the ID itself, other keys get issued IDs.
func (d *drafter) writeKey(b *strings.Builder, m *match) {
	text, last := map[bool]string{true: "path: ", false: "columns: "}[d.ofService]+names(m.table.primary), m.table.column(m.table.primary[len(m.table.primary)-1])
	if len(m.table.primary) > 1 || last == nil || last.sort != "integer" {
		text += ", id: kept"
	} else if last.generated && !d.ofService {
		text += ", generated: identity"
	}
	fmt.Fprintf(b, "    key: {%s}\n", text)
}

// writeFields writes what is certain, and the rest as comments.
func (d *drafter) writeFields(b *strings.Builder, m *match) {
	b.WriteString("    fields:\n")
	var without []string
	some := false
	for _, f := range mapping.Each(m.Fields) {
		of, why := m.fields[f.Name], m.refused[f.Name]
		if of != nil && why == "" {
			why = of.doubt
		}
		switch {
		case of != nil && why == "":
			some = true
			d.summary.Fields++
			note := ""
			if of.note != "" {
				note = " # " + comment(of.note)
			}
			fmt.Fprintf(b, "      %s: %s%s\n", f.Name, of.value(d.ofService), note)
		case f.Required && !f.Primary:
			some = true
			evidence := "nothing is called like it"
			if of != nil {
				evidence = of.value(d.ofService) + ": " + why + m.table.evidence(of.from)
			}
			fmt.Fprintf(b, "      %s: {absent: true} # TODO %s\n", f.Name, comment(evidence))
		case of != nil:
			fmt.Fprintf(b, "      # %s: %s # TODO %s%s\n", f.Name, comment(of.value(d.ofService)), comment(why), m.table.evidence(of.from))
		case !f.Primary && f.Type != mapping.Array && f.Name != "is_system":
			without = append(without, f.Name)
		}
	}
	if !some {
		fmt.Fprintf(b, "      {} # TODO nothing is certain\n")
	}
	if len(without) > 0 {
		fmt.Fprintf(b, "      # Nothing is called: %s.\n", strings.Join(without, ", "))
	}
	if rest := m.unused(); len(rest) > 0 {
		fmt.Fprintf(b, "      # Not used of %s: %s.\n", comment(m.table.name), comment(strings.Join(rest, ", ")))
	}
}

// evidence is what the rows show of columns.
func (t *table) evidence(columns []string) string {
	c := t.column(columns[0])
	if len(columns) > 1 || c == nil || t.rows == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d rows have one, of %s)", c.filled, t.rows, c.distinct())
}

// value is a field as the sheet says it, in one line.
func (m *mapped) value(ofService bool) string {
	from := names(m.from)
	if len(m.settings) == 0 {
		return from
	}
	all := []string{map[bool]string{true: "path: ", false: "column: "}[ofService] + from}
	for _, s := range m.settings {
		all = append(all, s.key+": "+s.value)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// unused are the columns that the draft does not name.
func (m *match) unused() (all []string) {
	used := map[string]bool{m.client: true}
	for _, name := range m.table.primary {
		used[name] = true
	}
	for _, f := range m.fields {
		for _, name := range f.from {
			used[name] = true
		}
	}
	for _, c := range m.table.columns {
		if !used[c.name] {
			all = append(all, c.name)
		}
	}
	return all
}

// withoutRules are the rules whose fields were not found.
func (d *drafter) withoutRules() (without []string) {
	for _, name := range slices.Sorted(maps.Keys(d.matches)) {
		m := d.matches[name]
		has := func(field string) bool {
			return m.fields[field] != nil && m.fields[field].doubt == "" && m.refused[field] == ""
		}
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
	for _, why := range d.dropped {
		fmt.Fprintf(b, "# TODO %s\n", comment(why))
	}
	what := map[bool]string{true: "path", false: "table"}[d.ofService]
	if len(d.summary.Missing) > 0 {
		fmt.Fprintf(b, "# No %s is called: %s.\n", what, strings.Join(d.summary.Missing, ", "))
	}
	for _, t := range d.tables {
		if t.view {
			continue
		}
		d.summary.Tables++
		if !slices.ContainsFunc(slices.Collect(maps.Values(d.matches)), func(m *match) bool { return m.table == t }) {
			all := make([]string, len(t.columns))
			for i, c := range t.columns {
				all[i] = c.name
			}
			fmt.Fprintf(b, "# Not used: %s %s (%s).\n", what, comment(t.place()), comment(strings.Join(all, ", ")))
		}
	}
}

// place is the table, or the path that its records are listed at.
func (t *table) place() string {
	if t.endpoint != nil {
		return t.endpoint.list
	}
	return t.name
}
