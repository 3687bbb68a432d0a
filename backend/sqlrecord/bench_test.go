package sqlrecord

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// benchRecords is how many orders the benchmarks read from.
const benchRecords = 100_000

// benchStore makes a store with orders for as long as the test binary runs.
func benchStore(b *testing.B, name string) *fixture {
	b.Helper()
	var db DB
	var err error
	if name == "sqlite" {
		db, err = OpenSQLite(filepath.Join(b.TempDir(), "records.db"), Options{})
	} else {
		db, err = OpenPostgres(b.Context(), sqltest.Postgres(b), Options{Readers: 34})
	}
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	s := newFixture(b, db)
	s.fill(b, envInt("FRONTDESK_BENCH_RECORDS", benchRecords))
	return s
}

func envInt(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// fill stores n orders, a thousand per transaction.
func (s *fixture) fill(t testing.TB, n int) {
	t.Helper()
	contact := s.create(t, alice, "contact", "name", "Jansen")
	for done := 0; done < n; done += 1000 {
		err := s.inTx(context.Background(), func(tx *Store) error {
			for k := range min(1000, n-done) {
				if _, err := tx.Create(context.Background(), alice, s.order(contact, done+k)); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
}

func (s *fixture) order(contact mapping.Record, n int) mapping.Record {
	return s.record("order", "number", fmt.Sprintf("O%06d", n), "contact_id", contact.ID(), "kind", "workshop", "order_status", "open",
		"order_date", mapping.TimeValue(s.clock.now()), "mileage", 84210, "reference", "PO-2026-118",
		"description", "Major service and new front tyres", "total_excl", mapping.DecimalValue(15000, 2), "total_incl", mapping.DecimalValue(18150, 2))
}

func BenchmarkRead(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s := benchStore(b, e.name)
			r := s.model.Resource("order")
			n := int32(envInt("FRONTDESK_BENCH_RECORDS", benchRecords))
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			lists := map[string]backend.Query{
				"list50/page1":    {Limit: 50},
				"list50/after":    {Limit: 50, After: n / 2},
				"list100/page500": {Limit: 100, Offset: 50_000},
				"list100/page900": {Limit: 100, Offset: 90_000},
				"list50/fields":   {Limit: 50, Fields: []int{0, 1, 2}},
				"count/total":     {Limit: 1, Total: true},
			}
			b.Run("get", func(b *testing.B) {
				b.ReportAllocs()
				var id int32
				for b.Loop() {
					id = (id + 7919) % n
					if _, err := s.Get(ctx, r, backend.Query{Client: alice, ID: id + 1}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("get/parallel", func(b *testing.B) {
				var next atomic.Int32
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						id := next.Add(7919) % n
						if id < 0 {
							id += n
						}
						if _, err := s.Get(ctx, r, backend.Query{Client: alice, ID: id + 1}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
			b.Run("exists", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if ok, err := s.Exists(ctx, alice, r, 4711); !ok || err != nil {
						b.Fatal(err)
					}
				}
			})
			for name, q := range lists {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					q.Client = alice
					for b.Loop() {
						if _, err := s.List(ctx, r, q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s := benchStore(b, e.name)
			contact := s.create(b, alice, "contact", "name", "Jansen")
			var next atomic.Int64
			next.Store(10_000_000)
			insert := func(b *testing.B) {
				if _, err := s.Create(b.Context(), alice, s.order(contact, int(next.Add(1)))); err != nil {
					b.Error(err)
				}
			}
			b.Run("insert", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					insert(b)
				}
			})
			b.Run("insert/one transaction", func(b *testing.B) {
				b.ReportAllocs()
				err := s.inTx(b.Context(), func(tx *Store) error {
					for b.Loop() {
						if _, err := tx.Create(b.Context(), alice, s.order(contact, int(next.Add(1)))); err != nil {
							return err
						}
					}
					return nil
				})
				require.NoError(b, err)
			})
			b.Run("insert/32 writers", func(b *testing.B) {
				b.SetParallelism(16)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						insert(b)
					}
				})
			})
			b.Run("update", func(b *testing.B) {
				b.ReportAllocs()
				rec := s.create(b, alice, "contact", "name", "x")
				for b.Loop() {
					var err error
					if rec, err = s.Update(b.Context(), alice, rec, s.record("contact", "name", "y")); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkUntil measures what it costs to date a transaction, and what Until costs a
// list.
func BenchmarkUntil(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s := newFixture(b, e.open(b))
			nothing := func(Conn) error { return nil }
			run := func(name string, once func() error) {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						require.NoError(b, once())
					}
				})
			}
			run("transaction", func() error { return s.DB().Write(b.Context(), nothing) })
			run("transaction, dated", func() error { return s.Write(b.Context(), func(*Store) error { return nil }) })
			run("until", func() error { _, err := s.Until(b.Context()); return err })
		})
	}
}

// BenchmarkUntilInOneTransaction measures what writing the row of untilTable costs a
// SQLite write, without the disk.
func BenchmarkUntilInOneTransaction(b *testing.B) {
	s := newFixture(b, openSQLite(b))
	require.NoError(b, s.DB().Write(b.Context(), func(c Conn) error {
		for b.Loop() {
			if _, err := number(b.Context(), c, "UPDATE "+untilTable+" SET at = max(at, ?1) RETURNING at", mapping.IntValue(s.clock.now().UnixMilli())); err != nil {
				return err
			}
		}
		return nil
	}))
}
