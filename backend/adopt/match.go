package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// match is a resource with the table of the same name.
type match struct {
	*mapping.Resource
	table  *table
	fields map[string]*mapped
	closed bool // the client of records is not known, so nobody sees them
	client string
	parent string // the field whose record has the client

	// Fields and writes with which the draft would not load.
	refused   map[string]string
	unwritten string
}

// setting is a key of the sheet.
type setting struct{ key, value string }

// mapped is a field as the sheet says it.
type mapped struct {
	from     []string
	settings []setting
	doubt    string // why it is a comment; "" for a field that is certain
	note     string
}

// called is the table with the name of a resource; nil for none.
func (d *drafter) called(r *mapping.Resource) *table {
	for _, views := range []bool{false, true} {
		for _, t := range d.tables {
			if t.view == views && folded(strings.TrimPrefix(t.name, d.prefix())) == folded(r.Name) {
				return t
			}
		}
	}
	return nil
}

// prefix is what the names of all tables begin with, up to the first _: ip_ of ip_orders.
func (d *drafter) prefix() string {
	if len(d.tables) < 2 {
		return ""
	}
	first, _, is := strings.Cut(d.tables[0].name, "_")
	if !is || slices.ContainsFunc(d.tables, func(t *table) bool { return !strings.HasPrefix(t.name, first+"_") }) {
		return ""
	}
	return first + "_"
}

// calledAs is the column with the name of a field; nil for none.
func (t *table) calledAs(f *mapping.Field) *column {
	for _, c := range t.columns {
		if folded(c.name) == folded(f.Name) {
			return c
		}
	}
	return nil
}

// called is the column with one of these folded names; "" for none.
func (t *table) called(names ...string) string {
	for _, c := range t.columns {
		if slices.Contains(names, folded(c.name)) {
			return c.name
		}
	}
	return ""
}

// matchTables gives each resource the table of the same name, and each field its column.
func (d *drafter) matchTables() {
	for _, r := range d.model.Resources {
		if t := d.called(r); t != nil && len(t.primary) > 0 {
			d.matches[r.Name] = &match{Resource: r, table: t, refused: map[string]string{}}
		}
	}
	for _, m := range d.matches {
		m.fields = map[string]*mapped{}
		for i := range m.Fields {
			f := &m.Fields[i]
			if f.Primary || f.Type == mapping.Array {
				continue
			}
			if of := d.mapField(m, f); of != nil {
				m.fields[f.Name] = of
			}
		}
	}
}

// mapField maps a field to its column; nil if there is none.
func (d *drafter) mapField(m *match, f *mapping.Field) *mapped {
	if f.Reference != "" {
		return d.mapReference(m, f)
	}
	c := m.table.calledAs(f)
	if c == nil {
		return nil
	}
	out := &mapped{from: []string{c.name}}
	d.convert(f, c, out)
	if len(f.OneOf) > 0 {
		out.judgeWords(f, c)
	}
	switch {
	case c.generated || f.Readonly && !written(f):
		out.set("readonly", "true")
	case slices.Contains(m.table.primary, c.name) && f.Numbering == "":
		out.set("immutable", "true")
	}
	return out
}

func (m *mapped) set(key, value string) { m.settings = append(m.settings, setting{key, value}) }

// written reports whether a field is a readonly one that frontdesk itself writes: the state of publishing,
// and what follows from a document's content.
func written(f *mapping.Field) bool {
	return slices.Contains([]string{"publish_status", "published_at", "size", "sha256"}, f.Name)
}

// convert chooses the conversion of a value by the types on both sides. A database converts by itself;
// for a service, days, flags and numbers that are texts to clients need a conversion.
func (d *drafter) convert(f *mapping.Field, c *column, out *mapped) {
	moment := c.sort == "date" || c.sort == "datetime" || c.sort == "timestamp"
	number := c.sort == "integer" || c.sort == "decimal"
	switch {
	case f.Type == mapping.Timestamp && moment:
		if d.ofService && c.sort == "date" || !d.ofService && d.dialect.FlexibleTypes {
			out.set("type", c.sort)
		}
	case f.Type == mapping.Bytea && c.sort == "bytes", f.Type == mapping.Int4 && c.sort == "integer", f.Type == mapping.Float8 && number:
	case f.Type == mapping.Int4 && c.sort == "boolean" && slices.Equal(f.OneOf, []string{"0", "1"}):
		if d.ofService {
			out.set("codes", "{true: 1, false: 0}")
		}
	case f.IsText() && c.sort == "text":
		if c.length > 0 && c.length < f.Length && !f.Readonly {
			out.set("length", fmt.Sprint(c.length))
		}
	case f.IsText() && number:
		if d.ofService && !f.Readonly && !c.generated {
			out.set("write", `"if . == null then null else tonumber end"`)
		}
	default:
		out.doubt = fmt.Sprintf("%s is %s, and the interface has %s: how is it converted?", c.name, kindOf(c), f.Type)
	}
	if f.Type == mapping.Float8 && c.sort == "integer" {
		how := fmt.Sprintf("{read: %s / 100.0, write: {%[1]s: \"ROUND(:value * 100)\"}, ordered: true}", c.name)
		if d.ofService {
			how = fmt.Sprintf("{path: %s, read: .%[1]s / 100, write: . * 100}", c.name)
		}
		out.note = "TODO is it in whole units, or in hundredths: " + how + "?"
	}
}

