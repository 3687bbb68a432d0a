package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

var countedCall = backend.Call{Resource: "order", Operation: "get", Outcome: backend.Answered, Took: time.Millisecond}

// TestCountingAllocatesNothing: what requests pass through costs no garbage.
func TestCountingAllocatesNothing(t *testing.T) {
	m := newMetrics()
	timer := m.Timer("GET", "/order/{id}", 200)
	count := func() {
		timer.Observe(.001)
		m.observeCall(t.Context(), countedCall)
		m.Refused("webshop", "rate")
		m.Deprecated("webshop", "DELETE /order/{id}", true)
		m.Used([32]byte{1}, time.Now())
	}
	count()
	require.Zero(t, testing.AllocsPerRun(1000, count))
}

// TestCountsOfKeysThatAreGone: they go, those without a key stay.
func TestCountsOfKeysThatAreGone(t *testing.T) {
	m := newMetrics()
	for _, key := range []string{"", "webshop", "gone"} {
		m.Refused(key, "rate")
	}
	m.keepKeys(func(name string) bool { return name == "webshop" })
	require.Len(t, m.refused.all(), 2)
	require.NotContains(t, m.refused.all(), refusal{"gone", "rate"})
}
