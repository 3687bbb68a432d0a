package check

import (
	"strconv"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// ofField are the claims about a field that each row is checked for by itself.
func (p *proof) ofField(i int, f *mapping.Field, c *sheet.Column) (all []count) {
	if f.Reference != "" || f.ReferenceBy != "" {
		all = append(all, count{found{what: nowhere, at: placeOf(f)}, func(w *sqlrecord.Writer) { p.nowhere(w, i, f) }, func(w *sqlrecord.Writer) { p.refers(w, i, f) }})
	}
	if p.t.IsLinked(i) || f.Type == mapping.Bytea {
		return all
	}
	read := p.t.Rows.Fields[i].Read
	if len(c.Codes) > 0 {
		stored := sqlrecord.Plain(p.quote(c.Names[0]))
		all = append(all, count{found{what: unlisted, at: placeOf(f)}, func(w *sqlrecord.Writer) {
			w.Expr(stored).Add(" IS NOT NULL AND ").Expr(stored).Add(" NOT IN (", p.t.Literals(storedOf(c.Codes, false)), ")")
		}, nil})
	}
	if raw := p.raw(c); f.Type == mapping.Float8 && f.Scale >= 0 && raw != nil && !p.has(f, unshown) && !isOnePart(raw, read) && len(c.Nulls) == 0 {
		all = append(all, count{found{what: rounded, at: placeOf(f)}, func(w *sqlrecord.Writer) {
			w.Add("ABS(").Expr(raw).Add(" - ").Expr(read).Add(") > 0.0000000005 + ABS(").Expr(raw).Add(") / ", noiseOf(p.t.sortOfColumn(c)))
		}, nil})
	}
	if p.has(f, unshown) {
		return all // a value that cannot be read cannot be written back
	}
	value := p.t.valueOf(f, c, read)
	for _, a := range c.Write {
		if isPlain := strings.TrimSpace(a.SQL) == ":"+valueParam; isPlain || a.Column == p.t.SQL.Client.Column || !p.isStored() {
			continue
		}
		all = append(all, count{found{what: altered, at: placeOf(f)}, func(w *sqlrecord.Writer) { p.altered(w, c, a, value) }, nil})
	}
	if c.Read != "" && (c.Find != "" || len(c.Write) > 0) {
		all = append(all, count{found{what: missed, at: placeOf(f)}, func(w *sqlrecord.Writer) {
			w.Expr(read).Add(" IS NOT NULL AND CASE WHEN ").Expr(p.finds(c, value)).Add(" THEN 0 ELSE 1 END = 1")
		}, nil})
	}
	return all
}

// noiseOf is the relative difference between a number and a decimal up to which it may be
// floating-point noise.
func noiseOf(s sqlrecord.Sort) string {
	if s == sqlrecord.Decimals || s == sqlrecord.Integers {
		return "1e300"
	}
	return "1e7"
}

// raw is a value before it is rounded; nil if it has no column and no expression.
func (p *proof) raw(c *sheet.Column) sqlrecord.Expr {
	switch {
	case len(c.Names) == 1 && len(c.Codes) == 0:
		return sqlrecord.Plain(p.quote(c.Names[0]))
	case c.Read != "":
		return legacy.Parse("(" + c.Read + ")")
	default:
		return nil
	}
}

func isOnePart(a, b sqlrecord.Expr) bool {
	return len(a) == 1 && len(b) == 1 && a[0] == b[0]
}

// storedOf are the stored codes of a list; with first, only the first code of each value.
func storedOf(codes []sheet.Code, first bool) (all []string) {
	seen := map[mapping.Value]bool{}
	for _, c := range codes {
		if !first || !seen[c.Shown] {
			all = append(all, c.Stored)
		}
		seen[c.Shown] = true
	}
	return all
}

// altered appends the condition that writing a value back would change its column. It leaves out what
// the sheet changes on purpose: further codes and further nulls.
func (p *proof) altered(w *sqlrecord.Writer, c *sheet.Column, a sheet.Assign, value sqlrecord.Expr) {
	if len(c.Names) == 1 {
		own := sqlrecord.Plain(p.quote(c.Names[0]))
		if len(c.Codes) > 0 {
			w.Expr(own).Add(" IN (", p.t.Literals(storedOf(c.Codes, true)), ") AND ")
		}
		if nulls := c.Nulls; len(nulls) > 0 || c.EmptyIsNull {
			w.Expr(own).Add(" NOT IN (", p.t.Literals(append([]string{""}, nulls...)), ") AND ")
		}
	}
	p.t.alters(w, a.Column, p.stored(a.Column), withExpr(a.SQL, value))
}

// finds is the condition by which the driver finds a value: see written.
func (p *proof) finds(c *sheet.Column, value sqlrecord.Expr) sqlrecord.Expr {
	if c.Find != "" {
		return withExpr(c.Find, value)
	}
	var parts []any
	for i, a := range c.Write {
		parts = append(parts, legacy.Between(i, " AND ")+p.quote(a.Column)+" = ", withExpr(a.SQL, value))
	}
	return sqlrecord.Wrap(parts...)
}

// ofKey are the claims about the key and the client.
func (p *proof) ofKey() (all []count) {
	all = append(all, count{found{what: keyless, at: "key"}, func(w *sqlrecord.Writer) {
		for i, k := range p.t.Keys {
			w.Add(legacy.Between(i, " OR "), k, " IS NULL")
		}
	}, nil})
	if owner, _ := p.t.Owner(); owner != nil {
		all = append(all, count{found{what: nobodys, at: "client"}, func(w *sqlrecord.Writer) { p.nobodys(w, owner) }, nil})
	}
	return all
}

// nobodys appends the condition that a row has no client, or one that no user works for.
func (p *proof) nobodys(w *sqlrecord.Writer, owner sqlrecord.Expr) {
	from, text := &p.Sheet().Accounts, p.t.As(owner, sqlrecord.Texts)
	w.Expr(owner).Add(" IS NULL")
	if from.Table == "" && len(from.Users) == 0 {
		return // users can only be looked up by name
	}
	if p.t.SystemClient != "" {
		w.Add(" OR ").Expr(text).Add(" <> ", p.t.Literal(p.t.SystemClient), " AND NOT (")
	} else {
		w.Add(" OR NOT (")
	}
	if from.Table == "" {
		var clients []string
		for _, u := range from.Users {
			id := u.ClientKey
			if id == "" {
				id = strconv.FormatInt(u.Client.ID, 10)
			}
			clients = append(clients, id)
		}
		w.Expr(text).Add(" IN (", p.t.Literals(clients), "))")
		return
	}
	of := &from.Facts[sheet.FactClientID]
	s := sqlrecord.Texts
	if len(of.Names) == 1 && len(of.Codes) == 0 {
		s = p.Accounts().ColumnOf(of.Names[0]).Sort
	}
	read, _ := p.Accounts().FactOf(of)
	w.Add("EXISTS (SELECT 1 FROM (SELECT ").Expr(read).Add(" AS u FROM ", p.qualified(from.Table), ") users WHERE ")
	p.t.same(w, sqlrecord.Plain("u"), s, owner, p.t.ownerSort())
	w.Add("))")
}

// refers appends the condition that a row refers to a record.
func (p *proof) refers(w *sqlrecord.Writer, i int, f *mapping.Field) {
	parts, names := p.partsOf(i, f)
	for k := range parts {
		w.Add(legacy.Between(k, " AND ")).Expr(parts[k].Read).Add(" IS NOT NULL")
		if p.t.IsLinked(i) && k < len(names) && p.t.IsText(names[k]) {
			w.Add(" AND ").Expr(parts[k].Read).Add(" NOT IN (", p.t.Literals(append([]string{""}, p.t.SQL.Fields[i].Nulls...)), ")")
		}
	}
}

// partsOf are the parts of the key that a field refers to, and their columns.
func (p *proof) partsOf(i int, f *mapping.Field) (parts []sqlrecord.Field, names []string) {
	if parts = p.t.Parts(f); parts == nil {
		parts = p.t.Rows.Fields[i : i+1]
	}
	return parts, p.t.SQL.Fields[i].Names
}

// nowhere appends the condition that a reference leads to no record that the row's client sees.
func (p *proof) nowhere(w *sqlrecord.Writer, i int, f *mapping.Field) {
	p.refers(w, i, f)
	parts, names := p.partsOf(i, f)
	if f.Reference != "" {
		p.leadsTo(w.Add(" AND NOT "), parts, names, p.t.SQL.Fields[i].Read, p.Sheet().Resource(f.Reference))
		return
	}
	w.Add(" AND (1 = 0")
	if by := p.t.Rows.Fields[p.t.Field(f.ReferenceBy).Index].Read; by != nil {
		for _, r := range p.Sheet().Model.Resources {
			w.Add(" OR ").Expr(by).Add(" = ", p.t.Literal(r.Name), " AND NOT ")
			p.leadsTo(w, parts, names, p.t.SQL.Fields[i].Read, p.Sheet().Resources[r])
		}
	}
	w.Add(")")
}

// leadsTo appends the condition that a record with the parts of a key exists, and the row's client sees it.
func (p *proof) leadsTo(w *sqlrecord.Writer, parts []sqlrecord.Field, names []string, read string, target *sheet.Resource) {
	if target == nil {
		w.Add("(1 = 1)") // not known
		return
	}
	to := table{p.Mapped(target.Resource), p.Sheet()}
	first := len(to.Keys) - len(parts) // before it is the client's, who is the row's
	if first < 0 {
		w.Add("(1 = 0)")
		return
	}
	w.Add("EXISTS (SELECT 1 FROM (SELECT 1 AS one")
	for k, key := range to.Keys {
		w.Add(", ", key, " AS fk", strconv.Itoa(k))
	}
	own, _ := p.t.Owner()
	theirs, _ := to.Owner()
	if theirs != nil {
		w.Add(", ").Expr(theirs).Add(" AS fc")
	}
	w.Add(" FROM ", to.From)
	if to.Where != "" && !to.isOfWhere() {
		for k, part := range legacy.Parse(to.Where) {
			w.Add([...]string{" WHERE (", ""}[min(k, 1)], part.SQL)
			if part.Param != "" {
				to.ofRow(w, part.Param)
			}
		}
		w.Add(")")
	}
	w.Add(") target WHERE ")
	for k := range parts {
		s := p.t.Result(read).Sort
		if k < len(names) {
			s = p.t.ColumnOf(names[k]).Sort
		}
		p.t.same(w.Add(legacy.Between(k, " AND ")), sqlrecord.Plain("fk"+strconv.Itoa(first+k)), to.ColumnOf(to.Key.Places[first+k]).Sort, parts[k].Read, s)
	}
	if own != nil && theirs != nil {
		p.t.same(w.Add(" AND ("), sqlrecord.Plain("fc"), to.ownerSort(), own, p.t.ownerSort())
		if to.SystemClient != "" {
			w.Add(" OR ").Expr(p.t.As(sqlrecord.Plain("fc"), sqlrecord.Texts)).Add(" = ", p.t.Literal(to.SystemClient))
		}
		w.Add(")")
	}
	w.Add(")")
}
