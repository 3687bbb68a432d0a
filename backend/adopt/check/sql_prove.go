package check

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// proof is the proof of one resource.
type proof struct {
	Database
	d       *sqlrecord.Dialect
	conn    sqlrecord.Conn
	t       table
	clients []auth.Client
	rows    int
	found   []found
}

// count is a claim, the condition of the rows that violate it, and the condition of the rows that
// it is about; nil for all.
type count struct {
	found
	when, rows func(w *sqlrecord.Writer)
}

// prove counts the rows of a resource, of all clients, that violate claims of the sheet, and returns how
// many rows there are. If only a condition of the sheet determines the client of a row, prove examines
// the rows of clients. It only reads.
func prove(ctx context.Context, s Database, r *mapping.Resource, clients []auth.Client) (rows int, all []found, err error) {
	for _, c := range clients {
		if _, err := s.TableFor(ctx, r, c); err != nil {
			return 0, nil, err
		}
	}
	p := &proof{Database: s, d: s.DB().Dialect(), t: table{s.Mapped(r), s.Sheet()}, clients: clients}
	err = s.DB().Read(ctx, func(c sqlrecord.Conn) error {
		p.conn, p.rows, p.found = c, 0, nil
		return p.all(ctx)
	})
	return p.rows, p.found, err
}

func (p *proof) all(ctx context.Context) error {
	if err := p.shown(ctx); err != nil {
		return err
	}
	if err := p.keys(ctx); err != nil {
		return err
	}
	if err := p.counted(ctx, p.ofKey()); err != nil {
		return err
	}
	var all []count
	for i := range p.t.Fields {
		if f := p.t.Fields[i].Field; p.t.Rows.Fields[i].Read != nil || p.t.IsLinked(i) {
			all = append(all, p.ofField(i, f, &p.t.SQL.Fields[i])...)
		}
	}
	if err := p.counted(ctx, all); err != nil {
		return err
	}
	return p.several(ctx)
}

// shown reads every row as a list does, and counts values that cannot be shown or are missing.
func (p *proof) shown(ctx context.Context) error {
	var fields []int
	var columns []sqlrecord.Column
	w := p.writer().Add("SELECT 1")
	for i := range p.t.Fields {
		of := &p.t.Rows.Fields[i]
		if of.Read == nil || of.As.Type == mapping.Bytea {
			continue
		}
		w.Add(", ").Expr(of.Read)
		fields, columns = append(fields, i), append(columns, of.As)
	}
	text, args := p.read(w).Statement()
	n := map[found]int{}
	err := p.conn.Query(ctx, text, append(slices.Clone(oneInt), columns...), args, func(row []mapping.Value) error {
		p.rows++
		for k, i := range fields {
			if what := p.lacks(i, row[k+1]); what != "" {
				n[found{what: what, at: placeOf(p.t.Fields[i].Field)}]++
			}
		}
		return nil
	})
	if err = p.failed(ctx, found{at: "key"}, err); err != nil {
		return err
	}
	for _, i := range fields {
		for _, what := range []claim{unshown, empty, undated, tooLong} {
			f := found{what: what, at: placeOf(p.t.Fields[i].Field)}
			f.records = n[f]
			p.note(f)
		}
	}
	return nil
}

// lacks is the claim that a value violates; "" for none.
func (p *proof) lacks(i int, v mapping.Value) claim {
	f, c := p.t.Fields[i].Field, &p.t.SQL.Fields[i]
	switch {
	case v.IsAbsent():
		if len(c.Codes) > 0 {
			return "" // see Unlisted
		}
		return unshown
	case f.Required && (!v.IsSet() || f.IsText() && strings.Trim(v.Text(), " ") == ""):
		return empty
	case i == p.t.ModifiedAt && !p.t.Undated && !v.IsSet():
		return undated
	case f.Type == mapping.Varchar && len(c.Codes) == 0 && v.IsSet() && utf8.RuneCountInString(strings.TrimRight(v.Text(), " ")) > f.Length:
		return tooLong
	}
	return ""
}

// note adds a finding. Of several about the same claim, such as one per column of a field, it keeps
// the one with the most rows.
func (p *proof) note(f found) {
	if f.records == 0 && f.err == nil {
		return
	}
	f.of = cmp.Or(f.of, p.rows)
	i := slices.IndexFunc(p.found, func(had found) bool { return had.at == f.at && had.what == f.what })
	if i < 0 {
		p.found = append(p.found, f)
	} else {
		p.found[i].records = max(p.found[i].records, f.records)
	}
}

// has reports whether a claim about a field is known not to hold.
func (p *proof) has(f *mapping.Field, what claim) bool {
	return slices.ContainsFunc(p.found, func(had found) bool { return had.at == placeOf(f) && had.what == what })
}

// failed notes that the database cannot evaluate a claim. It returns the error if that is the fault
// of the database, and not of the claim.
func (p *proof) failed(ctx context.Context, f found, err error) error {
	if err == nil {
		return nil
	}
	if fault, known := sqlrecord.FaultOf(err); !known || ctx.Err() != nil || fault.Class == sqlrecord.FaultDown || fault.Class == sqlrecord.FaultCollision {
		return err
	}
	f.what, f.err = unproved, err
	p.note(f)
	return nil
}

