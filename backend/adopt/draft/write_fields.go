package draft

import (
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// writeFields writes the fields of a resource.
func (d *drafter) writeFields(b *strings.Builder, m *match) {
	fmt.Fprintf(b, "    fields:\n")
	if m.endpoint == nil {
		d.sayFields(m)
	}
	for _, f := range mapping.Each(m.Fields) {
		out, refused := m.said[f.Name], comment(m.refused[f.Name])
		switch {
		case out != nil:
			d.summary.Fields++
			for _, s := range out.settings {
				if c := m.table.column(s.value); c != nil && (s.key == "from" || s.key == "time_from") {
					c.used = f.Name
				}
			}
			fmt.Fprintf(b, "      %s: %s%s\n", f.Name, out.value(), d.remark(out.why, out.todo))
		case refused != "" && f.Required:
			d.doubt(b, "      %s: {absent: true} # TODO %s\n", f.Name, refused)
		case refused != "":
			d.doubt(b, "      # TODO %s\n", refused)
		case f.Name == "is_system" && m.SystemRecords && m.client(d) == nil:
			fmt.Fprintf(b, "      is_system: {constant: 1}%s\n", d.remark("records of all clients", nil))
		case f.Required && !f.Primary:
			d.doubt(b, "      %s: {absent: true} # TODO %s\n", f.Name, d.notFound(m, f))
		}
	}
}

// sayFields says how each field is found and converted.
func (d *drafter) sayFields(m *match) {
	m.said = map[string]*mapped{}
	for i := range m.Fields {
		if f := &m.Fields[i]; m.fields[f.Name] != nil {
			m.said[f.Name] = d.convert(m, m.fields[f.Name])
		}
	}
	for _, f := range append(d.states(m), d.derived(m)...) {
		if m.refused[f.name] == "" {
			m.said[f.name] = f
		}
	}
}

// notFound says why a required field has no column: none, or one that refers elsewhere.
func (d *drafter) notFound(m *match, f *mapping.Field) string {
	if f.Reference != "" {
		for _, k := range m.table.Foreign {
			c := m.table.column(k.Columns[len(k.Columns)-1])
			if c != nil && bestForm(c.parts, d.fieldForms(m.Resource, f), nil) >= 0.6 {
				return comment(c.Name + " refers to " + k.Table + ", which is no " + f.Reference + " here")
			}
		}
	}
	return map[bool]string{true: "nothing", false: "no column"}[d.http != nil] + " was found for it"
}

// writeConstants says what new records have in columns that must have a value and are no
// field: what most rows have.
func (d *drafter) writeConstants(b *strings.Builder, m *match) {
	if m.readOnly(d) || m.only != "" && !strings.Contains(m.only, "create") || d.creatorOf(m, d.keyOf(m)) != nil {
		return
	}
	var all, columns []string
	for _, c := range d.unused(m) {
		if c.Nullable || c.Default != "" || c.kept || d.ofKey(m.table, c) || c.sort == sortBytes || c.sort == sortOther {
			continue
		}
		if v, ok := c.usual(); ok {
			all, columns = append(all, scalar(c.Name, false)+": "+quoted(v)), append(columns, c.Name)
		}
	}
	if len(all) > 0 {
		fmt.Fprintf(b, "    constants: {%s}%s\n", strings.Join(all, ", "), d.remark("they must have a value, and most rows have these", []string{"is it right of new ones?"}))
	}
	for _, name := range columns {
		m.table.column(name).used = "constants"
	}
}

// usual is the value of a column of few that most rows have.
func (c *column) usual() (value string, ok bool) {
	counts := map[string]int{}
	for _, v := range c.values {
		counts[v]++
	}
	for v, n := range counts {
		if 2*n > len(c.values) && len(v) <= 20 && (len(c.few) > 0 || len(counts) == 1) {
			return v, true
		}
	}
	return "", false
}
