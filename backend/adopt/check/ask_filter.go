package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const filterCure = "mend what the filter says to the system, or the conversion of the field, or leave it out of what can be filtered by"

// filters asks for a value that was read in all ways that clients can filter by it: its record must
// be among what is found, where that is a page. That each row is found is proved by the database.
func (x *asked) filters(ctx context.Context) {
	for _, f := range mapping.Each(x.Fields) {
		isRequired := slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f })
		i := slices.IndexFunc(x.records, func(rec mapping.Record) bool {
			v := rec.Values[f.Index]
			return v.IsSet() && !v.IsEmpty() && (!f.IsText() || len(v.Text()) <= mapping.MaxSearched)
		})
		if !f.Filterable() || isRequired || i < 0 {
			continue
		}
		v := x.records[i].Values[f.Index]
		for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.AtMost, mapping.AnyOf, mapping.Contains} {
			if x.isLate() || ctx.Err() != nil {
				return
			}
			if o != mapping.Equals && !f.FilterableBy(o) {
				continue
			}
			found, unclear, err := x.finds(ctx, x.records[i].ID(), backend.Query{}, backend.Filter{Field: f, Op: o, Value: v, Values: []mapping.Value{v}})
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("a filter by %s of a %s that was read fails: %s", o.Param(f.Name), f.Name, x.told(err)), filterCure)
			case !found && !unclear:
				x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("a filter by %s of a %s that was read does not find its record", o.Param(f.Name), f.Name), filterCure)
			}
		}
	}
}

// sameText tells whether two values are one to systems that compare texts as they like.
func sameText(a, b mapping.Value) bool {
	return a == b || a.Kind() == mapping.KindText && b.Kind() == mapping.KindText && strings.EqualFold(strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text()))
}

// since asks for what was changed since a record was: it must be among it.
func (x *asked) since(ctx context.Context) {
	i := slices.IndexFunc(x.records, func(rec mapping.Record) bool { return rec.Values[x.ModifiedAt].IsSet() })
	if x.Undated || i < 0 || x.isLate() {
		return
	}
	const cure = "mend the time_zone or the SQL of modified_at: clients that keep a copy miss changes"
	found, unclear, err := x.finds(ctx, x.records[i].ID(), backend.Query{ModifiedSince: x.records[i].Values[x.ModifiedAt]})
	at := x.ofField(&x.Fields[x.ModifiedAt])
	switch {
	case ctx.Err() != nil:
	case err != nil:
		x.add(Error, "ask.since", at, "a list by modified_since fails: "+x.told(err), cure)
	case !found && !unclear:
		x.add(Error, "ask.since", at, "by modified_since of its own modified_at a record is not found", cure)
	}
}

// sorts asks for each order.
func (x *asked) sorts(ctx context.Context) {
	for _, f := range mapping.Each(x.Fields) {
		if !f.Sortable() || f.Primary || x.isLate() || ctx.Err() != nil {
			continue
		}
		page, err := x.list(ctx, backend.Query{Sort: []backend.Order{{Field: f}}})
		const cure = "mend the conversion, or leave the field out of what can be sorted by"
		switch want := min(len(x.records), askedPage); {
		case ctx.Err() != nil:
		case err != nil:
			x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("a list sorted by %s fails: %s", f.Name, x.told(err)), cure)
		case len(page.Records) < want:
			x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("sorted by %s the list has %d records, and %d without", f.Name, len(page.Records), want), cure)
		}
	}
}