// counted counts all claims with one statement; if that fails, with one for each.
func (p *proof) counted(ctx context.Context, all []count) error {
	if len(all) == 0 {
		return nil
	}
	w := p.writer().Add("SELECT COUNT(*)")
	counts := func(condition func(*sqlrecord.Writer)) {
		if condition == nil {
			w.Add(", NULL")
			return
		}
		condition(w.Add(", COUNT(CASE WHEN "))
		w.Add(" THEN 1 END)")
	}
	for _, c := range all {
		counts(c.when)
		counts(c.rows)
	}
	text, args := p.read(w).Statement()
	columns := slices.Repeat([]sqlrecord.Column{sqlrecord.Number}, 2*len(all)+1)
	row, err := sqlrecord.One(ctx, p.conn, text, columns, args...)
	if err != nil && len(all) > 1 {
		for _, c := range all {
			if err := p.counted(ctx, []count{c}); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return p.failed(ctx, all[0].found, err)
	}
	p.rows = max(p.rows, int(row[0].Int())) // shown may not have read all
	for i, c := range all {
		c.records, c.of = int(row[2*i+1].Int()), int(row[2*i+2].Int())
		p.note(c.found)
	}
	return nil
}

// keys counts duplicate keys, unless a unique index rules them out.
func (p *proof) keys(ctx context.Context) error {
	if known := p.t.Target; known != nil && p.t.From == p.t.Written && known.Identifies(append(slices.Clone(p.t.Key.Places), p.t.SQL.Client.Column)) {
		return nil
	}
	var keys []sqlrecord.Expr
	for i := range p.t.Rows.Key {
		keys = append(keys, p.t.Rows.Key[i].Read)
	}
	return p.twice(ctx, p.t.Fields[p.t.ID].Field, keys)
}

// isStored reports whether it is known what is stored in a row that is read.
func (p *proof) isStored() bool {
	id := p.t.Fields[p.t.ID].Field
	return p.t.From == p.t.Written || !p.has(id, twice) && !p.has(id, keyless)
}

// several checks claims about several rows together: unique values and orders.
func (p *proof) several(ctx context.Context) error {
	for i := range p.t.Fields {
		f, of, c := p.t.Fields[i].Field, &p.t.Rows.Fields[i], &p.t.SQL.Fields[i]
		if f.Unique && f.UniquePer == "" && len(f.UniqueWhen) == 0 && of.Read != nil && !f.Primary {
			if err := p.twice(ctx, f, []sqlrecord.Expr{sqlrecord.Wrap(of.Fold[0], of.Read, of.Fold[1])}); err != nil {
				return err
			}
		}
		if c.Ordered && len(c.Write) == 1 && p.isStored() {
			if err := p.ordered(ctx, f, of.Read, c.Write[0].Column); err != nil {
				return err
			}
		}
	}
	return nil
}

// twice counts values that several rows of a client have.
func (p *proof) twice(ctx context.Context, f *mapping.Field, of []sqlrecord.Expr) error {
	names := make([]string, len(of))
	w := p.writer().Add("SELECT 1 AS one")
	for i, e := range of {
		names[i] = "v" + string(rune('0'+i))
		w.Add(", ").Expr(e).Add(" AS ", names[i])
	}
	if client, _ := p.t.Owner(); client != nil {
		names = append(names, "c")
		w.Add(", ").Expr(client).Add(" AS c")
	}
	inner, args := p.read(w).Statement()
	all := strings.Join(names, ", ")
	text := "SELECT COUNT(*) FROM (SELECT 1 AS one FROM (" + inner + ") r WHERE v0 IS NOT NULL"
	if f.IsText() && !f.Primary {
		text += " AND v0 <> ''"
	}
	row, err := sqlrecord.One(ctx, p.conn, text+" GROUP BY "+all+" HAVING COUNT(*) > 1) t", oneInt, args...)
	if err != nil {
		return p.failed(ctx, found{at: placeOf(f)}, err)
	}
	p.note(found{what: twice, at: placeOf(f), records: int(row[0].Int())})
	return nil
}

// ordered counts rows that the order of the column puts before a row with a lower value.
func (p *proof) ordered(ctx context.Context, f *mapping.Field, read sqlrecord.Expr, column string) error {
	w := p.writer().Add("SELECT COUNT(*) FROM (SELECT v, LAG(v) OVER (ORDER BY o) AS b FROM (SELECT ").Expr(read).Add(" AS v, ").Expr(p.stored(column)).Add(" AS o")
	text, args := p.read(w).Add(") r WHERE v IS NOT NULL) s WHERE b > v").Statement()
	row, err := sqlrecord.One(ctx, p.conn, text, oneInt, args...)
	if err != nil {
		return p.failed(ctx, found{at: placeOf(f)}, err)
	}
	p.note(found{what: unordered, at: placeOf(f), records: int(row[0].Int())})
	return nil
}
