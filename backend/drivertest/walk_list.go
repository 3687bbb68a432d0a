package drivertest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// list goes through a list to its end, page by page.
func (w *Walk) list(t *try, r *mapping.Resource, who auth.Client) bool {
	q := w.query(t, r, who)
	var last Key // the row after which the page begins
	if q.Keyset && rapid.Bool().Draw(t.T, "from within") {
		if all := w.wanted(t, r, q); len(all) > 0 {
			last = rapid.SampledFrom(all).Draw(t.T, "after").Key
			q.After = w.ids[r.Name][last]
		}
		if q.After == 0 { // its ID is not known yet
			last = ""
		}
	}
	got, here := map[Key]bool{}, w.named(w.rows[r.Name])
	for first := true; ; first = false {
		before := w.rows[r.Name]
		if !first && w.Meddle != nil && rapid.IntRange(0, 3).Draw(t.T, "meddle between pages") == 3 {
			w.Meddle(t.T)
			w.look(t)
		}
		all := w.wanted(t, r, q)
		want := all
		if q.Keyset {
			want = w.after(r, all, before, last)
		} else {
			want = want[min(q.Offset, len(want)):]
		}
		page, err := w.Client.List(t.Context(), r, q)
		require.NoError(t, err, "%+v", q)
		if q.Keyset && w.ByKey == nil {
			want = w.from(t, page, all, want, here)
		}
		w.judge(t, page, q, want, len(all))
		for _, row := range want[:len(page.Records)] {
			require.False(t, q.Keyset && got[row.Key], "%s %s was on a page before", r.Name, row.Key)
			got[row.Key] = true
		}
		if !page.More {
			return true
		}
		last = want[len(page.Records)-1].Key
		q.Offset += q.Limit
		if q.Keyset {
			q.Offset, q.After = 0, page.Records[len(page.Records)-1].ID()
		}
	}
}

// judge compares a page with the rows that it must begin with; total is the length of the
// whole list.
func (w *Walk) judge(t *try, page backend.Page, q backend.Query, want []Row, total int) {
	shown := want[:min(q.Limit, len(want))]
	var wanted, came []Key // as far as IDs are known
	for _, row := range shown {
		wanted = append(wanted, row.Key)
	}
	for _, rec := range page.Records {
		came = append(came, w.keys[rec.Resource.Name][rec.ID()])
	}
	require.Equal(t, len(shown), len(page.Records), "records of %+v: want %q, got %q", q, wanted, came)
	for i, rec := range page.Records {
		require.True(t, came[i] == "" || came[i] == shown[i].Key, "records of %+v: want %q, got %q", q, wanted, came)
		w.same(t, rec, shown[i])
	}
	require.Equal(t, len(want) > len(shown), page.More, "there is more")
	if q.Total {
		require.EqualValues(t, total, page.Total, "total")
	}
}

// sizes of pages: 1, sizes around the page sizes of the systems, and all at once.
var sizes = []int{1, 2, 7, 9, 10, 11, 19, 20, 21, 50, 100}

// query draws the query of a list.
func (w *Walk) query(t *try, r *mapping.Resource, who auth.Client) backend.Query {
	q := backend.Query{Client: who, Limit: rapid.SampledFrom(sizes).Draw(t.T, "size"), Keyset: rapid.Bool().Draw(t.T, "by after"), Total: rapid.Bool().Draw(t.T, "total")}
	if !q.Keyset {
		q.Offset = q.Limit * rapid.SampledFrom([]int{0, 0, 0, 1, 2, 7}).Draw(t.T, "page")
	}
	filters, sorts := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(w.fields(r))) {
		f := r.Field(name)
		if slices.Contains(r.ListRequires, name) {
			q.Filters = w.filter(t, r, f, q.Filters)
		} else if f.Filterable() && !f.IgnoreDashes {
			filters = append(filters, name)
		}
		if f.Sortable() && f.Reference == "" {
			sorts = append(sorts, name)
		}
	}
	if n := rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t.T, "filters"); n > 0 && len(filters) > 0 {
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(filters), 1, min(n, len(filters)), rapid.ID).Draw(t.T, "by") {
			had := len(q.Filters)
			if q.Filters = w.filter(t, r, r.Field(name), q.Filters); len(q.Filters) > had {
				w.operator(t, r, &q.Filters[had])
			}
		}
	}
	if !q.Keyset && len(sorts) > 0 {
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(sorts), 0, min(2, len(sorts)), rapid.ID).Draw(t.T, "sort") {
			q.Sort = append(q.Sort, backend.Order{Field: r.Field(name), Descending: rapid.Bool().Draw(t.T, "descending")})
		}
	}
	if _, dated := w.fields(r)["modified_at"]; dated && !r.Undated && rapid.IntRange(0, 3).Draw(t.T, "since") == 3 {
		row := rapid.SampledFrom(w.rows[r.Name]).Draw(t.T, "modified_since")
		q.ModifiedSince, _ = w.value(t, r.Field("modified_at"), row.Fields["modified_at"])
	}
	return q
}

