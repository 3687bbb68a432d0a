package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/mapping"
)

// planner tells how a database reads lists: a *legacy.Store.
type planner interface {
	Plan(ctx context.Context, r *mapping.Resource, q backend.Query) (*legacy.Plan, error)
}

var _ planner = (*legacy.Store)(nil)

// manyRecords is of how many a list reads all where no index helps, before that is told of.
const manyRecords = 10_000

// plans asks the planner how lists are read, where a client has many records: with each filter,
// and in each order.
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
	var whole, sorted []string
	for _, f := range mapping.Each(x.Fields) {
		if f.Primary || x.isFixed(f) || x.isLate() || ctx.Err() != nil {
			continue
		}
		if f.Filterable() && len(f.OneOf) == 0 && !slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f }) && x.readsAll(ctx, f, plain) {
			whole = append(whole, f.Name)
		}
		if f.Sortable() && f.Reference == "" {
			if p := x.plan(ctx, backend.Query{Sort: []backend.Order{{Field: f}}}); p != nil && p.Sorts {
				sorted = append(sorted, f.Name)
			}
		}
	}
	x.slow(all.Total, "filtered", whole, "make an index that begins with the client and goes on with it, or take it out of filters")
	x.slow(all.Total, "sorted", sorted, "make an index over the client, it and the key, with null first where it may be null; or take it out of sorts")
}

// isFixed tells that the field is the same in all records.
func (x *asked) isFixed(f *mapping.Field) bool {
	known := x.Sheet.Resource(x.Name)
	return known != nil && known.Fields[f.Index].Traits().Fixed
}

// slow tells of what no index serves.
func (x *asked) slow(records int64, what string, fields []string, cure string) {
	if len(fields) == 0 {
		return
	}
	at := x.path + ".fields"
	if len(fields) == 1 {
		at = ofField(x.Name, fields[0])
	}
	x.add(Warning, "sql.plan", at, fmt.Sprintf("a list %s by %s reads all %d records of the client each time: the planner uses no index for it", what, strings.Join(fields, " or "), records), cure)
}

// readsAll tells whether a filter narrows nothing, by none of the values that are tried.
func (x *asked) readsAll(ctx context.Context, f *mapping.Field, plain *legacy.Plan) bool {
	var tried []mapping.Value
	for _, rec := range x.records {
		v := rec.Values[f.Index]
		if !v.IsSet() || v.IsEmpty() || slices.Contains(tried, v) {
			continue
		}
		if tried = append(tried, v); len(tried) > mostTries {
			break
		}
		p := x.plan(ctx, backend.Query{}, backend.Filter{Field: f, Value: v})
		if p == nil || slices.ContainsFunc(p.Narrows, func(by string) bool { return !slices.Contains(plain.Narrows, by) }) {
			return false
		}
	}
	return len(tried) > 0
}

// plan is how a page of the client's list is read; nil where that is not to be had.
func (x *asked) plan(ctx context.Context, q backend.Query, more ...backend.Filter) *legacy.Plan {
	if x.planner == nil {
		return nil
	}
	q.Client, q.Limit, q.Filters = x.of, askedPage, append(slices.Clone(x.base), more...)
	p, err := x.planner.Plan(ctx, x.Resource, q)
	if err != nil {
		x.Looked = append(x.Looked, x.Name+": its plans could not be asked for: "+hidden(err))
		x.planner = nil
	}
	return p
}
