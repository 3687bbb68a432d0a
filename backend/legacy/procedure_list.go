package legacy

import (
	"context"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// listByProcedure lists the rows of a procedure. Its arguments are filters, by their places.
// The driver does what the procedure does not: it filters, sorts and pages over all rows that
// come.
func (s session) listByProcedure(ctx context.Context, t *table, op *sheet.Operation, q backend.Query) (page backend.Page, err error) {
	page.Records = []mapping.Record{}
	keys, err := s.keysFor(ctx, t, q)
	if err != nil {
		return page, err
	}
	known := map[string]sheet.Raw{}
	for _, f := range q.Filters {
		if f.Op != mapping.Equals {
			continue // is judged below
		}
		alternatives, err := t.alternatives(q, f, keys)
		if err != nil || len(alternatives) == 0 {
			return page, err
		}
		if len(alternatives) == 1 {
			for _, a := range alternatives[0] {
				known[a.Place] = a.Value
			}
		}
	}
	attempt := sheet.Attempt{Resource: t.Resource, Op: mapping.OpList}
	rows, err := s.rowsByProcedure(ctx, t, op, attempt, q.Client, func(place string) sheet.Raw { return known[place] })
	if err != nil {
		return page, err
	}
	records, err := s.decode(ctx, t, q, rows)
	if err != nil {
		return page, err
	}
	records = slices.DeleteFunc(records, func(rec mapping.Record) bool { return !t.fits(rec, q) })
	slices.SortStableFunc(records, func(a, b mapping.Record) int { return compareRecords(a, b, q.Sort) })
	page.Total = int64(len(records))
	if q.After > 0 {
		records = slices.DeleteFunc(records, func(rec mapping.Record) bool { return rec.ID() <= q.After })
	}
	records = records[min(q.Offset, len(records)):]
	if page.More = q.Limit > 0 && len(records) > q.Limit; page.More {
		records = records[:q.Limit]
	}
	page.Records = records
	return page, nil
}

// fits tells whether a record matches a list.
func (t *table) fits(rec mapping.Record, q backend.Query) bool {
	for _, f := range q.Filters {
		if !t.lets(f, rec.Values[f.Field.Index]) {
			return false
		}
	}
	return !q.ModifiedSince.IsSet() || t.IsSince(rec.Values[rec.Resource.ModifiedAt], q.ModifiedSince)
}

// lets tells whether a filter lets a value through.
func (t *table) lets(f backend.Filter, v mapping.Value) bool {
	if f.Op != mapping.Equals && f.Op != mapping.AnyOf {
		return f.Matches(v)
	}
	return slices.ContainsFunc(f.Operands(), func(one mapping.Value) bool { return t.alike(f.Field, v, one) })
}

// alike compares values as a condition on the field's column would.
func (t *table) alike(f *mapping.Field, a, b mapping.Value) bool {
	if a == b || a.Kind() != mapping.KindText || b.Kind() != mapping.KindText {
		return a == b
	}
	from, c := &t.Fields[f.Index], (*Column)(nil)
	if t.known != nil && len(from.From) > 0 {
		c = t.known.Column(from.From[0])
	}
	x, y := a.Text(), b.Text()
	if f.IgnoreDashes {
		x, y = mapping.BarePlate(x), mapping.BarePlate(y)
	}
	if !t.countsBlanks(c) || from.TrimsRight() {
		x, y = strings.TrimRight(x, " "), strings.TrimRight(y, " ")
	}
	if left, _ := from.Trims(); left {
		x, y = strings.TrimLeft(x, " "), strings.TrimLeft(y, " ")
	}
	return x == y || c != nil && c.IgnoresCase && strings.EqualFold(x, y)
}

// compareRecords orders records as a list asks for: null below every value, and records that
// are otherwise equal by ID.
func compareRecords(a, b mapping.Record, sort []backend.Order) int {
	for _, o := range sort {
		c := compareValues(a.Values[o.Field.Index], b.Values[o.Field.Index])
		if o.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return int(a.ID()) - int(b.ID())
}

func compareValues(a, b mapping.Value) int {
	switch {
	case !a.IsSet() || !b.IsSet():
		return b2i(a.IsSet()) - b2i(b.IsSet())
	case a.Kind() == mapping.KindText:
		return b2i(a.Text() > b.Text()) - b2i(a.Text() < b.Text())
	case a.Kind() == mapping.KindDecimal || a.Kind() == mapping.KindFloat:
		return b2i(a.Float() > b.Float()) - b2i(a.Float() < b.Float())
	default:
		return b2i(a.Int() > b.Int()) - b2i(a.Int() < b.Int())
	}
}
