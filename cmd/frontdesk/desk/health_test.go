package desk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnavailableStays: what is wrong besides does not have requests sent to who cannot serve
// them. Before, /readyz said 200 where the administration was away and the store of sessions took
// no writes.
func TestUnavailableStays(t *testing.T) {
	now := Health{Status: HealthOK}
	now.refuses(healthUnavailable, "the administration does not answer")
	now.degraded("the store of sessions takes no writes: %s", "it is full")
	require.Equal(t, healthUnavailable, now.Status)
	require.Equal(t, []string{"the administration does not answer", "the store of sessions takes no writes: it is full"}, now.Reasons)
}