// fields are those that the rows of a resource have.
func (w *Walk) fields(r *mapping.Resource) map[string]any {
	if len(w.rows[r.Name]) == 0 {
		return nil
	}
	return w.rows[r.Name][0].Fields
}

// filter adds a filter by a value of some row, even a hidden one or another client's, or by a
// text that looks like syntax.
func (w *Walk) filter(t *try, r *mapping.Resource, f *mapping.Field, to []backend.Filter) []backend.Filter {
	v, known := w.value(t, f, rapid.SampledFrom(w.rows[r.Name]).Draw(t.T, "with the value of").Fields[f.Name])
	if f.IsText() && rapid.IntRange(0, 3).Draw(t.T, "strange") == 3 {
		v = mapping.TextValue(rapid.SampledFrom(w.Texts).Draw(t.T, "text"))
	}
	if !known || !v.IsSet() { // no query parameter is null
		return to
	}
	return append(to, backend.Filter{Field: f, Value: v})
}

// operator gives a filter another operator of the field, with the same value or one next to
// it.
func (w *Walk) operator(t *try, r *mapping.Resource, f *backend.Filter) {
	kinds := []mapping.Operator{mapping.Equals}
	for _, o := range mapping.AllOperators {
		if f.Field.FilterableBy(o) {
			kinds = append(kinds, o)
		}
	}
	switch f.Op = rapid.SampledFrom(kinds).Draw(t.T, "operator"); f.Op {
	case mapping.IsNull:
		f.Value = mapping.IntValue(int64(rapid.IntRange(0, 1).Draw(t.T, "null")))
	case mapping.AnyOf:
		f.Values, f.Value = []mapping.Value{f.Value}, mapping.Value{}
		for range rapid.IntRange(0, 2).Draw(t.T, "others") {
			for _, other := range w.filter(t, r, f.Field, nil) {
				f.Values = append(f.Values, other.Value)
			}
		}
	case mapping.Contains:
		letters := []rune(f.Value.Text())
		from := rapid.IntRange(0, len(letters)).Draw(t.T, "from")
		f.Value = mapping.TextValue(string(letters[from:rapid.IntRange(from, len(letters)).Draw(t.T, "to")]))
	default:
		by := int64(rapid.IntRange(-1, 1).Draw(t.T, "beside"))
		switch v := f.Value; {
		case !f.Op.IsRange():
		case v.Kind() == mapping.KindInt:
			f.Value = mapping.IntValue(v.Int() + by)
		case v.Kind() == mapping.KindDecimal:
			f.Value = mapping.DecimalValue(v.Int()+by, v.Scale())
		case v.Kind() == mapping.KindTime:
			f.Value = mapping.MilliValue(v.Int() + by)
		}
	}
}

