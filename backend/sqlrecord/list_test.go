package sqlrecord

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestListOfASnapshot(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		s.create(t, alice, "contact", "name", "before")
		err := s.DB().Snapshot(t.Context(), func(c Conn) error {
			tx := &fixture{Store: s.On(c), model: s.model}
			require.Len(t, tx.list(t, "contact", backend.Query{Limit: 5}).Records, 1)
			s.create(t, alice, "contact", "name", "after")
			require.Len(t, tx.list(t, "contact", backend.Query{Limit: 5}).Records, 1)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, s.list(t, "contact", backend.Query{Limit: 5}).Records, 2)
	})
}

// TestListEqualsANaiveOne compares random lists with the same records sorted and cut in
// memory.
func TestListEqualsANaiveOne(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		r := s.model.Resource("contact")
		names := []any{"a", "B", "b", "é", "", mapping.NullValue()}
		var all []mapping.Record
		for n := range 60 {
			s.clock.advance(time.Duration(n%3) * time.Millisecond)
			client := auth.Client{ID: 1 + int64(n%3)} // other clients' IDs come before and after
			rec := s.create(t, client, "contact", "name", names[n/3%len(names)], "payment_days", n%4)
			if client.ID == bob.ID {
				all = append(all, rec)
			}
		}
		rapid.Check(t, func(rt *rapid.T) {
			q := backend.Query{Client: bob, Limit: rapid.IntRange(0, 25).Draw(rt, "limit"), Offset: rapid.IntRange(0, 25).Draw(rt, "offset"),
				Total: rapid.Bool().Draw(rt, "total"), After: rapid.Int32Range(0, 70).Draw(rt, "after")}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"name", "payment_days", "modified_at", "id"}), 0, 3, rapid.ID).Draw(rt, "sort") {
				q.Sort = append(q.Sort, backend.Order{Field: r.Field(name), Descending: rapid.Bool().Draw(rt, "descending")})
			}
			if rapid.Bool().Draw(rt, "filter") {
				q.Filters = []backend.Filter{{Field: r.Field("payment_days"), Value: mapping.IntValue(int64(rapid.IntRange(0, 4).Draw(rt, "days")))}}
			}
			if rapid.Bool().Draw(rt, "since") {
				q.ModifiedSince = rapid.SampledFrom(all).Draw(rt, "at").Get("modified_at")
			}
			page, err := s.List(t.Context(), r, q)
			require.NoError(rt, err)
			want, more, total := naive(all, q)
			require.Equal(rt, want, ids(page))
			require.Equal(rt, more, page.More)
			if q.Total {
				require.Equal(rt, total, page.Total)
			}
		})
	})
}

func naive(all []mapping.Record, q backend.Query) (want []int32, more bool, total int64) {
	kept := slices.Clone(all)
	kept = slices.DeleteFunc(kept, func(rec mapping.Record) bool {
		for _, f := range q.Filters {
			if rec.Values[f.Field.Index] != f.Value {
				return true
			}
		}
		return q.ModifiedSince.IsSet() && rec.Get("modified_at").Int() < q.ModifiedSince.Int()
	})
	total = int64(len(kept))
	kept = slices.DeleteFunc(kept, func(rec mapping.Record) bool { return rec.ID() <= q.After })
	slices.SortStableFunc(kept, func(a, b mapping.Record) int {
		for _, o := range q.Sort {
			x, y := a.Values[o.Field.Index], b.Values[o.Field.Index]
			c := cmp.Or(cmp.Compare(x.Kind(), y.Kind()), cmp.Compare(x.Int(), y.Int()), cmp.Compare(x.Text(), y.Text()))
			if o.Descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Compare(a.ID(), b.ID())
	})
	kept = kept[min(q.Offset, len(kept)):]
	if q.Limit > 0 && len(kept) > q.Limit {
		kept, more = kept[:q.Limit], true
	}
	return ids(backend.Page{Records: kept}), more, total
}
