package reference

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

func benchEngines(b *testing.B, f func(b *testing.B, x *fixture)) {
	b.Run("sqlite", func(b *testing.B) { f(b, open(b, sqliteDSN(b))) })
	b.Run("postgres", func(b *testing.B) { f(b, open(b, sqltest.Postgres(b)+"&pool_max_conns=16")) })
}

// BenchmarkPoll holds a poll of changes that finds nothing to the get of a record: it should
// take 1.3 times as long at most.
func BenchmarkPoll(b *testing.B) {
	benchEngines(b, func(b *testing.B, x *fixture) {
		s := newShop(x, "A")
		for range 1000 { // that the client has, and others
			benchOrder(b, s)
		}
		now, err := s.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, Begin: true})
		require.NoError(b, err)
		contact := s.contact.Resource
		b.Run("get", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.front.Get(bg(), contact, backend.Query{Client: s.mine, ID: s.contact.ID(), Tagged: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("poll", func(b *testing.B) {
			b.ReportAllocs()
			after := now.Cursor
			for b.Loop() {
				page, err := s.front.Changes(bg(), backend.ChangesQuery{Client: s.mine, After: after, Resources: contact.Model().Resources, Limit: 100})
				if err != nil || len(page.Changes) > 0 {
					b.Fatal(err, page)
				}
				after = page.Cursor
			}
		})
	})
}

func benchOrder(b *testing.B, s *shop) {
	rec := s.record("order", "contact_id", fmt.Sprint(s.contact.ID()), "kind", "workshop", "order_status", "open", "order_date", "2026-11-20")
	if _, err := s.front.Create(bg(), s.mine, mapping.BodyOf(rec), backend.Write{}); err != nil {
		b.Fatal(err)
	}
}
