package check

import (
	"fmt"
	"slices"

	"frontdesk/mapping/sheet"
)

// beside looks at the rows in other tables that are a record's own (lookup with write). A write
// makes the row where there is none: then all of its columns must get what they have to have.
func (c *resourceCheck) beside() {
	var rows []*sheet.Lookup
	takers := map[*sheet.Lookup][]*sheet.Field{} // of a row
	lookups := map[*sheet.Field]*sheet.Lookup{}
	for _, p := range c.Places {
		if p.Lookup == nil || !p.Lookup.Write {
			continue
		}
		at := slices.IndexFunc(c.Fields, func(f sheet.Field) bool { return slices.Contains(f.Write, p.Name) })
		if at < 0 {
			continue
		}
		f, row := &c.Fields[at], p.Lookup
		if i := slices.IndexFunc(rows, row.IsSameRow); i >= 0 {
			row = rows[i]
		} else {
			rows = append(rows, row)
		}
		takers[row], lookups[f] = append(takers[row], f), p.Lookup
	}
	for _, row := range rows {
		t := c.schema.Table(row.Table)
		if t == nil || t.View {
			continue // which is reported, or nobody can tell
		}
		for _, column := range t.Columns {
			finds := slices.ContainsFunc(row.Match, func(m [2]string) bool { return m[0] == column.Name })
			if column.Nullable || column.Default != "" || column.Generated || finds {
				continue
			}
			takes := func(f *sheet.Field) bool { return lookups[f].Take == column.Name }
			i := slices.IndexFunc(takers[row], takes)
			switch {
			case i < 0:
				c.add(Error, "sql.unfilled", c.ofField(takers[row][0], "lookup", "table"), fmt.Sprintf("%s.%s must have a value and has no default, and no field is written to it: where a record has no row there, none can be made", t.Name, column.Name),
					"map a field to it, with the same match, or give the column a default")
			case !takers[row][i].Traits().Filled:
				f := takers[row][i]
				c.add(Warning, "sql.not-null", c.ofField(f), fmt.Sprintf("%s.%s takes no null, and clients may send one for %s, or leave it out", t.Name, column.Name, f.Name),
					"say required: true, or give the column a default")
			}
		}
	}
}