func kindOf(c *column) string {
	if c.sort == "" {
		return "of a type that sheets have no word for"
	}
	return c.sort
}

// judgeWords makes a field uncertain if its column has values that the interface does not know.
func (m *mapped) judgeWords(f *mapping.Field, c *column) {
	if c.sort == "boolean" {
		return
	}
	all, others := c.filled+len(c.words), c.filled
	for value, rows := range c.values {
		if slices.Contains(f.OneOf, strings.Trim(value, " ")) {
			others -= rows
		}
	}
	for _, word := range c.words {
		if !slices.Contains(f.OneOf, word) {
			others++
		}
	}
	switch {
	case others > 0:
		m.doubt = fmt.Sprintf("%d of its %d values are none of %s: which codes stand for them?", others, all, strings.Join(f.OneOf, ", "))
	case all == 0 && c.sort != "integer":
		m.doubt = "its values are not known: which codes stand for " + strings.Join(f.OneOf, ", ") + "?"
	}
}

// mapReference maps a reference by its foreign key, or by its name if the column has no key.
func (d *drafter) mapReference(m *match, f *mapping.Field) *mapped {
	to := d.matches[f.Reference]
	named := m.table.calledAs(f)
	var keys [][]string
	for _, k := range m.table.foreign {
		leads := to != nil && folded(k.Table) == folded(to.table.name)
		if named != nil && slices.Contains(k.Columns, named.name) {
			if leads && slices.Equal(k.References, to.table.primary) {
				return &mapped{from: k.Columns, note: "foreign key to " + k.Table}
			}
			return &mapped{from: k.Columns, doubt: named.name + " refers to " + k.Table + ", which is no " + f.Reference + " here"}
		}
		if leads && slices.Equal(k.References, to.table.primary) {
			keys = append(keys, k.Columns)
		}
	}
	switch {
	case named != nil && (to == nil || len(to.table.primary) != 1):
		return &mapped{from: []string{named.name}, doubt: "no " + f.Reference + " was found that it could refer to"}
	case named != nil:
		return &mapped{from: []string{named.name}}
	case len(keys) == 1 && m.refersOnce(f.Reference):
		return &mapped{from: keys[0], note: "the only foreign key to " + to.table.name}
	case len(keys) > 0:
		return &mapped{from: keys[0], doubt: fmt.Sprintf("%d foreign keys lead to %s: which is it?", len(keys), to.table.name)}
	}
	return nil
}

// refersOnce reports whether exactly one field refers to a resource.
func (m *match) refersOnce(to string) bool {
	n := 0
	for _, f := range mapping.Each(m.Fields) {
		if f.Reference == to {
			n++
		}
	}
	return n == 1
}

// findClients finds the client of records: a column named client or client_id, or a required reference to
// a record that has a client. All other resources are closed.
func (d *drafter) findClients() {
	for _, m := range d.matches {
		m.client = m.table.called("client", "clientid")
		m.closed = m.client == ""
	}
	for range d.matches { // as far as references lead
		for _, name := range slices.Sorted(maps.Keys(d.matches)) {
			if m := d.matches[name]; m.closed && m.refused["client"] == "" {
				m.parent = d.parentOf(m)
				m.closed = m.parent == ""
			}
		}
	}
}

// parentOf is a required reference to a record whose client is known; "" for none.
func (d *drafter) parentOf(m *match) string {
	for _, f := range mapping.Each(m.Fields) {
		of, to := m.fields[f.Name], d.matches[f.Reference]
		if f.Required && of != nil && of.doubt == "" && m.refused[f.Name] == "" && to != nil && to != m && !to.closed {
			return f.Name
		}
	}
	return ""
}
