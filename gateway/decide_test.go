package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/mapping"
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

func TestDecide(t *testing.T) {
	g := tableOnly(t)
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"PUT", "/vehicle/publishstart"}, Grant{"GET", "/model/*"})
	for _, c := range []struct {
		method, path, query string
		reason              mapping.Reason
	}{
		{"GET", "/order", "", ""},
		{"GET", "/order/5", "", ""},
		{"GET", "/order", "id=5", ""},
		{"GET", "/model/order", "", ""},
		{"PUT", "/vehicle/publishstart", "", ""},
		{"GET", "/authenticate/acces", "", ""},
		{"POST", "/order", "", mapping.MethodUnsupported},
		{"PUT", "/order/5", "", mapping.MethodUnsupported},
		{"GET", "/vehicle/publishstart", "", mapping.MethodUnsupported},
		{"GET", "/vehicle", "", mapping.EndpointUnknown},
		{"GET", "/nowhere", "", mapping.EndpointUnknown},
		{"PATCH", "/order", "", mapping.MethodUnsupported},
	} {
		d := g.Decide(key, c.method, c.path, []byte(c.query))
		require.Equal(t, c.reason, d.Reason, "%s %s", c.method, c.path)
		if d.Operation == nil {
			continue
		}
		logged := g.DecideLogged(key, c.method, d.Operation.Template, nil)
		require.Same(t, d.Operation, logged.Operation, "%s %s", c.method, c.path)
		require.Equal(t, c.reason, logged.Reason, "%s %s", c.method, c.path)
	}
	require.Equal(t, mapping.EndpointUnknown, g.DecideLogged(key, "GET", "/gone/{id}", nil).Reason)
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
