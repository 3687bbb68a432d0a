package legacy

import (
	"fmt"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// table is a resource as statements refer to it.
type table struct {
	*sheet.Resource
	d      dialect
	name   string   // quoted; what is written
	from   string   // quoted; what is read
	exprs  []string // aligned with Places
	at     map[string]int
	keys   []string // quoted columns of the key
	heavy  []bool   // aligned with Places: needed for bytea fields alone
	arrays []int    // positions of fields whose elements are records of their own
	parent *table   // of the records that tell whose a row is; nil where it tells itself
	// known is what the database says of the written table, nil where it was not asked,
	// and referrers are the keys that keep its rows from being deleted.
	known     *Table
	referrers []Referrer
	// others is what the database says of the tables of rows beside, by their names.
	others map[string]*Table
	// bare are the fields without dashes that the sheet does not write so itself.
	bare map[*mapping.Field]bool
	// nulls are what stands for null at a place and does not sort as null does.
	nulls map[string][]sheet.Raw
	// perClient tells that numbers given out as the highest plus one are counted per client,
	// because the client's column is part of the primary key.
	perClient bool
	// whole are PostgreSQL's columns of whole numbers. padded are the places whose texts may
	// end in blanks that the engine does not ignore in comparisons, and led those whose texts
	// may begin with blanks that do not count.
	whole, padded, led map[string]bool
	// single are the columns of floating-point numbers of 32 bits, days are PostgreSQL's
	// columns of days, and texts are columns of texts.
	single, days, texts map[string]bool
	// clientIsText tells that the client's number stands in a column of texts. MariaDB and
	// MySQL would compare those as numbers, and take 1x for 1.
	clientIsText bool
	// filled are the places that are null in no row.
	filled map[string]bool
}

func newTable(d dialect, schema string, r *sheet.Resource) (*table, error) {
	t := &table{
		Resource: r, d: d, name: qualified(d, schema, r.Table), from: qualified(d, schema, r.Read),
		at: map[string]int{}, filled: map[string]bool{}, bare: map[*mapping.Field]bool{}, nulls: map[string][]sheet.Raw{}, led: map[string]bool{}, heavy: make([]bool, len(r.Places)),
	}
	for _, k := range r.Key.Places {
		t.keys = append(t.keys, d.quote(k))
		t.filled[k] = true // else it is no record
	}
	if p := r.Parent(); p != nil {
		var err error
		if t.parent, err = newTable(d, schema, p); err != nil {
			return nil, err
		}
	}
	for i, p := range r.Places {
		t.at[p.Name] = i
		t.exprs = append(t.exprs, t.place(schema, p))
	}
	t.weigh()
	for i, f := range mapping.Each(r.Fields) {
		if len(f.From) > 0 {
			t.nulls[f.From[0]] = f.Nulls()
			left, _ := f.Trims()
			t.led[f.From[0]] = t.led[f.From[0]] || left
		}
		switch {
		case f.Type == mapping.Array && f.Children != "":
			return nil, fmt.Errorf("resource %s: field %s: a table has no elements within a record", r.Name, f.Name)
		case f.Type == mapping.Array:
			t.arrays = append(t.arrays, i)
		case f.IgnoreDashes && len(f.From) > 0:
			t.bare[f.Field] = !t.writesBare(f.Field)
		}
	}
	return t, nil
}

// place is what is selected for a place.
func (t *table) place(schema string, p sheet.Place) string {
	switch {
	case p.SQL != "":
		return "(" + p.SQL + ")"
	case p.Owner:
		return t.owner()
	case p.Lookup == nil:
		return t.d.quote(p.Name)
	}
	b := newStatement(t.d).add("(SELECT lookup.", t.d.quote(p.Lookup.Take), " FROM ", qualified(t.d, schema, p.Lookup.Table), " lookup WHERE ")
	for i, m := range p.Lookup.Match {
		b.add(between(i, " AND "), "lookup.", t.d.quote(m[0]), " = ", t.from, ".", t.d.quote(m[1]))
	}
	return b.add(")").String()
}

// computed tells whether a place is none of the table's own columns.
func (t *table) computed(i int) bool {
	p := t.Places[i]
	return p.SQL != "" || p.Owner || p.Lookup != nil
}

// expr is what stands for a place in conditions.
func (t *table) expr(place string) string {
	if i, ok := t.at[place]; ok {
		return t.exprs[i]
	}
	return t.d.quote(place)
}

// weigh finds the heavy places, of bytes alone, which lists leave out unless they are asked for.
func (t *table) weigh() {
	light := map[string]bool{t.Client: true, t.Version: true}
	for _, k := range t.Key.Places {
		light[k] = true
	}
	var heavy []string
	for _, f := range mapping.Each(t.Fields) {
		for _, place := range f.From {
			if f.Type == mapping.Bytea {
				heavy = append(heavy, place)
			} else {
				light[place] = true
			}
		}
	}
	for _, place := range heavy {
		if i, ok := t.at[place]; ok && !light[place] {
			t.heavy[i] = true
		}
	}
}

// writesBare tells whether the sheet writes a field without dashes and in capitals, so that it
// can be compared as it is, with an index.
func (t *table) writesBare(f *mapping.Field) bool {
	probe := mapping.NewRecord(t.Resource.Resource)
	probe.Values[f.Index] = mapping.TextValue("ab-12-cd")
	found, err := t.Filter(probe, f, auth.Client{}, nil)
	return err == nil && len(found) == 1 && len(found[0]) == 1 && strings.TrimRight(found[0][0].Value.Text, " ") == "AB12CD"
}

// selected appends the columns of a row. If heavy columns are not asked for, they are selected
// as null.
func (t *table) selected(b *statement, client auth.Client, heavy bool) {
	b.client = intRaw(client.ID)
	b.add("SELECT ")
	for i, e := range t.exprs {
		b.add(comma(i))
		switch {
		case t.heavy[i] && !heavy:
			b.add("NULL")
		case t.computed(i): // PostgreSQL would call CAST(id AS text) id, and ORDER BY id could be either
			b.expr(e).add(" AS ", t.d.quote("_"+strconv.Itoa(i)))
		default:
			b.expr(e)
		}
	}
	b.add(" FROM ", t.from)
}

// visible appends the condition on which a client sees a row.
func (t *table) visible(b *statement, client auth.Client) {
	b.client = intRaw(client.ID)
	b.add(" WHERE ")
	t.scope(b, client, true)
}

// notDeleted appends the condition that DELETE has not marked a row.
func (t *table) notDeleted(b *statement) {
	gone := t.DeletedWhen()
	if len(gone) == 0 || t.Read != t.Table {
		return
	}
	b.add(" AND (")
	for i, a := range gone {
		b.add(between(i, " OR "))
		column := t.d.quote(a.Place)
		if a.Value.IsSet() {
			b.add(column, " <> ").arg(a.Value).add(" OR ", column, " IS NULL")
		} else {
			b.add(column, " IS NOT NULL")
		}
	}
	b.add(")")
}

// writeKey appends the condition on which a client may write the row of a key.
func (t *table) writeKey(b *statement, client auth.Client, key []sheet.Raw) {
	b.add(" WHERE ")
	for i, k := range t.keys {
		t.operand(b.add(between(i, " AND "), k, " = "), t.Key.Places[i], key[i])
	}
	if t.Client != "" {
		b.add(" AND ", t.d.quote(t.Client), " = ")
		t.operand(b, t.Client, intRaw(client.ID))
	}
	if t.parent != nil {
		t.belongs(b.add(" AND "), t.name, client, false)
	}
}

// keyed appends the condition that a row has a key.
func (t *table) keyed(b *statement, key []sheet.Raw) {
	for i, place := range t.Key.Places {
		t.equal(b.add(" AND "), place, key[i])
	}
}

// equal appends the condition that a place has a value; null equals null.
func (t *table) equal(b *statement, place string, v sheet.Raw) *statement {
	if v.Kind <= sheet.RawNull {
		return b.expr(t.expr(place)).add(" IS NULL")
	}
	if t.isSingle(place, v) {
		t.against(b.add("("), place, " >= ", v)
		return t.against(b.add(" AND "), place, " <= ", v).add(")")
	}
	return t.against(b, place, " = ", v)
}

// operand appends a value that a place is compared with. PostgreSQL would otherwise give it
// the column's type, refuse 40000 for a SMALLINT instead of finding nothing, and make a day of
// a time.
func (t *table) operand(b *statement, place string, v sheet.Raw) *statement {
	switch {
	case t.clientIsText && place == t.Client && v.Kind == sheet.RawInt:
		return b.arg(textRaw(v.String()))
	case t.whole[place] && (v.Kind == sheet.RawInt || v.Kind == sheet.RawText):
		return b.add("CAST(").arg(v).add(" AS bigint)")
	case t.whole[place] && v.Kind == sheet.RawNumber:
		return b.add("CAST(").arg(v).add(" AS numeric)")
	case t.days[place] && v.Kind == sheet.RawWall && v.Int%dayLength != 0:
		return b.add("CAST(").arg(v).add(" AS timestamp)")
	default:
		return b.arg(v)
	}
}

// dayLength is that of a day in milliseconds.
const dayLength = 86_400_000

// errKeyForm says that a kept key no longer fits the sheet.
var errKeyForm = fmt.Errorf("%w: a kept key has another number of parts than the sheet's", backend.ErrUnexpected)

// split separates the parts of a kept key.
func (t *table) split(key string) ([]sheet.Raw, error) {
	parts := sheet.SplitKey(key)
	if len(parts) != len(t.keys) {
		return nil, fmt.Errorf("resource %s: %w", t.Name, errKeyForm)
	}
	return parts, nil
}
