package legacy

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A table without a column of the client's number belongs to whom the records
// belong that its rows refer to (client: {through: FIELD}), over as many steps as
// it takes. Every statement says so itself.

// scope appends the condition that a row is the client's own or, if system is set, one of all
// clients. Hidden and deleted rows belong to nobody.
func (t *table) scope(b *statement, client auth.Client, system bool) {
	switch {
	case t.parent != nil:
		t.belongs(b, t.from, client, system)
	case t.Client == "":
		b.add("1 = 1")
	case t.SystemClient == "" || !system:
		t.equal(b, t.Client, intRaw(client.ID))
	default:
		t.operand(b.add(t.expr(t.Client), " IN ("), t.Client, intRaw(client.ID))
		t.operand(b.add(", "), t.Client, textRaw(t.SystemClient)).add(")")
	}
	if t.Where != "" {
		b.add(" AND (").scoped(t.Where, intRaw(client.ID)).add(")")
	}
	t.notDeleted(b)
}

// belongs appends the condition that a row of t.name or t.from refers to a record in scope.
// Names in the sheet's conditions belong to the inner table; nothing of the outer one can be
// reached there.
func (t *table) belongs(b *statement, of string, client auth.Client, system bool) {
	p, refs := t.parent, t.Through.From
	if of == t.name && len(t.Through.Write) > 0 {
		refs = t.Through.Write
	}
	if len(refs) == 1 {
		b.add(t.d.quote(refs[0]), " IN (SELECT ", p.keys[0], " FROM ", p.from, " WHERE ")
		p.scope(b, client, system)
		b.add(")")
		return
	}
	b.add("EXISTS (SELECT 1 FROM (SELECT ")
	for i, k := range p.keys {
		b.add(comma(i), k, " AS k", strconv.Itoa(i))
	}
	b.add(" FROM ", p.from, " WHERE ")
	p.scope(b, client, system)
	b.add(") owner WHERE ")
	for i, ref := range refs {
		b.add(between(i, " AND "), "owner.k", strconv.Itoa(i), " = ", of, ".", t.d.quote(ref))
	}
	b.add(")")
}

// owner is the expression for the client of the record that a row belongs to.
func (t *table) owner() string {
	b := newStatement(t.d)
	at, outer, step := t, t.from, 0
	for ; at.parent != nil; at = at.parent {
		step++
		alias := "owner" + strconv.Itoa(step)
		if step == 1 {
			b.add(" FROM ", at.parent.from, " ", alias)
		} else {
			b.add(" JOIN ", at.parent.from, " ", alias, " ON ")
			at.refersTo(b, alias, outer)
		}
		outer = alias
	}
	b.add(" WHERE ")
	t.refersTo(b, "owner1", t.from)
	return "(SELECT " + outer + "." + t.d.quote(at.Client) + b.String() + ")"
}

// refersTo appends the condition that a row of outer refers to one of the parent's.
func (t *table) refersTo(b *statement, parent, outer string) {
	for i, k := range t.parent.keys {
		b.add(between(i, " AND "), parent, ".", k, " = ", outer, ".", t.d.quote(t.Through.From[i]))
	}
}

// judgeParent refuses to write a row that would belong to another client's record, or to none.
func (w *write) judgeParent(ctx context.Context, create bool) error {
	p, f := w.t.parent, w.t.Through
	if p == nil {
		return nil
	}
	key := make([]sheet.Raw, len(f.Write))
	for i, place := range f.Write {
		v, ok := w.value(place)
		if !ok && !create {
			return nil // it stays where it is
		}
		key[i] = v
	}
	b := newStatement(w.d).add("SELECT 1 FROM ", p.from, " WHERE ")
	p.scope(b, w.client, false)
	p.keyed(b, key)
	row, err := queryOne(ctx, w.conn, b)
	if err == nil && row == nil {
		return mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(f.Name), w.attempt.Record.Values[f.Index].String())
	}
	return w.refused(ctx, err)
}

// owned drops the rows of a procedure that belong to records which the client does not see,
// and sets the client of the others.
func (s session) owned(ctx context.Context, t *table, attempt sheet.Attempt, client auth.Client, rows [][]sheet.Raw) ([][]sheet.Raw, error) {
	if t.parent == nil {
		return rows, nil
	}
	at, told := t.at[ownerPlace(t)]
	known := map[string][]sheet.Raw{}
	out := rows[:0]
	for _, row := range rows {
		key := make([]sheet.Raw, len(t.Through.From))
		for i, place := range t.Through.From {
			key[i] = row[t.at[place]]
		}
		found, ok := known[t.parent.JoinKey(key)]
		if !ok {
			var err error
			if found, err = s.ownerOf(ctx, t.parent, client, key); err != nil {
				return nil, s.failure(err, attempt)
			}
			known[t.parent.JoinKey(key)] = found
		}
		if found == nil {
			continue
		}
		if told {
			row[at] = found[0]
		}
		out = append(out, row)
	}
	return out, nil
}

// ownerOf returns the client of the record of a key; nil if the client does not see it.
func (s session) ownerOf(ctx context.Context, p *table, client auth.Client, key []sheet.Raw) ([]sheet.Raw, error) {
	b := newStatement(s.d).add("SELECT ")
	switch {
	case p.Client != "":
		b.add(p.expr(p.Client))
	case ownerPlace(p) != "":
		b.add(p.expr(ownerPlace(p)))
	default:
		b.add("1")
	}
	b.add(" FROM ", p.from, " WHERE ")
	p.scope(b, client, true)
	p.keyed(b, key)
	return queryOne(ctx, s.conn, b)
}

// ownerPlace is the place of what owner selects; "" if conditions alone decide whose a row is.
func ownerPlace(t *table) string {
	for _, p := range t.Places {
		if p.Owner {
			return p.Name
		}
	}
	return ""
}

// judgeClients refuses a sheet that cannot tell whose a row is: a client column that the
// written table lacks, or references by numbers that each client counts separately, where one
// number stands for several records.
func (s *Store) judgeClients(schema Schema) error {
	for _, r := range s.sheet.Model.Resources {
		t := s.tables[r]
		if t.Client != "" && t.known != nil && t.known.Column(t.Client) == nil && Changes(t.Resource) {
			return fmt.Errorf("%w: resource %s: client: every write names %s, and %s has no such column: tell whose its rows are by client: {through: FIELD}",
				backend.ErrUnexpected, t.Name, t.Client, t.Table)
		}
		if err := t.judgeBeside(); err != nil {
			return err
		}
		if t.parent == nil {
			continue
		}
		if known := schema.Table(t.parent.Table); known != nil && t.parent.countsPerClient(known) {
			return fmt.Errorf("%w: resource %s: client through %s: the key of %s, %v, is unique for each client only and does not tell whose a record is: name the client's column",
				backend.ErrUnexpected, t.Name, t.Through.Name, t.parent.Name, t.parent.Key.Places)
		}
	}
	return nil
}

// Changes tells whether rows of a resource's table are written by statements that name the
// client.
func Changes(r *sheet.Resource) bool {
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
		if r.Operations[op] != nil {
			return true
		}
	}
	return false
}

// countsPerClient tells whether keys are unique only among the rows of one client.
func (t *table) countsPerClient(known *Table) bool {
	return t.Client != "" && slices.Contains(known.Primary, t.Client) && !known.Identifies(t.Key.Places)
}
