package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// spoilers are texts that no record has, and that mean something in the languages that
// systems are asked in: what is not written as a value finds something, or fails.
var spoilers = []string{"zq'x", "zq(x", `zq"x\`, "' OR ''='", "') || ('1'='1", "zq&x=1", "%", "*"}

// filters asks for values that were read, for one that nobody has, and for spoilers.
func (x *asked) filters(ctx context.Context) {
	for _, f := range mapping.Each(x.Fields) {
		isRequired := slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f })
		if !f.Filterable() || isRequired || x.isLate() || ctx.Err() != nil {
			continue
		}
		if x.ownValues(ctx, f) {
			x.operators(ctx, f)
		}
		if len(f.OneOf) > 0 || f.Check != "" {
			continue // such a value is refused before anybody is asked
		}
		if v := nobodys(f); v.IsSet() {
			x.foreignValues(ctx, f, mapping.Equals, "ask.filter-none", "a value that nobody has", []mapping.Value{v})
		}
		if f.IsText() {
			var values []mapping.Value
			for _, text := range spoilers {
				if f.Type == mapping.Text || len(text) <= f.Length {
					values = append(values, mapping.TextValue(text))
				}
			}
			well := x.foreignValues(ctx, f, mapping.Equals, "ask.quotes", "texts with quotes, operators and wildcards", values)
			if well && f.FilterableBy(mapping.Contains) {
				x.foreignValues(ctx, f, mapping.Contains, "ask.quotes", "a part with quotes and operators", values)
			}
		}
	}
}

// ownValues asks for values that were read: each must find the record that it is of. It is false
// where something was wrong.
func (x *asked) ownValues(ctx context.Context, f *mapping.Field) bool {
	var tried []mapping.Value
	missed, failed := 0, error(nil)
	for _, rec := range x.records {
		v := rec.Values[f.Index]
		if !v.IsSet() || v.IsEmpty() || slices.Contains(tried, v) {
			continue
		}
		if len(tried) == mostTries {
			break
		}
		tried = append(tried, v)
		found, unclear, err := x.finds(ctx, rec.ID(), backend.Query{}, backend.Filter{Field: f, Value: v})
		switch {
		case err != nil:
			failed = err
		case !found && !unclear:
			missed++
		}
	}
	switch {
	case failed != nil && ctx.Err() == nil:
		x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("a filter by a %s that was read fails: %s", f.Name, x.told(failed)), filterCure)
	case missed > 0 && ctx.Err() == nil:
		x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("%d of %d %s that were read do not find the record that they were read of", missed, len(tried), f.Name), filterCure)
	}
	return failed == nil && missed == 0
}

// operators asks by a value that was read in all other ways that clients can filter by it: its
// record must be among what is found, where that is a page.
func (x *asked) operators(ctx context.Context, f *mapping.Field) {
	i := slices.IndexFunc(x.records, func(rec mapping.Record) bool {
		v := rec.Values[f.Index]
		return v.IsSet() && !v.IsEmpty() && (!f.IsText() || len(v.Text()) <= mapping.MaxSearched)
	})
	if i < 0 {
		return
	}
	own := x.records[i]
	v := own.Values[f.Index]
	for _, o := range []mapping.Operator{mapping.AtLeast, mapping.AtMost, mapping.Contains, mapping.AnyOf} {
		if !f.FilterableBy(o) || x.isLate() {
			continue
		}
		page, err := x.list(ctx, backend.Query{}, backend.Filter{Field: f, Op: o, Value: v, Values: []mapping.Value{v}})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("a filter by %s of a %s that was read fails: %s", o.Param(f.Name), f.Name, x.told(err)), filterCure)
		case !page.More && !slices.ContainsFunc(page.Records, func(rec mapping.Record) bool { return rec.ID() == own.ID() }):
			x.add(Error, "ask.filter", x.ofField(f), fmt.Sprintf("a filter by %s of a %s that was read does not find its record", o.Param(f.Name), f.Name), filterCure)
		}
	}
}

const quotesCure = "have the system take it for a value: say how it writes quotes (expressions: {quotes: …}, strict where it has no way to), and how the list's operation filters"

const filterCure = "mend what the filter says to the system, or the conversion of the field, or leave it out of what can be filtered by"

// nobodys is a value of a field that no record has; absent where none is sure.
func nobodys(f *mapping.Field) mapping.Value {
	const number = 2147480017
	switch {
	case f.Type == mapping.Text, f.Type == mapping.Varchar && f.Length >= 12:
		return mapping.TextValue("zqx-nobody-7")
	case f.Type == mapping.Int4:
		return mapping.IntValue(number)
	case f.Type == mapping.Float8 && f.Scale >= 0:
		return mapping.DecimalValue(number, f.Scale)
	case f.Type == mapping.Timestamp:
		return mapping.TimeValue(farOff)
	}
	return mapping.Value{}
}

// farOff is a moment that no record is of.
var farOff = time.Date(2037, time.March, 7, 11, 17, 13, 0, time.UTC)

// foreignValues asks for values that no record has, which must find none. It is false where
// something was wrong.
func (x *asked) foreignValues(ctx context.Context, f *mapping.Field, o mapping.Operator, rule, what string, values []mapping.Value) bool {
	var failed error
	found := int64(0)
	for _, v := range values {
		filter := backend.Filter{Field: f, Op: o, Value: v}
		page, err := x.list(ctx, backend.Query{Total: true}, filter)
		if err != nil {
			failed = err
			continue
		}
		strange := int64(0)
		for _, rec := range page.Records {
			if !sameText(rec.Values[f.Index], v) && !filter.Matches(rec.Values[f.Index]) {
				strange++
			}
		}
		if len(page.Records) == 0 {
			strange = page.Total // that there are some is told as well
		}
		found = max(found, strange)
	}
	switch {
	case ctx.Err() != nil:
	case found > 0:
		x.add(Error, rule, x.ofField(f), fmt.Sprintf("a filter by %s finds %d record(s) by %s", o.Param(f.Name), found, what), quotesCure)
	case failed != nil:
		x.add(Error, rule, x.ofField(f), fmt.Sprintf("a filter by %s fails by %s: %s", o.Param(f.Name), what, x.told(failed)), quotesCure)
	}
	return found == 0 && failed == nil
}

// sameText tells whether two values are one to systems that compare texts as they like.
func sameText(a, b mapping.Value) bool {
	return a == b || a.Kind() == mapping.KindText && b.Kind() == mapping.KindText && strings.EqualFold(strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text()))
}

// since asks for what was changed since records were: each must be among it.
func (x *asked) since(ctx context.Context) {
	var dated []mapping.Record
	for _, rec := range x.records {
		if rec.Values[x.ModifiedAt].IsSet() {
			dated = append(dated, rec)
		}
	}
	if x.Undated || len(dated) == 0 || x.isLate() {
		return
	}
	slices.SortStableFunc(dated, func(a, b mapping.Record) int {
		return int(min(1, max(-1, b.Values[x.ModifiedAt].Int()-a.Values[x.ModifiedAt].Int())))
	})
	const cure = "mend the format or the time_zone of modified_at, or what the list says of {modified_since}: clients that keep a copy miss changes"
	f := &x.Fields[x.ModifiedAt]
	tries := [...]mapping.Record{dated[0], dated[len(dated)/2], dated[len(dated)-1]}
	missed := 0
	for _, rec := range tries {
		found, unclear, err := x.finds(ctx, rec.ID(), backend.Query{ModifiedSince: rec.Values[x.ModifiedAt]})
		if err != nil {
			if ctx.Err() == nil {
				x.add(Error, "ask.since", x.ofField(f), "a list by modified_since fails: "+x.told(err), cure)
			}
			return
		}
		if !found && !unclear {
			missed++
		}
	}
	if missed > 0 {
		x.add(Error, "ask.since", x.ofField(f), fmt.Sprintf("by modified_since of their own modified_at %d of %d records are not found", missed, len(tries)), cure)
	}
	page, err := x.list(ctx, backend.Query{ModifiedSince: mapping.TimeValue(farOff)})
	if err == nil && len(page.Records) > 0 {
		x.add(Error, "ask.since", x.ofField(f), fmt.Sprintf("%d record(s) or more are found that were changed since %s", len(page.Records), farOff.Format(time.DateOnly)), cure)
	}
}

// sorts asks for each order, both ways.
func (x *asked) sorts(ctx context.Context) {
	for _, f := range mapping.Each(x.Fields) {
		if !f.Sortable() || f.Primary || x.isLate() || ctx.Err() != nil {
			continue
		}
		for _, down := range []bool{false, true} {
			page, err := x.list(ctx, backend.Query{Sort: []backend.Order{{Field: f, Descending: down}}})
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("a list sorted by %s fails: %s", f.Name, x.told(err)), sortCure)
				break
			}
			if n := misplaced(page.Records, f, down); n > 0 {
				x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("of %d records sorted by %s %d stand in the wrong place", len(page.Records), f.Name, n), sortCure)
				break
			}
			if want := min(len(x.records), askedPage); len(page.Records) < want {
				x.add(Error, "ask.sort", x.ofField(f), fmt.Sprintf("sorted by %s the list has %d records, and %d without", f.Name, len(page.Records), want), sortCure)
				break
			}
		}
	}
}

const sortCure = "mend the conversion, or leave the field out of what can be sorted by"

// misplaced counts the records that a sorted list has behind one which they belong before.
// Texts are in the order of the system, and references in that of its keys.
func misplaced(records []mapping.Record, f *mapping.Field, down bool) (n int) {
	if f.Reference != "" || f.ReferenceBy != "" {
		return 0
	}
	var before mapping.Value
	for _, rec := range records {
		v := rec.Values[f.Index]
		if !v.IsSet() || v.Kind() == mapping.KindText {
			continue
		}
		if before.IsSet() {
			order := before.Decimal().Cmp(v.Decimal())
			if v.Kind() == mapping.KindTime {
				order = before.Time().Compare(v.Time())
			}
			if down && order < 0 || !down && order > 0 {
				n++
			}
		}
		before = v
	}
	return n
}
