package mapdraft

import (
	"cmp"
	"math"
	"slices"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
)

// match is a resource with the table that it was found in.
type match struct {
	*mapping.Resource
	table  *table
	score  float64
	fields map[string]*found
}

// found is a field with the column that it was found in.
type found struct {
	*mapping.Field
	column *column
	score  float64
	why    string
}

// findClient finds the column that tells whose rows they are: one that most
// tables have by the same name and that refers to a table of administrations,
// or is called so.
func (d *drafter) findClient() {
	count, called := map[string]int{}, map[string]float64{}
	tables := 0
	for _, t := range d.tables {
		if t.View {
			continue
		}
		tables++
		for _, c := range t.columns {
			count[c.Name]++
			if c.has(branchNames) {
				called[c.Name] = max(called[c.Name], 0.5)
			}
		}
		for _, f := range t.Foreign {
			to := d.table(f.Table)
			if len(f.Columns) == 1 && to != nil && likeness(to.parts, []string{branchNames}, nil) >= 0.6 {
				called[f.Columns[0]] = 1
			}
		}
	}
	best := 0.0
	for name, n := range count {
		share := float64(n) / float64(max(1, tables))
		if score := share * called[name]; called[name] > 0 && share >= 0.3 && score > best {
			best, d.client, d.clientScore = score, name, min(1, 0.4+share*called[name]*0.6)
		}
	}
}

