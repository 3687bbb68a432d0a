package legacy

import "context"

// collations finds how SQLite compares the texts of each column. It tells that of indexes alone, which
// not all columns have, those of a view least of all, and which may compare otherwise than their
// column: so it is asked to compare.
func (i *inspector) collations(ctx context.Context) error {
	d := i.s.d
	for k := range i.schema.Tables {
		t := &i.schema.Tables[k]
		for n := range t.Columns {
			c := &t.Columns[n]
			if sort := c.Sort(d.engine()); sort == "integer" || sort == "decimal" {
				continue
			}
			row, err := queryOne(ctx, i.s.db, newStatement(d).add("SELECT x = 'A', x = 'a ' FROM (SELECT ", d.quote(c.Name), " AS x FROM ", qualified(d, t.Schema, t.Name), " WHERE 0 UNION ALL SELECT 'a')"))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err == nil: // else it most likely has a collation that only its own program defines: then it compares byte by byte
				c.IgnoresCase, c.CountsBlanks = truth(row[0]), !truth(row[1])
			}
		}
	}
	return nil
}
