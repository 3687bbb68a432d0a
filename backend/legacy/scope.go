package legacy

import (
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// The rows of a table without a client column belong to the client of the records that they refer
// to (client: {through: FIELD}), over any number of steps. Every statement has that condition.

// The parameters for the identity of the client: in the sheet's form, and as a text.
const (
	clientParam     = "client"
	clientTextParam = "client as text"
)

// params are the parameters of expressions in reads and filters: only the client. key is the
// client's identity if that is a text.
func (b *Builder) params(client auth.Client, key string) sqlrecord.Params {
	return func(w *sqlrecord.Writer, name string) {
		v, s := mapping.IntValue(client.ID), sqlrecord.Integers
		if key != "" {
			v, s = mapping.TextValue(key), sqlrecord.Texts
		} else if name == clientTextParam {
			v, s = mapping.TextValue(strconv.FormatInt(client.ID, 10)), sqlrecord.Texts
		}
		b.Put(w, s, v)
	}
}

// clientExpr is the expression for the client of a row.
func (t *Mapped) clientExpr() sqlrecord.Expr {
	if t.parent != nil {
		return sqlrecord.Plain(t.owner(t.From, 1))
	}
	return t.ExprOf(t.SQL.Client)
}

// scope appends the condition that a row is the client's own or, if system is set, one of all
// clients. Hidden rows belong to nobody.
func (t *Mapped) scope(w *sqlrecord.Writer, system bool) {
	switch {
	case t.parent != nil:
		t.belongs(w, t.From, system)
	case t.SQL.Client == (sheet.Expr{}):
		w.Add("1 = 1")
	case t.SystemClient != "" && system:
		w.Expr(t.clientRead).Add(" IN (").Expr(t.clientValue).Add(", ", t.Literal(t.SystemClient), ")")
	default:
		w.Expr(t.clientRead).Add(" = ").Expr(t.clientValue)
	}
	if t.Where != "" {
		w.Add(" AND (").Expr(t.where).Add(")")
	}
}

// clientOperand is the identity of the client in the type of its column: MariaDB would compare texts
// with a number as numbers, and take 1x for 1.
func (t *Mapped) clientOperand() sqlrecord.Expr {
	switch t.clientSort {
	case sqlrecord.Texts, sqlrecord.Padded, sqlrecord.Others, sqlrecord.GUIDs:
		return sqlrecord.Expr{{Param: clientTextParam}}
	default:
		return sqlrecord.Expr{{Param: clientParam}}
	}
}

// belongs appends the condition that a row of a table refers to a record in scope. Names in the
// sheet's conditions belong to the inner table; nothing of the outer one can be reached there.
func (t *Mapped) belongs(w *sqlrecord.Writer, of string, system bool) {
	p, refs := t.parent, t.throughColumns()
	if len(refs) == 1 {
		w.Add(t.Dialect.Quote(refs[0]), " IN (SELECT ", p.Keys[len(p.Keys)-1], " FROM ", p.From, " WHERE ")
		p.scope(w, system)
		w.Add(")")
		return
	}
	w.Add("EXISTS (SELECT 1 FROM (SELECT ")
	for i, k := range p.Keys {
		w.Add(comma(i), k, " AS k", strconv.Itoa(i))
	}
	w.Add(" FROM ", p.From, " WHERE ")
	p.scope(w, system)
	w.Add(") owner WHERE ")
	for i, ref := range refs {
		w.Add(Between(i, " AND "), "owner.k", strconv.Itoa(i), " = ", of, ".", t.Dialect.Quote(ref))
	}
	w.Add(")")
}

// throughColumns are the columns of the reference to the record that has the client.
func (t *Mapped) throughColumns() []string { return t.SQL.Fields[t.Through.Index].Names }

// owner is the expression for the client of a row of outer, over the records that it belongs to.
func (t *Mapped) owner(outer string, step int) string {
	if t.parent == nil {
		return outer + "." + t.Dialect.Quote(t.SQL.Client.Column)
	}
	alias := "owner" + strconv.Itoa(step)
	return "(SELECT " + t.parent.owner(alias, step+1) + " FROM " + t.parent.From + " " + alias + " WHERE " + t.refersTo(alias, outer) + ")"
}

// refersTo is the condition that a row of outer refers to one of the parent's.
func (t *Mapped) refersTo(parent, outer string) (text string) {
	for i, k := range t.parent.Keys {
		text += Between(i, " AND ") + parent + "." + k + " = " + outer + "." + t.Dialect.Quote(t.throughColumns()[i])
	}
	return text
}
