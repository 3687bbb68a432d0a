package draft

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// key says what identifies a record, and what gives the next one's.
type key struct {
	columns   []string
	kept      bool // where it does not follow from the number of columns
	generated string
	why       string
	doubt     string
	// ignoresCase tells that keys which differ in case alone are one.
	ignoresCase bool
}

func (d *drafter) keyOf(m *match) key {
	t := m.table
	k := key{columns: slices.Clone(t.Primary), why: "primary key"}
	if len(k.columns) == 0 {
		k.doubt = "which columns identify a record?"
		k.why = "no primary key"
		for _, i := range t.Indexes {
			if i.Unique {
				k.columns, k.why = slices.Clone(i.Columns), "unique index "+i.Name
				break
			}
		}
		if len(k.columns) == 0 && len(t.columns) > 0 {
			k.columns = []string{t.columns[0].Name}
		}
	}
	last := t.column(k.columns[len(k.columns)-1])
	if len(k.columns) == 2 && k.columns[0] == d.client && last.sort == sortInteger {
		k.columns = k.columns[1:] // a client's numbers are IDs as they are
	}
	switch {
	case m.readOnly(d):
	case last.Generated:
		k.generated = "identity"
	case len(k.columns) > 1 && refers(t, last): // as the article of an order's line
		d.supplied(m, &k)
	case last.sort == sortInteger:
		k.generated = "max+1"
		if d.counted() {
			k.doubt = "is the next number given out by a procedure?"
		}
	case slices.ContainsFunc(last.values, guid.MatchString), last.Type == "uuid":
		k.generated = "uuid"
	default:
		k.generated = "supplied"
		d.supplied(m, &k)
	}
	k.kept = len(k.columns) == 1 && last.sort != sortInteger
	_, counts := t.CaseOf(k.columns)
	k.ignoresCase = !counts && (k.kept || len(k.columns) > 1)
	return k
}

// supplied has clients give the key of a new record.
func (d *drafter) supplied(m *match, k *key) {
	k.generated = "supplied"
	for _, name := range k.columns {
		x := m.uses(m.table.column(name))
		if name == d.client || x != nil && !x.Readonly && (x.Required || refers(m.table, x.column)) {
			continue
		}
		k.doubt = "what gives " + name + " of a new record?"
	}
}

var guid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// counts tells whether it is a table of last numbers.
func (t *table) counts() bool { return !t.View && hasIdea(t.parts, "counter") }

// counted tells whether there is a table of last numbers.
func (d *drafter) counted() bool {
	return slices.ContainsFunc(d.tables, (*table).counts)
}

// versionOf is the column that counts every change.
func (d *drafter) versionOf(m *match) *column {
	for _, c := range m.table.columns {
		// One that no trigger counts up is the business of the vendor's programs.
		if c.kept && c.sort == sortInteger && !c.Nullable && m.uses(c) == nil && c.has("changed", "version") &&
			(c.has("number") || len(c.parts) == 1 || c.parts[0].text == "row") {
			return c
		}
	}
	return nil
}

// uses returns the field that a column was found for.
func (m *match) uses(c *column) *found {
	for _, x := range m.fields {
		if x.column == c {
			return x
		}
	}
	return nil
}

// deletion is how records are marked as deleted.
type deletion struct {
	column *column
	set    string // the sheet's value
	where  string
}

// deletionOf finds a column that says deleted: by yes and no, or by a date.
func (d *drafter) deletionOf(m *match) *deletion {
	for _, ideas := range [][]string{{"deleted"}, {"left"}} {
		for _, c := range m.table.columns {
			if likeness(c.parts, ideas, nil) < 0.5 || m.uses(c) != nil || c.has("time") && !c.has("date") {
				continue
			}
			name := d.quote(c.Name)
			if flag := d.yesNo(c); flag != nil && c.sort == sortBoolean && !c.always(flag[0].from) {
				return &deletion{c, "true", name + " <> TRUE"}
			}
			if flag := d.yesNo(c); flag != nil && !c.always(flag[0].from) {
				return &deletion{c, scalar(flag[0].from, c.sort == sortInteger), name + " <> " + d.sqlLiteral(flag[0].from, c)}
			}
			format := dateFormat(c)
			switch {
			case format.name != "":
				return &deletion{c, "{now: " + format.name + "}", name + " = '" + format.zero + "'"}
			case c.dates() && c.Nullable:
				return &deletion{c, "{now: iso8601}", name + " IS NULL"}
			}
		}
	}
	return nil
}