// lets reports whether a filter passes a row with a value, or null.
func (w *Walk) lets(f backend.Filter, null bool, v mapping.Value) bool {
	switch {
	case f.Op == mapping.IsNull:
		return null == (f.Value.Int() == 1)
	case f.Op == mapping.Equals, f.Op == mapping.AnyOf:
		return slices.ContainsFunc(f.Operands(), func(by mapping.Value) bool { return w.alike(v, by) })
	case f.Op == mapping.Contains:
		return v.IsSet() && strings.Contains(w.weighWhole(v), w.weighWhole(f.Value))
	case v.Kind() == mapping.KindText && f.Value.Kind() == mapping.KindText:
		v, f.Value = mapping.TextValue(w.Weigh(v.Text())), mapping.TextValue(w.Weigh(f.Value.Text()))
	}
	return f.Matches(v)
}

// weighWhole is the weight of a text with the blanks at its end, which do not count where
// whole texts are compared.
func (w *Walk) weighWhole(v mapping.Value) string {
	return strings.TrimSuffix(w.Weigh(mapping.Fold(v.Text())+"."), w.Weigh("."))
}

// wanted are all rows of the list, in its order.
func (w *Walk) wanted(t *try, r *mapping.Resource, q backend.Query) []Row {
	at := func(row Row, f *mapping.Field) mapping.Value {
		v, known := w.value(t, f, row.Fields[f.Name])
		if !known {
			return mapping.Value{}
		}
		return v
	}
	rows := slices.DeleteFunc(w.seen(r, q.Client), func(row Row) bool {
		for _, f := range q.Filters {
			if !w.lets(f, row.Fields[f.Field.Name] == nil, at(row, f.Field)) {
				return true
			}
		}
		if !q.ModifiedSince.IsSet() {
			return false
		}
		modified := at(row, r.Field("modified_at"))
		return !modified.IsSet() || modified.Int() < q.ModifiedSince.Int()
	})
	if w.ByKey != nil && (q.Keyset || len(q.Sort) > 0) {
		slices.SortStableFunc(rows, func(a, b Row) int { return w.ByKey(r.Name, a.Key, b.Key) })
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		for _, o := range q.Sort {
			x, y := at(a, o.Field), at(b, o.Field)
			c := cmp.Or(cmp.Compare(x.Kind(), y.Kind()), cmp.Compare(x.Int(), y.Int()), cmp.Compare(w.Weigh(x.Text()), w.Weigh(y.Text())),
				cmp.Compare(a.Finer[o.Field.Name], b.Finer[o.Field.Name]))
			if o.Descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// alike reports whether a filter by one value finds another.
func (w *Walk) alike(v, by mapping.Value) bool {
	if v.Kind() == mapping.KindText && by.Kind() == mapping.KindText {
		return w.Weigh(v.Text()) == w.Weigh(by.Text())
	}
	return v == by
}

// after are the rows of a list after the last one. If that is gone, and the order is not by
// key, they are the rows after its predecessor.
func (w *Walk) after(r *mapping.Resource, list, before []Row, last Key) []Row {
	if last == "" {
		return list
	}
	if w.ByKey != nil {
		return slices.DeleteFunc(slices.Clone(list), func(row Row) bool { return w.ByKey(r.Name, row.Key, last) <= 0 })
	}
	position := func(rows []Row, key Key) int {
		return slices.IndexFunc(rows, func(row Row) bool { return row.Key == key })
	}
	now := w.rows[r.Name]
	from := -1
	for i := position(before, last); i >= 0 && from < 0; i-- {
		from = position(now, before[i].Key)
	}
	return slices.DeleteFunc(slices.Clone(list), func(row Row) bool { return position(now, row.Key) <= from })
}

// from are the rows that a page may have. If the row that it begins after has gone, the page
// may begin with earlier rows that appeared during the walk: the client has not seen them.
func (w *Walk) from(t *try, page backend.Page, list, want []Row, here map[Key]Row) []Row {
	begins := func(rows []Row) bool {
		for i, rec := range page.Records {
			if i == len(rows) || !w.canBe(t, rec, rows[i]) {
				return false
			}
		}
		return true
	}
	for at := len(list) - len(want); ; at-- {
		if begins(list[at:]) {
			return list[at:]
		}
		if at == 0 {
			return want
		}
		if _, old := here[list[at-1].Key]; old {
			return want
		}
	}
}
