package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

const listCure = "mend the conversion of the field, or what the database has"

// lists reads lists as clients do: filtered by the value of a record, which must be found, and in each
// order, which must have all records. prove shows, for all rows, that they are found by their values.
func (x *subject) lists(ctx context.Context) {
	for i, f := range mapping.Each(x.Fields) {
		if x.isLate() || ctx.Err() != nil {
			return
		}
		for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Contains} {
			rec, v := x.one(f)
			isRequired := slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f })
			if !v.IsSet() || isRequired || !f.Filterable() || o != mapping.Equals && !f.FilterableBy(o) {
				continue
			}
			x.mustFind(ctx, "ask.filter", f, fmt.Sprintf("a filter by %s of a %s that was read", o.Param(f.Name), f.Name), rec, backend.Query{}, backend.Filter{Field: f, Op: o, Value: v})
		}
		if i == x.ModifiedAt && !x.Undated {
			if rec, v := x.one(f); v.IsSet() {
				x.mustFind(ctx, "ask.since", f, "modified_since of its own modified_at", rec, backend.Query{ModifiedSince: v})
			}
		}
		if !f.Sortable() || f.Primary {
			continue
		}
		page, err := x.list(ctx, backend.Query{Sort: []backend.Order{{Field: f}}})
		switch want := min(len(x.records), pageSize); {
		case ctx.Err() != nil:
		case err != nil:
			x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("a list sorted by %s fails: %s", f.Name, x.refusal(err)), listCure)
		case len(page.Records) < want:
			x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("sorted by %s the list has %d records, and %d without", f.Name, len(page.Records), want), listCure)
		}
	}
}

// one is a record with a value that can be filtered by; the value is absent if there is none.
func (x *subject) one(f *mapping.Field) (rec mapping.Record, v mapping.Value) {
	for _, rec := range x.records {
		if v := rec.Values[f.Index]; v.IsSet() && !v.IsEmpty() && (!f.IsText() || len(v.Text()) <= mapping.MaxSearched) {
			return rec, v
		}
	}
	return rec, v
}

// mustFind adds a finding if a list fails, or lacks a record; it gives up if the list is too long.
func (x *subject) mustFind(ctx context.Context, rule string, f *mapping.Field, what string, rec mapping.Record, q backend.Query, more ...backend.Filter) {
	for range mostPages {
		page, err := x.list(ctx, q, more...)
		switch {
		case ctx.Err() != nil || slices.ContainsFunc(page.Records, func(had mapping.Record) bool { return had.ID() == rec.ID() }):
			return
		case err != nil:
			x.add(Error, rule, x.ofField(f), what+" fails: "+x.refusal(err), listCure)
			return
		case !page.More:
			x.add(Error, rule, x.ofField(f), what+" does not find its record", listCure)
			return
		}
		q.Offset += len(page.Records)
	}
}

// noted checks whether the system's table of changes (by: table) leads to records.
func (x *subject) noted(ctx context.Context) {
	how, at := x.Sheet.Changes(x.Resource), strictyaml.Child(x.path, "changes")
	if x.journal == nil || !how.IsReported() {
		return
	}
	page, err := x.journal.Entries(ctx, x.Resource, x.of, "", how.Page)
	if errors.Is(err, follow.ErrPositionGone) { // too many at one position, or the table has nothing of the past
		return
	}
	if page.Nameless > 0 {
		x.add(Error, "ask.changes-key", strictyaml.Child(at, "key"), fmt.Sprintf("%d of %d changes have no key there", page.Nameless, page.Nameless+len(page.Keys)), "name where a change has the key of its record: what names none is not told")
	}
	led := 0
	for _, who := range x.clients {
		if err == nil {
			var records []mapping.Record
			records, _, err = x.journal.Named(ctx, x.Resource, who, page.Keys)
			led += len(records)
		}
	}
	switch {
	case err != nil:
		x.add(Error, "ask.changes", at, "what has changed cannot be read: "+hidden(err), "mend it as the message says")
	case led > 0:
		x.Looked = append(x.Looked, fmt.Sprintf("%s: %d of %d changes that were read lead to a record", x.Name, led, len(page.Keys)))
	case len(page.Keys) > 0:
		x.add(Warning, "ask.changes-lead-nowhere", at, fmt.Sprintf("none of the %d changes that were read leads to a record", len(page.Keys)), "see that key, where and only name changes of this resource; where all of these records were deleted, all is well")
	}
}
