package reference

import (
	"fmt"
	"sync"
	"testing"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// BenchmarkCreateOrder creates orders through the rules on 32 goroutines.
func BenchmarkCreateOrder(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchmarkCreateOrder(b, open(b, sqliteDSN(b))) })
	b.Run("postgres", func(b *testing.B) { benchmarkCreateOrder(b, open(b, sqltest.Postgres(b)+"&pool_max_conns=16")) })
}

func benchmarkCreateOrder(b *testing.B, x *fixture) {
	s := newShop(x, "A")
	rec := s.record("order", "contact_id", fmt.Sprint(s.contact.ID()), "kind", "workshop", "order_status", "open", "order_date", "2026-11-20")
	work := make(chan struct{})
	var end sync.WaitGroup
	for range 32 {
		end.Go(func() {
			for range work {
				if _, err := s.front.Create(bg(), s.mine, mapping.BodyOf(rec), backend.Write{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	end.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
}

// BenchmarkSeed makes the sample data of 10,000 orders.
func BenchmarkSeed(b *testing.B) {
	seed := func(b *testing.B, dsn func(testing.TB) string) {
		for range b.N {
			b.StopTimer()
			x := open(b, dsn(b))
			b.StartTimer()
			if err := Seed(bg(), x.Store, SeedOptions{Records: 10_000}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("sqlite", func(b *testing.B) { seed(b, sqliteDSN) })
	b.Run("postgres", func(b *testing.B) { seed(b, sqltest.Postgres) })
}