// always tells whether every row that was sampled has a value.
func (c *column) always(value string) bool {
	rows := 0
	for _, other := range c.of.columns {
		rows = max(rows, len(other.values))
	}
	return rows > 0 && len(c.values) == rows && !slices.ContainsFunc(c.values, func(v string) bool { return v != value })
}

func (d *drafter) sqlLiteral(text string, c *column) string {
	if c.sort == sortInteger || c.sort == sortBoolean && d.source.Engine != "postgres" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// quote puts a name in quotes in SQL where it needs them.
func (d *drafter) quote(name string) string {
	if plainName.MatchString(name) && (d.source.Engine != "postgres" || strings.ToLower(name) == name) {
		return name
	}
	switch d.source.Engine {
	case "mysql", "mariadb":
		return "`" + name + "`"
	}
	return `"` + name + `"`
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// viewOf is a view with nearly all columns of a table, its key among them,
// which the system's own programs read in place of it.
func (d *drafter) viewOf(m *match) *table {
	for _, t := range d.tables {
		if !t.View {
			continue
		}
		has, lacks := 0, 0
		for _, c := range m.table.columns {
			switch {
			case t.column(c.Name) != nil:
				has++
			case d.ofKey(m.table, c) || m.uses(c) != nil:
				has = -1000
			default:
				lacks++
			}
		}
		if has > 3 && lacks <= 2 {
			return t
		}
	}
	return nil
}

// states are the fields of a record's state that one status column tells.
func (d *drafter) states(m *match) []*mapped {
	for _, c := range m.table.columns {
		if !c.has("status") || c.few == nil || c.sort != sortText {
			continue
		}
		if x := m.uses(c); x != nil && !x.IsState() {
			continue
		}
		list, _ := d.codesFor(c, strings.Fields("active blocked archived"))
		of := map[string]string{}
		for _, k := range list {
			of[k.to] = k.from
		}
		var out []*mapped
		if of["blocked"] != "" {
			f := &mapped{name: "is_blocked", why: "name, values"}
			f.set("from", c.Name)
			f.set("codes", codeList(only(c.few, of["blocked"]), false))
			trim(c, f)
			out = append(out, f)
		}
		if of["archived"] != "" && (d.http == nil || of["blocked"] == "") {
			f := &mapped{name: "is_archived", why: "name, values"}
			f.set("sql", quoted("CASE WHEN "+d.quote(c.Name)+" = "+d.sqlLiteral(of["archived"], c)+" THEN 1 ELSE 0 END"))
			if of["blocked"] == "" {
				f.settings = []setting{{"from", c.Name}, {"codes", codeList(only(c.few, of["archived"]), false)}}
			}
			out = append(out, f)
		}
		return out
	}
	return nil
}

// only is a flag that one of few values says.
func only(few []string, is string) (codes []code) {
	for _, v := range few {
		codes = append(codes, code{v, map[bool]string{true: "1", false: "0"}[v == is]})
	}
	return codes
}

// derived are fields that the database can compute.
func (d *drafter) derived(m *match) []*mapped {
	var out []*mapped
	content := m.fields["content"]
	if f := m.Field("sha256"); f != nil && d.http == nil && m.fields["sha256"] == nil && content != nil && content.column.sort == sortBytes {
		name := d.quote(content.column.Name)
		text := map[string]string{
			"mysql": "LOWER(SHA2(" + name + ", 256))", "mariadb": "LOWER(SHA2(" + name + ", 256))", "postgres": "encode(sha256(" + name + "), 'hex')",
		}[d.source.Engine]
		if text == "" {
			out = append(out, &mapped{name: "sha256", why: d.source.Engine + " computes none", settings: []setting{{"constant", "null"}}})
		} else {
			out = append(out, &mapped{name: "sha256", why: "computed of the content", settings: []setting{{"sql", quoted(text)}}})
		}
	}
	for _, f := range mapping.Each(m.Fields) {
		if f.Type == mapping.Array && d.matches[f.ArrayOf] != nil {
			of := &mapped{name: f.Name, why: "records of " + f.ArrayOf}
			if d.http != nil {
				if of.why = "lists of objects within the answers"; len(m.table.lists) == 0 {
					if d.matches[f.ArrayOf].fields[f.ArrayKey] == nil {
						continue
					}
					of.why = "records of " + f.ArrayOf + ", each sent by itself"
					of.set("readonly", "true")
				} else {
					of.set("children", scalar(m.table.lists[0], false))
				}
				if len(m.table.lists) > 1 {
					of.doubt("or " + strings.Join(m.table.lists[1:], ", ") + "?")
				}
			}
			out = append(out, of)
		}
	}
	return out
}
