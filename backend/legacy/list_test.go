package legacy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// alike compares values as databases do: without regard to case, and to blanks behind, where the collation says so.
func alike(f *mapping.Field, a, b mapping.Value) bool {
	if f.IgnoreDashes {
		return mapping.BarePlate(a.Text()) == mapping.BarePlate(b.Text())
	}
	return a == b || a.Kind() == mapping.KindText && strings.EqualFold(strings.TrimRight(a.Text(), " "), strings.TrimRight(b.Text(), " "))
}

func TestEveryFilterFindsWhatIsShown(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		for _, r := range x.model.Resources {
			all := x.list(one, r.Name)
			for i := range r.Fields {
				f := &r.Fields[i]
				if !f.Filterable() {
					continue
				}
				seen := map[string]bool{}
				for _, rec := range all {
					v := rec.Values[i]
					if seen[v.String()] || len(seen) > 5 {
						continue
					}
					seen[v.String()] = true
					q := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: f, Value: v}}}
					if f.ReferenceBy != "" {
						by := r.Field(f.ReferenceBy)
						q.Filters = append(q.Filters, backend.Filter{Field: by, Value: rec.Values[by.Index]})
					}
					want := 0
					for _, other := range all {
						if alike(f, other.Values[i], v) && (f.ReferenceBy == "" || other.Get(f.ReferenceBy) == rec.Get(f.ReferenceBy)) {
							want++
						}
					}
					page := x.page(q, r.Name)
					require.EqualValues(t, want, page.Total, "%s.%s = %s", r.Name, f.Name, v)
					require.Len(t, page.Records, want, "%s.%s = %s", r.Name, f.Name, v)
				}
			}
		}
	})
}

func TestListWithoutVersions(t *testing.T) {
	x := dealerpak(t, "sqlite")
	for _, r := range x.model.Resources {
		all, bare := x.list(one, r.Name), x.page(backend.Query{Client: one, Unversioned: true}, r.Name).Records
		require.Len(t, bare, len(all))
		for i, rec := range bare {
			require.NotZero(t, all[i].Version)
			require.Zero(t, rec.Version)
			rec.Version = all[i].Version
			require.Equal(t, all[i], rec)
		}
	}
}

// requirePages puts a list together of its pages, four or more.
func requirePages(t testing.TB, x *tables, resource string, q backend.Query, whole []mapping.Record) {
	t.Helper()
	var got []int32
	q.Limit = max(1, len(whole)/4)
	for more := true; more; q.Offset += q.Limit {
		page := x.page(q, resource)
		got, more = append(got, ids(page.Records)...), page.More
	}
	require.Equal(t, ids(whole), got, "%s by %s", resource, q.Sort[0].Field.Name)
}

// TestListsEndWhereThereIsNoRoom: a page by ID ends before, and another one is refused.
func TestListsEndWhereThereIsNoRoom(t *testing.T) {
	errFull := errors.New("no room")
	onDealerpak(t, func(t *testing.T, x *tables) {
		q := backend.Query{Client: one, Keyset: true, Limit: 1000, Room: func(bytes, _ int) error {
			if bytes > 300 {
				return errFull
			}
			return nil
		}}
		var got []int32
		for pages := 1; ; pages++ {
			page := x.page(q, "contact")
			got = append(got, ids(page.Records)...)
			if !page.More {
				require.Greater(t, pages, 5)
				break
			}
			q.After = got[len(got)-1]
		}
		require.Equal(t, ids(x.list(one, "contact")), got)
		q.Keyset, q.After = false, 0
		_, err := x.front.List(t.Context(), x.model.Resource("contact"), q)
		require.ErrorIs(t, err, errFull)
	})
}

// walksInOrder reads all records page by page, up and down by a field, and compares them with what the field shows.
// Those of one value are by their IDs, unless the database has them finer.
func (x *tables) walksInOrder(r *mapping.Resource, f *mapping.Field, finer bool) {
	x.t.Helper()
	for _, descending := range []bool{false, true} {
		compare := func(a, b mapping.Record) int {
			c := compareValues(f, a.Values[f.Index], b.Values[f.Index])
			if descending {
				c = -c
			}
			return c
		}
		q := backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: descending}}}
		want := x.list(one, r.Name)
		if slices.SortStableFunc(want, compare); finer {
			want = x.page(q, r.Name).Records
			require.True(x.t, slices.IsSortedFunc(want, compare), "%s by %s", r.Name, f.Name)
		}
		requirePages(x.t, x, r.Name, q, want)
	}
}

// compareValues orders two values of a field, of which null is the least.
func compareValues(f *mapping.Field, a, b mapping.Value) int {
	above := func(a, b mapping.Value) int {
		return b2i(backend.Filter{Field: f, Op: mapping.Above, Value: b}.Matches(a))
	}
	switch {
	case !a.IsSet() || !b.IsSet():
		return b2i(a.IsSet()) - b2i(b.IsSet())
	case a.Kind() == mapping.KindText:
		return strings.Compare(a.Text(), b.Text())
	default:
		return above(a, b) - above(b, a)
	}
}

// findsShown filters by each value that is shown of some fields, and reads all in their order.
func (x *tables) findsShown(resource string, fields ...string) {
	x.t.Helper()
	all := x.list(one, resource)
	for _, name := range fields {
		x.walksInOrder(all[0].Resource, all[0].Resource.Field(name), true)
		for _, rec := range all {
			f := rec.Resource.Field(name)
			x.findsBy(f, rec.Values[f.Index], all)
		}
	}
}

// findsBy filters by a value itself, and by the ranges that begin and end at it.
func (x *tables) findsBy(f *mapping.Field, v mapping.Value, all []mapping.Record) {
	x.t.Helper()
	resource := all[0].Resource
	for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
		if o != mapping.Equals && (!v.IsSet() || !f.FilterableBy(o)) {
			continue
		}
		var want []int32
		for _, other := range all {
			if (backend.Filter{Field: f, Op: o, Value: v}).Matches(other.Values[f.Index]) {
				want = append(want, other.ID())
			}
		}
		require.Equal(x.t, want, x.by(resource.Name, f.Name, o, v), fmt.Sprint(f.Name, o, v))
	}
}
