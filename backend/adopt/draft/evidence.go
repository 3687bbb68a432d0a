package draft

import (
	"fmt"
	"slices"
	"strings"
)

// rows words how many rows of a table were looked at.
func (t *table) rows() string {
	switch {
	case t.sampled >= sampled:
		return fmt.Sprintf("%d+ rows", sampled)
	case t.sampled == 1:
		return "1 row"
	}
	return fmt.Sprintf("%d rows", t.sampled)
}

// understood are the words that a name was read as, unless it says them itself.
func understood(parts []part, as [][]string) string {
	var ideas []string
	same := true
	for _, p := range parts {
		if len(p.ideas) == 0 {
			continue
		}
		idea := p.ideas[0]
		for _, form := range as {
			for _, wanted := range p.ideas {
				if slices.Contains(form, wanted) {
					idea = wanted
				}
			}
		}
		same = same && p.text == idea
		ideas = append(ideas, idea)
	}
	if len(ideas) == 0 || same {
		return "name"
	}
	return "name (" + strings.Join(ideas, " ") + ")"
}

// seenOf is what speaks for a table: its name, its columns and its rows. One that lacks most
// of what the resource needs is doubtful.
func (d *drafter) seenOf(m *match) (why string, doubt []string) {
	of, found := 0, 0
	for i := range m.Fields {
		if f := &m.Fields[i]; own(m.Resource, f) {
			of++
			if m.fields[f.Name] != nil {
				found++
			}
		}
	}
	if _, lacking := m.found(); lacking {
		doubt = []string{"is it this one? Most of what is required is not there"}
	}
	return fmt.Sprintf("%s, %d of %d fields, %s", understood(m.table.parts, forms(d.words, m.Name, resourceNames[m.Name])), found, of, m.table.rows()), doubt
}

// seen is what speaks for a column: foreign keys first, then what it is called and what is
// in it.
func (d *drafter) seen(m *match, x *found) string {
	var all []string
	if x.why != "" {
		all = append(all, x.why)
	}
	if !strings.HasPrefix(x.why, "foreign key") && !strings.HasPrefix(x.why, "its values") && x.why != "natural key" {
		all = append([]string{understood(x.column.parts, d.fieldForms(m.Resource, x.Field))}, all...)
	}
	switch n := len(x.column.values); {
	case m.table.sampled == 0:
	case x.column.sort == sortBytes:
	case n == 0:
		all = append(all, "empty in "+m.table.rows())
	case len(x.column.few) > 0 && len(x.OneOf) > 0:
		all = append(all, fmt.Sprintf("%d different in %s", len(x.column.few), m.table.rows()))
	case n < m.table.sampled:
		all = append(all, fmt.Sprintf("in %d of %s", n, m.table.rows()))
	}
	return strings.Join(all, ", ")
}
