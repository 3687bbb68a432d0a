package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// keyFor is an api_key that may do what the grants say.
func keyFor(g *Gateway, allowed ...Grant) *auth.Key {
	key := &auth.Key{Name: "test", Allowed: make([]bool, len(g.Grants()))}
	for n, grant := range g.Grants() {
		for _, a := range allowed {
			key.Allowed[n] = key.Allowed[n] || grant == a
		}
	}
	return key
}

// TestEveryOperationIsFoundByItsLine: what the access log keeps of a request names
// one operation, and no two.
func TestEveryOperationIsFoundByItsLine(t *testing.T) {
	g := tableOnly(t)
	for op := range g.routes.operations {
		require.Same(t, op, g.Logged(op.Method, op.Template), "%s %s", op.Method, op.Template)
	}
}

func TestDecideDoesNotAllocate(t *testing.T) {
	g := tableOnly(t)
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"GET", "/vehicle"})
	query := []byte("fields=id&x=1")
	for _, method := range methodsOfAll {
		for _, path := range []string{"/order/5", "/order", "/vehicle/123456", "/nowhere", "/contact"} {
			require.Zero(t, testing.AllocsPerRun(1000, func() { g.Decide(key, method, path, query) }), method+path)
		}
	}
}

var methodsOfAll = []string{"GET", "POST", "PUT", "DELETE", "PATCH"}

// BenchmarkDecide judges requests by method and path, as serving does.
func BenchmarkDecide(b *testing.B) {
	g := tableOnly(b)
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"GET", "/vehicle"})
	for _, c := range []struct{ name, method, path, query string }{
		{"one", "GET", "/order/5", ""},
		{"many", "GET", "/order", "page=2&page_size=50"},
		{"refused", "DELETE", "/order/5", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			query := []byte(c.query)
			for b.Loop() {
				g.Decide(key, c.method, c.path, query)
			}
		})
	}
}