func (d *drafter) table(name string) *table {
	for _, t := range d.tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// bestForm is how like a name is to that form which it is most like.
func bestForm(name []part, forms [][]string, context []string) (best float64) {
	for _, form := range forms {
		best = max(best, likeness(name, form, context))
	}
	return best
}

// matchTables gives every resource the table that is most like it, by name and
// by how many of its fields are found there.
func (d *drafter) matchTables() {
	type candidate struct {
		r     *mapping.Resource
		t     *table
		score float64
	}
	var all []candidate
	for _, r := range d.model.Resources {
		named := forms(d.words, r.Name, resourceNames[r.Name])
		for _, t := range d.tables {
			if t.View {
				continue
			}
			name := bestForm(t.parts, named, nil)
			if name < 0.55 {
				continue
			}
			m := &match{Resource: r, table: t}
			d.matchColumns(m, nil)
			of, sum := 0.0, 0.0
			for i := range r.Fields {
				if f := &r.Fields[i]; own(r, f) && f.Type != mapping.Array {
					w := 0.5
					if f.Required {
						w = 1
					}
					of += w
					if x := m.fields[f.Name]; x != nil {
						sum += w * x.score
					}
				}
			}
			all = append(all, candidate{r, t, 0.6*name + 0.4*sum/math.Max(1, of)})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	taken := map[*table]bool{}
	for _, c := range all {
		if d.matches[c.r.Name] != nil || taken[c.t] || c.score < 0.45 {
			continue
		}
		taken[c.t] = true
		d.matches[c.r.Name] = &match{Resource: c.r, table: c.t, score: c.score}
	}
	for _, m := range d.matches {
		d.matchColumns(m, d.matches)
	}
}

// matchColumns gives every field the column that is most like it. References
// are found by foreign keys where the resources' tables are known.
func (d *drafter) matchColumns(m *match, known map[string]*match) {
	m.fields = map[string]*found{}
	context := m.context(d)
	var all []found
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Primary || f.Type == mapping.Array || f.Name == "is_system" {
			continue
		}
		for _, c := range m.table.columns {
			if x := d.compare(m, f, c, context, known); x.score >= 0.5 {
				all = append(all, x)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	used := map[*column]bool{}
	for _, x := range all {
		if m.fields[x.Name] != nil || used[x.column] {
			continue
		}
		if !d.ofKey(m.table, x.column) || x.Reference != "" {
			used[x.column] = true
		}
		m.fields[x.Name] = &x
	}
	d.matchNaturalKey(m, used)
}

// matchNaturalKey gives a code or number that nothing was like the last column
// of a natural key, by which people know the records.
func (d *drafter) matchNaturalKey(m *match, used map[*column]bool) {
	if len(m.table.Primary) == 0 {
		return
	}
	last := m.table.column(m.table.Primary[len(m.table.Primary)-1])
	for i := range m.Fields {
		f := &m.Fields[i]
		if (f.Name == "code" || f.Name == "number") && f.Unique && m.fields[f.Name] == nil && last.sort == sortText && !used[last] && !refers(m.table, last) {
			m.fields[f.Name] = &found{Field: f, column: last, score: 0.7, why: "natural key"}
		}
	}
}

// context are the ideas that the table is about.
func (m *match) context(d *drafter) []string {
	var ideas []string
	for _, p := range m.table.parts {
		ideas = append(ideas, p.ideas...)
	}
	if own := ideasOf(d.words.split(m.Name)); own != nil {
		ideas = append(ideas, own...)
	}
	return ideas
}

// ofKey tells whether a column is part of a table's primary key.
func (d *drafter) ofKey(t *table, c *column) bool { return slices.Contains(t.Primary, c.Name) }

// compare judges how well a column fits a field.
func (d *drafter) compare(m *match, f *mapping.Field, c *column, context []string, known map[string]*match) found {
	x := found{Field: f, column: c, why: "name"}
	if c.Name == d.client || c.sort == sortOther {
		return x
	}
	if f.Reference != "" {
		return d.compareReference(m, x, known)
	}
	x.score = bestForm(c.parts, d.fieldForms(m.Resource, f), context)
	fit := d.fits(f, c)
	x.score *= fit
	switch {
	case fit == 1 && f.Type != mapping.Varchar && f.Type != mapping.Text:
		x.why = "name, type"
	case f.Unique && d.unique(c):
		x.score, x.why = min(1, x.score*1.08), "name, unique"
	}
	if f.Type == mapping.Varchar && c.Length > 0 && c.Length == f.Length {
		x.score = min(1, x.score*1.02)
	}
	if d.ofKey(m.table, c) && f.Numbering == "" {
		x.score *= 0.8
	}
	if refers(m.table, c) && f.ReferenceBy == "" && f.Numbering == "" && len(f.OneOf) == 0 && f.Name != "code" {
		x.score *= 0.6 // it holds the key of another table
	}
	return x
}

// refers tells whether a column is the last of a foreign key.
func refers(t *table, c *column) bool {
	return slices.ContainsFunc(t.Foreign, func(f legacy.ForeignKey) bool { return f.Columns[len(f.Columns)-1] == c.Name })
}

// compareReference goes by foreign keys, and by names where there are none.
func (d *drafter) compareReference(m *match, x found, known map[string]*match) found {
	f, c := x.Field, x.column
	x.score = bestForm(c.parts, d.fieldForms(m.Resource, f), nil)
	for _, form := range forms(d.words, f.Reference, resourceNames[f.Reference]) {
		for _, suffix := range []string{"number", "id", "code"} {
			x.score = max(x.score, likeness(c.parts, append(slices.Clone(form), suffix), nil), 0.9*likeness(c.parts, form, nil))
		}
	}
	target := known[f.Reference]
	if target == nil {
		x.score *= 0.8
		return x
	}
	for _, k := range m.table.Foreign {
		if d.table(k.Table) == target.table && k.Columns[len(k.Columns)-1] == c.Name {
			x.score, x.why = 0.8+0.2*x.score, "foreign key "+k.Name
			return x
		}
	}
	x.score *= 0.8
	return x
}

// dates tells whether the engine itself keeps moments in the column.
func (c *column) dates() bool {
	return c.sort == sortDate || c.sort == sortDatetime || c.sort == sortTimestamp
}

// fits tells how well the type of a column suits a field: 1 well, 0 not at all.
func (d *drafter) fits(f *mapping.Field, c *column) float64 {
	flag := slices.Equal(f.OneOf, []string{"0", "1"})
	switch {
	case c.sort == sortBytes || f.Type == mapping.Bytea:
		if c.sort == sortBytes && f.Type == mapping.Bytea {
			return 1
		}
		return 0
	case f.Type == mapping.Timestamp:
		if c.dates() || dateFormat(c).name != "" {
			return 1
		}
		return 0
	case c.dates():
		return 0
	case flag:
		switch {
		case d.yesNo(c) != nil, c.sort == sortBoolean:
			return 1
		case len(c.few) > 0 && c.has("status"):
			return 1
		}
		return 0.3
	case len(f.OneOf) > 0:
		if c.few == nil && len(c.values) > 0 {
			return 0.4
		}
		return 1
	case f.Type == mapping.Int4:
		if c.sort == sortInteger || c.sort == sortDecimal && c.Scale == 0 {
			return 1
		}
		if c.sort == sortText && all(c.values, isNumeral) {
			return 0.8
		}
		return 0.2
	case f.Type == mapping.Float8:
		if c.sort == sortInteger || c.sort == sortDecimal {
			return 1
		}
		return 0.3
	default:
		if c.sort == sortText {
			return 1
		}
		return 0.85
	}
}

func all(values []string, is func(string) bool) bool {
	return !slices.ContainsFunc(values, func(s string) bool { return !is(s) })
}
