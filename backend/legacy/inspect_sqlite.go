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
			if err == nil {
				c.IgnoresCase, c.CountsBlanks = truth(row[0]), !truth(row[1])
				continue
			}
			// Its collation may be one that only its own program defines, or the view may be broken. Then it
			// counts as one that compares byte by byte.
			if f, ok := d.fault(err); ctx.Err() != nil || ok && (f.class == faultCollision || f.class == faultDown) {
				return err
			}
		}
	}
	return nil
}
