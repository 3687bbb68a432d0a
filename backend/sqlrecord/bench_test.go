package sqlrecord

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

// BenchmarkStore gets, lists and creates orders of our own tables, without the gateway around.
func BenchmarkStore(b *testing.B) {
	for _, e := range []struct {
		name string
		open func(testing.TB) DB
	}{{"sqlite", openSQLite}, {"postgres", openPostgres}} {
		b.Run(e.name, func(b *testing.B) {
			s := newFixture(b, e.open(b))
			r := s.model.Resource("order")
			var ids []int32
			for range 200 {
				ids = append(ids, s.create(b, alice, "order", "description", "a service", "total_excl", 100).ID())
			}
			for name, do := range map[string]func() error{
				"get": func() error {
					_, err := s.Get(b.Context(), r, backend.Query{Client: alice, ID: ids[rand.IntN(len(ids))]})
					return err
				},
				"list50": func() error {
					_, err := s.List(b.Context(), r, backend.Query{Client: alice, Limit: 50})
					return err
				},
				"create": func() error {
					_, err := s.Create(b.Context(), alice, s.record("order", "description", "another service"))
					return err
				},
			} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						require.NoError(b, do())
					}
				})
			}
		})
	}
}
