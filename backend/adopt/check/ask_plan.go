package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// manyRecords is of how many records of a client a list may read all, before that is told of.
const manyRecords = 1000

// plans asks the planner how records are read, where a client has many: one by its ID, what was
// changed since a time, lists with each filter, and in each order.
func (x *asked) plans(ctx context.Context) {
	if x.planner == nil {
		return
	}
	all, err := x.list(ctx, backend.Query{Limit: 1, Total: true})
	if err != nil || all.Total < manyRecords {
		return
	}
	plain := x.plan(ctx, backend.Query{})
	if plain == nil {
		return
	}
	if plain.sorts {
		x.slow(all.Total, x.path, "a list", "make an index over the client and the key")
	}
	if x.readsAll(ctx, &x.Fields[x.ID], plain) {
		x.slow(all.Total, x.path, "a record that is asked for by its ID", "make an index over the key")
	}
	var whole, sorted []string
	for i, f := range mapping.Each(x.Fields) {
		if f.Primary || x.isFixed(f) || x.isLate() || ctx.Err() != nil {
			continue
		}
		switch isRequired := slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f }); {
		case !f.Filterable() || len(f.OneOf) > 0 || isRequired || !x.readsAll(ctx, f, plain):
		case f.Unique || f.Reference != "": // by which every write looks for records, too
			x.slow(all.Total, x.ofField(f), "a list filtered by "+f.Name, "make an index that begins with the client and goes on with it, or say a find that has one")
		default:
			whole = append(whole, f.Name)
		}
		if i == x.ModifiedAt && !x.Undated && x.records[0].Values[i].IsSet() {
			if p := x.plan(ctx, backend.Query{ModifiedSince: x.records[0].Values[i]}); p != nil && !narrower(p, plain) {
				x.slow(all.Total, x.ofField(f), "what was modified since a time", "make an index over the client and it; changes are looked for again and again")
			}
		}
		if f.Sortable() && f.Reference == "" {
			if p := x.plan(ctx, backend.Query{Sort: []backend.Order{{Field: f}}}); p != nil && p.sorts {
				sorted = append(sorted, f.Name)
			}
		}
	}
	x.slowFields(all.Total, "filtered", whole, "make an index that begins with the client and goes on with it; of a field that is read by SQL, say write or find, by which an index finds it")
	x.slowFields(all.Total, "sorted", sorted, "make an index over the client, it and the key, with null first where it may be null")
}

// isFixed tells that the field is the same in all records.
func (x *asked) isFixed(f *mapping.Field) bool {
	known := x.Sheet.Resource(x.Name)
	return known != nil && isFixed(known, f)
}

// slow tells of what no index serves.
func (x *asked) slow(records int64, at, what, cure string) {
	x.add(Warning, "sql.plan", at, fmt.Sprintf("%s reads all %d records of the client each time: the planner uses no index for it", what, records), cure)
}

func (x *asked) slowFields(records int64, how string, fields []string, cure string) {
	switch len(fields) {
	case 0:
	case 1:
		x.slow(records, ofField(x.Name, fields[0]), "a list "+how+" by "+fields[0], cure)
	default:
		x.slow(records, x.path+".fields", "a list "+how+" by "+strings.Join(fields, " or "), cure)
	}
}

// narrower tells whether a plan narrows what another one reads.
func narrower(p, than *plan) bool {
	return slices.ContainsFunc(p.narrows, func(by string) bool { return !slices.Contains(than.narrows, by) })
}

// readsAll tells whether a filter narrows nothing, by none of the values that are tried.
func (x *asked) readsAll(ctx context.Context, f *mapping.Field, plain *plan) bool {
	var tried []mapping.Value
	for _, rec := range x.records {
		v := rec.Values[f.Index]
		if !v.IsSet() || v.IsEmpty() || slices.Contains(tried, v) {
			continue
		}
		if tried = append(tried, v); len(tried) > mostTries {
			break
		}
		if p := x.plan(ctx, backend.Query{}, backend.Filter{Field: f, Value: v}); p == nil || narrower(p, plain) {
			return false
		}
	}
	return len(tried) > 0
}

// plan is how a page of the client's list is read; nil where that is not to be had.
func (x *asked) plan(ctx context.Context, q backend.Query, more ...backend.Filter) *plan {
	if x.planner == nil {
		return nil
	}
	q.Client, q.Limit, q.Filters = x.of, askedPage, append(slices.Clone(x.base), more...)
	p, err := planOf(ctx, x.planner, x.Resource, q)
	if err != nil {
		x.Looked = append(x.Looked, x.Name+": its plans could not be asked for: "+hidden(err))
		x.planner = nil
	}
	return p
}
