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
