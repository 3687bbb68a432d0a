package legacy

import (
	"testing"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func benchmarkOn(b *testing.B, f func(b *testing.B, x *fixture)) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		b.Run(engine, func(b *testing.B) { f(b, openOn(b, engine, engines[engine](b))) })
	}
}

func BenchmarkGet(b *testing.B) {
	benchmarkOn(b, func(b *testing.B, x *fixture) {
		q := backend.Query{Client: one, ID: x.all(one, "vehicle")[0].ID()}
		for b.Loop() {
			if _, err := x.Get(b.Context(), x.model.Resource("vehicle"), q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGetTagged is of a record as clients ask for it, with a tag that its lines are in.
func BenchmarkGetTagged(b *testing.B) {
	for _, resource := range []string{"vehicle", "order"} {
		b.Run(resource, func(b *testing.B) {
			benchmarkOn(b, func(b *testing.B, x *fixture) {
				q := backend.Query{Client: one, ID: x.all(one, resource)[0].ID(), Tagged: true}
				for b.Loop() {
					if _, err := x.Get(b.Context(), x.model.Resource(resource), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkGetKept is of a record whose ID stands for a composite key.
func BenchmarkGetKept(b *testing.B) {
	benchmarkOn(b, func(b *testing.B, x *fixture) {
		q := backend.Query{Client: one, ID: x.all(one, "orderline")[0].ID()}
		for b.Loop() {
			if _, err := x.Get(b.Context(), x.model.Resource("orderline"), q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkList100(b *testing.B) {
	benchmarkOn(b, func(b *testing.B, x *fixture) {
		for b.Loop() {
			if _, err := x.List(b.Context(), x.model.Resource("orderline"), backend.Query{Client: one, Limit: 100}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	benchmarkOn(b, func(b *testing.B, x *fixture) {
		body := mapping.BodyOf(newRecords(x)["contactcommunication"][0])
		for b.Loop() {
			if _, err := x.front.Create(b.Context(), one, body, backend.Write{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
