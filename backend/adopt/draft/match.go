package draft

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
)

// match is a resource with the table that it was found in.
type match struct {
	*mapping.Resource
	table  *table
	score  float64
	why    string
	doubt  []string
	fields map[string]*found

	said map[string]*mapped // as the sheet says them
	// What the draft does not load with: fields as they would have been, and operations.
	refused map[string]string
	nobodys bool // it is not known whose the rows are, and so nobody sees them
	only    string
	onlyWhy string

	endpoint *endpoint // of a service
	// What a service is not asked by, since the draft would not load: fields, more of them
	// than equality, and orders.
	unasked, unranged, unsorted map[string]bool
}

// found is a field with the column that it was found in.
type found struct {
	*mapping.Field
	column *column
	score  float64
	why    string
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
		strong, _, _ := strings.Cut(resourceNames[r.Name], "|")
		named := forms(d.words, r.Name, strong)
		for _, t := range d.tables {
			if t.View {
				continue
			}
			name := bestForm(t.parts, named, nil)
			if name < 0.55 {
				continue
			}
			if whole := d.wholeOf(r); name < 0.8 && whole != nil && bestForm(t.parts, forms(d.words, whole.Name, resourceNames[whole.Name]), nil) > 0.95 {
				continue // it is called just as what these are parts of
			}
			m := &match{Resource: r, table: t}
			d.matchColumns(m, nil)
			if fields, lacking := m.found(); fields > 0 && (name >= 0.8 || !lacking) {
				all = append(all, candidate{r, t, 0.6*name + 0.4*fields})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	taken := map[*table]bool{}
	for _, c := range all {
		if d.matches[c.r.Name] != nil || taken[c.t] || c.score < 0.45 {
			continue
		}
		taken[c.t] = true
		d.matches[c.r.Name] = d.matchOf(c.r, c.t, c.score)
	}
	d.matchReferred(taken)
	for _, m := range d.matches {
		d.matchColumns(m, d.matches)
		m.why, m.doubt = d.seenOf(m)
	}
}

// wholeOf is the resource that lists of another ask for one of, since its records are parts of
// those; nil for none.
func (d *drafter) wholeOf(part *mapping.Resource) *mapping.Resource {
	for _, name := range part.ListRequires {
		if whole := d.model.Resource(part.Field(name).Reference); whole != nil {
			return whole
		}
	}
	return nil
}

func (d *drafter) matchOf(r *mapping.Resource, t *table, score float64) *match {
	return &match{Resource: r, table: t, score: score, refused: map[string]string{}, endpoint: d.endpointOf(t),
		unasked: map[string]bool{}, unranged: map[string]bool{}, unsorted: map[string]bool{}}
}

// matchReferred gives a resource without a table one that the records of another refer to by
// a foreign key, and whose name alone would not tell: groups, where articles are of one.
func (d *drafter) matchReferred(taken map[*table]bool) {
	for _, name := range slices.Sorted(maps.Keys(d.matches)) {
		m := d.matches[name]
		for _, f := range mapping.Each(m.Fields) {
			to := d.model.Resource(f.Reference)
			_, weak, _ := strings.Cut(resourceNames[f.Reference], "|")
			if to == nil || d.matches[to.Name] != nil || weak == "" {
				continue
			}
			for _, k := range m.table.Foreign {
				t := d.table(k.Table)
				if t == nil || taken[t] || t.View || bestForm(t.parts, forms(d.words, "", weak), nil) < 0.9 {
					continue
				}
				taken[t] = true
				d.matches[to.Name] = d.matchOf(to, t, 0.5)
				break
			}
		}
	}
}

// found is how many of the fields were found, from 0 to 1, those that are required twice as
// heavy, and whether most of these are lacking.
func (m *match) found() (share float64, lacking bool) {
	of, sum, needed := 0.0, 0.0, 0
	for _, f := range mapping.Each(m.Fields) {
		if !own(m.Resource, f) || f.Type == mapping.Array {
			continue
		}
		w := 0.5
		x := m.fields[f.Name]
		if f.Required {
			w = 1
			needed += map[bool]int{true: 1, false: -1}[x == nil]
		}
		if of += w; x != nil {
			sum += w * x.score
		}
	}
	return sum / math.Max(1, of), needed > 0
}

// matchColumns gives every field the column that is most like it. References
// are found by foreign keys where the resources' tables are known.
func (d *drafter) matchColumns(m *match, known map[string]*match) {
	m.fields = map[string]*found{}
	context := m.context(d)
	var all []found
	for _, f := range mapping.Each(m.Fields) {
		if f.Primary || f.Type == mapping.Array || f.Name == "is_system" {
			continue
		}
		for _, c := range m.table.columns {
			x := d.compare(m, f, c, context, known)
			x.score *= 1 - 0.03*float64(strings.Count(c.Name, ".")) // what is deep within an answer is often another's
			if m.table.sampled > 0 && len(c.values) == 0 && c.sort != sortBytes {
				x.score *= 0.95 // one that nobody uses
			}
			if x.score > 0.5 {
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
		used[x.column] = true
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
	if m.endpoint != nil && len(last.parts) == 1 && last.has("id") {
		return // which no person knows it by
	}
	for _, f := range mapping.Each(m.Fields) {
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
	if m.Name == "contact" {
		ideas = append(ideas, "customer") // whatever the table is called
	}
	return ideas
}

// ofKey tells whether a column is part of a table's primary key.
func (d *drafter) ofKey(t *table, c *column) bool { return slices.Contains(t.Primary, c.Name) }

// compare judges how well a column fits a field.
func (d *drafter) compare(m *match, f *mapping.Field, c *column, context []string, known map[string]*match) found {
	x := found{Field: f, column: c}
	if c.Name == d.client || c.sort == sortOther {
		return x
	}
	if f.Reference != "" {
		return d.compareReference(m, x, known)
	}
	x.score = bestForm(c.parts, d.fieldForms(m.Resource, f), context) * d.fits(f, c)
	if f.Unique && d.unique(c) {
		if f.Name == "number" && c.has("reference") && len(c.parts) == 1 {
			x.score = max(x.score, 0.95) // ref, by which people know it
		}
		x.score, x.why = min(1, x.score*1.08), "unique"
	}
	x.score *= c.speaksFor(f, m.client(d) == nil)
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

// speaksFor tells by the values of a column whether it may be a field: what several records
// share identifies none of them, unless they are of several clients, and an address for mail
// has an @.
func (c *column) speaksFor(f *mapping.Field, alone bool) float64 {
	set := slices.DeleteFunc(slices.Clone(c.values), func(v string) bool { return v == "" })
	switch {
	case len(set) == 0:
		return 1
	case f.Name == "email" && !slices.ContainsFunc(set, func(v string) bool { return strings.Contains(v, "@") }):
		return 0
	case alone && f.Unique && f.Name == "number" && len(slices.Compact(slices.Sorted(slices.Values(set)))) < len(set):
		return 0
	}
	return 1
}

// refers tells whether a column is the last of a foreign key.
func refers(t *table, c *column) bool {
	return slices.ContainsFunc(t.Foreign, func(f legacy.ForeignKey) bool { return f.Columns[len(f.Columns)-1] == c.Name })
}

// compareReference goes by foreign keys, and by names where there are none: a column that
// refers to another table than the resource's is not the reference, whatever it is called.
func (d *drafter) compareReference(m *match, x found, known map[string]*match) found {
	f, c := x.Field, x.column
	x.score = bestForm(c.parts, d.fieldForms(m.Resource, f), nil)
	for _, form := range forms(d.words, f.Reference, resourceNames[f.Reference]) {
		for _, suffix := range []string{"number", "id", "code"} {
			x.score = max(x.score, likeness(c.parts, append(slices.Clone(form), suffix), nil), 0.9*likeness(c.parts, form, nil))
		}
	}
	target := known[f.Reference]
	elsewhere := false
	for _, k := range m.table.Foreign {
		switch {
		case k.Columns[len(k.Columns)-1] != c.Name:
		case target != nil && d.table(k.Table) == target.table:
			x.score, x.why = 0.8+0.2*x.score, "foreign key to "+k.Table
			if slices.Contains(m.table.undeclared, c.Name) {
				x.why = "its values are ids of " + k.Table
			}
			return x
		default:
			elsewhere = true
		}
	}
	alone := len(m.table.Primary) == 1 && m.table.Primary[0] == c.Name
	if alone || target != nil && (elsewhere || !target.hasKeyOf(c)) {
		x.score = 0
	}
	x.score *= 0.8
	return x
}

// hasKeyOf tells whether a column may hold the key of a resource's table.
func (m *match) hasKeyOf(c *column) bool {
	if len(m.table.Primary) == 0 {
		return true
	}
	last := m.table.column(m.table.Primary[len(m.table.Primary)-1])
	return last.sort == c.sort || last.sort == sortDecimal || c.sort == sortDecimal || len(c.values) == 0 && len(last.values) == 0
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
		if c.sort == sortInteger || c.sort == sortDecimal || c.sort == sortText && len(c.values) > 0 && all(c.values, isDecimal) {
			return 1
		}
		return 0.3
	case c.sort == sortText:
		return 1
	case c.sort == sortBoolean, c.sort == sortInteger && len(c.few) > 0 && d.yesNo(c) != nil:
		return 0.4 // yes or no, and no name or number
	default:
		return 0.85
	}
}

// isDecimal tells of digits with a point or a comma among them.
func isDecimal(s string) bool {
	return s == "" || isNumeral(strings.TrimPrefix(strings.Replace(strings.Replace(s, ",", "", 1), ".", "", 1), "-")) && strings.ContainsAny(s, ",.")
}

func all(values []string, is func(string) bool) bool {
	return !slices.ContainsFunc(values, func(s string) bool { return !is(s) })
}
